package kvstore

import (
	"bytes"
	"time"

	"github.com/panjf2000/gnet/v2"

	"respbench/protocol"
)

// client.go is the way of the input: gnet reads a piece into its loop's buffer, the commands in it are executed in place, and
// only the start of a command that is not complete is copied, into the client's own buffer.

// client is one connection. It belongs to the event loop.
type client struct {
	id     int64
	conn   gnet.Conn
	fd     int
	since  time.Time
	parser protocol.CommandParser

	input   []byte // not executed yet: a started command, or all that came while output waits
	resp3   bool
	closing bool // no further command is executed
	stalled bool // commands in input wait until output has left
	gone    bool // fd must not be used: writing failed, or gnet has closed it
	name    string

	sender  *sender // sends what the socket did not take at once; nil most of the time
	held    [2]lot  // replies that wait for a sync, the older first
	holding bool    // held[0] is not empty
}

// flushOutput is how many bytes of replies are gathered before they are sent in the middle of a batch.
const flushOutput = 256 << 10

// OnTraffic executes what has come.
func (s *Server) OnTraffic(g gnet.Conn) gnet.Action {
	c, ok := g.Context().(*client)
	if !ok {
		return gnet.Close
	}
	buf, err := g.Next(-1)
	if err != nil || len(buf) == 0 {
		return gnet.None
	}
	s.counts.bytesIn += int64(len(buf))
	return s.feed(c, buf)
}

// feed executes the client's waiting input and buf behind it.
func (s *Server) feed(c *client, buf []byte) gnet.Action {
	if c.closing {
		return gnet.None // the rest of a refused stream
	}
	waiting := len(c.input) > 0
	if waiting {
		c.gather(buf)
		buf = c.input
	}
	used := 0
	if c.stalled = s.mustWait(c); !c.stalled {
		used = s.execute(c, buf)
	}
	if action := s.finish(c); action != gnet.None || c.closing {
		return action
	}
	return s.keep(c, buf[used:], waiting)
}

// gather puts buf behind the waiting input. A large argument whose length is known gets its room without more than that.
func (c *client) gather(buf []byte) {
	if need := len(c.input) + len(buf); need > cap(c.input) {
		room := 2 * need
		if whole := c.parser.Pending(); whole >= need {
			room = min(room, whole)
		}
		c.input = append(make([]byte, 0, room), c.input...)
	}
	c.input = append(c.input, buf...)
}

// keep stores the rest of the input for the next time. waiting tells that it lies in c.input; it is moved there only when
// that costs no more than what has been executed.
func (s *Server) keep(c *client, rest []byte, waiting bool) gnet.Action {
	const keepCap = 64 << 10
	switch {
	case len(rest) > MaxQueryBuffer, len(rest) > MaxInputWait && c.stalled:
		s.opts.Log.Warn().Int64("client", c.id).Int("bytes", len(rest)).Msg("input of the client is over the limit: closed")
		return gnet.Close
	case len(rest) == 0 && cap(c.input) > keepCap:
		c.input = nil
	case waiting && len(rest) > len(c.input)/2:
		c.input = c.input[len(c.input)-len(rest):]
	case waiting:
		c.input = c.input[:copy(c.input, rest)]
	default:
		c.input = append(c.input[:0], rest...)
	}
	return gnet.None
}

// execute runs the complete commands of buf and returns the bytes they took. The replies are in s.out.
func (s *Server) execute(c *client, buf []byte) (used int) {
	for used < len(buf) && !c.closing {
		ahead, more, err := s.lookAhead(c, buf[used:])
		for i := range s.batch[:ahead] {
			q := &s.batch[i]
			s.key = q.hash
			if q.to > q.from {
				s.dispatch(c, q.command, s.args[q.from:q.to])
			}
			used += q.bytes
			if c.closing {
				return used
			}
			if len(s.out) >= flushOutput {
				s.send(c)
				if c.stalled = s.mustWait(c); c.stalled {
					c.parser.Restart()
					return used
				}
			}
		}
		if err != nil {
			s.protocolError(c, err)
			return len(buf)
		}
		if !more {
			return used
		}
	}
	return used
}

func protocolErrorText(err error) string { return "ERR Protocol error: " + err.Error() }

func (s *Server) protocolError(c *client, err error) {
	s.opts.Log.Warn().Int64("client", c.id).Err(err).Msg("protocol error")
	s.out = protocol.AppendError(s.out, protocolErrorText(err))
	s.counts.errors++
	c.closing = true
}

// finish sends the replies of a batch, and says what becomes of the connection.
func (s *Server) finish(c *client) gnet.Action {
	s.send(c)
	const keepCap = 4 << 20
	if cap(s.out) > keepCap {
		s.out = nil
	}
	if s.log != nil {
		s.handOver()
	}
	if c.closing {
		return s.linger(c)
	}
	if c.gone && c.conn != nil {
		return gnet.Close
	}
	return gnet.None
}

// handOver passes the batch's changes on to the committer. With fsync always it does not start yet, but at the end of
// the loop's turn, so that all clients who are ready now share a sync. gnet runs a task after the events of its next turn.
func (s *Server) handOver() {
	l := s.log
	if len(l.tail) > 0 {
		l.hand()
		if l.fsync == FsyncAlways && !s.turnEnds {
			s.turnEnds = true
			s.onLoop(s.loop, func() {
				s.turnEnds = false
				if l.commitHere() {
					s.onCommit()
				} else {
					l.endTurn()
				}
			})
		}
		if !l.doubling && s.growthWantsRewrite() {
			s.beginRewrite()
		}
	}
}

// httpWord tells a browser's or a cross-protocol attacker's first word, after which the lines would run as commands.
func httpWord(name []byte) bool {
	return bytes.EqualFold(name, []byte("post")) || bytes.EqualFold(name, []byte("host:"))
}
