package netpoll

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// testPipe is a descriptor pair; what is written to w is read from r.
func testPipe(t testing.TB) (r, w int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// readInto does what the loop does with a readable connection.
func readInto(t testing.TB, b *ChainBuffer, fd int) int {
	t.Helper()
	spans, spare := b.spans(nil, true)
	var iov []unix.Iovec
	for _, s := range spans {
		iov = append(iov, iovec(s))
	}
	n, e := rawRead(int32(fd), iov)
	if e != 0 {
		t.Fatal(e)
	}
	b.fill(n, spare)
	return n
}

func mustWrite(t testing.TB, fd int, p []byte) {
	t.Helper()
	if n, err := unix.Write(fd, p); err != nil || n != len(p) {
		t.Fatalf("wrote %d of %d: %v", n, len(p), err)
	}
}

// TestChainKeepsOrder reads and discards random amounts, so that chunks wrap and chain, and
// compares everything with what went in.
func TestChainKeepsOrder(t *testing.T) {
	r, w := testPipe(t)
	pool := &nodePool{}
	b := &ChainBuffer{pool: pool}
	rng := rand.New(rand.NewPCG(1, 2))
	var in, out []byte
	next := byte(0)
	for range 4000 {
		p := make([]byte, rng.IntN(chunkSize/2)+1)
		for i := range p {
			p[i] = next
			next++
		}
		mustWrite(t, w, p)
		in = append(in, p...)
		readInto(t, b, r)
		drop := rng.IntN(b.Len() + 1)
		if b.Len() > 3*chunkSize { // keep the chain short enough to wrap, long enough to chain
			drop = b.Len() - rng.IntN(chunkSize)
		}
		for drop > 0 {
			seg := b.Segment()
			k := min(drop, len(seg))
			out = append(out, seg[:k]...)
			b.Discard(k)
			drop -= k
		}
		if len(in) > 1<<20 && b.Len() == 0 {
			in, out = compareStreams(t, in, out)
		}
	}
	out = append(out, b.Linear()...)
	b.Discard(b.Len())
	compareStreams(t, in, out)
	if b.head != nil || len(pool.free) != pool.made {
		t.Errorf("an empty chain holds a chunk: %d of %d are free", len(pool.free), pool.made)
	}
	if pool.made > 8 {
		t.Errorf("%d chunks were made: the pool is not used again", pool.made)
	}
}

func compareStreams(t *testing.T, in, out []byte) (a, b []byte) {
	t.Helper()
	if !bytes.Equal(in[:len(out)], out) {
		t.Fatal("bytes came out in another order")
	}
	return append([]byte(nil), in[len(out):]...), nil
}

// TestChainNeverCopies proves that a segment lies in the chunk that readv filled, also behind a
// part that was left and also when it wraps.
func TestChainNeverCopies(t *testing.T) {
	r, w := testPipe(t)
	pool := &nodePool{}
	b := &ChainBuffer{pool: pool}
	mustWrite(t, w, []byte("+OK\r\n+PAR"))
	readInto(t, b, r)
	chunk := b.head
	b.Discard(5)
	mustWrite(t, w, []byte("TIAL\r\n"))
	readInto(t, b, r)
	seg := b.Segment()
	if string(seg) != "+PARTIAL\r\n" {
		t.Fatalf("segment %q", seg)
	}
	if b.head != chunk || unsafe.SliceData(seg) != &chunk.buf[5] {
		t.Error("the reply does not lie where readv put it")
	}
	if len(b.Linear()) != len(seg) || unsafe.SliceData(b.Linear()) != unsafe.SliceData(seg) {
		t.Error("Linear copied a single segment")
	}

	// A chunk that is nearly full: what does not fit behind goes in front, and then into a spare.
	b.Discard(b.Len())
	mustWrite(t, w, make([]byte, chunkSize-3))
	readInto(t, b, r)
	b.Discard(chunkSize - 8)
	mustWrite(t, w, []byte("0123456789"))
	readInto(t, b, r)
	if b.head != b.tail {
		t.Fatal("ten bytes did not fit into a chunk with room for them")
	}
	if first := len(b.Segment()); first != 8 {
		t.Errorf("first segment has %d bytes, want the 5 left and 3 new ones", first)
	}
	b.Discard(len(b.Segment()))
	if got := string(b.Segment()); got != "3456789" || unsafe.SliceData(b.Segment()) != &b.head.buf[0] {
		t.Errorf("wrapped segment %q does not lie at the front of the chunk", got)
	}
}

// BenchmarkReceive weighs readv into chunks against reading into a buffer and copying the bytes
// out, 4 KiB at a time, as a client with a buffer per connection does.
func BenchmarkReceive(b *testing.B) {
	const size = 64 << 10
	payload := make([]byte, size)
	b.Run("path=chain", func(b *testing.B) {
		r, w := testPipe(b)
		c := &ChainBuffer{pool: &nodePool{}}
		b.SetBytes(size)
		for b.Loop() {
			mustWrite(b, w, payload)
			for got := 0; got < size; {
				got += readInto(b, c, r)
				c.Discard(c.Len())
			}
		}
	})
	b.Run("path=copy", func(b *testing.B) {
		r, w := testPipe(b)
		buf, held := make([]byte, 16<<10), make([]byte, 0, size)
		b.SetBytes(size)
		for b.Loop() {
			mustWrite(b, w, payload)
			held = held[:0]
			for len(held) < size {
				n, err := unix.Read(r, buf)
				if err != nil {
					b.Fatal(err)
				}
				held = append(held, buf[:n]...)
			}
		}
	})
}
