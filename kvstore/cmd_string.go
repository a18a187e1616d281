package kvstore

import (
	"math"
	"strconv"

	"respbench/protocol"
)

// cmd_string.go: plain keys with string values, and what concerns plain keys of any type.

var stringCommands = []command{
	{"set", -3, write, (*Server).set, 0},
	{"get", 2, 0, (*Server).get, 0},
	{"del", -2, write, (*Server).del, 0},
	{"exists", -2, 0, (*Server).exists, 0},
	{"type", 2, 0, (*Server).typeOf, 0},
	{"incr", 2, write, func(s *Server, c *client, args [][]byte) { s.add(args, 1) }, 0},
	{"decr", 2, write, func(s *Server, c *client, args [][]byte) { s.add(args, -1) }, 0},
	{"incrby", 3, write, (*Server).incrBy, 0},
	{"mset", -3, write, (*Server).mset, 0},
	{"mget", -2, 0, (*Server).mget, 0},
	{"append", 3, write, (*Server).append, 0},
	{"strlen", 2, 0, (*Server).strlen, 0},
}

func (s *Server) set(c *client, args [][]byte) {
	if len(args) == 3 {
		s.putStringHash(s.key, args[1], args[2])
		s.logOp(opSet, args[1], args[2])
		s.ok()
		return
	}
	s.setWithOptions(c, args)
}

// setWithOptions knows NX, XX and GET. There is no expiry, so EX and its kin are refused, not ignored.
func (s *Server) setWithOptions(c *client, args [][]byte) {
	var nx, xx, get bool
	for _, a := range args[3:] {
		switch {
		case is(a, "nx") && !xx:
			nx = true
		case is(a, "xx") && !nx:
			xx = true
		case is(a, "get"):
			get = true
		default:
			s.fail(errSyntax)
			return
		}
	}
	rec := s.store.plain.get(args[1])
	if get && rec != nil {
		if _, object := recordValue(rec); object {
			s.fail(errWrongType)
			return
		}
	}
	refused := nx && rec != nil || xx && rec == nil
	switch {
	case get && rec != nil:
		value, _ := recordValue(rec)
		s.bulk(value)
	case get || refused:
		s.null(c)
	default:
		s.ok()
	}
	if !refused {
		s.putString(args[1], args[2])
		s.logOp(opSet, args[1], args[2])
	}
}

// putString sets a plain key to a string, whatever it was.
func (s *Server) putString(key, value []byte) { s.putStringHash(s.store.plain.hash(key), key, value) }

// putStringHash is putString for a key whose hash is known.
func (s *Server) putStringHash(h uint64, key, value []byte) {
	d := s.store.plain
	slot, _ := d.find(h, key)
	if slot == nil {
		d.insert(h, d.record(key, value, false), d.hashOf)
		return
	}
	s.dropObject(d.mem.at(ref(*slot & refMask)))
	d.overwrite(slot, key, value, false)
}

// dropObject forgets the object that a plain record stands for, if it does.
func (s *Server) dropObject(rec []byte) {
	value, object := recordValue(rec)
	if !object {
		return
	}
	n := objectNumber(value)
	s.store.objects.all[n].header().walk = nil
	switch x := s.store.objects.all[n].(type) {
	case *list:
		for i := range x.n {
			s.store.mem.free(*x.at(i))
		}
	case *stream:
		for _, r := range x.entries {
			s.store.mem.free(r)
		}
	}
	s.store.objects.drop(n)
}

func (s *Server) get(c *client, args [][]byte) {
	s.getFrom(c, s.store.plain, args[1])
}

// getFrom answers with the string value of the command's key.
func (s *Server) getFrom(c *client, d *dict, key []byte) {
	rec := d.getHash(s.key, key)
	if rec == nil {
		s.counts.misses++
		s.null(c)
		return
	}
	s.counts.hits++
	value, object := recordValue(rec)
	if object {
		s.fail(errWrongType)
		return
	}
	s.bulk(value)
}

func (s *Server) del(c *client, args [][]byte) {
	n := int64(0)
	for _, key := range args[1:] {
		if s.deletePlain(key) {
			s.logOp(opDel, key)
			n++
		}
	}
	s.int(n)
}

func (s *Server) deletePlain(key []byte) bool {
	rec := s.store.plain.get(key)
	if rec == nil {
		return false
	}
	s.dropObject(rec)
	return s.store.plain.delete(key)
}

func (s *Server) exists(c *client, args [][]byte) {
	n := int64(0)
	for _, key := range args[1:] {
		if s.store.plain.has(key) {
			n++
		}
	}
	s.int(n)
}

func (s *Server) typeOf(c *client, args [][]byte) {
	name := "none"
	if rec := s.store.plain.get(args[1]); rec != nil {
		name = "string"
		if value, object := recordValue(rec); object {
			name = typeName(s.store.objects.all[objectNumber(value)])
		}
	}
	s.out = protocol.AppendSimple(s.out, name)
}

func (s *Server) incrBy(c *client, args [][]byte) {
	by, ok := protocol.ParseInt(args[2])
	if !ok {
		s.fail(errNotInt)
		return
	}
	s.add(args, by)
}

func (s *Server) add(args [][]byte, by int64) {
	var n int64
	if rec := s.store.plain.get(args[1]); rec != nil {
		value, object := recordValue(rec)
		if object {
			s.fail(errWrongType)
			return
		}
		var ok bool
		if n, ok = protocol.ParseInt(value); !ok {
			s.fail(errNotInt)
			return
		}
	}
	if by < 0 && n < math.MinInt64-by || by > 0 && n > math.MaxInt64-by {
		s.fail("ERR increment or decrement would overflow")
		return
	}
	n += by
	var digits [20]byte
	text := strconv.AppendInt(digits[:0], n, 10)
	s.putString(args[1], text)
	s.logOp(opSet, args[1], text)
	s.int(n)
}

func (s *Server) mset(c *client, args [][]byte) {
	if len(args)%2 == 0 {
		s.wrongArity("mset")
		return
	}
	for i := 1; i < len(args); i += 2 {
		s.putString(args[i], args[i+1])
	}
	s.logOp(opMSet, args[1:]...)
	s.ok()
}

func (s *Server) mget(c *client, args [][]byte) {
	s.array(len(args) - 1)
	for _, key := range args[1:] {
		rec := s.store.plain.get(key)
		if rec != nil {
			s.counts.hits++
			if value, object := recordValue(rec); !object {
				s.bulk(value)
				continue
			}
		} else {
			s.counts.misses++
		}
		s.null(c)
	}
}

func (s *Server) append(c *client, args [][]byte) {
	rec := s.store.plain.get(args[1])
	if rec == nil {
		s.putString(args[1], args[2])
		s.logOp(opAppend, args[1], args[2])
		s.int(int64(len(args[2])))
		return
	}
	old, object := recordValue(rec)
	switch {
	case object:
		s.fail(errWrongType)
	case len(old)+len(args[2]) > protocol.MaxRequestBulk:
		s.fail("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	default:
		n := s.store.plain.extend(args[1], args[2])
		s.logOp(opAppend, args[1], args[2])
		s.int(int64(n))
	}
}

func (s *Server) strlen(c *client, args [][]byte) {
	rec := s.store.plain.get(args[1])
	if rec == nil {
		s.int(0)
		return
	}
	value, object := recordValue(rec)
	if object {
		s.fail(errWrongType)
		return
	}
	s.int(int64(len(value)))
}
