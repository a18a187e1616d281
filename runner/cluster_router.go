package runner

import (
	"container/heap"
	"context"
	"fmt"

	"respbench/netpoll"
)

// One loop's view of a cluster. A connection belongs to one node. What waits for a connection
// stands in a queue: a shard's, where any node of the shard that gets load may take it, or a node's
// own, for what a redirect sent there.
//
// Requests whose keys hold {tag} never wait: a connection takes a batch from the quota when it is
// free and gives it the tag of a random slot of its shard. Requests with keys of their own are taken
// from the quota by whichever connection is free, and queued where they belong, until there are
// enough for it; others of their shards that are idle are then woken.

// router belongs to its loop's goroutine.
type router struct {
	cl     *cluster
	routes *routing
	ctx    context.Context // of the round

	layout  *layout // that the fields below were made of
	shardOf [slotCount]int16
	shards  []*shardState
	nodes   []*nodeState // by number; nil where this loop has had nothing to do with the node

	queued     int          // requests in all queues
	ended      bool         // the time is up, and what was not begun has been taken back
	ahead      int          // as many may be taken from the quota before they can be sent
	waits      waitHeap     // requests that pause before another try
	dirty      []*nodeState // may have both work and a free connection
	unbalanced bool         // the map has changed: connections may be at the wrong nodes

	counts  [redirectKinds]int64 // of the measured part
	scratch []byte
	out     []byte // requests gathered for one write
	ends    []int  // where each of them ends
}

type shardState struct {
	nodes []*nodeState // that get load
	slots []uint16
	queue flights
}

type nodeState struct {
	node  *clusterNode
	home  int // the shard that it is a node of, or noShard
	shard int // the same if it gets load, or else noShard
	conns int
	idle  clientQueue // without a request in flight
	roomy clientQueue // open loop: with some, but fewer than they may have
	queue flights
	dirty bool
}

// waiting is what is tried again at a time: one request, or all of a transaction.
type waiting struct {
	atNs    int64
	flights []flight
}

type waitHeap []waiting

func (h waitHeap) Len() int           { return len(h) }
func (h waitHeap) Less(i, j int) bool { return h[i].atNs < h[j].atNs }
func (h waitHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *waitHeap) Push(x any)        { *h = append(*h, x.(waiting)) }
func (h *waitHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = waiting{}
	*h = (*h)[:last]
	return x
}

// leastAhead and aheadOfFlight bound a loop's queues: skewed keys must not fill the memory.
const (
	leastAhead     = 1024
	aheadOfFlight  = 4
	moreConns      = 256 // connections to nodes that became known in mid-run, per loop
	gatherBytes    = 64 << 10
	directBytes    = 16 << 10 // requests as large are written from where they lie
	maxTries       = 1<<16 - 1
	askingRequest  = "*1\r\n$6\r\nASKING\r\n"
	transactionEnd = "EXECABORT"
)

// joinCluster gives each connection its node: over all loops, connection k is at node k modulo
// their number. before is the number of connections of the loops before this one.
func (w *worker) joinCluster(before int) {
	r := w.r
	w.clients = append(make([]client, 0, len(w.clients)+moreConns), w.clients...)
	perConn := r.load.Pipeline * int(r.unit)
	rt := &router{cl: r.cluster, routes: r.routes, ctx: r.asideCtx,
		ahead: max(leastAhead, aheadOfFlight*perConn*len(w.clients))}
	rt.adopt(r.cluster.current.Load())
	nodes := rt.layout.loadNodes(r.routes.from)
	for i := range w.clients {
		n := rt.state(r.cluster.node(nodes[(before+i)%len(nodes)]))
		w.clients[i].node = n
		n.conns++
	}
	w.router = rt
}

// state is this loop's account of a node.
func (rt *router) state(node *clusterNode) *nodeState {
	for len(rt.nodes) <= node.number {
		rt.nodes = append(rt.nodes, nil)
	}
	if rt.nodes[node.number] == nil {
		rt.nodes[node.number] = &nodeState{node: node, home: noShard, shard: noShard,
			idle: clientQueue{mark: 1}, roomy: clientQueue{mark: 2}}
	}
	return rt.nodes[node.number]
}

// adopt takes over a new map. What waits in the queues of shards is sorted anew.
func (rt *router) adopt(l *layout) {
	old := rt.shards
	rt.layout, rt.shardOf, rt.unbalanced = l, l.shardOf, rt.layout != nil
	for _, n := range rt.nodes {
		if n != nil {
			n.home, n.shard = noShard, noShard
		}
	}
	rt.shards = nil
	for i := range l.shards {
		s := &shardState{slots: l.shards[i].slots}
		for _, number := range l.shards[i].nodes {
			rt.state(rt.cl.node(number)).home = i
		}
		for _, number := range l.shards[i].loadNodes(rt.routes.from) {
			n := rt.state(rt.cl.node(number))
			n.shard = i
			s.nodes = append(s.nodes, n)
		}
		rt.shards = append(rt.shards, s)
	}
	for _, s := range old {
		for s.queue.n > 0 {
			x := s.queue.take()
			rt.queued--
			rt.place(x, 0)
		}
	}
	for _, n := range rt.nodes {
		if n != nil {
			rt.touch(n)
		}
	}
}

// place queues a request at the shard of its slot. One without a slot, or whose slot nobody is
// known to have, goes to the shard given.
func (rt *router) place(x flight, otherwise int) {
	at := otherwise
	if x.slot != noSlot && rt.shardOf[x.slot] != noShard {
		at = int(rt.shardOf[x.slot])
	}
	s := rt.shards[at]
	if len(s.nodes) == 0 { // its primary has failed: any node will say what to do
		s = rt.served()
	}
	s.queue.push(x)
	rt.queued++
	for _, n := range s.nodes {
		rt.touch(n)
	}
}

// served is a shard that has a node.
func (rt *router) served() *shardState {
	for _, s := range rt.shards {
		if len(s.nodes) > 0 {
			return s
		}
	}
	return rt.shards[0]
}

// placeAt queues a request for one node.
func (rt *router) placeAt(n *nodeState, x flight) {
	n.queue.push(x)
	rt.queued++
	rt.touch(n)
}

// touch says that a node may have become able to do something.
func (rt *router) touch(n *nodeState) {
	if !n.dirty {
		n.dirty = true
		rt.dirty = append(rt.dirty, n)
	}
}

// hasWork tells whether something waits that the node may take.
func (rt *router) hasWork(n *nodeState) bool {
	return n.queue.n > 0 || n.shard != noShard && rt.shards[n.shard].queue.n > 0
}

// learn notes that a node has a slot. Reports whether that is news, as it is of a node of the slot's shard that gets no
// load: then a replica has become the primary, and the map will say so.
func (rt *router) learn(slot uint16, n *nodeState) bool {
	if n.home == noShard {
		n.home = len(rt.shards)
		n.shard = n.home
		rt.shards = append(rt.shards, &shardState{nodes: []*nodeState{n}})
		rt.unbalanced = true
	}
	if rt.shardOf[slot] == int16(n.home) {
		return n.shard == noShard
	}
	rt.shardOf[slot] = int16(n.home)
	s := rt.shards[n.home]
	s.slots = append(s.slots[:len(s.slots):len(s.slots)], slot) // the map's own slice is shared
	return true
}

// pause keeps requests back for a while.
func (rt *router) pause(group []flight, untilNs int64) {
	heap.Push(&rt.waits, waiting{untilNs, group})
}

// resume queues what has paused long enough.
func (rt *router) resume(now int64) {
	for len(rt.waits) > 0 && rt.waits[0].atNs <= now {
		for _, x := range heap.Pop(&rt.waits).(waiting).flights {
			rt.place(x, 0)
		}
	}
}

// dropUnsent empties the queues of what was taken from the quota and never begun, at the end of the
// warm-up or of the time. It returns how many requests that were.
func (rt *router) dropUnsent() (dropped int) {
	for _, s := range rt.shards {
		for range s.queue.n {
			if x := s.queue.take(); x.sentNs != 0 || x.flags&silent != 0 {
				s.queue.push(x)
			} else {
				dropped++
			}
		}
	}
	rt.queued -= dropped
	return dropped
}

// settled tells that nothing waits.
func (rt *router) settled() bool { return rt.queued == 0 && len(rt.waits) == 0 }

// neediest is the node with the fewest connections of those that get load and have slots.
func (rt *router) neediest() (least *nodeState) {
	for _, s := range rt.shards {
		for _, n := range s.nodes {
			if len(s.slots) > 0 && n.node.endpoint.Load() != nil && (least == nil || n.conns < least.conns) {
				least = n
			}
		}
	}
	return least
}

// rehome moves an idle connection to a node that needs it more: its own gets no load any more, or
// has two connections more.
func (w *worker) rehome(c *client) bool {
	rt := w.router
	if !rt.unbalanced {
		return false
	}
	to := rt.neediest()
	if to == nil || to == c.node || c.node.shard != noShard && c.node.conns-to.conns < 2 {
		return false
	}
	if w.work.empty() {
		return false
	}
	c.node.conns--
	to.conns++
	c.node = to
	w.redial(c)
	return true
}

// redial opens an idle connection anew, to the node that it belongs to now.
func (w *worker) redial(c *client) {
	tag := c.conn.Tag()
	c.conn.Close()
	w.dial(tag)
}

// openMore makes a further connection, to a node that has work and none.
func (w *worker) openMore(n *nodeState) {
	if n.node.endpoint.Load() == nil {
		if err := n.node.failed.Load(); err != nil {
			w.r.fail(fmt.Errorf("Could not connect to Redis at %w", *err))
		}
		return // the look-up wakes the loop
	}
	tag := len(w.clients)
	if tag == cap(w.clients) {
		return // until a connection is moved
	}
	w.clients = w.clients[:tag+1]
	w.clients[tag].node = n
	n.conns++
	w.loading++
	w.dialled++
	w.dial(tag)
}

// endpointOf is where a connection leads.
func (w *worker) endpointOf(c *client) *netpoll.Endpoint {
	if c.node == nil {
		return w.r.endpoint
	}
	return c.node.node.endpoint.Load()
}
