package netpoll

import (
	"time"

	"golang.org/x/sys/unix"
)

// A connection of the gnet engine: what the handler may do with it.

func (c *gnetConn) Tag() int { return c.tag }

func (c *gnetConn) Write(p []byte) int {
	if !c.mayWrite() {
		return 0
	}
	_, err := c.c.Write(p)
	return c.wrote(len(p), err)
}

func (c *gnetConn) Writev(bufs [][]byte) int {
	if !c.mayWrite() {
		return 0
	}
	total := 0
	for _, b := range bufs {
		total += len(b)
	}
	_, err := c.c.Writev(bufs)
	return c.wrote(total, err)
}

// mayWrite gives gnet one write more only when it has sent the one before: its own buffer would
// take everything, whatever it costs.
func (c *gnetConn) mayWrite() bool {
	if c.c == nil || c.closing {
		return false
	}
	if c.c.OutboundBuffered() > 0 {
		c.stick()
		return false
	}
	c.busy = true
	return true
}

// wrote ends a write. gnet closes a connection from within it; Closed is told a turn later, so
// that no handler is called from its own Write.
func (c *gnetConn) wrote(n int, err error) int {
	c.busy = false
	if c.failed == nil {
		c.failed = err
	}
	if c.failed != nil {
		c.loop.execute(func() { c.gone(c.failed) })
		return 0
	}
	return n
}

func (c *gnetConn) stick() {
	l := c.loop
	l.stuck[c] = struct{}{}
	if !l.polling {
		l.polling = true
		time.AfterFunc(gnetPoll, func() { l.execute(l.unstick) })
	}
}

func (l *gnetLoop) unstick() {
	l.polling = false
	for c := range l.stuck {
		if c.c == nil || c.closing {
			delete(l.stuck, c)
		} else if c.c.OutboundBuffered() == 0 {
			delete(l.stuck, c)
			l.h.Writable(c)
		}
	}
	if len(l.stuck) > 0 && !l.polling {
		l.polling = true
		time.AfterFunc(gnetPoll, func() { l.execute(l.unstick) })
	}
}

func (c *gnetConn) CloseWrite() {
	if c.c != nil && !c.closing {
		_ = unix.Shutdown(c.c.Fd(), unix.SHUT_WR) // fails when the other end is gone: the read says so
	}
}

func (c *gnetConn) Close() {
	if c.closing {
		return
	}
	c.closing = true
	delete(c.loop.conns, c)
	delete(c.loop.stuck, c)
	if c.c != nil {
		_ = c.c.Close() // carried out after the callback that we may be in
	}
}

func (c *gnetConn) LocalAddr() string {
	if c.c == nil {
		return c.name
	}
	return c.c.LocalAddr().String()
}

func (c *gnetConn) RemoteAddr() string {
	if c.c == nil {
		return c.name
	}
	return c.c.RemoteAddr().String()
}
