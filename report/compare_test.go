package report

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// runsAt returns n runs whose throughput is normal around qps with the given CV.
func runsAt(r *rand.Rand, n int, qps, cv float64) []*Result {
	var runs []*Result
	for range n {
		q := qps * (1 + cv*r.NormFloat64())
		h := NewHistogram()
		h.RecordN(int64(1e9/q), 1000)
		runs = append(runs, &Result{
			Title: "SET", Requests: 1_000_000, Elapsed: time.Duration(1e15 / q), Latency: h,
			CPU: CPU{User: time.Second}, Clients: 50,
		})
	}
	return runs
}

// Of two samples from one distribution, "~" must be said in 90 to 99 % of the trials.
func TestCompareSaysNoDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(20260306, 1))
	same, trials := 0, 200
	for range trials {
		c := compareQPS(runsAt(r, 10, 100000, 0.02), runsAt(r, 10, 100000, 0.02))
		if c.Delta() == "~" {
			same++
		}
	}
	if same < trials*90/100 || same > trials*99/100 {
		t.Errorf("~ in %d of %d trials", same, trials)
	}
}

// A shift of 5 % at a CV of 2 % with 10 runs each must be found in at least 95 % of the trials.
func TestCompareFindsFivePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(20260306, 2))
	found, trials := 0, 200
	for range trials {
		c := compareQPS(runsAt(r, 10, 100000, 0.02), runsAt(r, 10, 105000, 0.02))
		if c.Significant && c.Change.Percent > 0 {
			found++
		}
	}
	if found < trials*95/100 {
		t.Errorf("found in %d of %d trials", found, trials)
	}
}

// compareQPS is the throughput row alone, without the search for the smallest difference.
func compareQPS(a, b []*Result) CompareRow {
	c := &Comparison{}
	m := compareMetrics[0]
	va, vb := values(a, m.of), values(b, m.of)
	return c.row("SET", m, va, vb)
}

// What "would show" promises must show, in both directions.
func TestSmallestShift(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	a, b := make([]float64, 10), make([]float64, 10)
	for i := range a {
		a[i], b[i] = 100+2*r.NormFloat64(), 300+6*r.NormFloat64()
	}
	s := smallestShift(a, b)
	if s < 1 || s > 5 {
		t.Fatalf("smallest shift %v %% with a CV of 2 %%", s)
	}
	ma, mb := median(a), median(b)
	for _, c := range []struct {
		percent float64
		want    bool
	}{{s, true}, {-s, true}, {0.1, false}} {
		var x, y []*Result
		for i := range a {
			x = append(x, &Result{Requests: 1, Elapsed: time.Duration(1e12 * ma / a[i])})
			y = append(y, &Result{Requests: 1, Elapsed: time.Duration(1e12 * mb / b[i] / (1 + c.percent/100))})
		}
		if got := compareQPS(x, y); got.Significant != c.want {
			t.Errorf("a difference of %.1f%% is significant: %v, p=%v", c.percent, got.Significant, got.P)
		}
	}
	if s := smallestShift([]float64{1, 2, 3}, []float64{1, 2, 3}); s != 0 {
		t.Errorf("three runs would show %v%%", s)
	}
	if s := smallestShift([]float64{0, 0, 0, 0, 0}, []float64{0, 0, 0, 0, 0}); s != 0 {
		t.Errorf("zeros would show %v%%", s)
	}
}

func TestCompareTable(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	a, b := runsAt(r, 10, 100000, 0.01), runsAt(r, 9, 105000, 0.01)
	b[0].Pipeline = 16
	a = append(a, &Result{Title: "SET", Interrupted: true}, &Result{Title: "INCR", Requests: 1, Elapsed: 1})
	b = append(b, &Result{Title: "GET", Requests: 1, Elapsed: 1})
	c := Compare("old.json", "new.json", a, b)
	var out bytes.Buffer
	if err := CompareTable(&out, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "compare.golden", out.String())
	if err := CompareTable(fullWriter{}, c); !errors.Is(err, errFull) {
		t.Errorf("CompareTable returned %v", err)
	}
}

// What makes a comparison unfair is told beside it.
func TestCompareWarns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	a, b := runsAt(r, 4, 100, 0.01), runsAt(r, 4, 100, 0.01)
	for i := range b {
		b[i].ErrorTotal, b[i].Response = int64(i), b[i].Latency
		b[i].Pacing = &Pacing{Arrival: "fixed", Schedule: "100"}
	}
	got := strings.Join(Compare("A", "B", a, b).Warnings, "\n")
	for _, want := range []string{"SET: 6 of the 4000000 replies of B are errors",
		"SET: load is a closed loop (service times) in A and fixed arrivals at 100 (response times) in B"} {
		if !strings.Contains(got, want) {
			t.Errorf("no warning %q in:\n%s", want, got)
		}
	}
	if clean := Compare("A", "B", a, a).Warnings; strings.Contains(strings.Join(clean, "\n"), "SET: ") {
		t.Errorf("warnings of equal runs: %q", clean)
	}
}

func TestCompareOfFewRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	c := Compare("A", "B", runsAt(r, 1, 100, 0), runsAt(r, 1, 200, 0))
	var out bytes.Buffer
	if err := CompareTable(&out, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"100.000 ± n/a", " n/a  p=1.000 n=1 ", "need >= 6 samples for confidence interval", "note: n/a: so few runs cannot tell"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table does not say %s:\n%s", want, out.String())
		}
	}
	// What no outcome could show is "n/a" and not "~", however far A and B lie apart; as soon as one could, it is shown.
	for _, n := range []struct {
		a, b  int
		tells bool
	}{{1, 1, false}, {3, 3, false}, {1, 30, false}, {2, 7, false}, {2, 8, true}, {3, 5, true}, {4, 4, true}} {
		for _, sides := range [][2]int{{n.a, n.b}, {n.b, n.a}} {
			c := Compare("A", "B", runsAt(r, sides[0], 100, 0.01), runsAt(r, sides[1], 1000, 0.01))
			if d := c.Rows[0].Delta(); (d != "n/a") != n.tells || (len(c.TooFew()) == 0) != n.tells || d == "~" {
				t.Errorf("%v runs: %s, too few for %v", sides, d, c.TooFew())
			}
		}
	}
}

func TestSlowerJudgesThroughputAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	fast, slow := runsAt(r, 10, 100000, 0.01), runsAt(r, 10, 90000, 0.01)
	if got := Compare("A", "B", fast, slow).Slower(3); len(got) != 1 || got[0].Metric != "QPS" {
		t.Errorf("10 %% slower: %+v", got)
	}
	if got := Compare("A", "B", fast, slow).Slower(15); got != nil {
		t.Errorf("10 %% slower with a limit of 15 %%: %+v", got)
	}
	if got := Compare("A", "B", slow, fast).Slower(3); got != nil {
		t.Errorf("faster: %+v", got)
	}
}
