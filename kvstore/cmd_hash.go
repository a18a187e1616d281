package kvstore

import "respbench/protocol"

// cmd_hash.go: two kinds share the names HSET, HGET and HDEL. With key and value only they are the customer's hash table, one
// value a key; with a field they are Redis's hash. A name is of one kind at a time, the other kind's commands on it answer
// WRONGTYPE.

var hashCommands = []command{
	{"hset", -3, write, (*Server).hset, 0},
	{"hget", -2, 0, (*Server).hget, 0},
	{"hdel", -2, write, (*Server).hdel, 0},
	{"hmod", 3, write, (*Server).hmod, 0},
	{"hexist", 2, 0, (*Server).hexist, 0},
	{"hexists", 3, 0, (*Server).hexists, 0},
	{"hlen", 2, 0, (*Server).hlen, 0},
	{"hgetall", 2, 0, (*Server).hgetall, 0},
}

// hash is Redis's hash type.
type hash struct {
	objectHeader
	fields map[string][]byte
}

// isHash reports whether a plain key is a hash. While there are none, as in all of the customer's uses, it costs nothing.
func (s *Server) isHash(key []byte) bool {
	if s.store.objects.hashes == 0 {
		return false
	}
	x, _ := s.object(key)
	_, ok := x.(*hash)
	return ok
}

// otherKind refuses a table command on a name that is a hash.
func (s *Server) otherKind(key []byte) bool {
	if s.isHash(key) {
		s.fail(errWrongType)
		return true
	}
	return false
}

func (s *Server) hset(c *client, args [][]byte) {
	switch {
	case len(args) == 3:
		if !s.otherKind(args[1]) {
			s.store.table.putHash(s.key, args[1], args[2], false)
			s.logOp(opHSet, args[1], args[2])
			s.ok()
		}
	case len(args)%2 != 0:
		s.wrongArity("hset")
	default:
		s.hsetFields(args)
	}
}

func (s *Server) hsetFields(args [][]byte) {
	if s.store.table.count > 0 && s.store.table.has(args[1]) {
		s.fail(errWrongType)
		return
	}
	h, ok := objectOf(s, args[1], func() *hash { return &hash{fields: map[string][]byte{}} })
	if !ok {
		return
	}
	n := int64(0)
	for i := 2; i < len(args); i += 2 {
		field, value := args[i], args[i+1]
		old, there := h.fields[string(field)]
		if there && cap(old) >= len(value) {
			h.fields[string(field)] = append(old[:0], value...)
			continue
		}
		if !there {
			n++
		}
		h.fields[string(field)] = append([]byte(nil), value...)
	}
	s.logOp(opHSetFields, args[1:]...)
	s.int(n)
}

func (s *Server) hget(c *client, args [][]byte) {
	switch len(args) {
	case 2:
		if !s.otherKind(args[1]) {
			s.getFrom(c, s.store.table, args[1])
		}
	case 3:
		h, there := s.readHash(args[1])
		if !there {
			return
		}
		if value, ok := h.fields[string(args[2])]; ok {
			s.counts.hits++
			s.bulk(value)
			return
		}
		s.counts.misses++
		s.null(c)
	default:
		s.wrongArity("hget")
	}
}

// emptyHash stands for a key that is not there.
var emptyHash hash

// readHash gives the hash of a key. ok is false when the key is of another type: the error is sent.
func (s *Server) readHash(key []byte) (h *hash, ok bool) {
	if s.store.table.count > 0 && s.store.table.has(key) {
		s.fail(errWrongType)
		return nil, false
	}
	h, ok = readObject[*hash](s, key)
	if h == nil {
		h = &emptyHash
	}
	return h, ok
}

func (s *Server) hdel(c *client, args [][]byte) {
	if len(args) == 2 {
		if s.otherKind(args[1]) {
			return
		}
		gone := s.store.table.delete(args[1])
		if gone {
			s.logOp(opHDel, args[1])
		}
		s.bool(gone)
		return
	}
	h, ok := s.readHash(args[1])
	if !ok {
		return
	}
	n := int64(0)
	for _, field := range args[2:] {
		if _, there := h.fields[string(field)]; there {
			delete(h.fields, string(field))
			s.logOp(opHDelField, args[1], field)
			n++
		}
	}
	if n > 0 && len(h.fields) == 0 {
		s.deletePlain(args[1])
	}
	s.int(n)
}

func (s *Server) hmod(c *client, args [][]byte) {
	if s.otherKind(args[1]) {
		return
	}
	if !modify(s.store.table, args[1], args[2]) {
		s.fail(errNoKey)
		return
	}
	s.logOp(opHMod, args[1], args[2])
	s.ok()
}

func (s *Server) hexist(c *client, args [][]byte) {
	if !s.otherKind(args[1]) {
		s.bool(s.store.table.has(args[1]))
	}
}

func (s *Server) hexists(c *client, args [][]byte) {
	if h, ok := s.readHash(args[1]); ok {
		_, there := h.fields[string(args[2])]
		s.bool(there)
	}
}

func (s *Server) hlen(c *client, args [][]byte) {
	if h, ok := s.readHash(args[1]); ok {
		s.int(int64(len(h.fields)))
	}
}

func (s *Server) hgetall(c *client, args [][]byte) {
	h, ok := s.readHash(args[1])
	if !ok {
		return
	}
	s.mapHead(c, len(h.fields))
	for field, value := range h.fields {
		s.out = protocol.AppendBulkString(s.out, field)
		s.bulk(value)
	}
}
