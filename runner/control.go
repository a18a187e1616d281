package runner

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"time"

	"respbench/netpoll"
	"respbench/protocol"
	"respbench/report"
)

// control is a connection of its own for what is asked beside the load: CONFIG, INFO, probes.
// It blocks, one command at a time, each within the time-out.
type control struct {
	conn  net.Conn
	name  string      // the server's, for messages
	stop  func() bool // detaches the connection from the run's context, which closes it
	limit time.Duration
	buf   []byte
	held  int  // bytes of buf that are received and not yet used
	heard bool // something has come, on this connection or an earlier one
	value protocol.ValueParser
	most  int // bytes of a reply; a longer one is given up
}

// maxSetUpReply is far above any reply to what is asked beside the load, such as the slots of a cluster of a thousand
// nodes. It bounds what a server costs us that never comes to the end of one.
const maxSetUpReply = 16 << 20

// resolve looks a name up once, within the time of --connect-timeout.
func (s *session) resolve(ctx context.Context, host string, port int) (*netpoll.Endpoint, error) {
	if limit := s.o.Load.ConnectTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return netpoll.Resolve(ctx, host, port)
}

// openControl connects and authenticates, but neither selects nor negotiates.
func (s *session) openControl(ctx context.Context) (*control, error) {
	return s.openControlAt(ctx, s.ep)
}

// openControlAt is openControl to any node of a cluster.
func (s *session) openControlAt(ctx context.Context, ep *netpoll.Endpoint) (*control, error) {
	limit := s.o.Load.ConnectTimeout
	dialCtx := ctx
	if limit > 0 {
		var cancel context.CancelFunc
		dialCtx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	conn, err := s.dialAny(dialCtx, ep)
	if outOfTime(err) {
		return nil, addressGiven(timeoutError(ep, phaseDialing, limit), ep, s.ep)
	}
	if err == nil {
		conn, err = s.secured(dialCtx, conn, ep)
	}
	if err != nil {
		return nil, addressGiven(connectError(ep, err), ep, s.ep)
	}
	c := &control{conn: conn, name: ep.Name, limit: limit, buf: make([]byte, 16<<10), most: maxSetUpReply, heard: s.spoken}
	c.stop = context.AfterFunc(ctx, func() { conn.Close() }) // a signal ends a command that waits
	t := s.o.Target
	t.Tracking, t.DB, t.RESP3 = false, 0, false
	for _, args := range prefixCommands(&t) {
		v, err := c.do(args...)
		if err == nil {
			if t.PasswordFrom != "" && isError(v) { // to AUTH: nothing else is left of the prefix
				v.Str += " (the password is that of " + t.PasswordFrom + ")"
			}
			err = nodeError(ep, v)
		}
		if err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// portPause is how often a local port is looked for while none is free.
const portPause = 100 * time.Millisecond

// dialAny connects from the addresses of --source, as the load does, and while no local port is free waits for one.
func (s *session) dialAny(ctx context.Context, ep *netpoll.Endpoint) (conn net.Conn, err error) {
	sources := s.o.Target.sources()
	if len(sources) == 0 {
		sources = []netip.Addr{{}}
	}
	var noPort error
	for {
		for _, src := range sources {
			conn, err = netpoll.Connect(ctx, netpoll.Dial{Endpoint: ep, Source: src})
			switch {
			case errors.Is(err, syscall.EADDRNOTAVAIL):
				noPort = err
			case noPort != nil && outOfTime(err):
				return nil, noPort // the cause, rather than that the time is up
			default:
				return conn, err
			}
		}
		select {
		case <-time.After(portPause):
		case <-ctx.Done():
			return nil, noPort
		}
	}
}

func outOfTime(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
}

func (c *control) close() {
	c.stop()
	c.conn.Close()
}

// do sends one command and reads its reply; an error reply is a value, not an error.
func (c *control) do(args ...string) (protocol.Value, error) {
	if c.limit > 0 {
		_ = c.conn.SetDeadline(time.Now().Add(c.limit)) // a connection without deadlines fails in Write
	}
	if err := c.quiet(); err != nil {
		return protocol.Value{}, err
	}
	_, unsent := c.conn.Write(protocol.AppendCommand(nil, args...)) // what the server said before it closed is still to be read
	for {
		n, v, err := c.value.Parse(c.buf[:c.held])
		if err != nil {
			return v, lostError(err)
		}
		if n > 0 {
			c.held = copy(c.buf, c.buf[n:c.held])
			if v.Kind != protocol.Push {
				return v, nil
			}
			continue
		}
		if c.held > c.most {
			return v, tooLong(c.name, "to "+args[0], c.most)
		}
		if c.held == len(c.buf) {
			c.buf = append(c.buf, make([]byte, len(c.buf))...)
		}
		n, err = c.conn.Read(c.buf[c.held:])
		if err != nil && n == 0 {
			if unsent != nil && !isAlert(err) {
				err = unsent
			}
			return v, c.lost(err, args[0])
		}
		c.heard = true
		c.held += n
	}
}

// quiet proves that nothing has come behind the last reply but push messages. What did would be taken for the next reply.
func (c *control) quiet() error {
	for c.held > 0 {
		n, v, err := c.value.Parse(c.buf[:c.held])
		switch {
		case err != nil:
			return lostError(err)
		case n == 0:
			return nil
		case v.Kind != protocol.Push:
			return unasked(isError(v), v.Str)
		}
		c.held = copy(c.buf, c.buf[n:c.held])
	}
	return nil
}

// lost words a failure while command was under way.
func (c *control) lost(err error, command string) error {
	err = c.plainLost(err, command)
	if c.held > 0 {
		err = inPart(err, c.value.Offset())
	}
	return err
}

func (c *control) plainLost(err error, command string) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("Error: no reply from %s to %s within %v (--connect-timeout)", c.name, command, c.limit)
	}
	if isAlert(err) {
		return &tlsError{cause: err}
	}
	if _, secured := c.conn.(*tls.Conn); !secured && !c.heard {
		return fmt.Errorf("%w%s", lostError(err), wantsTLS)
	}
	return lostError(err)
}

// tooLong is a reply, named by what asked for it, that has come past its bound without an end.
func tooLong(server, what string, most int) error {
	return fmt.Errorf("Error: the reply from %s %s does not end within %d MiB", server, what, most>>20)
}

func isError(v protocol.Value) bool { return v.Kind == protocol.Error || v.Kind == protocol.BulkError }

// nodeFault is an error reply to the set-up, in redis-benchmark's words.
type nodeFault struct{ node, text string }

func (f *nodeFault) Error() string {
	return "Node " + f.node + " replied with error:\n" + report.OneLine(f.text)
}

func nodeError(ep *netpoll.Endpoint, v protocol.Value) error {
	if !isError(v) {
		return nil
	}
	return &nodeFault{ep.Name, v.Str}
}

var errNoConfig = errors.New("WARNING: Could not fetch server CONFIG")

// probe connects once before the load and asks for the server's configuration. A server that does
// not answer CONFIG is measured all the same; one that wants a password is not.
func (s *session) probe(ctx context.Context) error {
	if s.o.Target.Cluster {
		return s.probeCluster(ctx)
	}
	c, err := s.openControl(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	s.ep.Prefer(c.conn.RemoteAddr())
	s.server, err = s.config(ctx, c, s.ep)
	return err
}

// config asks for what redis-benchmark shows of a server's configuration.
func (s *session) config(ctx context.Context, c *control, ep *netpoll.Endpoint) (conf report.Server, err error) {
	var got [2]string
	for i, name := range []string{"save", "appendonly"} {
		v, err := c.do("CONFIG", "GET", name)
		s.spoken = s.spoken || c.heard
		var refused *tlsError
		switch {
		case errors.As(err, &refused):
			return conf, err
		case err == nil && isError(v) && (strings.HasPrefix(v.Str, "NOAUTH") || strings.HasPrefix(v.Str, "WRONGPASS")):
			return conf, nodeError(ep, v)
		case ctx.Err() != nil:
			return conf, context.Cause(ctx)
		case err != nil || isError(v) || len(v.Elems) != 2:
			s.mute = s.mute || !c.heard
			fmt.Fprintln(s.io.Stderr, errNoConfig)
			return conf, nil
		}
		got[i] = v.Elems[1].Str
	}
	return report.Server{HasConfig: true, Save: got[0], AppendOnly: got[1]}, nil
}
