package kvstore

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// memory_pool.go is the allocator "mypool": size-classed slabs, as in memcached. Memory comes in pages of 1 MiB from outside
// the Go heap, so the collector never looks inside; a page is cut into runs of 64 KiB, and a run into slots of one
// size class. A freed slot keeps the link to the next free one of its class in its own first bytes.
//
// Cost: slots are up to 12.5 % larger than asked (8 bytes for small ones), and a run serves its class for ever, so a store
// whose values all change their size keeps the old runs until FLUSHALL. Gain: no allocation and no collector work for
// any number of keys, and an overwrite of about the same size happens in place.
//
// Blocks above the largest class are Go slices of their own, found through a table: ten thousand of them are no burden.

const (
	unit        = 8 // a ref counts units of 8 bytes from the start of page 0
	pageBytes   = 1 << 20
	runBytes    = 64 << 10
	unitsPage   = pageBytes / unit
	unitsRun    = runBytes / unit
	largestSlot = 32 << 10
	largeRef    = ref(1) << (refBits - 1) // set in a ref into poolMemory.large
	smallSizes  = 1024                    // sizes up to here find their class in a table
)

type poolMemory struct {
	source   pageSource
	pages    []*[pageBytes]byte
	runClass []uint8 // by run
	classes  []slabClass
	small    [smallSizes/unit + 1]uint8 // class by size in units

	large     [][]byte
	largeFree []ref
	largeSum  int64

	segmentRoom []byte // rest of a page for segments

	sum memoryStats
}

type slabClass struct {
	size      int // bytes of a slot
	free      ref // first free slot
	next, end ref // slots of the newest run not yet given out
}

func newPoolMemory() *poolMemory {
	m := &poolMemory{runClass: []uint8{0}} // run 0 is never used: ref 0 is none
	for size := 2 * unit; size <= largestSlot; size += max(unit, 1<<(bits.Len(uint(size))-4)) {
		m.classes = append(m.classes, slabClass{size: size})
	}
	class := 0
	for i := range m.small {
		if i*unit > m.classes[class].size {
			class++
		}
		m.small[i] = uint8(class)
	}
	return m
}

// class gives the smallest class that holds n bytes, n ≤ largestSlot.
func (m *poolMemory) class(n int) int {
	if n <= smallSizes {
		return int(m.small[(n+unit-1)/unit])
	}
	// Eight classes a doubling: the three bits behind the leading one of n-1 say which.
	shift := bits.Len(uint(n-1)) - 4
	doublings := shift - (bits.Len(smallSizes-1) - 4)
	return int(m.small[smallSizes/unit]) + (doublings-1)*8 + (n-1)>>shift - 7
}

func (m *poolMemory) alloc(n int) ref {
	m.sum.blocks++
	if n > largestSlot {
		return m.allocLarge(n)
	}
	i := m.class(n)
	c := &m.classes[i]
	m.sum.used += int64(c.size)
	if r := c.free; r != 0 {
		c.free = ref(binary.LittleEndian.Uint64(m.at(r)))
		return r
	}
	if c.next == c.end {
		m.newRun(i)
	}
	r := c.next
	c.next += ref(c.size / unit)
	return r
}

func (m *poolMemory) newRun(class int) {
	run := len(m.runClass)
	if run*runBytes/pageBytes == len(m.pages) {
		m.pages = append(m.pages, m.source.page())
	}
	m.runClass = append(m.runClass, uint8(class))
	m.sum.reserved += runBytes
	c := &m.classes[class]
	c.next = ref(run * unitsRun)
	c.end = c.next + ref(runBytes/c.size*(c.size/unit))
}

func (m *poolMemory) allocLarge(n int) ref {
	b := make([]byte, n)
	m.sum.used += int64(n)
	m.largeSum += int64(n)
	if k := len(m.largeFree); k > 0 {
		r := m.largeFree[k-1]
		m.largeFree = m.largeFree[:k-1]
		m.large[r&^largeRef] = b
		return r
	}
	m.large = append(m.large, b)
	return largeRef | ref(len(m.large)-1)
}

func (m *poolMemory) at(r ref) []byte {
	if r&largeRef != 0 {
		return m.large[r&^largeRef]
	}
	return m.pages[r/unitsPage][r%unitsPage*unit:]
}

func (m *poolMemory) size(r ref) int {
	if r&largeRef != 0 {
		return len(m.large[r&^largeRef])
	}
	return m.classes[m.runClass[r/unitsRun]].size
}

func (m *poolMemory) free(r ref) {
	size := m.size(r)
	m.sum.blocks--
	m.sum.used -= int64(size)
	if r&largeRef != 0 {
		m.largeSum -= int64(size)
		m.large[r&^largeRef] = nil
		m.largeFree = append(m.largeFree, r)
		return
	}
	c := &m.classes[m.runClass[r/unitsRun]]
	binary.LittleEndian.PutUint64(m.at(r), uint64(c.free))
	c.free = r
}

// segment gives the next piece of a page: a segment has no pointers, so it may lie outside the heap.
func (m *poolMemory) segment() *segment {
	if len(m.segmentRoom) < segmentBytes {
		m.segmentRoom = m.source.page()[:]
		m.sum.reserved += pageBytes
	}
	g := (*segment)(unsafe.Pointer(unsafe.SliceData(m.segmentRoom)))
	m.segmentRoom = m.segmentRoom[segmentBytes:]
	return g
}

func (m *poolMemory) release() {
	m.source.release()
	*m = *newPoolMemory()
}

func (m *poolMemory) stats() memoryStats {
	s := m.sum
	s.mapped = s.reserved
	s.reserved += m.largeSum
	return s
}
