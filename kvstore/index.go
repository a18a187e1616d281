package kvstore

import "unsafe"

// index.go is the hash table of all engines: extendible hashing over segments of 1024 slots. A slot is one word: 26 bits of
// the hash and the ref of the record. There are no pointers in a segment and no pause when the table grows: one full
// segment of 8 KiB splits in two, and the directory, which doubles now and then, has one word for about 700 keys.
//
// Segments cover ranges of the hash in ascending order, so a walk over the directory visits keys in the order of their
// hashes, whatever splits happen in between. The log rewrite depends on that.

const (
	segmentSlots = 1024
	segmentFull  = segmentSlots * 7 / 8
	fragBits     = 64 - refBits // hash bits kept in a slot: the topmost 16 and the lowest 10
	fragTop      = fragBits - 10
	deleted      = uint64(refMask) // a slot whose key is gone, but which a search must step over
)

type segment struct {
	slots  [segmentSlots]uint64 // fragment<<refBits | ref; 0: never used
	live   int                  // slots with a key
	filled int                  // live and deleted slots
	depth  uint                 // leading hash bits that its keys share
}

// segmentBytes is the size of a segment, rounded up to cache lines.
const segmentBytes = (int(unsafe.Sizeof(segment{})) + 63) &^ 63

// index maps a hash to the ref of a record. The owner says whether a record has the wanted key.
type index struct {
	newSegment func() *segment

	dir   []*segment // by the topmost depth bits of the hash
	depth uint
	count int
}

func newIndex(newSegment func() *segment) index {
	return index{newSegment: newSegment, dir: []*segment{newSegment()}}
}

// fragment gives the bits of a hash that a slot keeps.
func fragment(h uint64) uint64 { return h>>(64-fragTop)<<10 | h&(segmentSlots-1) }

// segmentOf gives the segment for a hash. A shift by 64 gives 0 in Go.
func (x *index) segmentOf(h uint64) *segment { return x.dir[h>>(64-x.depth)] }

// insert adds a record whose key is known to be absent. hashOf computes the hash of a stored record again, which is needed
// only beyond fragTop levels (45 million keys).
func (x *index) insert(h uint64, r ref, hashOf func(ref) uint64) {
	seg := x.segmentOf(h)
	for seg.filled >= segmentFull {
		if seg.live < segmentFull/2 {
			seg.compact()
		} else {
			x.split(h, hashOf)
			seg = x.segmentOf(h)
		}
	}
	seg.add(fragment(h), r)
	x.count++
}

func (g *segment) add(frag uint64, r ref) {
	i := frag & (segmentSlots - 1)
	for g.slots[i] != 0 {
		i = (i + 1) & (segmentSlots - 1)
	}
	g.slots[i] = frag<<refBits | uint64(r)
	g.live++
	g.filled++
}

// remove empties a slot of the segment for h.
func (x *index) remove(h uint64, slot *uint64, i int) {
	seg := x.segmentOf(h)
	*slot = deleted
	seg.live--
	x.count--
	// Deleted slots in front of a free one stop no search: free them too.
	for seg.slots[(i+1)&(segmentSlots-1)] == 0 && seg.slots[i] == deleted {
		seg.slots[i] = 0
		seg.filled--
		i = (i - 1) & (segmentSlots - 1)
	}
}

// compact rebuilds a segment without its deleted slots.
func (g *segment) compact() {
	old := g.slots
	g.slots = [segmentSlots]uint64{}
	g.live, g.filled = 0, 0
	for _, s := range old {
		if s != 0 && s != deleted {
			g.add(s>>refBits, ref(s&refMask))
		}
	}
}

// split gives half of the hash range of the segment for h to a new one.
func (x *index) split(h uint64, hashOf func(ref) uint64) {
	seg := x.segmentOf(h)
	if seg.depth == x.depth {
		dir := make([]*segment, 2*len(x.dir))
		for i, s := range x.dir {
			dir[2*i], dir[2*i+1] = s, s
		}
		x.dir = dir
		x.depth++
	}
	low, high := seg, x.newSegment()
	old := seg.slots
	low.slots, low.live, low.filled = [segmentSlots]uint64{}, 0, 0
	low.depth++
	high.depth = low.depth
	for _, s := range old {
		if s == 0 || s == deleted {
			continue
		}
		r := ref(s & refMask)
		var bit uint64
		if low.depth <= fragTop {
			bit = s >> (64 - low.depth) & 1
		} else {
			bit = hashOf(r) >> (64 - low.depth) & 1
		}
		if bit == 0 {
			low.add(s>>refBits, r)
		} else {
			high.add(s>>refBits, r)
		}
	}
	// The entries of the segment are contiguous; the second half becomes high's.
	span := 1 << (x.depth - low.depth)
	first := int(h>>(64-x.depth)) &^ (2*span - 1)
	for i := range span {
		x.dir[first+span+i] = high
	}
}

// walk calls f for the records of the segment that holds hash h, and returns the first hash behind that segment; last is
// true when there is none. f must not change the index.
func (x *index) walk(h uint64, f func(ref)) (next uint64, last bool) {
	seg := x.segmentOf(h)
	for _, s := range seg.slots {
		if s != 0 && s != deleted {
			f(ref(s & refMask))
		}
	}
	size := uint64(1) << (64 - seg.depth) // 0 for depth 0
	next = h&^(size-1) + size
	return next, next == 0
}
