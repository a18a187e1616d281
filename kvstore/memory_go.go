package kvstore

// memory_go.go is the allocator "malloc": each block is an ordinary Go slice. Cost: a 24-byte slice header a block and one
// allocation for each new or outgrown value; the collector visits every block in every cycle, so its work grows with the
// number of keys (about 80 ns a key and cycle). Gain: memory goes back to the heap at once and serves any size.

// headersPerChunk keeps the growth of the header table smooth: 96 KiB at a time, nothing is ever copied.
const headersPerChunk = 4096

type goMemory struct {
	chunks []*[headersPerChunk][]byte
	next   ref
	freed  []ref
	sum    memoryStats

	segments int64
}

func newGoMemory() *goMemory { return &goMemory{next: 1} }

func (m *goMemory) alloc(n int) ref {
	var r ref
	if k := len(m.freed); k > 0 {
		r = m.freed[k-1]
		m.freed = m.freed[:k-1]
	} else {
		r = m.next
		m.next++
		if int(r/headersPerChunk) == len(m.chunks) {
			m.chunks = append(m.chunks, new([headersPerChunk][]byte))
		}
	}
	b := make([]byte, n)
	m.chunks[r/headersPerChunk][r%headersPerChunk] = b
	m.sum.blocks++
	m.sum.used += int64(n)
	return r
}

func (m *goMemory) at(r ref) []byte { return m.chunks[r/headersPerChunk][r%headersPerChunk] }

func (m *goMemory) size(r ref) int { return len(m.at(r)) }

func (m *goMemory) free(r ref) {
	m.sum.blocks--
	m.sum.used -= int64(m.size(r))
	m.chunks[r/headersPerChunk][r%headersPerChunk] = nil
	m.freed = append(m.freed, r)
}

func (m *goMemory) segment() *segment {
	m.segments++
	return new(segment)
}

func (m *goMemory) release() { *m = *newGoMemory() }

func (m *goMemory) stats() memoryStats {
	s := m.sum
	s.reserved = s.used + int64(len(m.chunks))*headersPerChunk*24 + m.segments*int64(segmentBytes)
	return s
}
