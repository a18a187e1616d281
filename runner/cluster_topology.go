package runner

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"respbench/protocol"
)

// What a cluster says of itself, in three dialects: CLUSTER SHARDS (Redis 7), CLUSTER SLOTS and
// CLUSTER NODES. Each parser is a pure function from a reply to shards. A node whose host is not
// told is on the host that we are connected to.

// shard is a part of the slots, and the nodes that have them: the primary first.
type shard struct {
	nodes []nodeInfo
	slots []slotRange
}

// nodeInfo is one node as the cluster names it.
type nodeInfo struct {
	id      string
	host    string
	port    int
	replica bool
}

func (n *nodeInfo) addr() string { return net.JoinHostPort(n.host, strconv.Itoa(n.port)) }

// slotRange is from … to, both included.
type slotRange struct{ from, to int }

// asked is the node that was asked: where an answer is silent about a host or port it means this.
type asked struct {
	host string
	port int
	tls  bool // prefer the TLS port where both are told
}

// parseShards reads the reply to CLUSTER SHARDS. Nodes that are not online are left out.
func parseShards(v protocol.Value, from asked) ([]shard, error) {
	if v.Kind != protocol.Array {
		return nil, fmt.Errorf("CLUSTER SHARDS: not an array")
	}
	var shards []shard
	for _, part := range v.Elems {
		fields := pairs(part)
		var s shard
		ranges := fields["slots"].Elems
		for i := 0; i+1 < len(ranges); i += 2 {
			r, err := newSlotRange(number(ranges[i]), number(ranges[i+1]))
			if err != nil {
				return nil, err
			}
			s.slots = append(s.slots, r)
		}
		for _, node := range fields["nodes"].Elems {
			if n, ok := shardNode(pairs(node), from); ok {
				s.nodes = append(s.nodes, n)
			}
		}
		shards = appendShard(shards, s)
	}
	return shards, nil
}

func shardNode(f map[string]protocol.Value, from asked) (n nodeInfo, ok bool) {
	health := f["health"].Str
	n = nodeInfo{id: f["id"].Str, port: int(f["port"].Int), replica: f["role"].Str != "master"}
	if tls := int(f["tls-port"].Int); tls > 0 && (from.tls || n.port == 0) {
		n.port = tls
	}
	n.host, n.port = from.fill(f["endpoint"], f["ip"].Str, n.port)
	return n, health == "" || health == "online"
}

// fill puts what the asked node is in place of what is not told. A preferred endpoint of "?" means
// a host name that is not configured: the address, if told, is right then.
func (a asked) fill(endpoint protocol.Value, ip string, port int) (string, int) {
	host := endpoint.Str
	if host == "?" {
		host = ip
	}
	if endpoint.Null || host == "" || host == "?" {
		host = a.host
	}
	if port == 0 {
		port = a.port
	}
	return host, port
}

// pairs makes a map of a RESP3 map, or of RESP2's array of names and values.
func pairs(v protocol.Value) map[string]protocol.Value {
	m := make(map[string]protocol.Value, len(v.Elems)/2)
	for i := 0; i+1 < len(v.Elems); i += 2 {
		m[v.Elems[i].Str] = v.Elems[i+1]
	}
	return m
}

// number reads an integer that some servers send as a string; -1 when it is none.
func number(v protocol.Value) int {
	if v.Kind == protocol.Integer {
		return int(v.Int)
	}
	n, err := strconv.Atoi(v.Str)
	if err != nil {
		return -1
	}
	return n
}

func newSlotRange(from, to int) (slotRange, error) {
	if from < 0 || to < from || to >= slotCount {
		return slotRange{}, fmt.Errorf("bad slot range %d-%d: slots are 0 to %d", from, to, slotCount-1)
	}
	return slotRange{from, to}, nil
}

// appendShard puts the primary first and leaves out a shard without nodes.
func appendShard(shards []shard, s shard) []shard {
	if len(s.nodes) == 0 {
		return shards
	}
	slices.SortStableFunc(s.nodes, func(a, b nodeInfo) int { return rank(a) - rank(b) })
	return append(shards, s)
}

func rank(n nodeInfo) int {
	if n.replica {
		return 1
	}
	return 0
}

// parseSlots reads the reply to CLUSTER SLOTS: a row for each range, its primary first. The rows
// of one primary make one shard.
func parseSlots(v protocol.Value, from asked) ([]shard, error) {
	if v.Kind != protocol.Array {
		return nil, fmt.Errorf("CLUSTER SLOTS: not an array")
	}
	var shards []shard
	index := map[string]int{} // of the shards, by the primary's address
	for _, row := range v.Elems {
		if len(row.Elems) < 3 {
			return nil, fmt.Errorf("CLUSTER SLOTS: a row of %d elements: at least 3 are needed", len(row.Elems))
		}
		r, err := newSlotRange(number(row.Elems[0]), number(row.Elems[1]))
		if err != nil {
			return nil, err
		}
		var nodes []nodeInfo
		for i, e := range row.Elems[2:] {
			if len(e.Elems) >= 2 {
				nodes = append(nodes, slotsNode(e, i > 0, from))
			}
		}
		if len(nodes) == 0 {
			continue
		}
		primary := nodes[0].addr()
		at, known := index[primary]
		if !known {
			at = len(shards)
			index[primary] = at
			shards = append(shards, shard{nodes: nodes})
		}
		shards[at].slots = append(shards[at].slots, r)
	}
	return shards, nil
}

// slotsNode reads [host, port, id, [name, value, ...]]; the last two came with Redis 4 and 7.
func slotsNode(v protocol.Value, replica bool, from asked) nodeInfo {
	n := nodeInfo{replica: replica}
	if len(v.Elems) > 2 {
		n.id = v.Elems[2].Str
	}
	var ip string
	if len(v.Elems) > 3 {
		ip = pairs(v.Elems[3])["ip"].Str
	}
	n.host, n.port = from.fill(v.Elems[0], ip, max(number(v.Elems[1]), 0))
	return n
}

// parseNodes reads the text of CLUSTER NODES: a line for each node,
//
//	id host:port@busport[,hostname] flags primary-id ping pong epoch link [slots ...]
//
// The last colon splits host and port, since an IPv6 host is not bracketed.
func parseNodes(text string, from asked) ([]shard, error) {
	var shards []shard
	index := map[string]int{} // of the shards, by the primary's id
	var replicas []struct {
		of string
		nodeInfo
	}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if len(f) < 8 {
			return nil, fmt.Errorf("CLUSTER NODES: a line of %d fields: at least 8 are needed", len(f))
		}
		n, ok, err := nodesLine(f, from)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			continue
		case n.replica:
			replicas = append(replicas, struct {
				of string
				nodeInfo
			}{f[3], n})
			continue
		}
		s := shard{nodes: []nodeInfo{n}}
		if s.slots, err = nodesSlots(f[8:]); err != nil {
			return nil, err
		}
		index[n.id] = len(shards)
		shards = append(shards, s)
	}
	for _, r := range replicas {
		if at, ok := index[r.of]; ok {
			shards[at].nodes = append(shards[at].nodes, r.nodeInfo)
		}
	}
	return shards, nil
}

// nodesLine reads a node; ok is false for one that is failing or not yet part of the cluster.
func nodesLine(f []string, from asked) (n nodeInfo, ok bool, err error) {
	flags := strings.Split(f[2], ",")
	for _, bad := range []string{"fail", "noaddr", "handshake"} {
		if slices.Contains(flags, bad) {
			return n, false, nil
		}
	}
	addr, _, _ := strings.Cut(f[1], ",")
	addr, _, _ = strings.Cut(addr, "@")
	host, port, err := splitAddr(addr)
	if err != nil {
		return n, false, fmt.Errorf("CLUSTER NODES: %w", err)
	}
	n = nodeInfo{id: f[0], replica: !slices.Contains(flags, "master")}
	n.host, n.port = from.fill(protocol.Value{Str: host}, "", port)
	return n, true, nil
}

// nodesSlots reads "0-5460" and "7000", and leaves out "[93->-id]", a slot on the move.
func nodesSlots(words []string) (list []slotRange, err error) {
	for _, word := range words {
		if strings.HasPrefix(word, "[") {
			continue
		}
		first, last, isRange := strings.Cut(word, "-")
		if !isRange {
			last = first
		}
		from, err1 := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("CLUSTER NODES: bad slots %q", word)
		}
		r, err := newSlotRange(from, to)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// splitAddr splits at the last colon; the host may be empty, or an IPv6 address with or without
// brackets.
func splitAddr(addr string) (host string, port int, err error) {
	colon := strings.LastIndexByte(addr, ':')
	if colon < 0 {
		return "", 0, fmt.Errorf("address %q has no port", addr)
	}
	port, err = strconv.Atoi(addr[colon+1:])
	if err != nil || port < 0 || port > 65535 {
		return "", 0, fmt.Errorf("address %q has a bad port", addr)
	}
	host = strings.TrimSuffix(strings.TrimPrefix(addr[:colon], "["), "]")
	return host, port, nil
}
