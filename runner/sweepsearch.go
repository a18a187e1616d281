package runner

import (
	"context"
	"math"

	"respbench/report"
)

// search finds the highest value that holds the objective, and leaves it in the result's Max.
func (w *sweep) search(ctx context.Context) error {
	s := searcher{
		holds: func(v float64) (bool, error) { return w.window(ctx, v) },
		known: w.res.Points, round: math.Round, from: 1, by: doubleBy,
	}
	if w.so.Variable == "rate" {
		s.round, s.from, s.by = roundRate, climbFrom*w.reach, climbBy
	}
	var err error
	w.res.Max, err = s.run()
	return err
}

// searcher looks for the highest value that holds, on the supposition that what holds at a value holds
// below it.
type searcher struct {
	holds func(v float64) (bool, error)
	known []report.SweepPoint // measured before
	round func(v float64) float64
	from  float64 // the first value tried
	by    float64 // factor of a step up
}

// run returns 0 when nothing holds. When every step up held, it is the last one.
func (s *searcher) run() (best float64, err error) {
	low, high, err := s.bracket()
	if err != nil || high == 0 || low == 0 {
		return low, err
	}
	for range bisections {
		if high/low <= closeEnough {
			break
		}
		middle := s.round(math.Sqrt(low * high))
		if middle <= low || middle >= high {
			break
		}
		ok, err := s.holds(middle)
		if err != nil {
			return low, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// bracket finds a value that holds and one above it that does not: up in steps, or, when the first fails,
// down by halves. low is 0 when none holds, high when none fails.
func (s *searcher) bracket() (low, high float64, err error) {
	v := s.round(s.from)
	ok, err := s.holds(v)
	if err != nil {
		return 0, 0, err
	}
	if !ok {
		return s.fall(v)
	}
	for range climbSteps {
		low = v
		v = s.round(v * s.by)
		ok, err := s.holds(v)
		switch {
		case err != nil:
			return low, 0, err
		case !ok:
			return low, v, nil
		}
	}
	return v, 0, nil
}

// fall goes down from a value that fails: to what is known to hold, or else by halves.
func (s *searcher) fall(failed float64) (low, high float64, err error) {
	for _, p := range s.known {
		if p.Holds != nil && *p.Holds && p.Load < failed {
			low = max(low, p.Load)
		}
	}
	if low > 0 {
		return low, failed, nil
	}
	for range fallSteps {
		v := s.round(failed / 2)
		if v >= failed || v <= 0 {
			break
		}
		ok, err := s.holds(v)
		switch {
		case err != nil:
			return 0, failed, err
		case ok:
			return v, failed, nil
		}
		failed = v
	}
	return 0, failed, nil
}
