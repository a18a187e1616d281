package kvstore

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/btree"

	"respbench/protocol"
)

// cmd_zset.go: sorted sets, as a map of scores and a B-tree in the order of score and member. The options of ZADD are not
// known and refused.

var zsetCommands = []command{
	{"zadd", -4, write, (*Server).zadd, 0},
	{"zrem", -3, write, (*Server).zrem, 0},
	{"zpopmin", -2, write, (*Server).zpopmin, 0},
	{"zcard", 2, 0, (*Server).zcard, 0},
	{"zscore", 3, 0, (*Server).zscore, 0},
}

type zset struct {
	objectHeader
	scores map[string]float64
	order  *btree.BTreeG[zitem]
}

type zitem struct {
	score  float64
	member string
}

func newZset() *zset {
	less := func(a, b zitem) bool {
		return a.score < b.score || a.score == b.score && a.member < b.member
	}
	return &zset{scores: map[string]float64{}, order: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})}
}

// put sets the score of a member; added and changed tell what was new.
func (z *zset) put(b []byte, score float64) (added, changed bool) {
	old, there := z.scores[string(b)]
	if there && old == score {
		return false, false
	}
	m := string(b)
	if there {
		z.order.Delete(zitem{old, m})
	}
	z.scores[m] = score
	z.order.Set(zitem{score, m})
	return !there, true
}

func (z *zset) remove(m string) bool {
	score, there := z.scores[m]
	if there {
		delete(z.scores, m)
		z.order.Delete(zitem{score, m})
	}
	return there
}

// parseScore reads a score as Redis does, but for hexadecimal ones. Minus zero becomes zero, as it does in Redis's small sets.
func parseScore(b []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(b), 64)
	return f + 0, err == nil && !math.IsNaN(f) && !strings.ContainsAny(string(b), "_xX")
}

func (s *Server) zadd(c *client, args [][]byte) {
	if is(args[2], "nx") || is(args[2], "xx") || is(args[2], "gt") || is(args[2], "lt") || is(args[2], "ch") || is(args[2], "incr") || len(args)%2 != 0 {
		s.fail(errSyntax)
		return
	}
	scores := make([]float64, 0, 8)
	for i := 2; i < len(args); i += 2 {
		f, ok := parseScore(args[i])
		if !ok {
			s.fail(errNotFloat)
			return
		}
		scores = append(scores, f)
	}
	z, ok := objectOf(s, args[1], newZset)
	if !ok {
		return
	}
	n := int64(0)
	for i, score := range scores {
		added, changed := z.put(args[2*i+3], score)
		if added {
			n++
		}
		if changed {
			s.logOp(opZAdd, args[1], args[2*i+2], args[2*i+3])
		}
	}
	s.int(n)
}

func (s *Server) zrem(c *client, args [][]byte) {
	z, ok := readObject[*zset](s, args[1])
	if !ok {
		return
	}
	n := int64(0)
	for _, m := range args[2:] {
		if z != nil && z.remove(string(m)) {
			s.logOp(opZRem, args[1], m)
			n++
		}
	}
	if n > 0 && len(z.scores) == 0 {
		s.deletePlain(args[1])
	}
	s.int(n)
}

func (s *Server) zpopmin(c *client, args [][]byte) {
	count := int64(1)
	counted := len(args) == 3
	switch {
	case len(args) > 3:
		s.fail(errSyntax)
		return
	case counted:
		var ok bool
		if count, ok = s.count(args[2]); !ok {
			return
		}
	}
	z, ok := readObject[*zset](s, args[1])
	if !ok {
		return
	}
	if z == nil || count == 0 {
		s.array(0)
		return
	}
	k := int(min(count, int64(len(z.scores))))
	pairs := c.resp3 && counted
	s.array(pick(pairs, k, 2*k))
	for range k {
		item, _ := z.order.PopMin()
		delete(z.scores, item.member)
		if pairs {
			s.array(2)
		}
		s.bulkString(item.member)
		s.double(c, item.score)
		s.logOp(opZRem, args[1], []byte(item.member))
	}
	if len(z.scores) == 0 {
		s.deletePlain(args[1])
	}
}

// double appends a score, which RESP2 carries as a string.
func (s *Server) double(c *client, f float64) {
	if c.resp3 {
		s.out = protocol.AppendDouble(s.out, f)
		return
	}
	var text [32]byte
	s.bulk(protocol.AppendFloat(text[:0], f))
}

func (s *Server) zcard(c *client, args [][]byte) {
	z, ok := readObject[*zset](s, args[1])
	switch {
	case !ok:
	case z == nil:
		s.int(0)
	default:
		s.int(int64(len(z.scores)))
	}
}

func (s *Server) zscore(c *client, args [][]byte) {
	z, ok := readObject[*zset](s, args[1])
	if !ok {
		return
	}
	if z != nil {
		if score, there := z.scores[string(args[2])]; there {
			s.double(c, score)
			return
		}
	}
	s.null(c)
}
