package runner

import (
	"time"

	"respbench/netpoll"
	"respbench/report"
)

// The open loop: a request is due when the schedule says so, whatever the server does. What is due
// while no connection has room waits in a queue that costs no memory: two pacers walk the same
// schedule, one to where the clock is, one to what has been given out; the queue is what lies
// between them.

// lateNs is what counts as a late start.
const lateNs = int64(time.Millisecond)

type open struct {
	due   *pacer      // up to the clock
	given *pacer      // up to the last request that a connection got
	idle  clientQueue // connections without a request
	roomy clientQueue // connections with requests, but fewer than the pipeline takes
	over  bool        // no further request will be due

	late     int64
	maxLate  int64
	queueMax int64
}

// openLoop starts the schedule at startNs; connections stay where they are.
func (w *worker) openLoop(startNs int64) {
	newPacer := func() *pacer {
		return newPacer(w.r.schedule, startNs, w.id, len(w.r.workers), w.r.load.Poisson, w.r.seed)
	}
	o := &open{due: newPacer(), given: newPacer(), idle: clientQueue{mark: 1}, roomy: clientQueue{mark: 2}}
	if w.open != nil {
		o.idle, o.roomy = w.open.idle, w.open.roomy
	}
	w.open = o
}

// pace gives out what is due by now.
func (w *worker) pace(now int64) {
	o := w.open
	for !o.over && o.due.dueNs <= now {
		if o.over = o.due.done || (w.endNs > 0 && o.due.dueNs >= w.endNs); !o.over {
			o.due.next()
		}
	}
	o.over = o.over || o.due.done
	for o.given.n < o.due.n {
		c := o.next(int32(w.r.load.Pipeline))
		if c == nil {
			break
		}
		w.giveDue(c, now)
	}
	o.queueMax = max(o.queueMax, o.due.n-o.given.n)
	if o.over && o.given.n == o.due.n && w.inFlight == 0 && !w.warming {
		for i := range w.clients {
			if c := &w.clients[i]; c.phase == phaseLoading {
				w.finish(c)
			}
		}
	}
}

// giveDue gives one connection its part of the queue: one request while there are connections
// enough for each, more when there are not.
func (w *worker) giveDue(c *client, now int64) {
	o := w.open
	waiting := o.due.n - o.given.n
	each := (waiting + int64(len(w.clients)) - 1) / int64(len(w.clients))
	if c.pending == 0 {
		c.heardNs = now
	}
	for range min(each, int64(w.r.load.Pipeline)-int64(c.pending)) {
		index, n := w.work.claim(1)
		if n == 0 { // -n requests are out: the rest of the schedule is not offered
			o.over, o.due.n = true, o.given.n
			break
		}
		w.give(c, flight{index: index, dueNs: o.given.dueNs})
		o.given.next()
	}
	w.room(c)
	w.sendTracked(c)
}

// room lists a connection where it belongs.
func (w *worker) room(c *client) {
	switch {
	case c.pending == 0:
		w.open.idle.push(c)
	case int(c.pending) < w.r.load.Pipeline:
		w.open.roomy.push(c)
	}
}

// next takes the connection that has been idle longest, or else one with room.
func (o *open) next(pipeline int32) *client {
	for c := o.idle.pop(); c != nil; c = o.idle.pop() {
		if c.pending == 0 && c.phase == phaseLoading {
			return c
		}
	}
	for c := o.roomy.pop(); c != nil; c = o.roomy.pop() {
		if c.pending < pipeline && c.phase == phaseLoading {
			return c
		}
	}
	return nil
}

// started is the first byte of a request: how late is it?
func (w *worker) started(x *flight) {
	if x.dueNs == 0 || x.sentNs < w.measureNs {
		return
	}
	late := x.sentNs - x.dueNs
	w.open.maxLate = max(w.open.maxLate, late)
	if late > lateNs {
		w.open.late++
	}
}

// pacing is the account of all loops.
func (r *round) pacing(res *report.Result) *report.Pacing {
	p := &report.Pacing{Arrival: "fixed", Schedule: r.schedule.String()}
	if r.load.Poisson {
		p.Arrival = "poisson"
	}
	for _, w := range r.workers {
		if o := w.open; o != nil {
			p.Due += o.due.n
			p.Late += o.late
			p.MaxLate = max(p.MaxLate, time.Duration(o.maxLate))
			p.QueueMax += o.queueMax
		}
	}
	lasted := time.Duration(netpoll.Now() - r.measureNs)
	if n := r.schedule.length(); n > 0 {
		lasted = min(lasted, n)
	}
	if r.load.Duration > 0 {
		lasted = min(lasted, r.load.Duration)
	}
	if s := lasted.Seconds(); s > 0 {
		p.Offered = r.schedule.offered(lasted) / s
	}
	p.Achieved = res.QPS()
	if r.load.Engine == "gnet" {
		p.Resolution = "the gnet engine keeps time to about a millisecond"
	}
	return p
}

// clientQueue is first in, first out; a connection stands in it at most once, which its mark tells.
type clientQueue struct {
	mark    uint8 // the bit of client.queued that is this queue's
	ring    []*client
	head, n int
}

func (q *clientQueue) push(c *client) {
	if c.queued&q.mark != 0 {
		return
	}
	c.queued |= q.mark
	if q.n == len(q.ring) {
		grown := make([]*client, max(2*q.n, 16))
		for i := range q.n {
			grown[i] = q.ring[(q.head+i)%q.n]
		}
		q.ring, q.head = grown, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = c
	q.n++
}

// pop returns nil when the queue is empty.
func (q *clientQueue) pop() *client {
	if q.n == 0 {
		return nil
	}
	c := q.ring[q.head]
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	c.queued &^= q.mark
	return c
}
