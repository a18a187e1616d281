package runner

import (
	"fmt"
	"time"

	"respbench/report"
)

// Notes are what a reader must know to take the figures for what they are, one line each.

// A closed loop hides a stall: see stallNote.
const (
	stallLeast = 100 * time.Millisecond // shorter ones are what a busy machine does
	stallRatio = 20                     // times the median
)

func (r *round) notes(res *report.Result) (notes []string) {
	if r.load.Warmup > 0 {
		if note := r.warmupNote(); note != "" {
			notes = append(notes, note)
		}
		if note := r.warmupErrors(); note != "" {
			notes = append(notes, note)
		}
	}
	if res.Pacing == nil {
		if note := stallNote(res); note != "" {
			notes = append(notes, note)
		}
	} else {
		if note := paceNote(res.Pacing); note != "" {
			notes = append(notes, note)
		}
		if n := res.Pacing.Unstarted; n > 0 {
			notes = append(notes, fmt.Sprintf("%d requests were due but not begun when the time was up; the response times do not have them", n))
		}
	}
	if r.gone != nil {
		n := r.unanswered()
		notes = append(notes, fmt.Sprintf("%d %s had no reply when the time was up; the latencies do not have %s", n,
			plural(int(n), "request", "requests"), plural(int(n), "it", "them")))
	}
	return notes
}

// paceNote says that the server did not take the offered load. When every request began in time it did, however little of a
// short schedule's time that is.
func paceNote(p *report.Pacing) string {
	if p == nil || p.Achieved >= keptShare*p.Offered || p.Late == 0 && p.Unstarted == 0 {
		return ""
	}
	return fmt.Sprintf("the rate was not reached: %.2f of %.2f offered requests per second (%.2f%%)", p.Achieved, p.Offered, 100*p.Achieved/p.Offered)
}

// unanswered are the requests of the measured part that are in flight.
func (r *round) unanswered() (n int64) {
	for _, w := range r.workers {
		for i := range w.clients {
			n += int64(w.clients[i].pending)
		}
	}
	return n
}

func (r *round) warmupNote() string {
	if r.warmup.next.Load() == r.warmupStart() {
		return "the warm-up sent nothing"
	}
	for _, w := range r.workers {
		if w.warmed > 0 {
			return ""
		}
	}
	return "no request of the warm-up was answered before its end"
}

// warmupErrors names the error replies that no count of the measured part has.
func (r *round) warmupErrors() string {
	var errs errorCounts
	for _, w := range r.workers {
		for text, n := range w.coldErrs {
			errs.addN(text, n)
		}
	}
	list := errs.sorted()
	if len(list) == 0 {
		return ""
	}
	n := errs.total()
	return fmt.Sprintf("the warm-up had %d error %s, most often %s", n, plural(int(n), "reply", "replies"), example(list))
}

// stallNote says what a closed loop leaves out when a reply took far longer than usual: the requests
// that its connection would have sent in the meantime, each of which would have waited as well.
func stallNote(res *report.Result) string {
	h := res.Latency
	longest, median := time.Duration(h.Max()), time.Duration(h.Percentile(50))
	if longest < stallLeast || longest < stallRatio*median || median == 0 {
		return ""
	}
	batch := max(res.Pipeline, 1)
	omitted := int64(longest/median) * int64(batch)
	return fmt.Sprintf("closed loop: a connection that waited %.1f ms for a reply sent nothing meanwhile, about %d requests at its usual pace; the percentiles omit their waiting (--rps shows it)",
		longest.Seconds()*1e3, omitted)
}
