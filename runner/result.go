package runner

// result.go makes the finished result of a round from what its loops counted, after they have ended.

import (
	"context"
	"time"

	"respbench/netpoll"
	"respbench/report"
)

// result merges what the loops counted. It is called after they have ended.
func (r *round) result(ctx context.Context) *report.Result {
	r.measuring.Do(func() { r.started, r.cpu = time.Now(), processCPU() }) // it ended in the warm-up: nothing was measured
	used := r.cpuEnd().since(r.cpu)
	res := &report.Result{Title: r.plan.Title, Started: r.started, PayloadSize: r.plan.PayloadSize,
		Clients: r.load.Clients, Threads: len(r.loops), Threaded: r.load.Threaded, Pipeline: r.load.Pipeline,
		KeepAlive: r.load.Reconnect == 0,
		Latency:   report.NewHistogram(), Connect: report.NewHistogram(),
		Interrupted: ctx.Err() != nil, CPU: report.CPU{User: used.user, System: used.system}}
	var errs errorCounts
	var last int64
	ops := make([]opStats, 0)
	for _, w := range r.workers {
		w.series.close(w)
		res.Latency.Merge(w.series.total)
		res.Latency.Merge(w.hist)
		if w.response != nil {
			if res.Response == nil {
				res.Response = report.NewHistogram()
			}
			res.Response.Merge(w.series.waited)
			res.Response.Merge(w.response)
		}
		res.Connect.Merge(w.connect)
		for text, n := range w.errors {
			errs.addN(text, n)
		}
		addTally(res, &w.tally)
		if w.running && !w.warming {
			res.BytesIn += w.bytesIn
			res.BytesOut += w.bytesOut
		}
		res.Verified += w.verify.verified
		res.Mismatches += w.verify.mismatches
		res.Samples = append(res.Samples, w.verify.samples...)
		last = max(last, w.lastNs)
		ops = mergeOps(ops, w.ops)
		res.CPU.Loops = append(res.CPU.Loops, w.usage())
	}
	res.Samples = res.Samples[:min(len(res.Samples), maxSamples)]
	res.Requests = res.Latency.Count()
	res.OverRange = res.Latency.OverRange()
	res.Errors = errs.sorted()
	if r.begun.Load() {
		res.Elapsed = max(time.Duration(last-r.measureNs), r.lasted(ctx), 0)
	}
	res.Redirects = r.redirects()
	res.Ops = r.opResults(ops)
	res.Series = r.intervals(res.Elapsed)
	if len(r.schedule) > 0 {
		res.Pacing = r.pacing(res, ctx.Err() != nil)
	}
	if r.load.bounded() {
		res.Asked = r.load.Requests
	}
	res.Notes = r.notes(res)
	return res
}

// cpuEnd is the process's CPU time when the last loop had all its replies.
func (r *round) cpuEnd() (end cpuUsage) {
	for _, w := range r.workers {
		if w.loading > 0 { // cut short
			return processCPU()
		}
		if w.cpuEnd.total() > end.total() {
			end = w.cpuEnd
		}
	}
	return end
}

// lasted is the least that the measured part lasted: to its end in time, unless the requests ran out, or to the
// interruption, before which the server may have been silent for long.
func (r *round) lasted(ctx context.Context) time.Duration {
	endNs := r.endNs
	switch {
	case ctx.Err() != nil:
		if now := netpoll.Now(); endNs == 0 || now < endNs {
			endNs = now
		}
	case r.load.bounded() || endNs == 0:
		return 0
	}
	return time.Duration(endNs - r.measureNs)
}

func addTally(res *report.Result, t *[classes]int64) {
	res.Hits += t[classHit]
	res.Misses += t[classMiss]
	res.Conflicts += t[classConflict]
	res.ErrorTotal += t[classError]
}

func mergeOps(into, ops []opStats) []opStats {
	for i := range ops {
		if i == len(into) {
			into = append(into, opStats{hist: report.NewHistogram()})
		}
		into[i].hist.Merge(ops[i].hist)
		for c, n := range ops[i].tally {
			into[i].tally[c] += n
		}
	}
	return into
}

// opResults are the kinds of requests, when there are several.
func (r *round) opResults(ops []opStats) (list []report.OpResult) {
	for i := range ops {
		o := &ops[i]
		list = append(list, report.OpResult{Name: r.plan.Ops()[i], Requests: o.hist.Count(), Errors: o.tally[classError],
			Hits: o.tally[classHit], Misses: o.tally[classMiss], Latency: o.hist})
	}
	return list
}
