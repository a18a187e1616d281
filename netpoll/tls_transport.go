package netpoll

import (
	"net"
	"time"
)

// The transport is the net.Conn that crypto/tls sees. On the loop it is memory: it reads what Data
// lends it and writes into the loop's scratch buffer. An empty read is an error that says it is
// temporary, after which crypto/tls keeps what it has of a record and goes on with the next byte.
//
// Such a read costs an allocation and a pass through crypto/tls. The frame spares it: it knows
// where records end, so that crypto/tls is asked for one only when all of it is there.

// tlsTransport is blocking while its connection shakes hands, and memory from then on.
type tlsTransport struct {
	loop *tlsLoop
	hs   *handshake // nil on the loop
	in   []byte
}

func (t *tlsTransport) Read(p []byte) (int, error) {
	if t.hs != nil {
		return t.hs.read(p)
	}
	if len(t.in) == 0 {
		return 0, errWouldBlock
	}
	n := copy(p, t.in)
	t.in = t.in[n:]
	return n, nil
}

func (t *tlsTransport) Write(p []byte) (int, error) {
	if t.hs != nil {
		return t.hs.write(p)
	}
	t.loop.out = append(t.loop.out, p...)
	return len(p), nil
}

func (t *tlsTransport) Close() error                     { return nil }
func (t *tlsTransport) LocalAddr() net.Addr              { return tlsAddr{} }
func (t *tlsTransport) RemoteAddr() net.Addr             { return tlsAddr{} }
func (t *tlsTransport) SetDeadline(time.Time) error      { return nil }
func (t *tlsTransport) SetReadDeadline(time.Time) error  { return nil }
func (t *tlsTransport) SetWriteDeadline(time.Time) error { return nil }

// tlsAddr names nothing: sessions are kept apart by endpoint, not by address.
type tlsAddr struct{}

func (tlsAddr) Network() string { return "memory" }
func (tlsAddr) String() string  { return "memory" }

// wouldBlock is the only net.Error that crypto/tls does not hold on to.
type wouldBlock struct{}

var errWouldBlock net.Error = wouldBlock{}

func (wouldBlock) Error() string   { return "no more bytes yet" }
func (wouldBlock) Timeout() bool   { return false }
func (wouldBlock) Temporary() bool { return true }

const (
	recordHeader = 5        // type, version (2), length (2)
	recordPlain  = 16 << 10 // the most that one record holds
)

// frame follows the record boundaries of a byte stream. It judges nothing: crypto/tls does.
type frame struct {
	head int // bytes of the header seen
	left int // bytes of the body to come
}

// take is the number of bytes of seg, at least one, that belong to the current record.
func (f *frame) take(seg []byte) int {
	n := 0
	for ; f.head < recordHeader && n < len(seg); n++ {
		if f.head >= recordHeader-2 {
			f.left = f.left<<8 | int(seg[n])
		}
		f.head++
	}
	body := min(f.left, len(seg)-n)
	if f.head < recordHeader {
		body = 0
	}
	f.left -= body
	if f.head == recordHeader && f.left == 0 {
		f.head = 0
	}
	return n + body
}

// whole tells whether the bytes taken so far end with a record.
func (f *frame) whole() bool { return f.head == 0 }

// room is a contiguous free part of at least n bytes at the end of the chain; n is at most a
// chunk. grown must follow.
func (b *ChainBuffer) room(n int) []byte {
	if nd := b.tail; nd != nil && len(nd.buf)-nd.r-nd.n >= n {
		return nd.buf[nd.r+nd.n:]
	}
	nd := b.pool.take()
	if b.tail == nil {
		b.head = nd
	} else {
		b.tail.next = nd
	}
	b.tail = nd
	return nd.buf
}

// grown accounts for n bytes that were put into the room, and gives back what stayed empty.
func (b *ChainBuffer) grown(n int) {
	b.length += n
	b.tail.n += n
	if b.tail.n > 0 {
		return
	}
	if b.head == b.tail {
		b.dropHead()
		return
	}
	nd := b.head
	for nd.next != b.tail {
		nd = nd.next
	}
	b.pool.give(b.tail)
	nd.next, b.tail = nil, nd
}
