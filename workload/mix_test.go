package workload

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func mixDefaults() MixOptions {
	return MixOptions{Keyspace: 1000, Size: ConstantSize(32), KeyPrefix: "key:", Seed: 77}
}

func mustMix(t testing.TB, o MixOptions, entries ...string) *Plan {
	t.Helper()
	p, err := Mix(entries, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Shares follow the weights, and Op names the command of each request.
func TestMixShares(t *testing.T) {
	p := mustMix(t, mixDefaults(), "8:GET __key__", "1:SET __key__ __data__", "INCR c:__rand_int__")
	if got := strings.Join(p.Ops(), ", "); got != "GET __key__, SET __key__ __data__, INCR c:__rand_int__" {
		t.Errorf("ops %s", got)
	}
	const n = 100_000
	counts := make([]int, 3)
	for i, c := range parseCommands(t, wholeStream(t, p, 1<<18, n)) {
		at := uint64(i)
		op := p.Op(at)
		counts[op]++
		if !strings.HasPrefix(p.Ops()[op], c[0]+" ") || p.Verifies(at) != (op == 0) || p.Writes(at) != (op == 1) {
			t.Fatalf("request %d is %q, op %q, Verifies %v, Writes %v", i, c, p.Ops()[op], p.Verifies(at), p.Writes(at))
		}
		if op == 1 && (c[1] != string(p.AppendKey(nil, at)) || p.ValueMatches(at, 0, []byte(c[2])) != -1) {
			t.Fatalf("request %d is %q, key %q", i, c, p.AppendKey(nil, at))
		}
	}
	checkChiSquare(t, "mix", counts, []float64{0.8, 0.1, 0.1})
}

// A transaction is one unit with one key, and weights count executions.
func TestMixTransactions(t *testing.T) {
	p := mustMix(t, mixDefaults(), "3:GET __key__", "1:MULTI ; SET __key__ __data__ ; INCR n:__key__ ; EXEC")
	if p.Unit() != 4 {
		t.Fatalf("unit %d", p.Unit())
	}
	const units = 20_000
	gets, transactions := 0, 0
	keys := map[string]int{}
	commands := parseCommands(t, wholeStream(t, p, 1<<18, 4*units))
	for u := 0; u < len(commands); u += 4 {
		unit := commands[u : u+4]
		var names []string
		for _, c := range unit {
			names = append(names, c[0])
		}
		switch strings.Join(names, " ") {
		case "GET GET GET GET":
			gets += 4
			for _, c := range unit {
				keys[c[1]]++
			}
		case "MULTI SET INCR EXEC":
			transactions++
			if unit[2][1] != "n:"+unit[1][1] {
				t.Fatalf("transaction %q", unit)
			}
		default:
			t.Fatalf("unit %q", unit)
		}
	}
	// Of executions a quarter are transactions, so of units, which hold four GETs or one transaction, 4/7.
	if want := units * 4.0 / 7; math.Abs(float64(transactions)-want) > 5*math.Sqrt(want*3/7) {
		t.Errorf("%d transactions of %d units, want %.0f", transactions, units, want)
	}
	if len(keys) != 1000 {
		t.Errorf("%d GETs hit %d of 1000 keys", gets, len(keys))
	}
}

// Whatever is cut, the bytes are those of the requests; the keyed and the general generator agree.
func TestMixStreams(t *testing.T) {
	sized := mixDefaults()
	sized.Size, _ = ParseValueSize("0:1,20:1,40000:1", 1<<20)
	cluster := mixDefaults()
	cluster.Cluster = true
	plans := []*Plan{
		mustMix(t, mixDefaults(), "GET __key__", "SET __key__ __data__"),
		mustMix(t, sized, "GET x__key__", "5:SET __key__ a__data__b", "MULTI;", "2 SET __rand_1st__ __rand_int__ ; GET __rand_1st__"),
		mustMix(t, cluster, "GET {tag}__key__", "SET __key__{tag} __data__"),
		mustMix(t, mixDefaults(), strings.Repeat("x", refMin)+" __key__"),
	}
	if plans[0].keyed == nil || plans[1].keyed != nil {
		t.Error("the fast path is not where it should be")
	}
	for i, p := range plans {
		want := requestBytes(p, 60)
		for _, ahead := range []int{MinAhead, 1 << 16} {
			n := 0
			got := cutStream(t, p, ahead, 60, func(size int) int { n++; return 1 + (n*7919)%size })
			if string(got) != string(want) {
				t.Errorf("plan %d, ahead %d: %q, want %q", i, ahead, clip(got), clip(want))
			}
		}
	}
}

func TestMixErrors(t *testing.T) {
	tests := map[string][]string{
		"no command":                      {},
		"empty command":                   {"3:"},
		"bad weight":                      {"0:GET x"},
		`bad weight "x"`:                  {"x:GET"},
		`bad weight ""`:                   {":GET"},
		"first word must be":              {"1:__key__ x"},
		"quote at column 5 is not closed": {`GET "x`},
		"no common multiple":              {"97 ping", "89 ping", "83 ping"},
	}
	for want, entries := range tests {
		if _, err := Mix(entries, mixDefaults()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", entries, err, want)
		}
	}
	o := mixDefaults()
	o.Keyspace = 0
	if _, err := Mix([]string{"ping"}, o); err == nil || !strings.Contains(err.Error(), "keyspace") {
		t.Errorf("keyspace 0: error %v", err)
	}
}

func TestSplitQuoted(t *testing.T) {
	tests := map[string][]string{
		"":                       nil,
		"  a  b\tc\n":            {"a", "b", "c"},
		`SET "a b" ''`:           {"SET", "a b", ""},
		`x"y z"'w'`:              {"xy zw"},
		`"\n\r\t\a\b\\\"\x41\q"`: {"\n\r\t\a\b\\\"Aq"},
		`'a\n\'b'`:               {`a\n'b`},
		`a\nb "\xZZ"`:            {`a\nb`, "xZZ"},
	}
	for text, want := range tests {
		got, err := splitQuoted(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, error %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{`"`, `'abc`, `"abc\"`, `a"b`, `"\x4`} {
		if got, err := splitQuoted(text); err == nil {
			t.Errorf("%q: %q without an error", text, got)
		}
	}
}
