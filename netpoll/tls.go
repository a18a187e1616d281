package netpoll

import (
	"crypto/tls"
	"sync"
	"sync/atomic"
	"time"
)

// TLS above the engines: a tlsLoop is the handler of an engine's loop, and a Loop for the handler
// above it. Neither knows of the other, so both engines have TLS and plain TCP pays nothing.
//
// The handshake runs in a goroutine of its own as soon as TCP is connected, since it takes up to a
// millisecond of arithmetic and crypto/tls does not resume one that would block (tls_handshake.go).
// Then the connection belongs to the loop: crypto/tls reads and writes through a transport in
// memory, one whole record at a time where possible (tls_transport.go).

// tlsSetups bounds the connections of one loop that are being made: a place is taken before TCP
// connects, so that no server sees a connection whose handshake has to wait for a place.
const tlsSetups = 64

// HandshakeError is why TLS was not agreed upon, given to Handler.Closed.
type HandshakeError struct{ Err error }

func (e *HandshakeError) Error() string { return "TLS handshake: " + e.Err.Error() }

// Unwrap is the cause: of the connection, of crypto/tls or of crypto/x509.
func (e *HandshakeError) Unwrap() error { return e.Err }

// tlsLoop belongs to the engine's goroutine but for the fields behind mu and the atomic one.
type tlsLoop struct {
	h      Handler
	engine Loop
	base   *tls.Config
	limit  time.Duration // of one handshake with its TCP connect; 0 = none

	configs map[*Endpoint]*tls.Config
	conns   []*tlsConn // by the engine's tag; closed ones are nil
	free    []int      // tags
	setups  int        // connections being made
	queued  []Dial     // waiting for one of tlsSetups

	pool   nodePool // of plaintext
	out    []byte   // ciphertext of the write in progress
	gather []byte   // plaintext of a Writev
	idle   [][]byte // buffers for ciphertext that the kernel does not take yet

	deadlineNs int64
	woken      atomic.Bool // by the handler's Wake, not by a handshake

	mu         sync.Mutex
	posted     []*tlsConn // a handshake has bytes to send, or has ended
	ended      bool       // the engine's Run has returned
	handshakes sync.WaitGroup
}

func newTLS(h Handler, o Options) (Loop, error) {
	l := &tlsLoop{h: h, base: o.TLS, limit: o.HandshakeTimeout, configs: map[*Endpoint]*tls.Config{}}
	o.TLS = nil
	var err error
	l.engine, err = New(l, o)
	return l, err
}

// TLSConfig is base for a connection to e: without a name of its own the server is given the host
// as it was typed. crypto/tls does not send one that is an address.
func (e *Endpoint) TLSConfig(base *tls.Config) *tls.Config {
	c := base.Clone()
	if c.ServerName == "" {
		c.ServerName = e.Host
	}
	return c
}

// config keeps one session an endpoint, for connections that are made again.
func (l *tlsLoop) config(e *Endpoint) *tls.Config {
	c := l.configs[e]
	if c == nil {
		c = e.TLSConfig(l.base)
		c.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		c.DynamicRecordSizingDisabled = true // small records save a browser's time and cost ours
		l.configs[e] = c
	}
	return c
}

// Dial waits for a place; the handler may have any number of connections begun.
func (l *tlsLoop) Dial(d Dial) {
	if l.setups == tlsSetups {
		l.queued = append(l.queued, d)
		return
	}
	l.setups++
	c := &tlsConn{loop: l, tag: d.Tag, endpoint: d.Endpoint, beganNs: Now()}
	c.plain.pool = &l.pool
	if k := len(l.free); k > 0 {
		c.slot = l.free[k-1]
		l.free = l.free[:k-1]
		l.conns[c.slot] = c
	} else {
		c.slot = len(l.conns)
		l.conns = append(l.conns, c)
	}
	d.Tag = c.slot
	l.engine.Dial(d)
}

// setUp is the end of a connection's making, good or bad.
func (l *tlsLoop) setUp(c *tlsConn) {
	if c.made {
		return
	}
	c.made = true
	l.setups--
	if len(l.queued) > 0 {
		d := l.queued[0]
		l.queued = append(l.queued[:0], l.queued[1:]...)
		l.Dial(d)
	}
}

// Run ends the handshakes, too: none outlives its loop.
func (l *tlsLoop) Run() error {
	err := l.engine.Run()
	l.mu.Lock()
	l.ended = true
	l.mu.Unlock()
	for _, c := range l.conns {
		if c != nil && c.hs != nil {
			c.hs.abort(errStopped)
		}
	}
	l.handshakes.Wait()
	return err
}

func (l *tlsLoop) Stop()        { l.engine.Stop() }
func (l *tlsLoop) Stats() Stats { return l.engine.Stats() }

func (l *tlsLoop) Wake() {
	l.woken.Store(true)
	l.engine.Wake()
}

func (l *tlsLoop) SetDeadline(ns int64) {
	l.deadlineNs = ns
	l.engine.SetDeadline(ns)
}

// Tick hands on only the ticks that the handler asked for.
func (l *tlsLoop) Tick(now int64) {
	l.deliver()
	due := l.deadlineNs != 0 && l.deadlineNs <= now
	if due {
		l.deadlineNs = 0
	}
	if l.woken.Swap(false) || due {
		l.h.Tick(now)
	}
}

// post brings c to the loop's attention; from any goroutine.
func (l *tlsLoop) post(c *tlsConn) {
	l.mu.Lock()
	l.posted = append(l.posted, c)
	wake := len(l.posted) == 1 && !l.ended
	l.mu.Unlock()
	if wake {
		l.engine.Wake()
	}
}

func (l *tlsLoop) deliver() {
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, c := range posted {
		if !c.closed {
			c.progress()
		}
	}
}

// Opened is the engine's word that TCP is connected.
func (l *tlsLoop) Opened(conn Conn) {
	c := l.conns[conn.Tag()]
	c.conn = conn
	c.handshake()
}

// Data decrypts all that came before the handler sees any of it: one call, as without TLS.
func (l *tlsLoop) Data(conn Conn, in *ChainBuffer, now int64) {
	c := l.conns[conn.Tag()]
	if c.hs != nil {
		c.feed(in)
		return
	}
	var err error
	got := 0
	for in.Len() > 0 && err == nil {
		seg := in.Segment()
		record := seg[:c.frame.take(seg)]
		var n int
		n, err = c.pull(record, c.frame.whole())
		got += n
		in.Discard(len(record))
	}
	c.hand(got, now, err)
}

// Writable goes on with ciphertext first; the handler has its turn when that is gone.
func (l *tlsLoop) Writable(conn Conn) {
	c := l.conns[conn.Tag()]
	c.flush()
	if len(c.pending) == 0 && c.short && c.hs == nil {
		c.short = false
		l.h.Writable(c)
	}
}

// Closed is the engine's last word. During a handshake it waits for the goroutine's, which may
// have read an alert that says more.
func (l *tlsLoop) Closed(conn Conn, err error) {
	c := l.conns[conn.Tag()]
	c.conn = nil
	if c.hs != nil {
		c.hs.abort(err)
		return
	}
	c.fail(err)
}
