package netpoll

import (
	"crypto/tls"
	"errors"
	"os"
	"sync"
	"time"
)

// handshake is what the loop and the goroutine of one handshake share: a box of received bytes
// that the goroutine waits for, and one of bytes to be sent that the loop empties.
type handshake struct {
	mu     sync.Mutex
	more   sync.Cond
	in     []byte
	out    []byte
	broken error // what read returns when in is empty
	done   bool
	result error // meaningful when done

	post func() // tells the loop that there is something in out, or the end
}

// errStopped is for handshakes that the end of the loop meets.
var errStopped = errors.New("the loop has stopped")

// handshake starts the goroutine. It begins at once: servers drop connections that keep silent.
func (c *tlsConn) handshake() {
	l := c.loop
	hs := &handshake{post: func() { l.post(c) }}
	hs.more.L = &hs.mu
	c.hs = hs
	c.transport = tlsTransport{loop: l, hs: hs}
	c.tls = tls.Client(&c.transport, l.config(c.endpoint))
	left := l.limit - time.Duration(Now()-c.beganNs)
	l.handshakes.Go(func() {
		if l.limit > 0 {
			timer := time.AfterFunc(left, func() { hs.abort(os.ErrDeadlineExceeded) })
			defer timer.Stop()
		}
		hs.finish(c.tls.Handshake())
	})
}

func (h *handshake) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.in) == 0 {
		if h.broken != nil {
			return 0, h.broken
		}
		h.more.Wait()
	}
	n := copy(p, h.in)
	h.in = h.in[n:]
	return n, nil
}

func (h *handshake) write(p []byte) (int, error) {
	h.mu.Lock()
	if h.broken != nil {
		h.mu.Unlock()
		return 0, h.broken
	}
	h.out = append(h.out, p...)
	h.mu.Unlock()
	h.post()
	return len(p), nil
}

// abort makes the goroutine fail with err, unless it has ended or enough bytes are there.
func (h *handshake) abort(err error) {
	h.mu.Lock()
	if h.broken == nil {
		h.broken = err
	}
	h.mu.Unlock()
	h.more.Signal()
}

func (h *handshake) finish(err error) {
	h.mu.Lock()
	h.done, h.result = true, err
	h.mu.Unlock()
	h.post()
}

// feed gives the goroutine what was received.
func (c *tlsConn) feed(in *ChainBuffer) {
	hs := c.hs
	hs.mu.Lock()
	for in.Len() > 0 {
		seg := in.Segment()
		hs.in = append(hs.in, seg...)
		for rest := seg; len(rest) > 0; {
			rest = rest[c.frame.take(rest):]
		}
		in.Discard(len(seg))
	}
	hs.mu.Unlock()
	hs.more.Signal()
}

// progress is the loop's side: send what the goroutine wrote, see whether it has ended.
func (c *tlsConn) progress() {
	hs := c.hs
	if hs == nil {
		if c.broken != nil {
			c.fail(c.broken)
		}
		return
	}
	hs.mu.Lock()
	out, rest, done, err, broken := hs.out, hs.in, hs.done, hs.result, hs.broken
	hs.out = nil
	hs.mu.Unlock()
	c.send(out)
	switch {
	case !done:
	case err != nil:
		c.fail(&HandshakeError{err})
	case c.conn == nil:
		c.lost(rest, broken)
	default:
		c.open(rest)
	}
}

// lost is a connection that the server closed as soon as it had seen the last of the handshake: a
// refusal, since in TLS 1.3 the client is done before the server has judged its certificate.
func (c *tlsConn) lost(rest []byte, err error) {
	c.hs, c.transport.hs = nil, nil
	if _, alert := c.pull(rest, false); alert != nil {
		err = alert
	}
	c.fail(&HandshakeError{err})
}

// open takes the connection over from the goroutine, which has ended. Records that came with the
// last of the handshake lie in crypto/tls or in rest.
func (c *tlsConn) open(rest []byte) {
	c.hs, c.transport.hs = nil, nil
	l := c.loop
	l.setUp(c)
	l.h.Opened(c)
	if c.closed {
		return
	}
	n, err := c.pull(rest, false)
	c.hand(n, Now(), err)
}
