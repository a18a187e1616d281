package kvstore

import (
	"io"
	"net"
	"testing"
	"time"
)

// socketOf gives the descriptor of one end of a connection, and the other end.
func socketOf(t *testing.T) (fd int, peer net.Conn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	peer, err = net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	own, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := own.(*net.TCPConn).SyscallConn()
	if err == nil {
		err = raw.Control(func(p uintptr) { fd = int(p) })
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Close(); peer.Close() })
	peer.SetDeadline(time.Now().Add(patience))
	return fd, peer
}

// A sender gives up without work, but never what it was started for: that went lost when the event loop was kept from
// running between the start and the first add.
func TestSenderHasItsWorkFromTheStart(t *testing.T) {
	s := &Server{}
	for range 200 {
		fd, peer := socketOf(t)
		c := &client{fd: fd}
		s.startSender(c, []byte("rest"), false)
		got := make([]byte, 4)
		if _, err := io.ReadFull(peer, got); err != nil || string(got) != "rest" {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// A sender that was made to end a stream in order is still there when the connection is closed, however late that is.
func TestHeldSenderStays(t *testing.T) {
	s := &Server{}
	fd, peer := socketOf(t)
	c := &client{fd: fd}
	s.ensureSender(c)
	w := c.sender
	time.Sleep(5 * senderPatience) // longer than it would stay without work, by definition
	s.ensureSender(c)
	if c.sender != w || !w.add([]byte("last")) {
		t.Fatal("the sender has ended")
	}
	w.finish()
	if got, err := io.ReadAll(peer); string(got) != "last" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	peer.Close()
	s.senders.Wait()
}
