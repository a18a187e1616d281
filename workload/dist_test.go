package workload

import (
	"math"
	"strings"
	"testing"
)

func mustDist(t *testing.T, text string) KeyDist {
	t.Helper()
	d, err := ParseKeyDist(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Each distribution is held against its exact shares.
func TestDistributions(t *testing.T) {
	normal := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	gaussian := func(n, sd float64) func(k float64) float64 {
		all := normal(n/2/sd) - normal(-n/2/sd)
		return func(k float64) float64 { return (normal((k+1-n/2)/sd) - normal((k-n/2)/sd)) / all }
	}
	zipf := func(s float64) func(k float64) float64 { return func(k float64) float64 { return math.Pow(k+1, -s) } }
	hot := func(hot, n, share float64) func(k float64) float64 {
		return func(k float64) float64 {
			if k < hot {
				return share / hot
			}
			return (1 - share) / (n - hot)
		}
	}
	tests := []struct {
		text   string
		n      int
		weight func(k float64) float64
	}{
		{"uniform", 1000, func(float64) float64 { return 1 }},
		{"zipf:1", 1000, zipf(1)},
		{"zipf:0.99", 1000, zipf(0.99)},
		{"zipf:0.9999", 1000, zipf(0.9999)},
		{"zipf:1.0000000001", 1000, zipf(1)},
		{"zipf:0.5", 1000, zipf(0.5)},
		{"zipf:2", 1000, zipf(2)},
		{"zipf:1.2", 7, zipf(1.2)},
		{"zipf:5", 100, zipf(5)},
		{"zipf:1", 1, zipf(1)},
		{"zipf:1", zipfRanks, zipf(1)},
		{"zipf:1", zipfRanks + 1, zipf(1)},
		{"zipf:0.99", 50_000, zipf(0.99)}, // beyond the table's ranks: blocks
		{"zipf:0.2", 50_000, zipf(0.2)},
		{"zipf:1.5", 20_000, zipf(1.5)},
		{"gaussian:100", 1000, gaussian(1000, 100)},
		{"gaussian", 1000, gaussian(1000, 1000.0/6)},
		{"gaussian:5000", 1000, gaussian(1000, 5000)},
		{"gaussian:3", 101, gaussian(101, 3)},
		{"hotspot:20%:80%", 1000, hot(200, 1000, 0.8)},
		{"hotspot:1:99", 1000, hot(10, 1000, 0.99)},
		{"hotspot:50%:0%", 100, hot(50, 100, 0)},
		{"hotspot:100%:10%", 100, func(float64) float64 { return 1 }},
		{"hotspot:10%:100%", 100, hot(10, 100, 1)},
	}
	for _, tt := range tests {
		k := mustDist(t, tt.text).over(int64(tt.n))
		s := newStream(2024, streamKey)
		counts, shares := make([]int, tt.n), make([]float64, tt.n)
		for i := range uint64(300_000) {
			counts[k.draw(s, i, i)]++
		}
		var total float64
		for i := range shares {
			shares[i] = tt.weight(float64(i))
			total += shares[i]
		}
		for i := range shares {
			shares[i] /= total
		}
		checkChiSquare(t, tt.text, counts, shares)
	}
}

// The largest keyspace works as well: all draws are inside, and the hottest key has its exact share.
func TestDistributionsOverLargeRange(t *testing.T) {
	for _, text := range []string{"uniform", "zipf:1", "zipf:0.8", "zipf:3", "gaussian", "gaussian:1", "gaussian:1e12", "hotspot:1%:90%"} {
		k := mustDist(t, text).over(maxNumber)
		s := newStream(1, streamKey)
		first, ranked := 0, 0
		const draws = 100_000
		for i := range uint64(draws) {
			v := k.draw(s, i, i)
			if v >= maxNumber {
				t.Fatalf("%s: draw %d", text, v)
			}
			if v == 0 {
				first++
			}
			if v < zipfRanks {
				ranked++
			}
		}
		if text == "zipf:1" {
			const gamma = 0.5772156649
			all := math.Log(maxNumber) + gamma
			for name, c := range map[string]struct {
				got   int
				share float64
			}{"key 0": {first, 1 / all}, "a key with an outcome of its own": {ranked, (math.Log(zipfRanks) + gamma) / all}} {
				if sigma := math.Sqrt(draws * c.share); math.Abs(float64(c.got)-draws*c.share) > 5*sigma {
					t.Errorf("%s: %s %d times, want %.0f", text, name, c.got, draws*c.share)
				}
			}
			if outcomes := zipfRanks + len(k.zipf.from) - 1; outcomes > zipfColumns {
				t.Errorf("%d outcomes in a table of %d", outcomes, zipfColumns)
			}
		}
	}
}

func TestSequentialAndSpread(t *testing.T) {
	k := Sequential.over(7)
	for i := range uint64(30) {
		if got := k.draw(0, i, i); got != i%7 {
			t.Errorf("sequential draw %d is %d", i, got)
		}
	}
	k = spread(maxNumber, 1000)
	for i := range uint64(1000) {
		if got, want := k.draw(0, i, i), i*maxNumber/1000; got != want {
			t.Errorf("spread draw %d is %d, want %d", i, got, want)
		}
	}
}

func TestParseKeyDistErrors(t *testing.T) {
	for text, want := range map[string]string{
		"zipf":             "bad exponent",
		"zipf:0":           "bad exponent",
		"zipf:-1":          "bad exponent",
		"zipf:NaN":         "bad exponent",
		"zipf:x":           "bad exponent",
		"gaussian:0":       "bad standard deviation",
		"gaussian:":        "bad standard deviation",
		"gaussian:Inf":     "bad standard deviation",
		"hotspot":          "bad hotspot",
		"hotspot:20%":      "bad hotspot",
		"hotspot:0%:50%":   "bad hotspot",
		"hotspot:101%:50%": "bad hotspot",
		"hotspot:1%:-1%":   "bad hotspot",
		"hotspot:NaN%:1%":  "bad hotspot",
		"uniform:3":        "unknown key distribution",
		"uniform:":         "unknown key distribution",
		"pareto":           "unknown key distribution",
		"Zipf:1":           "want uniform, sequential",
	} {
		if _, err := ParseKeyDist(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
