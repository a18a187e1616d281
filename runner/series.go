package runner

import (
	"time"

	"respbench/report"
)

// The time series. A loop records into the histograms of the running interval and, at its end,
// hands them over and adds them to its totals: recording costs no more than without a series, and
// nothing on the hot path is shared. The percentiles are of what a user of the service would see:
// the response time in an open loop, the service time in a closed one.

// series is one loop's account of the intervals that are over.
type series struct {
	every  int64 // ns; 0 = no series: everything stays in the running histogram
	nextNs int64 // end of the running interval
	index  int
	total  *report.Histogram // service time of the intervals before; nil without a series
	waited *report.Histogram // response time of the intervals before; nil in a closed loop

	errors   int64 // at the end of the last interval
	bytesIn  int64
	bytesOut int64
}

func (s *series) begin(fromNs, every int64, paced bool) {
	*s = series{every: every, nextNs: fromNs + every}
	if every > 0 {
		s.total = report.NewHistogram()
	}
	if every > 0 && paced {
		s.waited = report.NewHistogram()
	}
}

func (s *series) due(now int64) bool { return s.every > 0 && now >= s.nextNs }

// totals are the answered requests and the sum of their latencies so far.
func (s *series) totals(running *report.Histogram) (n, sumNs int64) {
	n, sumNs = running.Count(), int64(running.Sum())
	if s.total != nil {
		n += s.total.Count()
		sumNs += int64(s.total.Sum())
	}
	return n, sumNs
}

// step ends the running interval. A loop that was kept from its processor may be several
// intervals late: what it recorded belongs to the first of them, the others are empty.
func (s *series) step(w *worker, now int64) {
	s.hand(w, s.nextNs)
	for s.nextNs += s.every; now >= s.nextNs; s.nextNs += s.every {
		s.hand(w, s.nextNs)
	}
}

// close hands over the last interval, which is shorter than the others.
func (s *series) close(w *worker) {
	if s.every > 0 && w.hist.Count() > 0 {
		s.hand(w, w.lastNs)
	}
}

func (s *series) hand(w *worker, endNs int64) {
	errs, shown := w.tally[classError], w.hist
	if w.response != nil {
		shown = w.response
	}
	w.r.addStep(s.index, report.Interval{At: time.Duration(endNs - w.r.measureNs), Errors: errs - s.errors,
		BytesIn: w.bytesIn - s.bytesIn, BytesOut: w.bytesOut - s.bytesOut}, shown)
	s.errors, s.bytesIn, s.bytesOut = errs, w.bytesIn, w.bytesOut
	s.total.Merge(w.hist)
	w.hist.Reset()
	if w.response != nil {
		s.waited.Merge(w.response)
		w.response.Reset()
	}
	s.index++
}

// stepAccount is one interval of all loops; the histogram goes when every loop has handed its part.
type stepAccount struct {
	report.Interval
	hist  *report.Histogram
	loops int
}

// addStep merges a loop's part of an interval. It runs once a loop and interval.
func (r *round) addStep(step int, part report.Interval, hist *report.Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.steps) <= step {
		r.steps = append(r.steps, &stepAccount{hist: report.NewHistogram()})
	}
	a := r.steps[step]
	a.At = max(a.At, part.At)
	a.Requests += hist.Count()
	a.Errors += part.Errors
	a.BytesIn += part.BytesIn
	a.BytesOut += part.BytesOut
	a.hist.Merge(hist)
	if a.loops++; a.loops == len(r.workers) {
		a.summarise()
		if r.figures != nil {
			r.figures.add(a.Interval, a.hist)
		}
		a.hist = nil
	}
}

func (a *stepAccount) summarise() {
	if a.hist == nil {
		return
	}
	if a.hist.Count() > 0 {
		a.P50, a.P99 = time.Duration(a.hist.Percentile(50)), time.Duration(a.hist.Percentile(99))
		a.P999, a.Max = time.Duration(a.hist.Percentile(99.9)), time.Duration(a.hist.Max())
	}
}

// event is something that the server did beside the load.
type event struct {
	atNs int64
	text string
}

func (r *round) addEvents(atNs int64, texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, text := range texts {
		r.events = append(r.events, event{atNs, text})
	}
}

// intervals is the finished series of a measured part that lasted so long, each event in the interval in which it was
// seen. The loops go on counting intervals while they close their connections: those are not of the measured part.
func (r *round) intervals(lasted time.Duration) (list []report.Interval) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begins := time.Duration(0)
	for _, a := range r.steps {
		if begins >= lasted && a.Requests == 0 {
			break
		}
		a.summarise()
		begins = a.At
		if a.At > lasted && lasted > 0 {
			a.At = lasted
		}
		list = append(list, a.Interval)
	}
	for _, e := range r.events {
		if i := int((e.atNs - r.measureNs) / max(int64(r.interval), 1)); len(list) > 0 {
			i = min(max(i, 0), len(list)-1)
			list[i].Events = append(list[i].Events, e.text)
		}
	}
	return list
}
