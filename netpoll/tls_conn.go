package netpoll

import "crypto/tls"

// tlsConn is one connection: the handler's Conn above, the engine's below.
type tlsConn struct {
	loop   *tlsLoop
	conn   Conn // the engine's; nil before it is open
	tls    *tls.Conn
	closed bool
	made   bool // has given up its place among tlsSetups
	short  bool // the handler was told a short count and waits for Writable
	frame  frame

	plain     ChainBuffer // decrypted and not yet used by the handler
	transport tlsTransport
	pending   []byte // ciphertext that the kernel did not take; Writable follows
	sent      int    // bytes of pending taken meanwhile
	broken    error  // of crypto/tls in a write; Closed follows from the loop

	hs       *handshake // while it lasts
	endpoint *Endpoint
	tag      int // the handler's
	slot     int // the engine's tag
	beganNs  int64
}

// tlsPiece is how much plaintext is encrypted before the kernel is asked to take it: so much, and
// a record header and tag for each 16 KiB, is what a connection keeps at most.
const tlsPiece = 64 << 10

// tlsIdle bounds the buffers that are kept for the next short write.
const tlsIdle = 64

// Write returns what was encrypted. Of that the kernel may have left a part: then it goes first,
// the next Write is refused, and memory does not grow.
func (c *tlsConn) Write(p []byte) int {
	n := 0
	for n < len(p) && c.mayWrite() {
		n += c.encrypt(p[n:min(len(p), n+tlsPiece)])
	}
	c.short = n < len(p)
	return n
}

// Writev copies small slices together, so that each does not become a record of its own.
func (c *tlsConn) Writev(bufs [][]byte) int {
	n := 0
	for len(bufs) > 0 && c.mayWrite() {
		var piece []byte
		piece, bufs = c.loop.nextPiece(bufs)
		k := c.encrypt(piece)
		if n += k; k < len(piece) {
			break
		}
	}
	c.short = len(bufs) > 0
	return n
}

func (c *tlsConn) mayWrite() bool { return !c.closed && c.broken == nil && len(c.pending) == 0 }

// nextPiece takes up to tlsPiece bytes from the front of bufs. A slice that is a piece by itself
// is not copied.
func (l *tlsLoop) nextPiece(bufs [][]byte) (piece []byte, rest [][]byte) {
	piece = l.gather[:0]
	for len(bufs) > 0 && len(piece) < tlsPiece {
		b := bufs[0]
		k := min(len(b), tlsPiece-len(piece))
		if k == tlsPiece {
			piece = b[:k]
		} else {
			piece = append(piece, b[:k]...)
			l.gather = piece
		}
		if bufs[0] = b[k:]; len(bufs[0]) == 0 {
			bufs = bufs[1:]
		}
	}
	return piece, bufs
}

// encrypt sends one piece. An error is told by Closed from the loop, never from within a Write.
func (c *tlsConn) encrypt(piece []byte) int {
	n, err := c.tls.Write(piece)
	c.sendOut()
	if err != nil {
		c.broken = err
		c.loop.post(c)
	}
	return n
}

// sendOut sends what crypto/tls wrote.
func (c *tlsConn) sendOut() {
	l := c.loop
	c.send(l.out)
	l.out = l.out[:0]
}

// send keeps what the kernel does not take; the engine says when it takes more.
func (c *tlsConn) send(b []byte) {
	if len(b) == 0 || c.conn == nil {
		return
	}
	if len(c.pending) == 0 {
		if b = b[c.conn.Write(b):]; len(b) == 0 {
			return
		}
	}
	l := c.loop
	if k := len(l.idle); k > 0 && c.pending == nil {
		c.pending = l.idle[k-1][:0]
		l.idle = l.idle[:k-1]
	}
	c.pending = append(c.pending, b...)
}

// flush goes on with a send that was cut short.
func (c *tlsConn) flush() {
	c.sent += c.conn.Write(c.pending[c.sent:])
	if c.sent == len(c.pending) {
		c.giveBack()
	}
}

func (c *tlsConn) giveBack() {
	l := c.loop
	if c.pending != nil && len(l.idle) < tlsIdle {
		l.idle = append(l.idle, c.pending)
	}
	c.pending, c.sent = nil, 0
}

// pull decrypts in, which is used up, and returns the number of bytes it added to plain. When in
// is the end of a record one read is enough; otherwise crypto/tls is asked until it has no more.
func (c *tlsConn) pull(in []byte, record bool) (got int, err error) {
	c.transport.in = in
	for {
		n, err := c.tls.Read(c.plain.room(recordPlain))
		c.plain.grown(n)
		got += n
		if len(c.loop.out) > 0 { // the answer to a key update, or an alert
			c.sendOut()
		}
		switch {
		case err == errWouldBlock:
			return got, nil
		case err != nil:
			return got, err
		case record && len(c.transport.in) == 0:
			return got, nil
		}
	}
}

// hand gives the handler what was decrypted, and then the error behind it.
func (c *tlsConn) hand(got int, now int64, err error) {
	if got > 0 {
		c.loop.h.Data(c, &c.plain, now)
	}
	if err != nil && !c.closed {
		c.fail(err)
	}
}

// Close says goodbye as TLS demands, as far as the kernel takes it now.
func (c *tlsConn) Close() {
	if c.closed {
		return
	}
	c.sayGoodbye()
	c.shut()
}

// CloseWrite sends the closing alert and then the engine's end of stream.
func (c *tlsConn) CloseWrite() {
	if c.closed || c.conn == nil {
		return
	}
	c.sayGoodbye()
	c.conn.CloseWrite()
}

func (c *tlsConn) sayGoodbye() {
	if c.hs == nil && len(c.pending) == 0 && c.tls.CloseWrite() == nil {
		c.sendOut()
	}
}

// shut frees everything, the engine's connection too.
func (c *tlsConn) shut() {
	l := c.loop
	c.closed = true
	if c.conn != nil {
		c.conn.Close()
	}
	c.giveBack()
	c.plain.release()
	l.conns[c.slot] = nil
	l.free = append(l.free, c.slot)
	l.setUp(c)
}

func (c *tlsConn) fail(err error) {
	c.shut()
	c.loop.h.Closed(c, err)
}

func (c *tlsConn) Tag() int { return c.tag }

func (c *tlsConn) LocalAddr() string {
	if c.conn == nil {
		return c.endpoint.Name
	}
	return c.conn.LocalAddr()
}

func (c *tlsConn) RemoteAddr() string {
	if c.conn == nil {
		return c.endpoint.Name
	}
	return c.conn.RemoteAddr()
}
