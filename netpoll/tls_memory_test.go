package netpoll

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
	"time"
)

// memory is an engine without descriptors: the test is its loop and decides where what the server
// says is cut and how much each write takes.
type memory struct {
	t      testing.TB
	l      *tlsLoop
	conn   *memoryConn
	wake   chan struct{}
	server net.Conn // the other end of what the server speaks over
	heard  chan []byte
	quit   chan struct{}
	busy   bool            // bytes are on their way to the server
	sent   chan int        // how many, when they have arrived
	take   func(n int) int // how much of a write of n bytes is taken
	cut    func(n int) int // how much of n received bytes is delivered at once
}

type memoryConn struct {
	m     *memory
	out   []byte
	stuck bool // a write was short: Writable is owed
}

func (m *memory) Dial(Dial)         {}
func (m *memory) Run() error        { return nil }
func (m *memory) Stop()             {}
func (m *memory) Stats() Stats      { return Stats{} }
func (m *memory) SetDeadline(int64) {}

func (m *memory) Wake() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

func (c *memoryConn) Tag() int { return 0 }
func (c *memoryConn) Write(p []byte) int {
	n := min(c.m.take(len(p)), len(p))
	c.out = append(c.out, p[:n]...)
	c.stuck = c.stuck || n < len(p)
	return n
}
func (c *memoryConn) Writev([][]byte) int { panic("TLS writes one slice") }
func (c *memoryConn) CloseWrite()         {}

func (c *memoryConn) Close()             {}
func (c *memoryConn) LocalAddr() string  { return "" }
func (c *memoryConn) RemoteAddr() string { return "" }

// newMemory has h dial an echo server of the given version.
func newMemory(t testing.TB, h Handler, version uint16, take, cut func(int) int) *memory {
	server, client := testConfigs(version)
	far, near := net.Pipe()
	m := &memory{t: t, wake: make(chan struct{}, 1), server: near, take: take, cut: cut,
		heard: make(chan []byte), quit: make(chan struct{}), sent: make(chan int, 1)}
	m.l = &tlsLoop{h: h, engine: m, base: client, configs: map[*Endpoint]*tls.Config{}}
	m.conn = &memoryConn{m: m}
	echo := tls.Server(far, server)
	ended := make(chan struct{}, 2)
	go func() {
		_, _ = io.Copy(echo, echo)
		ended <- struct{}{}
	}()
	go func() {
		defer func() { ended <- struct{}{} }()
		for {
			buf := make([]byte, 32<<10)
			n, err := near.Read(buf)
			if err != nil {
				return
			}
			select {
			case m.heard <- buf[:n]:
			case <-m.quit:
				return
			}
		}
	}()
	t.Cleanup(func() {
		close(m.quit)
		near.Close()
		far.Close()
		if c := m.l.conns[0]; c != nil && c.hs != nil {
			c.hs.abort(errStopped)
		}
		for range 2 {
			<-ended
		}
		m.l.handshakes.Wait()
	})
	m.l.Dial(Dial{Endpoint: &Endpoint{Host: "localhost"}, Tag: 7})
	m.l.Opened(m.conn)
	return m
}

// until is the loop. The server writes while we write, so both are served at once.
func (m *memory) until(done func() bool) {
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !done() {
		if !m.busy && len(m.conn.out) > 0 {
			m.busy = true
			out := m.conn.out
			m.conn.out = nil
			go func() {
				n, _ := m.server.Write(out)
				m.sent <- len(out) - n
			}()
		}
		if m.conn.stuck {
			m.conn.stuck = false
			m.l.Writable(m.conn)
			continue
		}
		select {
		case <-m.wake:
			m.l.Tick(Now())
		case b := <-m.heard:
			m.deliver(b)
		case lost := <-m.sent:
			if m.busy = false; lost > 0 {
				m.t.Fatal("the server has gone")
			}
		case <-limit.C:
			m.t.Fatal("nothing happens any more")
		}
	}
}

func (m *memory) deliver(b []byte) {
	for len(b) > 0 {
		n := max(1, min(m.cut(len(b)), len(b)))
		in := ChainBuffer{borrowed: b[:n], length: n}
		m.l.Data(m.conn, &in, 1)
		if in.Len() != 0 {
			m.t.Fatalf("%d bytes of ciphertext left", in.Len())
		}
		b = b[n:]
	}
}

// echoes writes payload as it can, and keeps what comes back.
type echoes struct {
	probe
	payload   []byte
	sent      int
	got       bytes.Buffer
	piece     func() int
	conn      Conn
	maxMemory int // most ciphertext kept
}

func (h *echoes) Opened(c Conn)   { h.conn = c; h.send() }
func (h *echoes) Writable(c Conn) { h.send() }
func (h *echoes) send() {
	for h.sent < len(h.payload) {
		k := min(h.piece(), len(h.payload)-h.sent)
		p := h.payload[h.sent : h.sent+k]
		n := h.conn.Writev([][]byte{p[:k/3], p[k/3:]})
		h.maxMemory = max(h.maxMemory, len(h.conn.(*tlsConn).pending))
		if h.sent += n; n < k {
			return
		}
	}
}

func (h *echoes) Data(c Conn, in *ChainBuffer, now int64) {
	for keep := in.Len() / 3; in.Len() > keep && h.got.Len()+in.Len() < len(h.payload); { // leave a part: it must come again
		n := min(len(in.Segment()), in.Len()-keep)
		h.got.Write(in.Segment()[:n])
		in.Discard(n)
	}
	if h.got.Len()+in.Len() >= len(h.payload) {
		take(&h.got, in)
	}
}

func (h *echoes) Closed(_ Conn, err error) { h.probe.closed(nil, err) }

// FuzzTLSCuts: wherever the received bytes are cut and however little each write takes, in the
// handshake and behind it, the payload comes back, and little ciphertext is kept.
func FuzzTLSCuts(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint16(1<<seed), uint16(1<<(11-seed)), uint16(3000*seed), uint32(9000))
		f.Add(seed, uint16(65000), uint16(3)<<(seed+2), uint16(65000), uint32(600_000))
	}
	f.Fuzz(func(t *testing.T, seed uint64, take, cut, piece uint16, size uint32) {
		rng := rand.New(rand.NewPCG(seed, 0))
		upTo := func(n uint16) int { return rng.IntN(int(n)+1) + 1 }
		version := []uint16{tls.VersionTLS12, tls.VersionTLS13}[seed%2]
		h := &echoes{payload: make([]byte, 1+size%(1<<20)), piece: func() int { return upTo(piece) }}
		h.closed = func(_ Conn, err error) { t.Fatal(err) }
		for i := range h.payload {
			h.payload[i] = byte(rng.Uint32())
		}
		refuse := false
		m := newMemory(t, h, version, func(int) int {
			if refuse = !refuse && rng.IntN(3) == 0; refuse {
				return 0
			}
			return upTo(take)
		}, func(int) int { return upTo(cut) })
		m.until(func() bool { return h.got.Len() >= len(h.payload) })
		if !bytes.Equal(h.got.Bytes(), h.payload) {
			t.Errorf("%d bytes came back that are not the %d sent", h.got.Len(), len(h.payload))
		}
		if most := tlsPiece + 5*64; h.maxMemory > most {
			t.Errorf("%d bytes of ciphertext kept, more than %d", h.maxMemory, most)
		}
	})
}

// TestTLSMemory: a server that takes nothing costs one piece of ciphertext, and the buffer is used
// again; received data leaves no chunk behind.
func TestTLSMemory(t *testing.T) {
	h := &echoes{piece: func() int { return 4 << 20 }, probe: probe{closed: func(_ Conn, err error) { t.Error(err) }}}
	full := false
	m := newMemory(t, h, tls.VersionTLS13, func(n int) int {
		if full {
			return 0
		}
		return n
	}, func(n int) int { return n })
	m.until(func() bool { return h.conn != nil })
	c := h.conn.(*tlsConn)
	full = true
	payload := make([]byte, 4<<20)
	if n := c.Write(payload); n != tlsPiece {
		t.Errorf("a full socket took %d bytes, not %d", n, tlsPiece)
	}
	if n := c.Write(payload); n != 0 {
		t.Errorf("a connection with ciphertext to send took %d bytes more", n)
	}
	full = false
	h.payload = payload[:tlsPiece]
	h.sent = tlsPiece
	m.until(func() bool { return h.got.Len() == tlsPiece })
	if c.pending != nil || len(m.l.idle) != 1 {
		t.Errorf("%d bytes kept after all were sent, %d buffers given back", len(c.pending), len(m.l.idle))
	}
	if c.plain.head != nil || len(m.l.pool.free) != m.l.pool.made {
		t.Errorf("%d chunks of %d in the pool", len(m.l.pool.free), m.l.pool.made)
	}
}

// TestTLSAllocations: a request and its reply cost what crypto/tls allocates, one small object a
// record read, and nothing of ours.
func TestTLSAllocations(t *testing.T) {
	h := &echoes{probe: probe{closed: func(_ Conn, err error) { t.Error(err) }}}
	m := newMemory(t, h, tls.VersionTLS13, func(n int) int { return n }, func(n int) int { return n })
	m.until(func() bool { return h.conn != nil })
	const rounds = 200
	request := bytes.Repeat([]byte("x"), 40)
	var records [][]byte
	h.payload = make([]byte, len(request))
	for range rounds + 1 { // AllocsPerRun has one more to warm up
		h.got.Reset()
		h.conn.Write(request)
		b := <-m.echoed()
		records = append(records, b)
	}
	i := 0
	allocs := testing.AllocsPerRun(rounds, func() {
		h.got.Reset()
		in := ChainBuffer{borrowed: records[i], length: len(records[i])}
		m.l.Data(m.conn, &in, 1)
		m.conn.out = m.conn.out[:0]
		h.conn.Write(request)
		i++
	})
	most := 1.0
	if poolsForget {
		most = 3
	}
	if allocs > most {
		t.Errorf("%v allocations a request", allocs)
	}
}

// echoed sends what was written to the server and gives its answer, one record.
func (m *memory) echoed() <-chan []byte {
	out := bytes.Clone(m.conn.out)
	m.conn.out = m.conn.out[:0]
	if _, err := m.server.Write(out); err != nil {
		m.t.Fatal(err)
	}
	return m.heard
}

// FuzzFrame: records end at the same bytes wherever the stream is cut.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x17\x03\x03\x00\x02ab\x17\x03\x03\x00\x00\x15\x03\x03\x00\x01c\x17\x03"), uint64(3))
	f.Fuzz(func(t *testing.T, stream []byte, seed uint64) {
		want := map[int]bool{}
		for at := 0; at+recordHeader <= len(stream); {
			at += recordHeader + int(stream[at+3])<<8 + int(stream[at+4])
			want[at] = true
		}
		rng := rand.New(rand.NewPCG(seed, 1))
		var fr frame
		for at := 0; at < len(stream); {
			n := fr.take(stream[at : at+1+rng.IntN(len(stream)-at)])
			if n < 1 {
				t.Fatalf("took %d bytes", n)
			}
			for k := at + 1; k < at+n; k++ {
				if want[k] {
					t.Fatalf("took over the end of a record at %d", k)
				}
			}
			if at += n; fr.whole() != want[at] {
				t.Fatalf("at %d whole is %v", at, fr.whole())
			}
		}
	})
}

// TestTLSLost: a server that closes as soon as it has seen the last of the handshake has refused,
// and the handler never hears of an open connection.
func TestTLSLost(t *testing.T) {
	var end error
	h := &probe{opened: func(Conn) { t.Error("Opened") }, closed: func(_ Conn, err error) { end = err }}
	m := newMemory(t, h, tls.VersionTLS13, func(n int) int { return n }, func(n int) int { return n })
	<-m.wake
	m.l.Tick(Now())
	m.deliver(<-m.echoed())
	hs := m.l.conns[0].hs
	for shaken := false; !shaken; {
		select {
		case b := <-m.heard:
			m.deliver(b)
		case <-m.wake:
			hs.mu.Lock()
			shaken = hs.done
			hs.mu.Unlock()
			if !shaken { // the last flight is written, the end comes next
				m.Wake()
				runtime.Gosched()
			}
		}
	}
	m.l.Closed(m.conn, io.EOF)
	m.l.Tick(Now())
	var failed *HandshakeError
	if !errors.As(end, &failed) || failed.Err != io.EOF {
		t.Errorf("Closed says %v", end)
	}
}
