package workload

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// plansUnderTest has a plan for each generator and for each kind of piece.
func plansUnderTest(t testing.TB) map[string]*Plan {
	random := TestOptions{Random: true, Keyspace: 100000, DataSize: 3, Seed: 7}
	big := random
	big.DataSize = 70000
	cluster := random
	cluster.Cluster = true
	sequential := random
	sequential.Sequential, sequential.Keyspace = true, 37
	wide := random
	wide.Keyspace = maxNumber
	narrow := random
	narrow.Keyspace = 1000
	bench := func(op string, change func(*BenchOptions)) *Plan {
		o := benchDefaults(op)
		change(&o)
		return mustBench(t, o)
	}
	size := func(text string) func(*BenchOptions) {
		s, err := ParseValueSize(text, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		return func(o *BenchOptions) { o.Size = s }
	}
	return map[string]*Plan{
		"ping_inline":    onlyTest(t, "ping_inline", random),
		"set":            onlyTest(t, "set", random),
		"set wide":       onlyTest(t, "set", wide),
		"set narrow":     onlyTest(t, "set", narrow),
		"set big":        onlyTest(t, "set", big),
		"set cluster":    onlyTest(t, "set", cluster),
		"mset":           onlyTest(t, "mset", random),
		"mset big":       onlyTest(t, "mset", big),
		"zadd in turn":   onlyTest(t, "zadd", sequential),
		"sequence":       mustCommand(t, random, "3", "set", "k:__rand_int__:__rand_1st__", "v", ";", "get", "k:__rand_1st__"),
		"sequence turn":  mustCommand(t, sequential, "2", "set", "__rand_int__", "__rand_int__", ";", "get", "__rand_2nd__"),
		"literal big":    mustCommand(t, random, "set", "__rand_int__", strings.Repeat("x", 40000)+"__rand_int__"+strings.Repeat("y", 20000)),
		"bench set":      bench("set", func(o *BenchOptions) {}),
		"bench mixed":    bench("mixed", func(o *BenchOptions) {}),
		"bench 500":      bench("mixed", size("500")),
		"bench 0":        bench("mixed", size("0")),
		"bench 12":       bench("get", func(o *BenchOptions) { o.Keyspace = maxNumber }),
		"bench long key": bench("mixed", func(o *BenchOptions) { o.KeyPrefix = strings.Repeat("p", 120) }),
		"bench mid key":  bench("mixed", func(o *BenchOptions) { o.KeyPrefix = strings.Repeat("m", 60) }),
		"bench sizes":    bench("mixed", size("0-300")),
		"bench large":    bench("mixed", size("10:5,20000:1")),
		"bench huge":     bench("set", size("3000000")),
		"mix":            mustMix(t, mixDefaults(), "GET __key__", "2:SET __key__ __data__", "INCR c:__rand_int__"),
		"mix sequences":  mustMix(t, mixDefaults(), "GET __key__", "MULTI ; SET __key__ __data__ ; EXEC"),
		"dataset":        mustCommand(t, TestOptions{Dataset: mustDataset(t, sampleRows, ',', 0)}, "set", "k:__field:id__", "__field:body__"),
		"bench zipf":     bench("mixed", func(o *BenchOptions) { o.Dist = KeyDist{kind: distZipf, parameter: 1} }),
	}
}

// Whatever part of each write the kernel takes, the bytes are those of the requests one after the other.
func TestFillResumesAtEveryByte(t *testing.T) {
	for name, p := range plansUnderTest(t) {
		t.Run(name, func(t *testing.T) {
			n := 40
			if p.requestSize(0) > 100_000 {
				n = 3
			}
			want := requestBytes(p, n)
			for _, ahead := range []int{MinAhead, 4096, 100_000, 256 << 10} {
				if got := wholeStream(t, p, ahead, n); !bytes.Equal(got, want) {
					t.Fatalf("ahead %d: %q, want %q", ahead, clip(got), clip(want))
				}
				rng := rand.New(rand.NewPCG(1, uint64(ahead)))
				got := cutStream(t, p, ahead, n, func(size int) int { return 1 + rng.IntN(size) })
				if !bytes.Equal(got, want) {
					t.Fatalf("ahead %d, cut: %q, want %q", ahead, clip(got), clip(want))
				}
			}
			if len(want) < 20000 {
				if got := cutStream(t, p, MinAhead, n, func(int) int { return 1 }); !bytes.Equal(got, want) {
					t.Fatalf("byte by byte: %q, want %q", clip(got), clip(want))
				}
			}
		})
	}
}

func clip(b []byte) []byte { return b[:min(len(b), 400)] }

// A Fill may begin anywhere, also within a sequence and in what another Fill has left in the buffer.
func TestFillFromAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for name, p := range plansUnderTest(t) {
		g := p.Gen(256 << 10)
		for range 30 {
			first, k := rng.Uint64N(1<<40), 1+rng.IntN(20)
			length := len(p.AppendRequest(nil, first))
			skip := rng.IntN(length)
			got := bytes.Join(g.Fill(first, k, skip), nil)
			whole, rest := g.Sent(len(got))
			var want []byte
			for i := range uint64(whole) {
				want = p.AppendRequest(want, first+i)
			}
			if rest > 0 {
				want = p.AppendRequest(want, first+uint64(whole))
				length := len(p.AppendRequest(nil, first+uint64(whole)))
				want = want[:len(want)-length+rest]
			}
			if !bytes.Equal(got, want[min(skip, len(want)):]) {
				t.Fatalf("%s: Fill(%d, %d, %d) = %q, want %q", name, first, k, skip, clip(got), clip(want[skip:]))
			}
		}
	}
}

// All requests that fit are made, none is cut, and ahead is kept.
func TestFillKeepsAhead(t *testing.T) {
	for name, p := range plansUnderTest(t) {
		for _, ahead := range []int{MinAhead, 10_000, 256 << 10} {
			g := p.Gen(ahead)
			made := len(bytes.Join(g.Fill(0, 100000, 0), nil))
			whole, rest := g.Sent(made)
			switch {
			case made > ahead:
				t.Errorf("%s: %d bytes with ahead %d", name, made, ahead)
			case whole > 0 && rest != 0:
				t.Errorf("%s: request cut at %d although %d fit into %d", name, rest, whole, ahead)
			case whole == 0 && made != ahead:
				t.Errorf("%s: %d bytes of a request that is larger than ahead %d", name, made, ahead)
			}
		}
	}
}

func TestFillDoesNotAllocate(t *testing.T) {
	for name, p := range plansUnderTest(t) {
		for _, k := range []int{1, 128} {
			g := p.Gen(256 << 10)
			i, skip := uint64(0), 0
			run := func() {
				size := 0
				for _, part := range g.Fill(i, k, skip) {
					size += len(part)
				}
				whole, rest := g.Sent(size - size/3)
				i, skip = i+uint64(whole), rest
			}
			for range 50 {
				run()
			}
			if n := testing.AllocsPerRun(100, run); n != 0 {
				t.Errorf("%s, k=%d: %v allocations in a Fill", name, k, n)
			}
		}
	}
}

// The three generators make the same bytes: a plan without its fast paths is the oracle.
func TestFastPathsEqualPieces(t *testing.T) {
	for name, p := range plansUnderTest(t) {
		slow := *p
		slow.template, slow.keyed = nil, nil
		if p.template == nil && p.keyed == nil {
			continue
		}
		fast, oracle := p.Gen(64<<10), slow.Gen(64<<10)
		fast.SetTag([]byte("{06S}"))
		oracle.SetTag([]byte("{06S}"))
		for i := uint64(0); i < 5000; i += 50 {
			got, want := bytes.Join(fast.Fill(i, 50, 0), nil), bytes.Join(oracle.Fill(i, 50, 0), nil)
			if n := min(len(got), len(want)); !bytes.Equal(got[:n], want[:n]) || n == 0 {
				t.Fatalf("%s: request %d on: %q, want %q", name, i, clip(got), clip(want))
			}
		}
	}
}

func TestTag(t *testing.T) {
	p := onlyTest(t, "mset", TestOptions{Random: true, Keyspace: 10, DataSize: 3, Cluster: true})
	if !p.HasTag() {
		t.Fatal("mset of a cluster has no tag")
	}
	g := p.Gen(1 << 16)
	for _, tag := range []string{"{06S}", "{x}}}", "{tag}"} {
		g.SetTag([]byte(tag))
		commands := parseCommands(t, bytes.Join(g.Fill(5, 3, 0), nil))
		for _, c := range commands {
			for k := 1; k < len(c); k += 2 {
				if !strings.HasPrefix(c[k], "key:"+tag+":0000000000") {
					t.Errorf("tag %s: key %q", tag, c[k])
				}
			}
		}
	}
	if p := onlyTest(t, "mset", TestOptions{DataSize: 3}); p.HasTag() {
		t.Error("mset without a cluster has a tag")
	}
}

func BenchmarkFill(b *testing.B) {
	random := TestOptions{Random: true, Keyspace: 100000, DataSize: 32, Seed: 7}
	wide := random
	wide.Keyspace = maxNumber
	fixed := random
	fixed.Random = false
	zipf := random
	zipf.Dist = KeyDist{kind: distZipf, parameter: 0.99}
	gauss := random
	gauss.Dist = KeyDist{kind: distGaussian}
	sized := benchDefaults("mixed")
	sized.Size, _ = ParseValueSize("16-48", 1<<20)
	large := benchDefaults("set")
	large.Size = ConstantSize(64 << 10)
	mixed12 := benchDefaults("mixed")
	mixed12.Keyspace = 1e12
	plans := []struct {
		name string
		plan *Plan
	}{
		{"test=set/r=none", onlyTest(b, "set", fixed)},
		{"test=set/r=1e5", onlyTest(b, "set", random)},
		{"test=set/r=1e12", onlyTest(b, "set", wide)},
		{"test=set/dist=zipf", onlyTest(b, "set", zipf)},
		{"test=set/dist=gaussian", onlyTest(b, "set", gauss)},
		{"test=mset/r=1e5", onlyTest(b, "mset", random)},
		{"bench=set/keyspace=1e5", mustBench(b, benchDefaults("set"))},
		{"bench=get/keyspace=1e5", mustBench(b, benchDefaults("get"))},
		{"bench=mixed/keyspace=1e5", mustBench(b, benchDefaults("mixed"))},
		{"bench=mixed/keyspace=1e12", mustBench(b, mixed12)},
		{"bench=mixed/size=16-48", mustBench(b, sized)},
		{"bench=set/size=65536", mustBench(b, large)},
		{"mix=get,set,incr", mustMix(b, mixDefaults(), "8:GET __key__", "SET __key__ __data__", "INCR c:__rand_int__")},
	}
	for _, c := range plans {
		for _, k := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/P=%d", c.name, k), func(b *testing.B) {
				g := c.plan.Gen(256 << 10)
				b.ReportAllocs()
				size := 0
				for i := 0; i < b.N; i += k {
					for _, part := range g.Fill(uint64(i), k, 0) {
						size += len(part)
					}
					g.Sent(size)
				}
				b.ReportMetric(float64(size)/float64(max(b.N, k)), "B/req")
			})
		}
	}
}

// The pure functions that the reader of a reply asks, once for each reply that is verified.
func BenchmarkVerify(b *testing.B) {
	sized := benchDefaults("mixed")
	sized.Size, _ = ParseValueSize("16-48", 1<<20)
	for _, c := range []struct {
		name string
		plan *Plan
	}{
		{"bench=get", mustBench(b, benchDefaults("get"))},
		{"bench=mixed", mustBench(b, benchDefaults("mixed"))},
		{"bench=mixed/size=16-48", mustBench(b, sized)},
	} {
		b.Run(c.name, func(b *testing.B) {
			values := make([][]byte, 1024)
			for i := range values {
				values[i] = c.plan.AppendValue(nil, uint64(i))
			}
			b.ReportAllocs()
			for n := range b.N {
				i := uint64(n) % 1024
				if c.plan.Verifies(i) && (c.plan.ValueLen(i) != len(values[i]) || c.plan.ValueMatches(i, 0, values[i]) != -1) {
					b.Fatal("a right value does not match")
				}
			}
		})
	}
}
