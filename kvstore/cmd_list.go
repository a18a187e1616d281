package kvstore

import (
	"respbench/protocol"
)

// cmd_list.go: lists, as a ring of blocks in allocator memory: both ends cost the same, and the collector sees one array
// without pointers.

var listCommands = []command{
	{"lpush", -3, write, func(s *Server, c *client, args [][]byte) { s.push(args, true) }, 0},
	{"rpush", -3, write, func(s *Server, c *client, args [][]byte) { s.push(args, false) }, 0},
	{"lpop", -2, write, func(s *Server, c *client, args [][]byte) { s.pop(c, args, true) }, 0},
	{"rpop", -2, write, func(s *Server, c *client, args [][]byte) { s.pop(c, args, false) }, 0},
	{"llen", 2, 0, (*Server).llen, 0},
	{"lindex", 3, 0, (*Server).lindex, 0},
	{"lrange", 4, 0, (*Server).lrange, 0},
}

// list is a ring of the refs of its elements' records, whose key is the element.
type list struct {
	objectHeader
	ring []ref // a power of two long
	head int   // index of the first element
	n    int
}

func (l *list) at(i int) *ref { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

func (l *list) grow() {
	if l.n < len(l.ring) {
		return
	}
	ring := make([]ref, max(8, 2*len(l.ring)))
	k := copy(ring, l.ring[l.head:])
	copy(ring[k:], l.ring[:l.head])
	l.ring, l.head = ring, 0
}

func (l *list) pushFront(r ref) {
	l.grow()
	l.head = (l.head - 1) & (len(l.ring) - 1)
	l.n++
	*l.at(0) = r
}

func (l *list) pushBack(r ref) {
	l.grow()
	l.n++
	*l.at(l.n - 1) = r
}

func (l *list) popFront() ref {
	r := *l.at(0)
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
	return r
}

func (l *list) popBack() ref {
	r := *l.at(l.n - 1)
	l.n--
	return r
}

func (s *Server) element(b []byte) ref {
	r := s.store.mem.alloc(recordHead + len(b))
	fillRecord(s.store.mem.at(r), b, nil, false)
	return r
}

func (s *Server) push(args [][]byte, front bool) {
	l, ok := objectOf(s, args[1], func() *list { return &list{} })
	if !ok {
		return
	}
	for _, b := range args[2:] {
		if front {
			l.pushFront(s.element(b))
		} else {
			l.pushBack(s.element(b))
		}
	}
	s.logOp(pick(front, opLPush, opRPush), args[1:]...)
	s.int(int64(l.n))
}

// count reads the count of a pop and sends the error when it is not one.
func (s *Server) count(arg []byte) (int64, bool) {
	n, ok := protocol.ParseInt(arg)
	if !ok || n < 0 {
		s.fail("ERR value is out of range, must be positive")
		return 0, false
	}
	return n, true
}

func pick[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

func (s *Server) pop(c *client, args [][]byte, front bool) {
	counted := len(args) == 3
	count := int64(1)
	if len(args) > 3 {
		s.wrongArity(pick(front, "lpop", "rpop"))
		return
	}
	if counted {
		var ok bool
		if count, ok = s.count(args[2]); !ok {
			return
		}
	}
	l, ok := readObject[*list](s, args[1])
	switch {
	case !ok:
		return
	case l == nil && counted:
		s.nullArray(c)
		return
	case l == nil:
		s.null(c)
		return
	}
	k := int(min(count, int64(l.n)))
	if counted {
		s.array(k)
	}
	for range k {
		r := pick(front, l.popFront, l.popBack)()
		s.bulk(recordKey(s.store.mem.at(r)))
		s.store.mem.free(r)
		s.logOp(pick(front, opLPop, opRPop), args[1])
	}
	if l.n == 0 {
		s.deletePlain(args[1])
	}
}

func (s *Server) llen(c *client, args [][]byte) {
	l, ok := readObject[*list](s, args[1])
	switch {
	case !ok:
	case l == nil:
		s.int(0)
	default:
		s.int(int64(l.n))
	}
}

func (s *Server) lindex(c *client, args [][]byte) {
	l, ok := readObject[*list](s, args[1])
	if !ok {
		return
	}
	i, valid := protocol.ParseInt(args[2])
	if l != nil && valid && i < 0 {
		i += int64(l.n)
	}
	switch {
	case l == nil:
		s.null(c)
	case !valid:
		s.fail(errNotInt)
	case i < 0 || i >= int64(l.n):
		s.null(c)
	default:
		s.bulk(recordKey(s.store.mem.at(*l.at(int(i)))))
	}
}

func (s *Server) lrange(c *client, args [][]byte) {
	from, ok1 := protocol.ParseInt(args[2])
	to, ok2 := protocol.ParseInt(args[3])
	if !ok1 || !ok2 {
		s.fail(errNotInt)
		return
	}
	l, ok := readObject[*list](s, args[1])
	if !ok {
		return
	}
	if l == nil {
		s.array(0)
		return
	}
	n := int64(l.n)
	if from < 0 {
		from = max(0, from+n)
	}
	if to < 0 {
		to += n
	}
	to = min(to, n-1)
	if from > to {
		s.array(0)
		return
	}
	s.array(int(to - from + 1))
	for i := from; i <= to; i++ {
		s.bulk(recordKey(s.store.mem.at(*l.at(int(i)))))
	}
}
