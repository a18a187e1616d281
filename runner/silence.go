package runner

import "time"

// watch looks for connections that have been silent too long. It comes late ns after its time, which is not held against
// the server: the process was stopped and goes on, or the machine slept, and what came meanwhile is still to be read.
func (w *worker) watch(now, late int64) {
	connect, silent := int64(w.r.load.ConnectTimeout), w.patience(now)
	for i := range w.clients {
		c := &w.clients[i]
		c.heardNs = min(c.heardNs+late, now)
		switch {
		case (c.phase == phaseDialing || c.phase == phaseGreeting) && connect > 0 && now-c.dialNs-late > connect:
			ep := w.endpointOf(c)
			err := addressGiven(timeoutError(ep, c.phase, w.r.load.ConnectTimeout), ep, w.r.endpoint)
			if c.phase == phaseDialing && w.noPort != nil { // tried again, and not yet refused again
				err = w.dialError(c, w.noPort)
			}
			w.r.fail(err)
			return
		case c.phase == phaseLoading && c.pending > 0 && silent > 0 && now-c.heardNs > silent:
			err := silenceError(w.endpointOf(c), c.pending, time.Duration(silent), silent < int64(w.r.load.Timeout))
			if !c.dec.Idle() {
				err = inPart(err, c.dec.Offset())
			}
			if w.endNs > 0 && now >= w.endNs {
				w.r.giveUp(err)
			} else {
				w.r.fail(err)
			}
			return
		}
	}
}

// leastPatience is how long a reply is waited for, at the least, when the time of --duration is up.
const leastPatience = time.Second

// patience is how long a connection with requests in flight may be silent. When the time is up the run should end: a
// reply that takes twice as long as any before it will not come.
func (w *worker) patience(now int64) int64 {
	limit := int64(w.r.load.Timeout)
	if w.endNs == 0 || now < w.endNs {
		return limit
	}
	slowest := w.hist.Max()
	if w.series.total != nil {
		slowest = max(slowest, w.series.total.Max())
	}
	return min(limit, max(int64(leastPatience), 2*slowest))
}
