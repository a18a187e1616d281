package runner

import "sync/atomic"

// quota hands out the request indices of a round. Loops claim them in blocks, so that the only
// word they share is touched once per block and exactly total requests are made.
type quota struct {
	next  atomic.Uint64
	total uint64
	block uint64
}

// Blocks: small enough that no loop sits on work at the end while another has none.
const (
	maxBlock       = 1 << 16
	blocksPerShare = 16
)

// newQuota splits total requests for the given number of loops; unit is the number of requests
// that must stay together.
func newQuota(total uint64, loops int, pipeline, unit uint64) *quota {
	q := &quota{total: total, block: total}
	if loops > 1 {
		q.block = min(max(total/uint64(loops*blocksPerShare), pipeline), maxBlock)
		q.block = max(q.block/unit*unit, unit)
	}
	return q
}

// share is one loop's claimed part, [from, to).
type share struct {
	q        *quota
	from, to uint64
}

// claim takes at most k indices and returns the first and how many; 0 when none is left.
func (s *share) claim(k uint64) (first, n uint64) {
	if s.from == s.to {
		from := s.q.next.Add(s.q.block) - s.q.block
		if from >= s.q.total {
			return 0, 0
		}
		s.from, s.to = from, min(from+s.q.block, s.q.total)
	}
	first, n = s.from, min(k, s.to-s.from)
	s.from += n
	return first, n
}

// left is how many indices a loop can claim at most from now on.
func (s *share) left() uint64 {
	n := s.to - s.from
	if next := s.q.next.Load(); next < s.q.total {
		n += s.q.total - next
	}
	return n
}

// empty says that a claim would find nothing.
func (s *share) empty() bool { return s.from == s.to && s.q.next.Load() >= s.q.total }
