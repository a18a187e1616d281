package kvstore

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"

	"respbench/netpoll"
)

// Server is one running server. Everything below "event loop" belongs to the one gnet event loop.
type Server struct {
	gnet.BuiltinEventEngine
	opts     Options
	started  time.Time
	engine   gnet.Engine
	ready    func(port int)
	port     int
	failure  error        // why the listener could not be used
	nullLoop netpoll.Loop // serves instead of gnet; nil most of the time

	clientsPossible int // what the limit of open files allows
	lock            *dirLock
	senders         sync.WaitGroup // those that still write
	stopped         atomic.Bool

	newsLoop atomic.Pointer[gnet.EventLoop] // s.loop for the committer

	// event loop
	loop    gnet.EventLoop // of the connections; nil before the first
	store   *store
	seed    maphash.Seed // of all stores of this server: a hash outlives FLUSHALL within a batch
	clients map[*client]struct{}
	args    [][]byte // of the commands in batch
	batch   [lookAheadMost]request
	key     uint64 // hash of the present command's second argument
	out     []byte // replies of the present batch
	writes  []span // which of them answer a change, with fsync always
	nobody  client // for whom the log is replayed

	log          *oplog // nil without persistence
	rewrite      rewrite
	holders      []*client // whose replies wait for a sync
	spareHolders []*client
	turnEnds     bool // the end of the loop's turn has been asked for
	nextID       int64
	counts       counters
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

// New prepares a server: it validates the options, and takes the folder of the log and replays it. Run serves; it must be
// called then, since it ends the log in order.
func New(o Options) (*Server, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := newServer(o)
	if o.Persistence == PersistNone {
		return s, nil
	}
	if err := checkDir(o.Dir); err != nil {
		return nil, err
	}
	lock, err := lockDir(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := s.openLog(osFS(o.Dir)); err != nil {
		lock.Close()
		s.store.mem.release()
		return nil, fmt.Errorf("folder %s: %w", o.Dir, err)
	}
	s.lock = lock
	return s, nil
}

func newServer(o Options) *Server {
	seed := maphash.MakeSeed()
	return &Server{
		opts:    o,
		started: time.Now(),
		seed:    seed,
		store:   newStore(o.Allocator, seed),
		clients: map[*client]struct{}{},
		counts:  counters{calls: make([]callCount, len(commands))},
	}
}

// Run serves until Stop is called or a client sends SHUTDOWN. ready is called once with the port when clients may connect.
func (s *Server) Run(ready func(port int)) error {
	s.ready = ready
	s.limitClients()
	if s.log != nil {
		s.log.wake = s.onNews
		s.log.start()
	}
	err := s.serve()
	if s.log != nil {
		err = errors.Join(err, s.endLog())
	}
	s.awaitSenders()
	s.store.mem.release()
	return err
}

// clear forgets all that is stored.
func (s *Server) clear() {
	s.rewrite.forget()
	s.store.mem.release()
	s.store = newStore(s.opts.Allocator, s.seed)
}

func (s *Server) address() string { return net.JoinHostPort(s.opts.Host, strconv.Itoa(s.opts.Port)) }

func (s *Server) cannotListen(err error) error {
	return fmt.Errorf("cannot listen on %s: %w", s.address(), err)
}

func (s *Server) serve() error {
	var handler gnet.EventHandler = s
	if s.opts.Null {
		if err := s.serveNull(); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
		handler = &nullOnGnet{Server: s}
	}
	err := gnet.Run(handler, "tcp://"+s.address(),
		gnet.WithLogger(gnetLog{s.opts.Log}),
		gnet.WithNumEventLoop(1),
		gnet.WithReuseAddr(true),
		gnet.WithReadBufferCap(64<<10),
		gnet.WithTCPNoDelay(gnet.TCPNoDelay))
	switch {
	case err == nil:
		err = s.failure
	case s.port == 0: // it has never listened
		err = s.cannotListen(err)
	}
	return err
}

// Stop ends Run after the batch under way. It may be called more than once and from any goroutine.
func (s *Server) Stop() {
	if s.stopped.Swap(true) {
		return
	}
	if s.nullLoop != nil {
		s.nullLoop.Stop()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lingerTime)
	defer cancel()
	if err := s.engine.Stop(ctx); err != nil {
		s.opts.Log.Error().Err(err).Msg("stop")
	}
}

// onNews passes the committer's news to the event loop.
func (s *Server) onNews() {
	if loop := s.newsLoop.Load(); loop != nil {
		s.onLoop(*loop, s.onCommit)
	}
}

// endLog closes the log after the event loop has ended, and lets the replies go that waited for it.
func (s *Server) endLog() error {
	s.stopped.Store(true)
	err := s.log.close()
	s.onCommit()
	s.lock.Close()
	return err
}

// awaitSenders gives the last replies a moment to leave.
func (s *Server) awaitSenders() {
	const moment = time.Second
	sent := make(chan struct{})
	go func() {
		s.senders.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-time.After(moment):
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
		s.listens(a.Port)
	case *unix.SockaddrInet6:
		s.listens(a.Port)
	}
	return gnet.None
}

func (s *Server) listens(port int) {
	s.port = port
	s.opts.Log.Info().Str("host", s.opts.Host).Int("port", port).Msg("ready")
	if s.ready != nil {
		s.ready(port)
	}
}

const errMaxClients = "-ERR max number of clients reached\r\n"

// OnOpen admits a client.
func (s *Server) OnOpen(g gnet.Conn) ([]byte, gnet.Action) {
	if s.loop == nil {
		s.loop = g.EventLoop()
		s.newsLoop.Store(&s.loop)
	}
	s.counts.connections++
	if len(s.clients) >= s.opts.MaxClients {
		s.counts.rejected++
		refuse(g.Fd(), errMaxClients)
		return nil, gnet.Close
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

// onLoop runs f on the event loop, unless the server stops.
func (s *Server) onLoop(loop gnet.EventLoop, f func()) {
	if s.stopped.Load() {
		return // gnet's poller may be closed, and its descriptor be another's
	}
	err := loop.Execute(context.Background(), gnet.RunnableFunc(func(context.Context) error {
		f()
		return nil
	}))
	if err != nil && !s.stopped.Load() {
		s.opts.Log.Error().Err(err).Msg("event loop")
	}
}
