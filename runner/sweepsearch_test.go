package runner

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"respbench/report"
)

// The search ends within its tolerance below the limit, wherever that is and wherever it begins.
func TestSearchFindsTheLimit(t *testing.T) {
	for _, limit := range []float64{7, 333, 1000, 1001, 5000, 9999} {
		for _, from := range []float64{500, 1000, 4000} {
			windows := 0
			s := searcher{from: from, by: climbBy, round: roundRate, holds: func(v float64) (bool, error) {
				windows++
				return v <= limit, nil
			}}
			best, err := s.run()
			reach := from * math.Pow(climbBy, climbSteps) // as far as the climb goes
			if err != nil || best > limit || best < min(limit/closeEnough/1.02, reach*0.97) || windows > climbSteps+bisections+fallSteps {
				t.Errorf("limit %v from %v: %v after %d windows, %v", limit, from, best, windows, err)
			}
		}
	}
}

func TestSearchEnds(t *testing.T) {
	counts := func(limit float64) (best float64, tried []float64) {
		s := searcher{from: 1, by: doubleBy, round: math.Round, holds: func(v float64) (bool, error) {
			tried = append(tried, v)
			return v <= limit, nil
		}}
		best, _ = s.run()
		return best, tried
	}
	for _, limit := range []float64{1, 2, 3, 11, 100} {
		if best, tried := counts(limit); best > limit || best*closeEnough < limit {
			t.Errorf("limit %v: %v after %v", limit, best, tried)
		}
	}
	if best, tried := counts(0); best != 0 || len(tried) != 1 {
		t.Errorf("nothing holds: %v after %v", best, tried)
	}
	if best, tried := counts(1e9); best != 256 {
		t.Errorf("everything holds: %v after %v", best, tried)
	}
	failed := errors.New("connection lost")
	s := searcher{from: 100, by: climbBy, round: roundRate, holds: func(v float64) (bool, error) {
		if v > 150 {
			return false, failed
		}
		return true, nil
	}}
	if best, err := s.run(); !errors.Is(err, failed) || best == 0 {
		t.Errorf("%v, %v: what held before the error is kept, and the error told", best, err)
	}
}

// What was measured before the search counts: the answer is not below what is seen to hold.
func TestSearchStartsFromWhatIsKnown(t *testing.T) {
	yes, no := true, false
	var tried []float64
	s := searcher{from: 800, by: climbBy, round: roundRate, known: []report.SweepPoint{{Load: 100, Holds: &no}, {Load: 400, Holds: &yes}},
		holds: func(v float64) (bool, error) {
			tried = append(tried, v)
			return v <= 500, nil
		}}
	if best, err := s.run(); err != nil || best < 470 || best > 500 || slices.Min(tried) < 400 {
		t.Errorf("%v after %v, %v", best, tried, err)
	}
}

// A load that fails below one that holds was not the server's doing alone: the result says so, once.
func TestUnevenSweepIsNoted(t *testing.T) {
	yes, no := true, false
	uneven := []report.SweepPoint{{Load: 100, Holds: &no}, {Load: 200, Holds: &no}, {Load: 400, Holds: &yes}, {Load: 800, Holds: &no}}
	for _, c := range []struct {
		objective string
		points    []report.SweepPoint
		max       float64
		note      string
	}{
		{"p99<2ms", uneven, 400, "rate 100 failed although 400 holds: "},
		{"achieved/offered>=0.99", uneven, 400, "rate 100 failed although 400 holds: "},
		{"qps>=300", uneven, 400, ""}, // by nature
		{"p99<2ms", []report.SweepPoint{{Load: 100, Holds: &yes}, {Load: 800, Holds: &no}}, 100, ""},
		{"p99<2ms", []report.SweepPoint{{Load: 100, Holds: &no}}, 0, ""},
	} {
		objective, err := report.ParseAssertion(c.objective)
		if err != nil {
			t.Fatal(err)
		}
		w := &sweep{so: SweepOptions{Variable: "rate"}, objective: objective, res: &report.SweepResult{Points: c.points, Max: c.max}}
		w.noteUneven()
		got := strings.Join(w.res.Notes, "; ")
		if !strings.HasPrefix(got, c.note) || c.note == "" && got != "" || len(w.res.Notes) > 1 {
			t.Errorf("%v: %q, want %q", c.points, got, c.note)
		}
	}
}

func TestRoundRate(t *testing.T) {
	for v, want := range map[float64]float64{123456: 123000, 999.6: 1000, 0.123456: 0.123, 7: 7, 0: 0} {
		if got := roundRate(v); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v: %v, want %v", v, got, want)
		}
	}
}

// A window without a reply holds no objective, not even one that nothing can break, and shows no latency of 0.
func TestEmptyWindowHoldsNothing(t *testing.T) {
	objective, err := report.ParseAssertion("errors==0")
	if err != nil {
		t.Fatal(err)
	}
	w := &sweep{so: SweepOptions{Variable: "clients"}, objective: objective}
	empty := &report.Result{Latency: report.NewHistogram()}
	if holds, figures := w.check(empty); holds || !slices.Equal(figures, []string{"nothing was measured"}) {
		t.Errorf("holds %v, %q", holds, figures)
	}
	no := false
	if got := pointLine("clients", &report.SweepPoint{Load: 2, Result: empty, Holds: &no, Tries: 2}); got != "clients 2: nothing was measured, fails at try 2" {
		t.Errorf("%q", got)
	}
	one := &report.Result{Latency: report.NewHistogram(), Requests: 1, Elapsed: time.Second}
	one.Latency.Record(1e6)
	if holds, _ := w.check(one); !holds {
		t.Error("a window with a reply and no errors must hold errors==0")
	}
}
