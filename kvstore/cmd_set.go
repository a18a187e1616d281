package kvstore

import (
	"math/rand/v2"

	"respbench/protocol"
)

// cmd_set.go: sets, as a map to positions in a list of the members, so that a random one is found in one step.

var setCommands = []command{
	{"sadd", -3, write, (*Server).sadd, 0},
	{"srem", -3, write, (*Server).srem, 0},
	{"spop", -2, write, (*Server).spop, 0},
	{"scard", 2, 0, (*Server).scard, 0},
	{"sismember", 3, 0, (*Server).sismember, 0},
}

type set struct {
	objectHeader
	place   map[string]int // of a member in members
	members []string
}

func newSet() *set { return &set{place: map[string]int{}} }

func (x *set) add(b []byte) bool {
	if _, there := x.place[string(b)]; there {
		return false
	}
	m := string(b)
	x.place[m] = len(x.members)
	x.members = append(x.members, m)
	return true
}

func (x *set) remove(m string) bool {
	i, there := x.place[m]
	if !there {
		return false
	}
	last := len(x.members) - 1
	moved := x.members[last]
	x.members[i] = moved
	x.place[moved] = i
	x.members[last] = ""
	x.members = x.members[:last]
	delete(x.place, m)
	return true
}

func (s *Server) sadd(c *client, args [][]byte) {
	x, ok := objectOf(s, args[1], newSet)
	if !ok {
		return
	}
	n := int64(0)
	for _, m := range args[2:] {
		if x.add(m) {
			s.logOp(opSAdd, args[1], m)
			n++
		}
	}
	s.int(n)
}

func (s *Server) srem(c *client, args [][]byte) {
	x, ok := readObject[*set](s, args[1])
	if !ok {
		return
	}
	n := int64(0)
	for _, m := range args[2:] {
		if x != nil && x.remove(string(m)) {
			s.logOp(opSRem, args[1], m)
			n++
		}
	}
	if n > 0 && len(x.members) == 0 {
		s.deletePlain(args[1])
	}
	s.int(n)
}

func (s *Server) spop(c *client, args [][]byte) {
	counted := len(args) == 3
	count := int64(1)
	if len(args) > 3 {
		s.fail(errSyntax)
		return
	}
	if counted {
		var ok bool
		if count, ok = s.count(args[2]); !ok {
			return
		}
	}
	x, ok := readObject[*set](s, args[1])
	if !ok {
		return
	}
	if x == nil {
		x = &set{}
	}
	if counted {
		count = min(count, int64(len(x.members)))
		s.out = pick(c.resp3, protocol.AppendSet, protocol.AppendArray)(s.out, int(count))
	} else if len(x.members) == 0 {
		s.null(c)
		return
	}
	for range count {
		m := x.members[rand.IntN(len(x.members))]
		x.remove(m)
		s.bulkString(m)
		s.logOp(opSRem, args[1], []byte(m))
	}
	if count > 0 && len(x.members) == 0 {
		s.deletePlain(args[1])
	}
}

func (s *Server) scard(c *client, args [][]byte) {
	x, ok := readObject[*set](s, args[1])
	switch {
	case !ok:
	case x == nil:
		s.int(0)
	default:
		s.int(int64(len(x.members)))
	}
}

func (s *Server) sismember(c *client, args [][]byte) {
	x, ok := readObject[*set](s, args[1])
	switch {
	case !ok:
	case x == nil:
		s.int(0)
	default:
		_, there := x.place[string(args[2])]
		s.bool(there)
	}
}
