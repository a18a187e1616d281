package netpoll

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/logging"
	"golang.org/x/sys/unix"
)

// The gnet engine: the portable one. Each Loop is a gnet client with one event loop.
//
// gnet has no timer, no wake-up without a connection, no hook for "writable" and no way to dial
// from its loop. So a pair of sockets of its own carries what must run on the loop (its anchor),
// connections are made by goroutines, and a connection whose kernel buffer is full is looked at
// each millisecond. Deadlines are therefore about a millisecond coarse.

const (
	gnetPoll        = time.Millisecond
	gnetDialsAtOnce = 128
)

type gnetLoop struct {
	gnet.BuiltinEventEngine
	h       Handler
	client  *gnet.Client
	mu      sync.Mutex
	anchor  gnet.Conn // carries Execute; never read or written; nil until Run
	early   []func()  // asked for before there was an anchor
	far     net.Conn  // its other end
	dials   chan struct{}
	ctx     context.Context
	cancel  context.CancelFunc
	timer   *time.Timer
	stopped atomic.Bool
	conns   map[*gnetConn]struct{}
	stuck   map[*gnetConn]struct{} // waiting for room
	polling bool
}

type gnetConn struct {
	loop    *gnetLoop
	c       gnet.Conn // nil before it is open and after it is closed
	tag     int
	name    string
	in      ChainBuffer
	busy    bool   // within a Write: gnet closes from there
	failed  error  // what closed it meanwhile
	tail    []byte // received before it failed, and not yet handed on
	closing bool   // by Close: no more calls of the handler
}

func newGnet(h Handler, o Options) (Loop, error) {
	l := &gnetLoop{h: h, dials: make(chan struct{}, gnetDialsAtOnce),
		conns: map[*gnetConn]struct{}{}, stuck: map[*gnetConn]struct{}{}}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	var err error
	l.client, err = gnet.NewClient(l,
		gnet.WithLogger(gnetLog(o.Log)), gnet.WithLogLevel(logging.ErrorLevel),
		gnet.WithNumEventLoop(1), gnet.WithLockOSThread(true), gnet.WithTCPNoDelay(gnet.TCPNoDelay),
		gnet.WithReadBufferCap(2*chunkSize))
	return l, err
}

// Run starts the client, hangs the anchor into its loop and waits for Stop.
func (l *gnetLoop) Run() error {
	if err := l.client.Start(); err != nil {
		return fmt.Errorf("gnet: %w", err)
	}
	if err := l.dropAnchor(); err != nil {
		return fmt.Errorf("gnet: %w", err)
	}
	<-l.ctx.Done()
	for range gnetDialsAtOnce { // every dialer has let go: nothing enrolls any more
		l.dials <- struct{}{}
	}
	err := l.client.Stop()
	l.far.Close()
	return err
}

func (l *gnetLoop) dropAnchor() error {
	near, far, err := socketPair()
	if err != nil {
		return err
	}
	l.far = far
	anchor, err := l.client.Enroll(near)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.anchor = anchor
	early := l.early
	l.early = nil
	l.mu.Unlock()
	for _, f := range early {
		l.execute(f)
	}
	return nil
}

// socketPair is two connected ends without an address, which take no port from the load.
func socketPair() (near, far net.Conn, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		unix.CloseOnExec(fd)
		f := os.NewFile(uintptr(fd), "anchor")
		if end, failed := net.FileConn(f); failed != nil { // it has a descriptor of its own
			err = failed
		} else {
			ends[i] = end
		}
		f.Close()
	}
	return ends[0], ends[1], err
}

// execute runs f on the loop, as soon as it runs.
func (l *gnetLoop) execute(f func()) {
	l.mu.Lock()
	if l.anchor == nil {
		l.early = append(l.early, f)
		l.mu.Unlock()
		return
	}
	l.mu.Unlock()
	_ = l.anchor.EventLoop().Execute(l.ctx, gnet.RunnableFunc(func(context.Context) error {
		if !l.stopped.Load() {
			f()
		}
		return nil
	}))
}

func (l *gnetLoop) Stop() {
	l.stopped.Store(true)
	l.cancel()
}

func (l *gnetLoop) Wake() { l.execute(func() { l.h.Tick(Now()) }) }

func (l *gnetLoop) SetDeadline(ns int64) {
	if l.timer != nil {
		l.timer.Stop()
	}
	if ns != 0 {
		l.timer = time.AfterFunc(time.Duration(max(ns-Now(), 0)), l.Wake)
	}
}

func (l *gnetLoop) Stats() Stats { return Stats{} }

// Dial connects on a goroutine, since neither net.Dial nor Enroll may be called from the loop.
func (l *gnetLoop) Dial(d Dial) {
	c := &gnetConn{loop: l, tag: d.Tag, name: d.Endpoint.Name}
	l.conns[c] = struct{}{}
	l.whenRunning(func() { l.connect(c, d) })
}

// whenRunning calls f at once on the loop, and else when Run has begun.
func (l *gnetLoop) whenRunning(f func()) {
	l.mu.Lock()
	running := l.anchor != nil
	if !running {
		l.early = append(l.early, f)
	}
	l.mu.Unlock()
	if running {
		f()
	}
}

func (l *gnetLoop) connect(c *gnetConn, d Dial) {
	go func() {
		select {
		case l.dials <- struct{}{}:
		case <-l.ctx.Done():
			return
		}
		defer func() { <-l.dials }()
		nc, err := Connect(l.ctx, d)
		if err == nil {
			// OnOpen says Opened: a write before it would be lost.
			_, err = l.client.EnrollContext(nc, c)
		}
		if err != nil {
			l.execute(func() { c.gone(err) })
		}
	}()
}

// OnOpen is gnet's Opened.
func (l *gnetLoop) OnOpen(gc gnet.Conn) ([]byte, gnet.Action) {
	c, ok := gc.Context().(*gnetConn)
	if !ok { // the anchor
		return nil, gnet.None
	}
	if c.closing || l.stopped.Load() {
		return nil, gnet.Close
	}
	c.c = gc
	l.h.Opened(c)
	return nil, c.action()
}

// OnTraffic lends gnet's buffer to the handler. What the handler leaves stays in gnet's.
func (l *gnetLoop) OnTraffic(gc gnet.Conn) gnet.Action {
	c, ok := gc.Context().(*gnetConn)
	if !ok || c.closing || l.stopped.Load() {
		return gnet.None
	}
	now := Now()
	buf, err := gc.Peek(-1)
	if err != nil || len(buf) == 0 {
		return gnet.None
	}
	c.in = ChainBuffer{borrowed: buf, length: len(buf)}
	l.h.Data(c, &c.in, now)
	used := len(buf) - c.in.length
	c.in = ChainBuffer{}
	if used > 0 && c.c != nil { // Discard(0) would drop everything
		_, _ = gc.Discard(used)
	}
	return c.action()
}

// OnClose is gnet's Closed; from within a Write it only leaves a note.
func (l *gnetLoop) OnClose(gc gnet.Conn, err error) gnet.Action {
	c, ok := gc.Context().(*gnetConn)
	if !ok {
		return gnet.None
	}
	if err == nil {
		err = net.ErrClosed
	}
	if !errors.Is(err, io.EOF) && !c.closing {
		c.tail = tailOf(gc)
	}
	if c.busy {
		c.failed, c.c = err, nil
		return gnet.None
	}
	c.gone(err)
	return gnet.None
}

func (c *gnetConn) gone(err error) {
	c.c = nil
	delete(c.loop.conns, c)
	delete(c.loop.stuck, c)
	if len(c.tail) > 0 && !c.closing && !c.loop.stopped.Load() {
		c.in = ChainBuffer{borrowed: c.tail, length: len(c.tail)}
		c.loop.h.Data(c, &c.in, Now())
		c.in, c.tail = ChainBuffer{}, nil
	}
	if !c.closing && !c.loop.stopped.Load() {
		c.closing = true
		c.loop.h.Closed(c, err)
	}
}

func (c *gnetConn) action() gnet.Action {
	if c.closing && c.c != nil {
		return gnet.Close
	}
	return gnet.None
}

// gnetLog keeps gnet's messages off stdout, where its default logger writes.
type gnetLog func(text string)

func (f gnetLog) say(format string, args []any) {
	if f != nil {
		f(fmt.Sprintf(format, args...))
	}
}

func (f gnetLog) Debugf(string, ...any)          {}
func (f gnetLog) Infof(string, ...any)           {}
func (f gnetLog) Warnf(format string, a ...any)  { f.say(format, a) }
func (f gnetLog) Errorf(format string, a ...any) { f.say(format, a) }
func (f gnetLog) Fatalf(format string, a ...any) { f.say(format, a) }
