package runner

import (
	"math"
	"time"

	"respbench/netpoll"
	"respbench/report"
)

// The account of an open loop. Offered and achieved are over the same time, to the end of the schedule or to
// the last request that was begun: so their quotient is the share of the offered load that the server took,
// and 1 when it took all of it, however long the last replies were under way.

// bounded says that a number of requests, and not the time alone, ends the round.
func (l *Load) bounded() bool { return l.Requests < unlimited }

// unlimited is more requests than any run makes.
const unlimited = math.MaxInt64 / 2

// timeLimit is how long the measured part lasts at most: --duration or the schedule's end; 0 = the
// requests decide.
func (r *round) timeLimit() time.Duration {
	limit := r.load.Duration
	if n := r.schedule.length(); n > 0 && (limit == 0 || n < limit) {
		limit = n
	}
	return limit
}

// shareOf is where a loop finds its requests of the measured part.
func (r *round) shareOf(loop int) share {
	if len(r.schedule) == 0 || r.load.Poisson || !r.load.bounded() {
		return share{q: r.quota}
	}
	return pacedShare(uint64(r.load.Requests), r.unit, uint64(loop), uint64(len(r.workers)))
}

// pacedShare is a loop's own part of equally spaced requests: since its turn comes every so many
// units, their number is known, and the last request is as punctual as the others.
func pacedShare(requests, unit, loop, loops uint64) share {
	units := (requests + unit - 1) / unit
	each, rest := units/loops, units%loops
	from, n := each*loop+min(loop, rest), each
	if loop < rest {
		n++
	}
	return share{q: &quota{}, from: min(from*unit, requests), to: min((from+n)*unit, requests)}
}

// pacing is the account of all loops. interrupted says that the round was cut short.
func (r *round) pacing(res *report.Result, interrupted bool) *report.Pacing {
	p := &report.Pacing{Arrival: "fixed", Schedule: r.schedule.String()}
	if r.load.Poisson {
		p.Arrival = "poisson"
	}
	lastNs, begunNs := r.measureNs, r.measureNs
	for _, w := range r.workers {
		o := w.open
		if o == nil || w.warming {
			continue
		}
		p.Due += o.due.n * int64(r.unit)
		p.Late += o.late
		p.MaxLate = max(p.MaxLate, time.Duration(o.maxLate))
		p.Lag += o.lag
		p.MaxLag = max(p.MaxLag, time.Duration(o.maxLag))
		p.QueueMax += o.queueMax
		p.Unstarted += (o.due.n - o.given.n) * int64(r.unit)
		lastNs, begunNs = max(lastNs, o.due.lastNs), max(begunNs, o.begunNs)
	}
	if r.load.bounded() {
		p.Due = min(p.Due, r.load.Requests)
		p.QueueMax = min(p.QueueMax, p.Due) // loops that share -n may each have waited for the same request
		p.Lag = min(p.Lag, p.Due)
	}
	if s := r.offeredFor(p.Due, time.Duration(lastNs-r.measureNs), interrupted).Seconds(); s > 0 {
		p.Offered = float64(p.Due) / s
		p.Achieved = float64(res.Requests) / max(s, time.Duration(begunNs-r.measureNs).Seconds())
	}
	if r.load.Engine == "gnet" {
		p.Resolution = "the gnet engine keeps time to about a millisecond"
	}
	return p
}

// offeredFor is how long the schedule took to make so many requests due, the last one at lastDue. The
// gap behind the last request belongs to it where gaps are equal.
func (r *round) offeredFor(due int64, lastDue time.Duration, interrupted bool) time.Duration {
	limit := r.timeLimit()
	if interrupted {
		ran := time.Duration(netpoll.Now() - r.measureNs)
		if limit > 0 {
			ran = min(ran, limit)
		}
		return ran
	}
	if r.load.bounded() && due >= r.load.Requests || limit == 0 {
		if after, ok := r.schedule.at(float64(due)); ok && !r.load.Poisson {
			return after
		}
		return lastDue
	}
	return limit
}
