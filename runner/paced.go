package runner

import "time"

// The open loop: a request is due when the schedule says so, whatever the server does. What is due
// while no connection has room waits in a queue that costs no memory: two pacers walk the same
// schedule, one to where the clock is, one to what has been given out; the queue is what lies
// between them. What is due together with others of its unit (a transaction) goes out with them.

// lateNs is what counts as a late start.
const lateNs = int64(time.Millisecond)

// open is one loop's open loop. Its counts are of the measured part: the warm-up has a state of its own.
type open struct {
	due   *pacer      // up to the clock
	given *pacer      // up to the last unit that a connection got
	idle  clientQueue // connections without a request
	roomy clientQueue // connections with requests, but fewer than they may have
	over  bool        // no further unit will be due
	ended bool        // the time is up: what is due and not begun stays so

	late     int64 // requests begun more than lateNs after they were due
	maxLate  int64
	lag      int64 // requests that this loop noticed more than lateNs late, whatever the server did
	maxLag   int64
	queueMax int64 // requests
	begunNs  int64 // when the last request was begun
}

// openLoop starts the schedule at startNs; connections stay where they are.
func (w *worker) openLoop(startNs int64) {
	begin := func() *pacer {
		p := &pacer{schedule: w.r.schedule, startNs: startNs, loop: w.id, loops: len(w.r.workers), unit: int(w.r.unit),
			poisson: w.r.load.Poisson, seed: w.r.seed}
		p.begin()
		return p
	}
	o := &open{due: begin(), given: begin(), idle: clientQueue{mark: 1}, roomy: clientQueue{mark: 2}}
	if w.open != nil {
		o.idle, o.roomy = w.open.idle, w.open.roomy
	}
	w.open = o
}

// pace gives out what is due by now.
func (w *worker) pace(now int64) {
	if w.warming && now >= w.measureNs {
		w.measure()
	}
	w.checkWork()
	o := w.open
	w.advance(now)
	if w.router != nil {
		w.routeDue()
	}
	for w.router == nil && !o.ended && o.given.n < o.due.n {
		c := w.next()
		if c == nil {
			break
		}
		w.giveDue(c, now)
	}
	waiting := (o.due.n - o.given.n) * int64(w.r.unit)
	o.queueMax = max(o.queueMax, waiting)
	if w.endNs > 0 && now >= w.endNs && !o.ended {
		o.over, o.ended = true, true
		dropped := w.takeUnsent()
		if w.router != nil {
			dropped += w.router.dropUnsent()
		}
		o.given.n -= int64(dropped) / int64(w.r.unit)
	}
	if o.over && (o.ended || waiting == 0 && w.endNs == 0) && w.idle() && !w.warming {
		w.finishAll()
	}
}

// stepsAtOnce bounds the walk before the connections are served again, to a few milliseconds: a rate that no client can make
// must not keep a loop from them. It is far above what comes due in any pause of a client that can make its rate, so that
// the queue is known in full.
const stepsAtOnce = 1 << 16

// advance moves the due pacer to the clock, but not beyond what is left of -n.
func (w *worker) advance(now int64) {
	o := w.open
	most := uint64(o.given.n) + (w.work.left()+w.r.unit-1)/w.r.unit
	for steps := stepsAtOnce; !o.over && o.due.dueNs <= now; steps-- {
		if steps == 0 {
			if w.endNs > 0 && now >= w.endNs {
				w.leapToEnd(now, most)
			}
			return
		}
		if uint64(o.due.n) >= most {
			o.over = true
			return
		}
		if o.due.done || w.endNs > 0 && o.due.dueNs >= w.endNs {
			o.over = true
			return
		}
		if lag := now - o.due.dueNs; lag > lateNs {
			o.lag += int64(w.r.unit)
			o.maxLag = max(o.maxLag, lag)
		}
		o.due.next()
	}
	o.over = o.over || o.due.done
}

// leapToEnd counts at once what the pacer has not walked through when the time is up.
func (w *worker) leapToEnd(now int64, most uint64) {
	o := w.open
	rest := min(o.due.rest(w.endNs), int64(most)-o.due.n)
	o.lag += rest * int64(w.r.unit)
	o.maxLag = max(o.maxLag, now-o.due.dueNs)
	o.due.n += rest
	o.due.lastNs = w.endNs
	o.over = true
}

// giveDue gives one connection its part of the queue: one unit while there are connections
// enough for each, more when there are not.
func (w *worker) giveDue(c *client, now int64) {
	o := w.open
	waiting := o.due.n - o.given.n
	each := (waiting + int64(len(w.clients)) - 1) / int64(len(w.clients))
	if c.pending == 0 {
		c.heardNs = now
	}
	for range min(each, w.roomOf(c)) {
		first, n := w.work.claim(w.r.unit)
		for i := range n {
			w.give(c, flight{index: first + i, dueNs: o.given.dueNs})
		}
		if n > 0 {
			o.given.next()
		}
		if w.checkWork(); o.over && o.given.n == o.due.n {
			break
		}
	}
	w.room(c)
	w.sendTracked(c)
}

// checkWork ends the schedule when -n requests are out: the rest of it is not offered.
func (w *worker) checkWork() {
	if o := w.open; w.work.empty() {
		o.over, o.due.n, o.due.lastNs = true, o.given.n, o.given.lastNs
		w.endNs = 0
	}
}

// roomOf is how many units a connection may be given.
func (w *worker) roomOf(c *client) int64 {
	unit := int64(w.r.unit)
	room := int64(w.r.load.Pipeline) - int64(c.pending)/unit
	if k := w.r.load.Reconnect; k > 0 { // what is left for it until it is opened anew, in whole units
		room = min(room, (k-c.answered-int64(c.pending)+unit-1)/unit)
	}
	return room
}

// room lists a connection where it belongs.
func (w *worker) room(c *client) {
	switch {
	case c.pending == 0:
		w.open.idle.push(c)
	case w.roomOf(c) > 0:
		w.open.roomy.push(c)
	}
}

// next takes the connection that has been idle longest, or else one with room; nil when there is none.
func (w *worker) next() *client {
	for c := w.open.idle.pop(); c != nil; c = w.open.idle.pop() {
		if c.pending == 0 && c.phase == phaseLoading {
			return c
		}
	}
	for c := w.open.roomy.pop(); c != nil; c = w.open.roomy.pop() {
		if c.phase == phaseLoading && w.roomOf(c) > 0 {
			return c
		}
	}
	return nil
}

// finishAll takes every connection out of the round. One that is being opened follows when it is ready.
func (w *worker) finishAll() {
	for i := range w.clients {
		if c := &w.clients[i]; c.phase == phaseLoading {
			w.finish(c)
		}
	}
}

// started is the first byte of a request: how late is it?
func (w *worker) started(x *flight) {
	if x.dueNs == 0 || x.index >= warmupFirst {
		return
	}
	late := x.sentNs - x.dueNs
	w.open.begunNs = x.sentNs
	w.open.maxLate = max(w.open.maxLate, late)
	if late > lateNs {
		w.open.late++
	}
}
