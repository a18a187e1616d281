package workload

import "sort"

// Gen makes the bytes of a plan's requests for one loop, into buffers that it owns and uses again. It is not safe for concurrent
// use. Three generators stand behind it, fastest first:
//
//	template  requests that keep their length: copies of one request lie ready, and only the digits that can change are written
//	keyed     bench mode with small values: head, digits, value, end, each a move of constant size
//	pieces    everything else: any length, any mix, large values by reference
//
// The last one can make whatever the others make, and the tests hold them against it.
type Gen struct {
	plan  *Plan
	ahead int
	tag   [len(tagPlaceholder)]byte

	out   [][]byte // what Fill returned
	first uint64   // of the last Fill
	skip  int      // of the last Fill

	buf    []byte   // template: copies of the unit. keyed and pieces: bytes made for this Fill
	copies int      // template: how many units buf holds
	ends   []int    // keyed and pieces: where each whole request of the Fill ends in its bytes
	draws  []uint64 // keyed: which key and command each request has
	piecer piecer
}

// MinAhead is the least number of bytes that a Gen makes ahead.
const MinAhead = 512

// Gen returns a generator for one loop that makes at most ahead bytes in one Fill (a design value is 256 KiB).
func (p *Plan) Gen(ahead int) *Gen {
	g := &Gen{plan: p, ahead: max(ahead, MinAhead)}
	g.tag = [len(tagPlaceholder)]byte([]byte(tagPlaceholder))
	g.out = make([][]byte, 0, 2)
	return g
}

// SetTag sets the five bytes that take the place of {tag} in all requests of the Fills to come: "{", up to three characters, and
// "}" until five are full. Other lengths are cut or padded with "}".
func (g *Gen) SetTag(tag []byte) {
	n := copy(g.tag[:], tag)
	for ; n < len(g.tag); n++ {
		g.tag[n] = '}'
	}
}

// Fill makes the bytes of requests first … first+k-1 (k at least 1), leaving out the first skip bytes of request first, for a write
// that was cut short. When those are more than ahead bytes it stops after the last request that fits; a single larger request is cut.
// The slices are ready for write or writev, are valid until the next Fill and must not be changed. In steady state nothing is
// allocated.
func (g *Gen) Fill(first uint64, k int, skip int) [][]byte {
	g.first, g.skip = first, skip
	switch p := g.plan; {
	case p.template != nil && p.template.size <= g.ahead:
		g.fillTemplate(first, k, skip)
	case p.keyed != nil && p.keyed.maxSize <= g.ahead:
		g.fillKeyed(first, k, skip)
	default:
		g.fillPieces(first, k, skip)
	}
	return g.out
}

// Sent says what n written bytes of the last Fill mean: how many requests are now sent whole, counted from its first, and how many
// bytes of the request behind them are sent as well.
func (g *Gen) Sent(n int) (whole, skip int) {
	if t := g.plan.template; t != nil && t.size <= g.ahead {
		return t.sent(g.first, g.skip+n)
	}
	last := len(g.ends) - 1
	if last >= 0 && n >= g.ends[last] {
		return last + 1, n - g.ends[last]
	}
	whole = sort.Search(len(g.ends), func(i int) bool { return g.ends[i] > n })
	if whole == 0 {
		return 0, g.skip + n
	}
	return whole, n - g.ends[whole-1]
}
