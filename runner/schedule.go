package runner

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// schedule is an offered load: legs of constant or linearly changing rate. It is a value without
// a clock or state; it only says when the n-th request is due. The zero value has no request.
type schedule []RateStep

// newSchedule is the schedule that the options ask for; empty means a closed loop.
func newSchedule(l *Load) schedule {
	if len(l.Schedule) > 0 {
		return l.Schedule
	}
	if l.Rate.PerSecond > 0 {
		return schedule{{From: l.Rate.PerSecond, To: l.Rate.PerSecond}}
	}
	return nil
}

// length is how long the schedule lasts; 0 = without end.
func (s schedule) length() (d time.Duration) {
	for _, leg := range s {
		if leg.For == 0 {
			return 0
		}
		d += leg.For
	}
	return d
}

// at is the time, from the start of the schedule, when the load has offered n requests; n need not
// be whole. ok is false when the schedule ends before.
func (s schedule) at(n float64) (due time.Duration, ok bool) {
	var start time.Duration
	for _, leg := range s {
		if leg.For == 0 {
			return start + seconds(n/leg.From), leg.From > 0
		}
		sec := leg.For.Seconds()
		if whole := sec * (leg.From + leg.To) / 2; n >= whole {
			n -= whole
			start += leg.For
			continue
		}
		return start + seconds(timeOf(n, leg.From, (leg.To-leg.From)/sec)), true
	}
	return 0, false
}

// timeOf solves n = rate·t + slope·t²/2 for t ≥ 0.
func timeOf(n, rate, slope float64) float64 {
	if n == 0 {
		return 0
	}
	// The form without cancellation: it also holds for slope 0 and for a rate that starts at 0.
	return 2 * n / (rate + math.Sqrt(max(rate*rate+2*slope*n, 0)))
}

// offered is how many requests are due within the first d.
func (s schedule) offered(d time.Duration) (n float64) {
	for _, leg := range s {
		if leg.For == 0 || d < leg.For {
			t := d.Seconds()
			slope := 0.0
			if leg.For > 0 {
				slope = (leg.To - leg.From) / leg.For.Seconds()
			}
			return n + leg.From*t + slope*t*t/2
		}
		n += leg.For.Seconds() * (leg.From + leg.To) / 2
		d -= leg.For
	}
	return n
}

func seconds(s float64) time.Duration {
	if s > math.MaxInt64/1e9 {
		return math.MaxInt64
	}
	return time.Duration(s * 1e9)
}

// String is the schedule as --rps takes it.
func (s schedule) String() string {
	var legs []string
	for _, leg := range s {
		text := strconv.FormatFloat(leg.From, 'f', -1, 64)
		if leg.To != leg.From {
			text += ".." + strconv.FormatFloat(leg.To, 'f', -1, 64)
		}
		if leg.For > 0 {
			text += ":" + leg.For.String()
		}
		legs = append(legs, text)
	}
	return strings.Join(legs, ",")
}

// pacer walks through one loop's part of a schedule, unit by unit. Equal gaps are dealt out in turn,
// so that the loops together hold the rate exactly and never burst together; a Poisson process of
// rate R is the sum of one with R/loops in each loop.
type pacer struct {
	schedule schedule
	startNs  int64
	loop     int
	loops    int
	unit     int // requests that are due together
	poisson  bool
	seed     uint64

	n      int64   // units taken
	sum    float64 // of the gaps so far, in mean gaps of this loop
	dueNs  int64   // of the next unit
	lastNs int64   // of the unit before, where there is one
	done   bool    // the schedule has ended
}

// begin takes the pacer to the first unit.
func (p *pacer) begin() {
	if p.poisson {
		p.sum = p.gap()
	}
	p.compute()
}

// next moves on to the unit behind the one that is due at p.dueNs.
func (p *pacer) next() {
	p.n++
	p.lastNs = p.dueNs
	if p.poisson {
		p.sum += p.gap()
	} else {
		p.sum = float64(p.n)
	}
	p.compute()
}

func (p *pacer) compute() {
	n := p.sum * float64(p.loops)
	if !p.poisson {
		n += float64(p.loop)
	}
	due, ok := p.schedule.at(n * float64(p.unit))
	p.dueNs, p.done = math.MaxInt64, !ok
	if int64(due) < math.MaxInt64-p.startNs { // a rate of one in a thousand years has no later time
		p.dueNs = p.startNs + int64(due)
	}
}

// rest is how many units are due before endNs, from the one at p.dueNs on; of a Poisson process the expected number.
func (p *pacer) rest(endNs int64) int64 {
	units := p.schedule.offered(time.Duration(endNs-p.startNs)) / float64(p.unit)
	if p.poisson {
		return max(int64(math.Round(units/float64(p.loops)-p.sum)), 0)
	}
	return max(int64(math.Ceil((units-float64(p.loop))/float64(p.loops)))-p.n, 0)
}

// gap is an exponential draw of mean 1, a pure function of the seed, the loop and the unit.
func (p *pacer) gap() float64 {
	x := mix(p.seed + uint64(p.loop)<<32*0x9e3779b97f4a7c15)
	x = mix(x + uint64(p.n)*0x9e3779b97f4a7c15)
	return -math.Log1p(-float64(x>>11) * 0x1p-53)
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
