package workload

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
)

// C173: values of a gigabyte need neither a copy for each request nor one at all, and what is left of one is found at once.
func TestHugeValuesNeedLittleMemory(t *testing.T) {
	const gib = 1 << 30
	payloadPool()
	printablePool()
	set := func() *Plan { return onlyTest(t, "set", TestOptions{DataSize: gib, Random: true, Keyspace: 1000}) }
	bench := func() *Plan {
		o := benchDefaults("set")
		o.Size = ConstantSize(gib)
		return mustBench(t, o)
	}
	for name, build := range map[string]func() *Plan{"set": set, "bench": bench} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		p := build()
		g := p.Gen(256 << 10)
		for _, skip := range []int{0, 30, gib / 2, gib - 1, gib + 20} {
			made := 0
			for _, part := range g.Fill(5, 1000, skip) {
				made += len(part)
			}
			if made == 0 || made > 256<<10 {
				t.Errorf("%s: %d bytes made behind byte %d", name, made, skip)
			}
			if whole, rest := g.Sent(made); whole == 0 && rest != skip+made {
				t.Errorf("%s: behind byte %d, %d bytes are sent and the next is %d", name, skip, made, rest)
			}
		}
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 2<<20 {
			t.Errorf("%s: %d bytes allocated", name, grown)
		}
		if got := p.ValueMatches(5, gib-3, p.values.pool.appendOf(p, 5, gib-3, 3)); name == "bench" && got != -1 {
			t.Errorf("the last bytes do not match at %d", got)
		}
	}
}

// appendOf is part of the value of request i; nothing for a plan without values.
func (p *pool) appendOf(plan *Plan, i uint64, off, n int) []byte {
	if p == nil {
		return nil
	}
	_, x := plan.locate(i)
	return p.appendTo(nil, plan.values.offset(plan.keyNumber(&x))+off, n)
}

// One plan serves all loops at once.
func TestPlanIsSharedByLoops(t *testing.T) {
	for name, p := range plansUnderTest(t) {
		n := 64
		if p.requestSize(0) > 1<<20 {
			n = 2
		}
		want := requestBytes(p, n)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				g := p.Gen(64 << 10)
				var got []byte
				for next, skip := uint64(0), 0; next < uint64(n); {
					made := bytes.Join(g.Fill(next, n-int(next), skip), nil)
					got = append(got, made...)
					whole, rest := g.Sent(len(made))
					next, skip = next+uint64(whole), rest
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: a loop makes other bytes than another", name)
				}
			})
		}
		all.Wait()
	}
}
