package netpoll

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Dial opens the connection's slot and begins with its first address.
func (l *epollLoop) Dial(d Dial) {
	c := &epollConn{loop: l, fd: -1, tag: int32(d.Tag), dial: d}
	l.add(c)
	c.connect()
}

// add gives a connection its slot.
func (l *epollLoop) add(c *epollConn) {
	c.in.pool = &l.pool
	if k := len(l.free); k > 0 {
		c.slot = l.free[k-1]
		l.free = l.free[:k-1]
	} else {
		c.slot = int32(len(l.conns))
		l.conns = append(l.conns, nil)
	}
	l.conns[c.slot] = c
	l.added++
	c.gen = l.added
}

// connect starts to connect to the next address, and to the one after it when that fails at once.
func (c *epollConn) connect() {
	for {
		sa, family := c.address()
		err := c.start(sa, family)
		switch {
		case err == nil:
			return
		case err == unix.EAGAIN && family == unix.AF_UNIX: // the listener's backlog is full
			c.dropFD()
			c.loop.retry = append(c.loop.retry, c)
			return
		}
		c.dropFD()
		if !c.moreAddresses() {
			// Reported from the loop, never from within Dial.
			c.failed = err
			c.loop.retry = append(c.loop.retry, c)
			return
		}
		c.next++
	}
}

func (c *epollConn) moreAddresses() bool { return c.next+1 < len(c.dial.Endpoint.Addrs) }

func (c *epollConn) dropFD() {
	if c.fd >= 0 {
		unix.Close(int(c.fd))
		c.fd = -1
	}
}

func (c *epollConn) address() (unix.Sockaddr, int) {
	e := c.dial.Endpoint
	if e.Path != "" {
		return &unix.SockaddrUnix{Name: e.Path}, unix.AF_UNIX
	}
	return sockaddr(e.Addrs[c.next])
}

func sockaddr(ap netip.AddrPort) (unix.Sockaddr, int) {
	if ip := ap.Addr(); !ip.Is4() {
		sa := &unix.SockaddrInet6{Port: int(ap.Port()), Addr: ip.As16()}
		if z := ip.Zone(); z != "" {
			if id, err := strconv.ParseUint(z, 10, 32); err == nil {
				sa.ZoneId = uint32(id)
			} else if ifi, err := net.InterfaceByName(z); err == nil {
				sa.ZoneId = uint32(ifi.Index)
			}
		}
		return sa, unix.AF_INET6
	}
	return &unix.SockaddrInet4{Port: int(ap.Port()), Addr: ap.Addr().As4()}, unix.AF_INET
}

// start makes the socket and its registration; nil means that an event will follow.
func (c *epollConn) start(sa unix.Sockaddr, family int) error {
	proto := 0
	if c.dial.MPTCP && family != unix.AF_UNIX {
		proto = unix.IPPROTO_MPTCP
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, proto)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	c.fd = int32(fd)
	if family != unix.AF_UNIX {
		if err := setNoDelay(fd); err != nil {
			return err
		}
		if err := bindSource(fd, c.dial.Source, family); err != nil {
			return err
		}
	}
	switch err := unix.Connect(fd, sa); err {
	case nil, unix.EINPROGRESS, unix.EINTR:
	case unix.EAGAIN:
		if family == unix.AF_UNIX {
			return err
		}
		return os.NewSyscallError("connect", unix.EADDRNOTAVAIL) // no free local port
	default:
		return os.NewSyscallError("connect", err)
	}
	// Writable at once when connected: success, too, is reported from the loop.
	ev := unix.EpollEvent{Events: unix.EPOLLOUT, Fd: c.slot, Pad: c.gen}
	return os.NewSyscallError("epoll_ctl add", unix.EpollCtl(c.loop.epfd, unix.EPOLL_CTL_ADD, fd, &ev))
}

// setNoDelay also asks whether it took: an option that was silently not set once cost another
// tool 41 ms a request.
func setNoDelay(fd int) error {
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return os.NewSyscallError("setsockopt TCP_NODELAY", err)
	}
	if v, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY); err != nil || v == 0 {
		return fmt.Errorf("TCP_NODELAY was not taken (value %d, %v)", v, err)
	}
	return nil
}

// bindSource leaves the port to connect, so that one address has as many ports to each server.
func bindSource(fd int, src netip.Addr, family int) error {
	if !src.IsValid() {
		return nil
	}
	sa, f := sockaddr(netip.AddrPortFrom(src, 0))
	if f != family {
		return familyError(src)
	}
	if err := leavePort(fd); err != nil {
		return err
	}
	return sourceError(src, unix.Bind(fd, sa))
}

// leavePort lets connect choose the port: bind, which does not know the server, wants one that no connection has.
func leavePort(fd int) error {
	return os.NewSyscallError("setsockopt IP_BIND_ADDRESS_NO_PORT", unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1))
}

// portAtConnect is leavePort as a net.Dialer's Control.
func portAtConnect(_, _ string, c syscall.RawConn) (err error) {
	if failed := c.Control(func(fd uintptr) { err = leavePort(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

// finishConnect is the first event of a connection.
func (c *epollConn) finishConnect() {
	soerr, err := unix.GetsockoptInt(int(c.fd), unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && soerr != 0 {
		err = unix.Errno(soerr)
	}
	if err == nil {
		if err = c.arm(unix.EPOLLIN); err == nil {
			c.opened = true
			c.loop.h.Opened(c)
			return
		}
	}
	if c.moreAddresses() {
		c.dropFD()
		c.next++
		c.connect()
		return
	}
	c.fail(os.NewSyscallError("connect", err))
}

// retryDials goes through the sockets that could not start last time.
func (l *epollLoop) retryDials() {
	again := l.retry
	l.retry = nil
	for _, c := range again {
		switch {
		case l.conns[c.slot] != c: // closed meanwhile
		case c.failed != nil:
			c.fail(c.failed)
		default:
			c.connect()
		}
	}
}

func (c *epollConn) LocalAddr() string {
	sa, err := unix.Getsockname(int(c.fd))
	return addrText(sa, err, c.dial.Endpoint)
}

func (c *epollConn) RemoteAddr() string {
	sa, err := unix.Getpeername(int(c.fd))
	return addrText(sa, err, c.dial.Endpoint)
}

func addrText(sa unix.Sockaddr, err error, e *Endpoint) string {
	if err == nil {
		switch a := sa.(type) {
		case *unix.SockaddrInet4:
			return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port)).String()
		case *unix.SockaddrInet6:
			return netip.AddrPortFrom(netip.AddrFrom16(a.Addr), uint16(a.Port)).String()
		}
	}
	return e.Name
}
