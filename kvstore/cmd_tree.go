package kvstore

import (
	"bytes"
	"math"

	"respbench/protocol"
)

// cmd_tree.go: the R… commands, the ordered engine. RSET on a key that is there is an error, as in the server
// that bench.c was written for; RMOD changes a key that is there.

var treeCommands = []command{
	{"rset", 3, write, (*Server).rset, 0},
	{"rget", 2, 0, func(s *Server, c *client, args [][]byte) { s.getFrom(c, s.store.tree.dict, args[1]) }, 0},
	{"rdel", 2, write, (*Server).rdel, 0},
	{"rmod", 3, write, (*Server).rmod, 0},
	{"rexist", 2, 0, func(s *Server, c *client, args [][]byte) { s.bool(s.store.tree.has(args[1])) }, 0},
	{"rrange", -3, 0, (*Server).rrange, 0},
}

func (s *Server) rset(c *client, args [][]byte) {
	if !s.store.tree.insertHash(s.key, args[1], args[2]) {
		s.fail(errExists)
		return
	}
	s.logOp(opRSet, args[1], args[2])
	s.ok()
}

func (s *Server) rdel(c *client, args [][]byte) {
	gone := s.store.tree.delete(args[1])
	if gone {
		s.logOp(opRDel, args[1])
	}
	s.bool(gone)
}

func (s *Server) rmod(c *client, args [][]byte) {
	if !modify(s.store.tree.dict, args[1], args[2]) {
		s.fail(errNoKey)
		return
	}
	s.logOp(opRMod, args[1], args[2])
	s.ok()
}

// modify replaces the value of a key that is there.
func modify(d *dict, key, value []byte) bool {
	slot, _ := d.find(d.hash(key), key)
	if slot == nil {
		return false
	}
	d.overwrite(slot, key, value, false)
	return true
}

// rrange answers RRANGE from to [LIMIT n]: keys from ≤ key ≤ to in order, each followed by its value. "-" as from and "+" as
// to leave that end open.
func (s *Server) rrange(c *client, args [][]byte) {
	limit := int64(math.MaxInt64)
	switch {
	case len(args) == 3:
	case len(args) == 5 && is(args[3], "limit"):
		var ok bool
		if limit, ok = protocol.ParseInt(args[4]); !ok || limit < 0 {
			s.fail(errNotInt)
			return
		}
	default:
		s.fail(errSyntax)
		return
	}
	from, to := args[1], args[2]
	if string(from) == "-" {
		from = nil
	}
	open := string(to) == "+"
	var found [][]byte
	if limit > 0 {
		s.store.tree.ascend(from, func(rec []byte) bool {
			key := recordKey(rec)
			if !open && bytes.Compare(key, to) > 0 {
				return false
			}
			value, _ := recordValue(rec)
			found = append(found, key, value)
			return int64(len(found)/2) < limit
		})
	}
	s.array(len(found))
	for _, b := range found {
		s.bulk(b)
	}
}
