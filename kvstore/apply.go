package kvstore

import "fmt"

// apply.go carries out the changes of a log at start. A change is absolute where it can be (RSET replaces, a pop of an empty
// list does nothing), so that the records which a rewrite interleaves with the snapshot need no special care.

// apply carries out one change.
func (s *Server) apply(code op, args [][]byte) error {
	switch code {
	case opFlush:
		s.clear()
	case opSet:
		s.putString(args[0], args[1])
	case opMSet:
		for i := 0; i < len(args); i += 2 {
			s.putString(args[i], args[i+1])
		}
	case opDel:
		s.deletePlain(args[0])
	case opAppend:
		s.applyAppend(args[0], args[1])
	case opRSet, opRMod:
		if !s.store.tree.insert(args[0], args[1]) {
			modify(s.store.tree.dict, args[0], args[1])
		}
	case opRDel:
		s.store.tree.delete(args[0])
	case opHSet, opHMod:
		s.store.table.put(args[0], args[1], false)
	case opHDel:
		s.store.table.delete(args[0])
	default:
		return s.applyObject(code, args)
	}
	return nil
}

func (s *Server) applyAppend(key, more []byte) {
	if rec := s.store.plain.get(key); rec != nil {
		if _, object := recordValue(rec); !object {
			s.store.plain.extend(key, more)
			return
		}
	}
	s.putString(key, more)
}

// applyObject carries out a change of an object by its command, for a client that nobody listens to. A command that has
// nothing to do answers so, which is fine; one that fails could not have been logged.
func (s *Server) applyObject(code op, args [][]byte) error {
	var run func(*Server, *client, [][]byte)
	switch code {
	case opHSetFields:
		run = (*Server).hset
	case opHDelField:
		run = (*Server).hdel
	case opLPush, opRPush:
		run = func(s *Server, c *client, args [][]byte) { s.push(args, code == opLPush) }
	case opLPop, opRPop:
		run = func(s *Server, c *client, args [][]byte) { s.pop(c, args, code == opLPop) }
	case opSAdd:
		run = (*Server).sadd
	case opSRem:
		run = (*Server).srem
	case opZAdd:
		run = (*Server).zadd
	case opZRem:
		run = (*Server).zrem
	case opXAdd:
		run = (*Server).xadd
	}
	s.args = append(append(s.args[:0], nil), args...)
	s.out = s.out[:0]
	run(s, &s.nobody, s.args)
	defer func() { s.out = s.out[:0] }()
	if len(s.out) > 0 && s.out[0] == '-' {
		return fmt.Errorf("%w: %s", errPayload, s.out[1:len(s.out)-2])
	}
	return nil
}
