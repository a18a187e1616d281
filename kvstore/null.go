package kvstore

import (
	"bytes"
	"errors"
	"net"

	"github.com/panjf2000/gnet/v2"

	"respbench/netpoll"
	"respbench/protocol"
)

// null.go is the server of --null: it answers every command with +OK and stores nothing. It is there to find out what a client
// can do when the server costs as little as possible; so it counts commands and does not look at them, and runs on the raw
// epoll loop where there is one: on gnet it was slower than the client (P=1 to 128), and the client's time was spent waiting.

const nullReply = "+OK\r\n"

var nullReplies = bytes.Repeat([]byte(nullReply), 4096)

// nullLoop is its epoll loop.
type nullLoop struct {
	s     *Server
	loop  netpoll.Loop
	count protocol.CommandCounter
	peers []nullPeer // by the connection's tag
	open  int
}

// nullPeer is one client.
type nullPeer struct {
	parser protocol.CommandParser
	owed   int    // bytes of replies to be sent
	full   bool   // the socket takes no more for now
	last   []byte // what follows the replies, and then nothing; its further input is dropped
}

// serveNull runs on the epoll loop; the error is errors.ErrUnsupported where there is none.
func (s *Server) serveNull() error {
	if s.opts.nullOnGnet {
		return errors.ErrUnsupported
	}
	ln, err := net.Listen("tcp", s.address())
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err
		}
		return s.cannotListen(err)
	}
	defer ln.Close()
	l := &nullLoop{s: s}
	if l.loop, err = netpoll.NewServer(l, ln.(*net.TCPListener), netpoll.Options{CPU: -1}); err != nil {
		return err
	}
	s.nullLoop = l.loop
	s.listens(ln.Addr().(*net.TCPAddr).Port)
	return l.loop.Run()
}

func (l *nullLoop) Opened(c netpoll.Conn) {
	if l.open >= l.s.opts.MaxClients {
		c.Write([]byte(errMaxClients))
		c.Close()
		return
	}
	l.open++
	for len(l.peers) <= c.Tag() {
		l.peers = append(l.peers, nullPeer{})
	}
	l.peers[c.Tag()] = nullPeer{}
}

func (l *nullLoop) Closed(netpoll.Conn, error) { l.open-- }

func (l *nullLoop) Tick(int64) {}

// Data answers what has come. A command is gathered only when it lies in several chunks, and only once it is long enough.
func (l *nullLoop) Data(c netpoll.Conn, in *netpoll.ChainBuffer, _ int64) {
	p := &l.peers[c.Tag()]
	if in.Len() > MaxQueryBuffer {
		c.Close()
		l.open--
		return
	}
	for p.last == nil && in.Len() >= max(1, p.parser.Pending()) {
		buf := in.Segment()
		used, n, err := l.count.Count(&p.parser, buf)
		if used == 0 && err == nil && len(buf) < in.Len() {
			used, n, err = l.count.Count(&p.parser, in.Linear())
		}
		p.owed += n * len(nullReply)
		in.Discard(used)
		if err != nil {
			p.last = protocol.AppendError(nil, protocolErrorText(err))
		}
		if used == 0 {
			break
		}
	}
	if p.last != nil {
		in.Discard(in.Len())
	}
	if !p.full {
		l.Writable(c)
	}
}

// Writable sends what is owed.
func (l *nullLoop) Writable(c netpoll.Conn) {
	p := &l.peers[c.Tag()]
	p.full = false
	for p.owed > 0 {
		from := (len(nullReply) - p.owed%len(nullReply)) % len(nullReply) // what was owed ended with a reply
		piece := nullReplies[from:min(from+p.owed, len(nullReplies))]
		n := c.Write(piece)
		p.owed -= n
		if n < len(piece) {
			p.full = true
			return
		}
	}
	if len(p.last) > 0 {
		c.Write(p.last)
		c.CloseWrite()
		p.last = p.last[:0]
	}
}

// nullOnGnet is the same on gnet.
type nullOnGnet struct {
	*Server
	count protocol.CommandCounter
}

// OnTraffic answers what has come.
func (s *nullOnGnet) OnTraffic(g gnet.Conn) gnet.Action {
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
	used, n, err := s.count.Count(&c.parser, buf)
	c.input = append(c.input[:0], buf[used:]...)
	for n > 0 && !c.gone {
		k := min(n, len(nullReplies)/len(nullReply))
		s.deliver(c, nullReplies[:k*len(nullReply)])
		n -= k
	}
	if err != nil {
		s.protocolError(c, err)
	}
	return s.finish(c)
}
