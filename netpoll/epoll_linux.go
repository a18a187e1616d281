package netpoll

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The epoll engine. Level-triggered, one registration a connection: EPOLLIN once it is connected,
// EPOLLOUT only while a write was cut short. One turn is one epoll_wait, then for each ready
// connection one readv and, from within Handler.Data, the write of its next batch.

var engines = []string{"epoll", "gnet"}

const (
	wakeSlot   = -1 // slots that are no connections
	timerSlot  = -2
	acceptSlot = -3

	eventsPerTurn = 512
)

type epollLoop struct {
	h       Handler
	epfd    int
	wakefd  int
	timerfd int
	stopped atomic.Bool
	spin    time.Duration
	cpu     int

	wake sync.Mutex // wakefd is written to from any goroutine, after Run, too

	listener int   // -1: connections are dialled
	failure  error // of the listener; ends Run

	deadlineNs int64 // of the next Tick; 0 = none
	ticked     bool  // a wake or a passed deadline in this turn

	conns []*epollConn // by slot; closed slots are reused
	free  []int32
	retry []*epollConn // unix sockets whose listener was full; tried again each turn

	pool   nodePool
	large  bool // the last read filled its first chunk
	spans  [][]byte
	iov    []unix.Iovec
	events [eventsPerTurn]unix.EpollEvent
	stats  Stats
	added  int32 // connections ever; the generation of the next one

	startCPU, startQueue time.Duration
}

// epollConn keeps what every event needs in its first cache line.
type epollConn struct {
	loop    *epollLoop
	fd      int32 // -1 once closed
	slot    int32
	gen     int32 // of the slot; an event of an earlier owner is recognised by it
	tag     int32
	opened  bool
	waiting bool // EPOLLOUT is armed
	in      ChainBuffer

	dial   Dial
	next   int   // address to be tried next
	failed error // why no address could even be started; reported from the loop
}

func newEpoll(h Handler, o Options) (Loop, error) {
	l := &epollLoop{h: h, spin: o.Spin, cpu: o.CPU, epfd: -1, wakefd: -1, timerfd: -1, listener: -1}
	if err := l.open(); err != nil {
		l.closeFiles()
		return nil, err
	}
	return l, nil
}

func (l *epollLoop) open() (err error) {
	if l.epfd, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if l.wakefd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	if l.timerfd, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	// Edge-triggered, so that neither needs to be read.
	for fd, slot := range map[int]int32{l.wakefd: wakeSlot, l.timerfd: timerSlot} {
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: slot}
		if err = unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return os.NewSyscallError("epoll_ctl add", err)
		}
	}
	return nil
}

func (l *epollLoop) closeFiles() {
	l.wake.Lock()
	defer l.wake.Unlock()
	for _, fd := range []*int{&l.epfd, &l.wakefd, &l.timerfd} {
		if *fd >= 0 {
			unix.Close(*fd)
			*fd = -1
		}
	}
}

func (l *epollLoop) Stop() {
	l.stopped.Store(true)
	l.Wake()
}

func (l *epollLoop) Wake() {
	l.wake.Lock()
	defer l.wake.Unlock()
	one := [8]byte{1}
	_, _ = unix.Write(l.wakefd, one[:]) // fails when the counter is full, and when Run has ended
}

func (l *epollLoop) SetDeadline(ns int64) {
	l.deadlineNs = ns
	var spec unix.ItimerSpec
	if ns != 0 {
		spec.Value = unix.NsecToTimespec(max(ns-Now(), 1))
	}
	_ = unix.TimerfdSettime(l.timerfd, 0, &spec, nil) // the bounded wait stands behind it
}

func (l *epollLoop) Stats() Stats {
	s := l.stats
	if s.CPU == 0 {
		s.CPU, s.RunQueue = threadCPU()-l.startCPU, threadRunQueue()-l.startQueue
	}
	return s
}

// Run locks its goroutine to the thread and never unlocks it, so the thread ends with it.
func (l *epollLoop) Run() error {
	runtime.LockOSThread()
	if err := maskPreemption(); err != nil {
		return err
	}
	if l.cpu >= 0 {
		if err := pinThread(l.cpu); err != nil {
			return fmt.Errorf("cannot run on processor %d, which this process may not use or which is not there: %w", l.cpu, err)
		}
	}
	l.startCPU, l.startQueue = threadCPU(), threadRunQueue()
	err := l.serve()
	for _, c := range l.conns {
		if c != nil {
			c.Close()
		}
	}
	l.stats = l.Stats()
	l.closeFiles()
	return err
}

func (l *epollLoop) serve() error {
	for !l.stopped.Load() {
		n, err := l.wait()
		if err != nil {
			return err
		}
		l.stats.Turns++
		if n > 0 {
			l.stats.WorkTurns++
		}
		for i := range l.events[:n] {
			l.dispatch(&l.events[i])
		}
		if len(l.retry) > 0 {
			l.retryDials()
		}
		if l.ticked || (n == 0 && l.deadlineNs != 0) {
			l.tick()
		}
	}
	return l.failure
}

func (l *epollLoop) tick() {
	now := Now()
	if l.deadlineNs != 0 && l.deadlineNs <= now {
		l.deadlineNs = 0
	} else if !l.ticked {
		return
	}
	l.ticked = false
	l.h.Tick(now)
}

// wait polls without blocking for the spin time, if there is one, and then blocks, boundedly.
func (l *epollLoop) wait() (int, error) {
	if l.spin > 0 {
		for until := Now() + int64(l.spin); ; {
			n, e := rawWait(l.epfd, l.events[:], 0)
			if n > 0 || e != 0 {
				return n, sysError("epoll_wait", e)
			}
			if Now() >= until {
				break
			}
		}
	}
	timeout := maxWait
	if len(l.retry) > 0 {
		timeout = time.Millisecond
	}
	n, e := rawWait(l.epfd, l.events[:], timeout)
	return n, sysError("epoll_wait", e)
}

// dispatch looks at the slot again before it uses it: an event before this one in the same turn
// may have closed the connection.
func (l *epollLoop) dispatch(ev *unix.EpollEvent) {
	switch ev.Fd {
	case wakeSlot, timerSlot:
		l.ticked = true
		return
	case acceptSlot:
		l.accept()
		return
	}
	c := l.conns[ev.Fd]
	if c == nil || c.gen != ev.Pad {
		return
	}
	if !c.opened {
		c.finishConnect()
		return
	}
	if ev.Events&(unix.EPOLLIN|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.read(c)
	}
	if ev.Events&unix.EPOLLOUT != 0 && c.fd >= 0 && c.waiting {
		c.waiting = false
		if err := c.arm(unix.EPOLLIN); err != nil {
			c.fail(err)
			return
		}
		l.h.Writable(c)
	}
}

// read makes one read straight into the chain: with a spare chunk while replies are large.
// Level-triggered readiness brings it back when there is more, so that one connection never
// starves the others.
func (l *epollLoop) read(c *epollConn) {
	spans, spare := c.in.spans(l.spans[:0], l.large)
	l.spans = spans
	l.iov = l.iov[:0]
	for _, s := range spans {
		l.iov = append(l.iov, iovec(s))
	}
	n, e := rawRead(c.fd, l.iov)
	if n <= 0 || e != 0 {
		c.in.fill(0, spare)
		switch {
		case e == unix.EAGAIN:
		case e != 0:
			c.fail(os.NewSyscallError("read", e))
		default:
			c.fail(io.EOF)
		}
		return
	}
	now := Now()
	l.large = n >= len(spans[0])
	c.in.fill(n, spare)
	l.h.Data(c, &c.in, now)
}

func (c *epollConn) Tag() int { return int(c.tag) }

func (c *epollConn) Write(p []byte) int {
	if c.fd < 0 {
		return 0
	}
	n, e := rawSend(c.fd, p)
	return c.wrote(n, len(p), e)
}

// iovMax is UIO_MAXIOV of Linux; what does not fit counts as a short write.
const iovMax = 1024

func (c *epollConn) Writev(bufs [][]byte) int {
	if c.fd < 0 {
		return 0
	}
	l, total := c.loop, 0
	l.iov = l.iov[:0]
	for _, b := range bufs {
		total += len(b)
		if len(b) > 0 && len(l.iov) < iovMax {
			l.iov = append(l.iov, iovec(b))
		}
	}
	if len(l.iov) == 0 {
		return 0
	}
	n, e := rawWritev(c.fd, l.iov)
	return c.wrote(n, total, e)
}

// wrote turns the result of a system call into that of Write and arms EPOLLOUT when it was short.
// After an error nothing is armed: the kernel reports the broken socket as readable, so what it
// had received is delivered first and the error of the read says the rest.
func (c *epollConn) wrote(n, want int, e syscall.Errno) int {
	if e != 0 {
		n = 0
	}
	if n < want && !c.waiting && (e == 0 || e == unix.EAGAIN) {
		c.waiting = true
		if err := c.arm(unix.EPOLLIN | unix.EPOLLOUT); err != nil {
			_ = unix.Shutdown(int(c.fd), unix.SHUT_RDWR) // told by the read that follows
		}
	}
	return n
}

func (c *epollConn) arm(events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: c.slot, Pad: c.gen}
	return os.NewSyscallError("epoll_ctl mod", unix.EpollCtl(c.loop.epfd, unix.EPOLL_CTL_MOD, int(c.fd), &ev))
}

func (c *epollConn) CloseWrite() {
	if c.fd >= 0 {
		_ = unix.Shutdown(int(c.fd), unix.SHUT_WR) // fails when the other end is gone: the read says so
	}
}

func (c *epollConn) Close() { c.shut() }

// shut frees the descriptor, the chunks and the slot. The kernel drops the registration itself.
func (c *epollConn) shut() {
	if c.fd >= 0 {
		unix.Close(int(c.fd))
		c.fd = -1
	}
	c.in.release()
	l := c.loop
	if l.conns[c.slot] == c {
		l.conns[c.slot] = nil
		l.free = append(l.free, c.slot)
	}
}

func (c *epollConn) fail(err error) {
	c.shut()
	c.loop.h.Closed(c, err)
}

func sysError(call string, e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return os.NewSyscallError(call, e)
}
