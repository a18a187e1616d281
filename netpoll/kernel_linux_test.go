package netpoll

import (
	"io"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

// What we believe of the kernel, and build on.

// TestBytesBeforeReset: what was received before a reset is still read, and then the error. So a
// write that fails can be left to the read that follows it.
func TestBytesBeforeReset(t *testing.T) {
	fd, peer := tcpPair(t)
	if _, err := io.WriteString(peer, "last words"); err != nil {
		t.Fatal(err)
	}
	waitReadable(t, fd)
	if _, err := unix.Write(fd, []byte("unread by the peer")); err != nil {
		t.Fatal(err)
	}
	_ = peer.(*net.TCPConn).SetLinger(0)
	peer.Close()
	for { // the reset has arrived when a write fails
		if _, err := unix.Write(fd, []byte("x")); err != nil {
			break
		}
	}
	buf := make([]byte, 64)
	n, err := unix.Read(fd, buf)
	if err != nil || string(buf[:n]) != "last words" {
		t.Fatalf("read %q, %v", buf[:max(n, 0)], err)
	}
	if n, err = unix.Read(fd, buf); n > 0 {
		t.Fatalf("read %d bytes more, %v", n, err)
	}
}

// TestEdgeTriggeredWithoutRead: an eventfd that is registered edge-triggered reports each write,
// although nobody reads it.
func TestEdgeTriggeredWithoutRead(t *testing.T) {
	efd, err := unix.Eventfd(0, unix.EFD_NONBLOCK)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(efd)
	epfd, err := unix.EpollCreate1(0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(epfd)
	if err := unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, efd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET}); err != nil {
		t.Fatal(err)
	}
	events := make([]unix.EpollEvent, 1)
	for i := range 3 {
		if _, err := unix.Write(efd, []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil {
			t.Fatal(err)
		}
		if n, err := unix.EpollWait(epfd, events, 1000); n != 1 || err != nil {
			t.Fatalf("write %d: %d events, %v", i, n, err)
		}
		if n, err := unix.EpollWait(epfd, events, 0); n != 0 || err != nil {
			t.Fatalf("after write %d: %d events more, %v", i, n, err)
		}
	}
}

// TestNoDelayTaken: the option is what we asked for on a connection of the loop.
func TestNoDelayTaken(t *testing.T) {
	e := serve(t, "tcp", "127.0.0.1:0", echo)
	var l Loop
	value := -1
	h := &testHandler{opened: func(c Conn) {
		value, _ = unix.GetsockoptInt(int(c.(*epollConn).fd), unix.IPPROTO_TCP, unix.TCP_NODELAY)
		l.Stop()
	}}
	run(t, "epoll", h, func(loop Loop) { l = loop; l.Dial(Dial{Endpoint: e}) })
	if value != 1 {
		t.Errorf("TCP_NODELAY is %d", value)
	}
}

// TestIdleConnectionsOwnNoBuffer: after a reply is consumed, every chunk is back in the pool.
func TestIdleConnectionsOwnNoBuffer(t *testing.T) {
	e := serve(t, "tcp", "127.0.0.1:0", echo)
	var l Loop
	left := 500
	h := &testHandler{
		opened: func(c Conn) { c.Write([]byte("ping")) },
		data: func(c Conn, in *ChainBuffer, _ int64) {
			in.Discard(in.Len())
			if left--; left == 0 {
				l.Stop()
			}
		},
	}
	var loop *epollLoop
	run(t, "epoll", h, func(x Loop) {
		l, loop = x, x.(*epollLoop)
		for i := range left {
			l.Dial(Dial{Endpoint: e, Tag: i})
		}
	})
	if loop.pool.made > 2 {
		t.Errorf("500 connections in turn needed %d chunks", loop.pool.made)
	}
}

func tcpPair(t *testing.T) (fd int, peer net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: ln.Addr().(*net.TCPAddr).Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if peer, err = ln.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { peer.Close() })
	return fd, peer
}

func waitReadable(t *testing.T, fd int) {
	t.Helper()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000); n != 1 || err != nil {
		t.Fatalf("poll: %d, %v", n, err)
	}
}
