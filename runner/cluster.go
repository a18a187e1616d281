package runner

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"respbench/netpoll"
	"respbench/protocol"
	"respbench/report"
)

// A cluster as the session knows it, shared by all loops: which nodes there are, and the newest map
// of the slots. The map is immutable and replaced as a whole; loops look at it when they are woken,
// and keep what they learned from redirects in maps of their own.

// cluster is shared by all loops. Nodes are numbered in the order they became known and are never
// removed, so that a number stays good for ever.
type cluster struct {
	s       *session
	current atomic.Pointer[layout]

	mu     sync.Mutex
	nodes  []*clusterNode
	byAddr map[string]int

	refreshing atomic.Bool
	fetchedAt  atomic.Int64 // Now at the end of the last fetch
}

// clusterNode is one server. What a message shows is its address as the cluster tells it.
type clusterNode struct {
	number   int
	addr     string
	endpoint atomic.Pointer[netpoll.Endpoint] // nil while its name is being looked up
	failed   atomic.Pointer[error]            // why the name was not found
}

// layout is one map of the slots.
type layout struct {
	shards  []layoutShard
	shardOf [slotCount]int16 // noShard where nobody has the slot
	infos   map[int]nodeInfo // by node number
}

type layoutShard struct {
	nodes   []int // numbers, the primary first
	primary bool  // there is one
	slots   []uint16
}

const noShard = -1

// refreshEvery bounds how often the map is fetched, however many redirects arrive.
const refreshEvery = 20 * time.Millisecond

// newCluster asks the server that was named for its cluster.
func (s *session) newCluster(ctx context.Context) (*cluster, error) {
	cl := &cluster{s: s, byAddr: map[string]int{}}
	shards, err := s.fetchShards(ctx, s.ep, s.askedSeed())
	if err != nil {
		return nil, err
	}
	l := cl.layoutOf(shards)
	cl.resolveAll(ctx, l)
	if l.covered() == 0 {
		return nil, fmt.Errorf("Invalid cluster: no node that %s knows of is up and has slots", s.ep.Name)
	}
	cl.current.Store(l)
	return cl, nil
}

func (s *session) askedSeed() asked {
	return asked{host: s.o.Target.Host, port: s.o.Target.Port, tls: s.o.Target.TLS.Enabled}
}

// fetchShards asks one node, in the newest dialect that it speaks.
func (s *session) fetchShards(ctx context.Context, ep *netpoll.Endpoint, from asked) ([]shard, error) {
	c, err := s.openControlAt(ctx, ep)
	if err != nil {
		return nil, err
	}
	defer c.close()
	dialects := []struct {
		word  string
		parse func(protocol.Value, asked) ([]shard, error)
	}{
		{"SHARDS", parseShards},
		{"SLOTS", parseSlots},
		{"NODES", func(v protocol.Value, from asked) ([]shard, error) { return parseNodes(v.Str, from) }},
	}
	for _, d := range dialects {
		var v protocol.Value
		if v, err = c.do("CLUSTER", d.word); err != nil {
			return nil, err
		}
		if isError(v) {
			err = fmt.Errorf("Cluster node %s replied with error:\n%s", ep.Name, report.OneLine(v.Str))
			continue
		}
		shards, parseErr := d.parse(v, from)
		if parseErr != nil {
			return nil, fmt.Errorf("Cluster node %s: %w", ep.Name, parseErr)
		}
		return shards, nil
	}
	return nil, err
}

// intern returns the number of the node at an address; one not seen before gets the next number.
func (cl *cluster) intern(addr string) *clusterNode {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	if n, ok := cl.byAddr[addr]; ok {
		return cl.nodes[n]
	}
	n := &clusterNode{number: len(cl.nodes), addr: addr}
	cl.nodes = append(cl.nodes, n)
	cl.byAddr[addr] = n.number
	return n
}

func (cl *cluster) node(number int) *clusterNode {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.nodes[number]
}

// resolve looks the node's host name up; an address costs nothing.
func (cl *cluster) resolve(ctx context.Context, n *clusterNode) error {
	if n.endpoint.Load() != nil {
		return nil
	}
	host, port, err := splitAddr(n.addr)
	if err != nil {
		return fmt.Errorf("%s: bad port", n.addr)
	}
	ep, err := netpoll.Resolve(ctx, host, port)
	if err != nil {
		return err
	}
	n.endpoint.Store(ep)
	return nil
}

// layoutOf numbers the nodes and spreads the slots out.
func (cl *cluster) layoutOf(shards []shard) *layout {
	l := &layout{infos: map[int]nodeInfo{}}
	for i := range l.shardOf {
		l.shardOf[i] = noShard
	}
	for _, s := range shards {
		if len(s.slots) == 0 {
			continue
		}
		part := layoutShard{primary: !s.nodes[0].replica}
		for _, info := range s.nodes {
			n := cl.intern(info.addr())
			part.nodes = append(part.nodes, n.number)
			l.infos[n.number] = info
		}
		for _, r := range s.slots {
			for slot := r.from; slot <= r.to; slot++ {
				if l.shardOf[slot] == noShard {
					l.shardOf[slot] = int16(len(l.shards))
					part.slots = append(part.slots, uint16(slot))
				}
			}
		}
		l.shards = append(l.shards, part)
	}
	return l
}

// covered is how many slots have a node.
func (l *layout) covered() (n int) {
	for _, s := range l.shardOf {
		if s != noShard {
			n++
		}
	}
	return n
}

// loadNodes are the nodes of a shard that requests go to: the primary, or with --rfr and requests
// that only read the replicas or all. A shard without replicas is read from its primary.
func (s *layoutShard) loadNodes(from ReadFrom) []int {
	replicas := s.nodes
	if s.primary {
		replicas = s.nodes[1:]
	}
	switch {
	case from == ReadFromAll:
		return s.nodes
	case from == ReadFromReplicas && len(replicas) > 0:
		return replicas
	case s.primary:
		return s.nodes[:1]
	}
	return nil // its slots are not served until a replica is promoted
}

// loadNodes are those of all shards.
func (l *layout) loadNodes(from ReadFrom) (list []int) {
	for i := range l.shards {
		list = append(list, l.shards[i].loadNodes(from)...)
	}
	return list
}

// refresh fetches the map anew, off the loops, and wakes them. Redirects that arrive meanwhile, or
// shortly after, are answered by the same fetch. The node that is asked first is the one that a redirect
// named: it knows of the change that the redirect came of, and it lives. nil: any.
func (cl *cluster) refresh(ctx context.Context, r *round, first *clusterNode) {
	if !cl.refreshing.CompareAndSwap(false, true) {
		return
	}
	r.aside.Go(func() {
		defer cl.refreshing.Store(false)
		select {
		case <-time.After(time.Duration(cl.fetchedAt.Load() + int64(refreshEvery) - netpoll.Now())):
		case <-ctx.Done():
			return
		}
		if l := cl.fetchAny(ctx, first); l != nil {
			cl.current.Store(l)
		}
		cl.fetchedAt.Store(netpoll.Now())
		r.wake()
	})
}

// fetchAny asks the nodes in turn until one answers with a map that has nodes; nil when none does:
// the redirects to come will ask again.
func (cl *cluster) fetchAny(ctx context.Context, first *clusterNode) *layout {
	var nodes []*clusterNode
	if first != nil {
		nodes = append(nodes, first)
	}
	cl.mu.Lock()
	nodes = append(nodes, cl.nodes...)
	cl.mu.Unlock()
	for _, n := range nodes {
		ep := n.endpoint.Load()
		if ep == nil || ctx.Err() != nil {
			continue
		}
		host, port, err := splitAddr(n.addr)
		if err != nil {
			continue
		}
		shards, err := cl.s.fetchShards(ctx, ep, asked{host: host, port: port, tls: cl.s.o.Target.TLS.Enabled})
		if err != nil {
			continue
		}
		if l := cl.layoutOf(shards); l.covered() > 0 {
			cl.resolveAll(ctx, l)
			return l
		}
	}
	return nil
}

func (cl *cluster) resolveAll(ctx context.Context, l *layout) {
	for number := range l.infos {
		n := cl.node(number)
		if err := cl.resolve(ctx, n); err != nil {
			n.failed.Store(&err)
		}
	}
}

// lookUp resolves a node that a redirect named, off the loop, and wakes the loops.
func (cl *cluster) lookUp(ctx context.Context, n *clusterNode, r *round) {
	if host, _, err := net.SplitHostPort(n.addr); err == nil && net.ParseIP(host) != nil {
		_ = cl.resolve(ctx, n) // an address needs no look-up and cannot fail
		return
	}
	r.aside.Go(func() {
		if err := cl.resolve(ctx, n); err != nil {
			n.failed.Store(&err)
		}
		r.wake()
	})
}
