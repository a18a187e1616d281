package netpoll

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// The server's side of the epoll engine: connections that come instead of being dialled.

// acceptsPerTurn bounds what one turn takes, so that many new connections do not keep the others waiting.
const acceptsPerTurn = 64

// NewServer makes an epoll loop that takes its connections from ln. Each has a tag that no other open connection has, small
// enough to be an index. The listener stays the caller's, who closes it after Run. Linux only: elsewhere the error is
// errors.ErrUnsupported.
func NewServer(h Handler, ln *net.TCPListener, o Options) (Loop, error) {
	loop, err := newEpoll(h, o)
	if err != nil {
		return nil, err
	}
	l := loop.(*epollLoop)
	raw, err := ln.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { l.listener = int(fd) })
	}
	if err == nil {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: acceptSlot}
		err = os.NewSyscallError("epoll_ctl add", unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, l.listener, &ev))
	}
	if err != nil {
		l.closeFiles()
		return nil, err
	}
	return l, nil
}

// accept takes the connections that wait. Without a free descriptor the loop would spin on them, so that ends it.
func (l *epollLoop) accept() {
	for range acceptsPerTurn {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch err {
		case nil:
			l.take(fd)
		case unix.EAGAIN:
			return
		case unix.EINTR, unix.ECONNABORTED:
		default:
			l.failure = os.NewSyscallError("accept4", err)
			l.stopped.Store(true)
			return
		}
	}
}

// take opens a connection that was accepted. One whose options the kernel refuses is gone already.
func (l *epollLoop) take(fd int) {
	c := &epollConn{loop: l, fd: int32(fd), opened: true, dial: Dial{Endpoint: &accepted}}
	l.add(c)
	c.tag = c.slot
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: c.slot, Pad: c.gen}
	if setNoDelay(fd) != nil || unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, fd, &ev) != nil {
		c.shut()
		return
	}
	l.h.Opened(c)
}

// accepted names a connection whose addresses the kernel does not tell any more.
var accepted = Endpoint{Name: "client"}
