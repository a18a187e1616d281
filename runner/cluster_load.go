package runner

import "respbench/netpoll"

// How requests reach the connections of a cluster round.

// entered is a connection that is set up and free.
func (w *worker) entered(c *client) {
	w.free(c)
	w.kick()
	w.endCluster(netpoll.Now())
}

// servedNode goes on after replies on c have been read: it may be free, others may have got work.
func (w *worker) servedNode(c *client, now int64) {
	switch {
	case c.pending == 0:
		w.free(c)
	case w.open != nil && w.roomOf(c) > 0:
		c.node.roomy.push(c)
		w.router.touch(c.node)
	}
	if w.open != nil {
		w.pace(now)
	}
	w.kick()
	w.endCluster(now)
}

// free gives a connection without a request its next ones.
func (w *worker) free(c *client) {
	if w.renewed(c) || w.rehome(c) {
		return
	}
	if w.open == nil {
		w.refill(c, w.batchOf(c))
		return
	}
	c.node.idle.push(c)
	w.router.touch(c.node)
}

// refill gives a connection requests until it has most of them in flight; one that has none then is
// idle.
func (w *worker) refill(c *client, most int) {
	rt, n := w.router, c.node
	if c.pending == 0 {
		c.heardNs = netpoll.Now()
	}
	w.take(c, &n.queue, most)
	if n.shard != noShard {
		s := rt.shards[n.shard]
		if w.open == nil && rt.routes.keyed {
			w.fetch(n.shard, most-int(c.pending))
		}
		w.take(c, &s.queue, most)
		if w.open == nil && !rt.routes.keyed && c.pending == 0 {
			w.takeBatch(c, s, most)
		}
	}
	if c.pending == 0 {
		n.idle.push(c)
		return
	}
	w.sendRouted(c)
}

// take gives a connection the head of a queue. What belongs together is not separated.
func (w *worker) take(c *client, q *flights, most int) {
	for q.n > 0 {
		k := w.router.groupOf(q.at(0))
		if c.pending > 0 && int(c.pending)+k > most {
			return
		}
		next := q.at(0).index
		for range k { // fewer at the end of the quota
			if q.n == 0 || q.at(0).index != next {
				break
			}
			x := q.take()
			next++
			w.router.queued--
			if x.flags&asking != 0 {
				w.give(c, flight{index: x.index, slot: x.slot, flags: askingFlight})
				x.flags &^= asking
			}
			w.give(c, x)
		}
	}
}

// groupOf is how many requests of the queue follow the one at its head to the same connection.
func (rt *router) groupOf(x *flight) int {
	if !rt.routes.groups || x.flags&single != 0 {
		return 1
	}
	_, n := rt.routes.plan.Execution(x.index)
	return n
}

// takeBatch gives a connection a batch of requests that go anywhere, with the tag of one slot.
func (w *worker) takeBatch(c *client, s *shardState, most int) {
	if len(s.slots) == 0 {
		return
	}
	first, n := w.takeWork(most)
	if n == 0 {
		return
	}
	slot := int16(noSlot)
	if w.router.routes.tagged {
		slot = int16(s.slots[mix(mix(w.r.seed)^first)%uint64(len(s.slots))])
	}
	for i := range n {
		w.give(c, flight{index: first + i, slot: slot})
	}
}

// fetch takes requests from the quota and queues them where they belong, until the shard has want
// of them, or too many wait for others.
func (w *worker) fetch(shard, want int) {
	rt := w.router
	for rt.shards[shard].queue.n < want && rt.queued < rt.ahead {
		first, n := w.takeWork(want)
		if n == 0 {
			return
		}
		w.sort(first, n, 0, shard)
	}
}

// sort queues n requests from first on.
func (w *worker) sort(first, n uint64, dueNs int64, otherwise int) {
	rt := w.router
	for end := first + n; first < end; {
		k, slot := rt.routes.group(first, &rt.scratch)
		if rt.routes.tagged {
			slot = rt.servedSlot(mix(mix(w.r.seed)^first) % slotCount)
		}
		for range min(uint64(k), end-first) {
			rt.place(flight{index: first, dueNs: dueNs, slot: slot}, otherwise)
			first++
		}
	}
}

// servedSlot is a slot that some node has: the given one, or else the next. A cluster may have only a part of them.
func (rt *router) servedSlot(from uint64) int16 {
	for k := range uint64(slotCount) {
		if slot := (from + k) % slotCount; rt.shardOf[slot] != noShard {
			return int16(slot)
		}
	}
	return int16(from)
}

// takeWork takes at most k requests from the quota, unless the time is up.
func (w *worker) takeWork(k int) (first, n uint64) {
	now := netpoll.Now()
	if w.warming && now >= w.measureNs {
		w.measure()
	}
	if w.endNs > 0 && now >= w.endNs {
		w.router.dropUnsent()
		return 0, 0
	}
	unit := w.r.unit
	return w.work.claim(max(uint64(k)/unit, 1) * unit)
}

// kick brings work and free connections together at the nodes where there may be both.
func (w *worker) kick() {
	rt := w.router
	for len(rt.dirty) > 0 {
		last := len(rt.dirty) - 1
		n := rt.dirty[last]
		rt.dirty = rt.dirty[:last]
		n.dirty = false
		for rt.hasWork(n) {
			c := w.freeAt(n)
			if c == nil {
				if n.conns == 0 {
					w.openMore(n)
				}
				break
			}
			w.refill(c, w.mostOf(c))
			if w.open != nil && w.roomOf(c) > 0 {
				n.roomy.push(c)
			}
		}
	}
}

// freeAt takes a connection of the node that may get requests: the one idle longest, or, in an open
// loop, one with room.
func (w *worker) freeAt(n *nodeState) *client {
	for c := n.idle.pop(); c != nil; c = n.idle.pop() {
		if c.node == n && c.phase == phaseLoading && c.pending == 0 {
			return c
		}
	}
	for c := n.roomy.pop(); c != nil; c = n.roomy.pop() {
		if c.node == n && c.phase == phaseLoading && w.roomOf(c) > 0 {
			return c
		}
	}
	return nil
}

// mostOf is how many requests a free connection may have: a pipeline full in a closed loop; in an
// open loop one unit more than it has, or its part of a queue that is longer than its node has
// connections.
func (w *worker) mostOf(c *client) int {
	unit := int(w.r.unit)
	if w.open == nil {
		return w.batchOf(c)
	}
	n := c.node
	waiting := n.queue.n
	if n.shard != noShard {
		waiting += w.router.shards[n.shard].queue.n
	}
	each := max((waiting/unit+n.conns-1)/n.conns, 1)
	return int(c.pending) + min(each, int(w.roomOf(c)))*unit
}

// routeDue queues what is due in an open loop.
func (w *worker) routeDue() {
	o, rt := w.open, w.router
	for !o.ended && o.given.n < o.due.n && rt.queued < rt.ahead {
		first, n := w.work.claim(w.r.unit)
		if n > 0 {
			w.sort(first, n, o.given.dueNs, 0)
			o.given.next()
		}
		if w.checkWork(); o.over && o.given.n == o.due.n {
			break
		}
	}
	w.kick()
}

// tickCluster takes over a new map and what has paused long enough.
func (w *worker) tickCluster(now int64) {
	rt := w.router
	if l := rt.cl.current.Load(); l != rt.layout {
		rt.adopt(l)
		w.rehomeIdle()
	}
	rt.resume(now)
	for _, n := range rt.nodes {
		if n != nil && n.conns == 0 && rt.hasWork(n) {
			rt.touch(n)
		}
	}
	if w.running {
		w.kick()
		w.endCluster(now)
	}
}

// rehomeIdle frees the connections that would wait for ever at nodes without slots.
func (w *worker) rehomeIdle() {
	for i := range w.clients {
		if c := &w.clients[i]; c.phase == phaseLoading && c.pending == 0 && c.node.shard == noShard {
			w.rehome(c)
		}
	}
}

// endCluster ends the loop when no request of it is left anywhere. In an open loop the schedule
// decides.
func (w *worker) endCluster(now int64) {
	if w.open != nil || w.warming {
		return
	}
	timeUp := w.endNs > 0 && now >= w.endNs
	if timeUp && !w.router.ended {
		w.router.ended = true
		w.router.dropUnsent()
		w.takeUnsent()
	}
	if w.inFlight == 0 && w.router.settled() && (timeUp || w.work.empty()) {
		w.finishAll()
	}
}
