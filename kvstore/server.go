package kvstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// Server is one running server. Everything below "event loop" belongs to the one gnet event loop.
type Server struct {
	gnet.BuiltinEventEngine
	opts    Options
	started time.Time
	engine  gnet.Engine
	ready   func(port int)
	port    int
	failure error // why the listener could not be used

	clientsPossible int // what the limit of open files allows
	stopped         atomic.Bool

	// event loop
	loop    gnet.EventLoop // of the connections; nil before the first
	store   *store
	clients map[*client]struct{}
	args    [][]byte // of the present command
	out     []byte   // replies of the present batch
	nextID  int64
	counts  counters
}

// counters are the figures of INFO stats.
type counters struct {
	connections, rejected int64
	commands, errors      int64
	bytesIn, bytesOut     int64
	hits, misses          int64
	calls                 []callCount // by command id
}

type callCount struct{ calls, rejected, failed int64 }

// New prepares a server: it validates the options. Run serves.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Server{
		opts:    o,
		started: time.Now(),
		store:   newStore(o.Allocator),
		clients: map[*client]struct{}{},
		counts:  counters{calls: make([]callCount, len(commands))},
	}
	return s, nil
}

// Run serves until Stop is called or a client sends SHUTDOWN. ready is called once with the port when clients may connect.
func (s *Server) Run(ready func(port int)) error {
	s.ready = ready
	s.limitClients()
	addr := "tcp://" + net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port))
	var handler gnet.EventHandler = s
	if s.opts.Null {
		handler = &nullServer{Server: s}
	}
	err := gnet.Run(handler, addr,
		gnet.WithLogger(gnetLog{s.opts.Log}),
		gnet.WithNumEventLoop(1),
		gnet.WithReuseAddr(true),
		gnet.WithReadBufferCap(64<<10),
		gnet.WithTCPNoDelay(gnet.TCPNoDelay))
	if err == nil {
		err = s.failure
	}
	return err
}

// Stop ends Run after the batch under way. It may be called more than once and from any goroutine.
func (s *Server) Stop() {
	if s.stopped.Swap(true) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lingerTime)
	defer cancel()
	if err := s.engine.Stop(ctx); err != nil {
		s.opts.Log.Error().Err(err).Msg("stop")
	}
}

// limitClients lowers MaxClients to what the limit of open files allows: gnet gives up its listener when accept fails.
func (s *Server) limitClients() {
	const reserve = 64 // log, poller, clients that are being refused or read slowly
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return
	}
	if lim.Cur < lim.Max {
		lim.Cur = lim.Max
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
			s.opts.Log.Warn().Err(err).Msg("cannot raise the limit of open files")
		}
	}
	s.clientsPossible = max(1, int(min(lim.Cur, 1<<30))-reserve)
	if s.opts.MaxClients > s.clientsPossible {
		s.opts.Log.Warn().Int("maxclients", s.opts.MaxClients).Int("possible", s.clientsPossible).Msg("limit of open files lowers maxclients")
		s.opts.MaxClients = s.clientsPossible
	}
}

// OnBoot tells the port to the caller of Run.
func (s *Server) OnBoot(e gnet.Engine) gnet.Action {
	s.engine = e
	fd, err := e.Dup()
	if err != nil {
		s.failure = fmt.Errorf("listener: %w", err)
		return gnet.Shutdown
	}
	defer unix.Close(fd)
	sa, err := unix.Getsockname(fd)
	if err != nil {
		s.failure = os.NewSyscallError("getsockname", err)
		return gnet.Shutdown
	}
	switch a := sa.(type) {
	case *unix.SockaddrInet4:
		s.port = a.Port
	case *unix.SockaddrInet6:
		s.port = a.Port
	}
	s.opts.Log.Info().Str("host", s.opts.Host).Int("port", s.port).Msg("ready")
	if s.ready != nil {
		s.ready(s.port)
	}
	return gnet.None
}

// OnOpen admits a client.
func (s *Server) OnOpen(g gnet.Conn) ([]byte, gnet.Action) {
	s.loop = g.EventLoop()
	s.counts.connections++
	if len(s.clients) >= s.opts.MaxClients {
		s.counts.rejected++
		return []byte("-ERR max number of clients reached\r\n"), gnet.Close
	}
	s.nextID++
	c := &client{id: s.nextID, conn: g, fd: g.Fd(), since: time.Now()}
	c.parser.Unauthenticated = s.opts.RequirePass != ""
	s.clients[c] = struct{}{}
	g.SetContext(c)
	return nil, gnet.None
}

// OnClose forgets a client. Replies that still wait for it are sent by its sender, which has a descriptor of its own.
func (s *Server) OnClose(g gnet.Conn, err error) gnet.Action {
	c, ok := g.Context().(*client)
	if !ok {
		return gnet.None
	}
	delete(s.clients, c)
	s.detach(c, err == nil || errors.Is(err, io.EOF))
	return gnet.None
}

// onLoop runs f on the event loop.
func (s *Server) onLoop(loop gnet.EventLoop, f func()) {
	err := loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		f()
		return nil
	}))
	if err != nil && !s.stopped.Load() {
		s.opts.Log.Error().Err(err).Msg("event loop")
	}
}
