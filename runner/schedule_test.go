package runner

import (
	"math"
	"slices"
	"testing"
	"time"
)

// dueTimes walks all loops' pacers and returns what is due before end, in order.
func dueTimes(s schedule, loops int, unit int, poisson bool, end time.Duration) []time.Duration {
	var all []time.Duration
	for loop := range loops {
		p := &pacer{schedule: s, loop: loop, loops: loops, unit: unit, poisson: poisson, seed: 7}
		for p.begin(); !p.done && p.dueNs < int64(end); p.next() {
			all = append(all, time.Duration(p.dueNs))
		}
	}
	slices.Sort(all)
	return all
}

func steady(rate float64) schedule { return schedule{{From: rate, To: rate}} }

// A fixed schedule holds its rate within 0.1 % over ten seconds, in all and from each request to the
// next, however many loops share it.
func TestFixedRateIsExact(t *testing.T) {
	for _, rate := range []float64{0.3, 1, 7, 1000, 33333, 1e6} {
		for _, loops := range []int{1, 3, 16} {
			const span = 10 * time.Second
			due := dueTimes(steady(rate), loops, 1, false, span)
			want := math.Ceil(rate * span.Seconds())
			if math.Abs(float64(len(due))-want) > max(1, 0.001*want) {
				t.Errorf("rate %v, %d loops: %d due in %v, want %v", rate, loops, len(due), span, want)
			}
			gap := time.Duration(1e9 / rate)
			for i := 1; i < len(due); i++ {
				if d := due[i] - due[i-1] - gap; d < -2 || d > 2 {
					t.Fatalf("rate %v, %d loops: gap %d is %v, want %v", rate, loops, i, due[i]-due[i-1], gap)
				}
			}
		}
	}
}

// The requests of a unit are due together: the rate of requests stays what it is.
func TestUnitsKeepTheRateOfRequests(t *testing.T) {
	due := dueTimes(steady(1000), 2, 4, false, 10*time.Second)
	if len(due) != 2500 {
		t.Errorf("%d units of 4 requests in 10 s at 1000 requests per second, want 2500", len(due))
	}
}

// Poisson arrivals: the gaps of the joint process of all loops are exponential (Kolmogorov and Smirnov,
// 1 % level), their mean is 1/rate, and neighbours are not correlated.
func TestPoissonGapsAreExponential(t *testing.T) {
	for _, loops := range []int{1, 4} {
		const rate, span = 10000.0, 10 * time.Second
		due := dueTimes(steady(rate), loops, 1, true, span)
		gaps := make([]float64, len(due)-1)
		for i := range gaps {
			gaps[i] = (due[i+1] - due[i]).Seconds()
		}
		n := float64(len(gaps))
		if d := math.Abs(n/span.Seconds() - rate); d > 3*math.Sqrt(rate/span.Seconds()) {
			t.Errorf("%d loops: %v arrivals a second, want %v", loops, n/span.Seconds(), rate)
		}
		if r := correlation(gaps[:len(gaps)-1], gaps[1:]); math.Abs(r) > 3/math.Sqrt(n) {
			t.Errorf("%d loops: neighbouring gaps correlate by %v", loops, r)
		}
		if d, limit := ksExponential(gaps, rate), 1.63/math.Sqrt(n); d > limit {
			t.Errorf("%d loops: Kolmogorov-Smirnov distance %v, above %v", loops, d, limit)
		}
	}
}

// A test that equal gaps must fail, so that the one above is no test that cannot fail.
func TestEqualGapsAreNotExponential(t *testing.T) {
	gaps := make([]float64, 1000)
	for i := range gaps {
		gaps[i] = 1e-3
	}
	if d := ksExponential(gaps, 1000); d < 0.3 {
		t.Errorf("distance %v of equal gaps", d)
	}
}

// ksExponential is the largest distance between the gaps' distribution and the exponential one.
func ksExponential(gaps []float64, rate float64) (d float64) {
	sorted := slices.Sorted(slices.Values(gaps))
	n := float64(len(sorted))
	for i, g := range sorted {
		f := -math.Expm1(-g * rate)
		d = max(d, math.Abs(f-float64(i)/n), math.Abs(f-float64(i+1)/n))
	}
	return d
}

func correlation(a, b []float64) float64 {
	var ma, mb, ab, aa, bb float64
	for i := range a {
		ma += a[i] / float64(len(a))
		mb += b[i] / float64(len(b))
	}
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// Steps and ramps: at and offered are each other's inverse, and the schedule ends.
func TestSchedules(t *testing.T) {
	tests := []struct {
		s     schedule
		total float64
	}{
		{schedule{{10, 10, 2 * time.Second}, {20, 20, time.Second}}, 40},
		{schedule{{0.001, 100, 10 * time.Second}}, 500.005},
		{schedule{{100, 0.001, 10 * time.Second}}, 500.005},
		{schedule{{1, 50, 3 * time.Second}, {50, 50, time.Second}, {50, 1, 3 * time.Second}}, 203},
		{schedule{{0.5, 0.5, time.Minute}}, 30},
		{schedule{{0, 100, 10 * time.Second}}, 500},
		{schedule{{100, 0, 10 * time.Second}}, 500},
		{schedule{{0, 0, time.Second}, {10, 10, time.Second}, {0, 0, time.Second}, {10, 10, time.Second}}, 20},
	}
	for _, tt := range tests {
		if got := tt.s.offered(tt.s.length()); math.Abs(got-tt.total) > 1e-6 {
			t.Errorf("%v offers %v requests, want %v", tt.s, got, tt.total)
		}
		for n := 0.0; n < tt.total-1e-6; n += tt.total / 97 {
			at, ok := tt.s.at(n)
			if back := tt.s.offered(at); !ok || math.Abs(back-n) > 1e-4 {
				t.Errorf("%v: request %v is due at %v, when %v are", tt.s, n, at, back)
			}
		}
		if _, ok := tt.s.at(tt.total + 1e-6); ok {
			t.Errorf("%v does not end behind its last request", tt.s)
		}
		for _, loops := range []int{1, 3} {
			if got := len(dueTimes(tt.s, loops, 1, false, tt.s.length())); math.Abs(float64(got)-tt.total) > 1 {
				t.Errorf("%v on %d loops: %d due, want %v", tt.s, loops, got, tt.total)
			}
		}
	}
}

// What is left of a schedule can be told without walking it: equal gaps exactly, Poisson's within chance.
func TestRestOfASchedule(t *testing.T) {
	ramp := schedule{{10, 10, time.Second}, {20, 900, 2 * time.Second}}
	for _, s := range []schedule{steady(1000), steady(0.5), ramp} {
		for _, unit := range []int{1, 4} {
			for loop := range 3 {
				for _, poisson := range []bool{false, true} {
					const end = int64(2500 * time.Millisecond)
					p := &pacer{schedule: s, loop: loop, loops: 3, unit: unit, poisson: poisson, seed: 3}
					p.begin()
					for range 7 {
						if p.dueNs < end {
							p.next()
						}
					}
					told, walked := p.rest(end), int64(0)
					for ; p.dueNs < end; p.next() {
						walked++
					}
					off := 0.0
					if poisson {
						off = 4*math.Sqrt(float64(walked)) + 2
					}
					if math.Abs(float64(told-walked)) > off {
						t.Errorf("%v, units of %d, loop %d, poisson %v: %d are left, said to be %d", s, unit, loop, poisson, walked, told)
					}
				}
			}
		}
	}
}

// The next request of a rate that is next to nothing is due at the end of all time, and not before its beginning.
func TestRateNextToNothing(t *testing.T) {
	p := &pacer{schedule: steady(1e-11), loops: 1, unit: 1, startNs: 5}
	p.begin()
	if p.next(); p.dueNs != math.MaxInt64 {
		t.Errorf("due at %d", p.dueNs)
	}
}

// Every loop's share of -n equal gaps has the requests whose turn is the loop's: none twice, none missing.
func TestPacedShares(t *testing.T) {
	for _, requests := range []uint64{0, 1, 2, 3, 10, 1000, 1001} {
		for _, unit := range []uint64{1, 3} {
			for loops := uint64(1); loops <= 5; loops++ {
				seen := make([]bool, requests)
				units := (requests + unit - 1) / unit
				for loop := range loops {
					s := pacedShare(requests, unit, loop, loops)
					if turns := (units + loops - 1 - loop) / loops; (s.to-s.from+unit-1)/unit != turns {
						t.Errorf("%d requests in units of %d on %d loops: loop %d has %d, want %d units", requests, unit, loops, loop, s.to-s.from, turns)
					}
					for first, n := s.claim(unit); n > 0; first, n = s.claim(unit) {
						for i := first; i < first+n; i++ {
							if seen[i] {
								t.Fatalf("request %d is given out twice", i)
							}
							seen[i] = true
						}
					}
					if !s.empty() {
						t.Errorf("loop %d's share does not end", loop)
					}
				}
				if slices.Contains(seen, false) {
					t.Errorf("%d requests in units of %d on %d loops: one is missing", requests, unit, loops)
				}
			}
		}
	}
}

// The seed repeats a Poisson schedule, and another one gives another.
func TestPoissonSeed(t *testing.T) {
	first := func(seed uint64, loop int) (list []int64) {
		p := &pacer{schedule: steady(100), loop: loop, loops: 2, unit: 1, poisson: true, seed: seed}
		p.begin()
		for range 50 {
			list = append(list, p.dueNs)
			p.next()
		}
		return list
	}
	if !slices.Equal(first(1, 0), first(1, 0)) {
		t.Error("the same seed gives different schedules")
	}
	if slices.Equal(first(1, 0), first(2, 0)) || slices.Equal(first(1, 0), first(1, 1)) {
		t.Error("seeds or loops share a schedule")
	}
}
