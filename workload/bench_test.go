package workload

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// bench.c's usual commands as they go to the wire.
func TestBenchOnTheWire(t *testing.T) {
	o := benchDefaults("set")
	o.SetCmd, o.GetCmd, o.KeyPrefix, o.Keyspace = "RSET", "RGET", "bench:ts:set:", 1000000
	for i, c := range parseCommands(t, wholeStream(t, mustBench(t, o), 1<<16, 100)) {
		number, err := strconv.Atoi(strings.TrimPrefix(c[1], "bench:ts:set:"))
		if len(c) != 3 || c[0] != "RSET" || err != nil || number < 0 || number >= 1000000 || len(c[2]) != 32 {
			t.Errorf("request %d is %q", i, c)
		}
	}
	o.Op = "get"
	for i, c := range parseCommands(t, wholeStream(t, mustBench(t, o), 1<<16, 100)) {
		if len(c) != 2 || c[0] != "RGET" || !strings.HasPrefix(c[1], "bench:ts:set:") {
			t.Errorf("request %d is %q", i, c)
		}
	}
}

// C99: the share of SETs is the one asked for, and Ops, Op, Reads, Writes and Verifies agree with the bytes.
func TestBenchMixed(t *testing.T) {
	for _, ratio := range []int{0, 1, 10, 50, 99, 100} {
		o := benchDefaults("mixed")
		o.SetRatio = ratio
		p := mustBench(t, o)
		const n = 100_000
		sets := 0
		for i, c := range parseCommands(t, wholeStream(t, p, 1<<18, n)) {
			at := uint64(i)
			isSet := c[0] == "SET"
			if isSet {
				sets++
			}
			if p.Ops()[p.Op(at)] != c[0] || p.Writes(at) != isSet || p.Reads(at) == isSet || p.Verifies(at) == isSet {
				t.Fatalf("ratio %d, request %d is %q: op %q, Writes %v, Reads %v", ratio, i, c, p.Ops()[p.Op(at)], p.Writes(at), p.Reads(at))
			}
			if string(p.AppendKey(nil, at)) != c[1] || isSet && string(p.AppendValue(nil, at)) != c[2] {
				t.Fatalf("ratio %d, request %d is %q: key %q", ratio, i, c, p.AppendKey(nil, at))
			}
		}
		share := float64(ratio) / 100
		if sigma := math.Sqrt(n * share * (1 - share)); math.Abs(float64(sets)-n*share) > 5*sigma {
			t.Errorf("ratio %d: %d SETs of %d", ratio, sets, n)
		}
	}
}

// What one run wrote, a later one verifies whatever its seed, its mode and its share of writes.
func TestValuesDependOnTheKeyAlone(t *testing.T) {
	for _, size := range []string{"32", "0", "5000", "64-4096", "64:9,20000:1"} {
		o := benchDefaults("set")
		o.Size, _ = ParseValueSize(size, 1<<30)
		o.Keyspace = 500
		stored := map[string]string{}
		p, err := Prefill(o)
		if err != nil || p.Requests != 500 {
			t.Fatalf("Prefill: %d requests, error %v", p.Requests, err)
		}
		for _, c := range parseCommands(t, wholeStream(t, p, 1<<18, int(p.Requests))) {
			stored[c[1]] = c[2]
		}
		if len(stored) != 500 {
			t.Fatalf("size %s: prefill writes %d of 500 keys", size, len(stored))
		}
		o.Op, o.Seed = "mixed", 99
		p = mustBench(t, o)
		for i := range uint64(1000) {
			value := stored[string(p.AppendKey(nil, i))]
			if !matches(p, i, value) || p.ValueLen(i) != len(value) {
				t.Fatalf("size %s, request %d: the stored value of %d bytes does not match", size, i, len(value))
			}
			if len(value) > 0 {
				wrong := []byte(value)
				at := int(i) % len(value)
				wrong[at] ^= 0x20
				if matches(p, i, string(wrong)) {
					t.Fatalf("size %s, request %d: a flipped byte at %d is not found", size, i, at)
				}
			}
		}
	}
}

// matches compares a value piece by piece, as replies come.
func matches(p *Plan, i uint64, value string) bool {
	for off := 0; off < len(value); {
		n := min(1+off/2+int(i%7), len(value)-off)
		if p.ValueMatches(i, int64(off), []byte(value[off:off+n])) != -1 {
			return false
		}
		off += n
	}
	return true
}

func TestValueMatchesFindsTheByte(t *testing.T) {
	o := benchDefaults("get")
	o.Size = ConstantSize(100)
	p := mustBench(t, o)
	value := p.AppendValue(nil, 7)
	piece := slices.Clone(value[40:90])
	piece[33] ^= 1
	if got := p.ValueMatches(7, 40, piece); got != 33 {
		t.Errorf("wrong byte 33 is found at %d", got)
	}
	if got := p.ValueMatches(7, 90, append(slices.Clone(value[90:]), 'x')); got != 10 {
		t.Errorf("the first byte too much is found at %d, want 10", got)
	}
	if got := p.ValueMatches(7, 200, []byte("y")); got != 0 {
		t.Errorf("a byte far behind the end is found at %d, want 0", got)
	}
	if got := p.ValueMatches(7, 100, nil); got != -1 {
		t.Errorf("nothing behind the end is found wrong at %d", got)
	}
	classic := onlyTest(t, "get", TestOptions{})
	if got := classic.ValueMatches(1, 0, []byte("abc")); got != 0 || len(classic.AppendValue(nil, 1)) != 0 {
		t.Errorf("a plan without values matches at %d", got)
	}
}

// Values of different keys differ; those of prefixes as well.
func TestValuesDiffer(t *testing.T) {
	o := benchDefaults("set")
	o.Keyspace = 10_000
	seen := map[string]string{}
	for _, prefix := range []string{"a:", "b:", "ab:"} {
		o.KeyPrefix = prefix
		p, err := Prefill(o)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i := range uint64(10_000) {
			value := string(p.AppendValue(nil, i))
			if _, ok := seen[value]; ok {
				same++
			}
			seen[value] = prefix
		}
		if same > 400 { // by chance 48 to 238 of a pool of 2^20
			t.Errorf("prefix %s: %d of 10000 values were there before", prefix, same)
		}
	}
}

func TestProbe(t *testing.T) {
	for keyspace, want := range map[int64]int{1: 1, 11: 11, 999: 999, 1000: 1000, 5000: 1000, maxNumber: 1000} {
		o := benchDefaults("set")
		o.Keyspace = keyspace
		p, err := Probe(o)
		if err != nil || p.Requests != int64(want) {
			t.Fatalf("keyspace %d: %d requests, error %v", keyspace, p.Requests, err)
		}
		keys := map[string]bool{}
		for _, c := range parseCommands(t, wholeStream(t, p, 1<<16, want)) {
			keys[c[1]] = true
		}
		if len(keys) != want {
			t.Errorf("keyspace %d: %d keys are probed, want %d", keyspace, len(keys), want)
		}
	}
}

// C85, C86: as many distinct keys as chance makes, whatever way the requests are divided.
func TestDistinctKeys(t *testing.T) {
	distinct := func(p *Plan, n int) int {
		keys := map[string]bool{}
		for _, c := range parseCommands(t, wholeStream(t, p, 1<<18, n)) {
			keys[c[1]] = true
		}
		return len(keys)
	}
	set := func(r int64) *Plan {
		return onlyTest(t, "set", TestOptions{Random: true, Keyspace: r, DataSize: 3, Seed: 42})
	}
	if n := distinct(set(100000), 100000); n < 63212-400 || n > 63212+400 {
		t.Errorf("n = r = 100000: %d distinct keys, want 63212 ± 400", n)
	}
	if n := distinct(set(1000), 1000); n < 632-40 || n > 632+40 {
		t.Errorf("n = r = 1000: %d distinct keys, want 632 ± 40", n)
	}
	if n := distinct(set(1e9), 8000); n < 7990 {
		t.Errorf("n = 8000, r = 10^9: %d distinct keys", n)
	}
	if n := distinct(mustBench(t, benchDefaults("mixed")), 100000); n < 63212-400 || n > 63212+400 {
		t.Errorf("mixed, n = r = 100000: %d distinct keys", n)
	}
}

// C83, C89: keys are spread over the whole range and stay in it, for ranges of all sizes.
func TestKeysInRange(t *testing.T) {
	for _, r := range []int64{0, 1, 2, 11, 1001, 9999, 10000, 10001, 1e8, 1e8 + 1, 3e9, 5e9, maxNumber, math.MaxInt64} {
		p := onlyTest(t, "get", TestOptions{Random: true, Keyspace: r, Seed: uint64(r)})
		limit := min(max(r, 1), maxNumber)
		var low, high int
		for _, c := range parseCommands(t, wholeStream(t, p, 1<<18, 3000)) {
			digits := strings.TrimPrefix(c[1], "key:")
			v, err := strconv.ParseInt(digits, 10, 64)
			if err != nil || len(digits) != 12 || v < 0 || v >= limit {
				t.Fatalf("-r %d: key %q", r, c[1])
			}
			if v < limit/2 {
				low++
			} else {
				high++
			}
		}
		if limit >= 1000 && (low < 1300 || high < 1300) {
			t.Errorf("-r %d: %d keys in the lower half, %d in the upper", r, low, high)
		}
	}
}

// C87: the same seed gives the same requests, another seed others; the way of dividing them changes nothing.
func TestSeedRepeats(t *testing.T) {
	o := benchDefaults("mixed")
	a, b := mustBench(t, o), mustBench(t, o)
	want := requestBytes(a, 1000)
	if !bytes.Equal(requestBytes(b, 1000), want) {
		t.Error("the same seed gives other requests")
	}
	o.Seed++
	if bytes.Equal(requestBytes(mustBench(t, o), 1000), want) {
		t.Error("another seed gives the same requests")
	}
	// Two loops that take turns with blocks of 16 make the same set.
	var parts [][]byte
	loops := []*Gen{a.Gen(4096), a.Gen(1 << 16)}
	for i := uint64(0); i < 1000; i += 8 {
		parts = append(parts, bytes.Clone(bytes.Join(loops[i/8%2].Fill(i, 8, 0), nil)))
	}
	if !bytes.Equal(bytes.Join(parts, nil), want) {
		t.Error("requests depend on the loop that makes them")
	}
}

func TestBenchErrors(t *testing.T) {
	for want, change := range map[string]func(*BenchOptions){
		"--mode":      func(o *BenchOptions) { o.Op = "put" },
		"--set-ratio": func(o *BenchOptions) { o.SetRatio = 101 },
		"--keyspace":  func(o *BenchOptions) { o.Keyspace = 0 },
		"--set-cmd":   func(o *BenchOptions) { o.SetCmd = "" },
		"--get-cmd":   func(o *BenchOptions) { o.GetCmd = "__key__" },
	} {
		o := benchDefaults("mixed")
		change(&o)
		if _, err := Bench(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
}
