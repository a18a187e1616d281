package netpoll

// ChainBuffer is the receive path: a chain of circular chunks that readv fills in place.
//
// A connection owns no chunk while it holds no bytes. When it becomes readable it borrows the
// hottest chunk of its loop's pool (last in, first out, so that it is still in the cache); the
// read goes straight into the free part of its last chunk, behind and, wrapped, in front of what
// is held, and then into a spare chunk. The handler walks the segments where they lie; drained
// chunks go back to the pool. No byte is ever moved, unless Linear is asked for.
type ChainBuffer struct {
	head, tail *node
	length     int
	pool       *nodePool
	borrowed   []byte // a buffer of another owner that stands in for the chain (gnet)
}

// chunkSize and one spare chunk make 256 KiB a read: fewer cost up to 20 % more CPU on large
// replies, more gains nothing.
const chunkSize = 128 << 10

// node is one circular chunk: n bytes are held from r on, around the end.
type node struct {
	buf  []byte
	r, n int
	next *node
}

// nodePool keeps a loop's free chunks; not shared.
type nodePool struct {
	free []*node
	made int // chunks ever made; for tests and the memory figure
}

func (p *nodePool) take() *node {
	if k := len(p.free); k > 0 {
		nd := p.free[k-1]
		p.free = p.free[:k-1]
		return nd
	}
	p.made++
	return &node{buf: make([]byte, chunkSize)}
}

func (p *nodePool) give(nd *node) {
	nd.r, nd.n, nd.next = 0, 0, nil
	p.free = append(p.free, nd)
}

// Len is the number of bytes held.
func (b *ChainBuffer) Len() int { return b.length }

// Segment is the first contiguous part of what is held; empty only when nothing is.
// It stays valid until the handler returns or the bytes are discarded.
func (b *ChainBuffer) Segment() []byte {
	if b.borrowed != nil {
		return b.borrowed
	}
	nd := b.head
	if nd == nil {
		return nil
	}
	if end := nd.r + nd.n; end <= len(nd.buf) {
		return nd.buf[nd.r:end]
	}
	return nd.buf[nd.r:]
}

// Discard drops the first n bytes, at most Len.
func (b *ChainBuffer) Discard(n int) {
	b.length -= n
	if b.borrowed != nil {
		b.borrowed = b.borrowed[n:]
		return
	}
	for n > 0 {
		nd := b.head
		if n < nd.n {
			nd.n -= n
			if nd.r += n; nd.r >= len(nd.buf) {
				nd.r -= len(nd.buf)
			}
			return
		}
		n -= nd.n
		b.dropHead()
	}
}

func (b *ChainBuffer) dropHead() {
	nd := b.head
	if b.head = nd.next; b.head == nil {
		b.tail = nil
	}
	b.pool.give(nd)
}

// Linear is everything held as one slice. It copies when the bytes lie in several segments, so it
// is for set-up replies, not for the load.
func (b *ChainBuffer) Linear() []byte {
	seg := b.Segment()
	if len(seg) == b.length {
		return seg
	}
	all := make([]byte, 0, b.length)
	for nd := b.head; nd != nil; nd = nd.next {
		first := min(nd.n, len(nd.buf)-nd.r)
		all = append(all, nd.buf[nd.r:nd.r+first]...)
		all = append(all, nd.buf[:nd.n-first]...)
	}
	return all
}

// release gives every chunk back, for a connection that ends.
func (b *ChainBuffer) release() {
	for b.head != nil {
		b.dropHead()
	}
	b.length = 0
}

// spans lists where the next read may go, in order: the free part of the last chunk, its wrapped
// part, and a spare chunk when the read may be large or there is no other room. The caller hands
// the spare to fill again; it may be nil.
func (b *ChainBuffer) spans(dst [][]byte, large bool) (spans [][]byte, spare *node) {
	if nd := b.tail; nd != nil && nd.n < len(nd.buf) {
		w := nd.r + nd.n
		if w < len(nd.buf) {
			dst = append(dst, nd.buf[w:])
			if nd.r > 0 {
				dst = append(dst, nd.buf[:nd.r])
			}
		} else {
			w -= len(nd.buf)
			dst = append(dst, nd.buf[w:nd.r])
		}
	} else if nd == nil {
		b.head = b.pool.take()
		b.tail = b.head
		dst = append(dst, b.head.buf)
	}
	if large || len(dst) == 0 {
		spare = b.pool.take()
		dst = append(dst, spare.buf)
	}
	return dst, spare
}

// fill accounts for n bytes that were read into the spans and gives back what stayed empty.
func (b *ChainBuffer) fill(n int, spare *node) {
	b.length += n
	nd := b.tail
	room := len(nd.buf) - nd.n
	if n <= room {
		nd.n += n
		if spare != nil {
			b.pool.give(spare)
		}
		if nd.n == 0 {
			b.dropHead() // nothing came: the only chunk is empty
		}
		return
	}
	nd.n += room
	spare.n = n - room
	nd.next, b.tail = spare, spare
}
