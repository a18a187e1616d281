package kvstore

import "bytes"

// cmd_hash.go: two kinds share the names HSET, HGET and HDEL. With key and value only they are a hash table of its own, one
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

// hash is Redis's hash type: a map to positions in a list of the fields, which a rewrite can walk.
type hash struct {
	objectHeader
	place  map[string]int // of a field in fields
	fields []hashField
}

type hashField struct {
	name  string
	value []byte
}

func newHash() *hash { return &hash{place: map[string]int{}} }

// get gives a field, nil when it is absent.
func (h *hash) get(name []byte) *hashField {
	if i, there := h.place[string(name)]; there {
		return &h.fields[i]
	}
	return nil
}

// set sets a field and reports whether it is new.
func (h *hash) set(name, value []byte) bool {
	if f := h.get(name); f != nil {
		f.value = append(f.value[:0], value...)
		return false
	}
	f := hashField{string(name), bytes.Clone(value)}
	h.place[f.name] = len(h.fields)
	h.fields = append(h.fields, f)
	return true
}

func (h *hash) remove(name []byte) bool {
	i, there := h.place[string(name)]
	if !there {
		return false
	}
	delete(h.place, string(name))
	last := len(h.fields) - 1
	if i != last {
		h.fields[i] = h.fields[last]
		h.place[h.fields[i].name] = i
	}
	h.fields[last] = hashField{}
	h.fields = h.fields[:last]
	return true
}

// isHash reports whether a plain key is a hash. While there are none, as where bench.c alone is the client, it costs nothing.
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
	h, ok := objectOf(s, args[1], newHash)
	if !ok {
		return
	}
	n := int64(0)
	for i := 2; i < len(args); i += 2 {
		if h.set(args[i], args[i+1]) {
			n++
		}
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
		if f := h.get(args[2]); f != nil {
			s.counts.hits++
			s.bulk(f.value)
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
		if h.remove(field) {
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
		s.bool(h.get(args[2]) != nil)
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
	for i := range h.fields {
		s.bulkString(h.fields[i].name)
		s.bulk(h.fields[i].value)
	}
}
