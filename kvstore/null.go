package kvstore

import (
	"bytes"

	"github.com/panjf2000/gnet/v2"
)

// null.go is the server of --null: it answers every command with +OK and stores nothing. It is there to find out what a client
// can do when the server costs as little as possible; so it counts commands and does not look at them.

type nullServer struct{ *Server }

const nullReply = "+OK\r\n"

var nullReplies = bytes.Repeat([]byte(nullReply), 4096)

// OnTraffic answers what has come.
func (s *nullServer) OnTraffic(g gnet.Conn) gnet.Action {
	c, ok := g.Context().(*client)
	if !ok {
		return gnet.Close
	}
	buf, err := g.Next(-1)
	if err != nil || len(buf) == 0 || c.closing {
		return gnet.None
	}
	if len(c.input) > 0 {
		buf = append(c.input, buf...)
	}
	used, n := s.countCommands(c, buf)
	c.input = append(c.input[:0], buf[used:]...)
	for n > 0 && !c.gone {
		k := min(n, len(nullReplies)/len(nullReply))
		s.deliver(c, nullReplies[:k*len(nullReply)])
		n -= k
	}
	return s.finish(c)
}

// countCommands gives the number of complete commands in buf and their bytes.
func (s *nullServer) countCommands(c *client, buf []byte) (used, n int) {
	for used < len(buf) {
		k, args, err := c.parser.Next(buf[used:], s.args[:0])
		s.args = args
		switch {
		case err != nil:
			s.protocolError(c, err)
			return len(buf), n
		case k == 0:
			return used, n
		case len(args) > 0:
			n++
		}
		used += k
	}
	return used, n
}
