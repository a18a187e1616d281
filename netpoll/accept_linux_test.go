package netpoll

import (
	"bytes"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startAccepting runs a server's loop until the test ends.
func startAccepting(t *testing.T, h Handler) (addr string, l Loop, ended chan error) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if l, err = NewServer(h, ln.(*net.TCPListener), Options{CPU: -1}); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- l.Run() }()
	t.Cleanup(func() {
		l.Stop()
		ln.Close()
	})
	return ln.Addr().String(), l, ended
}

// A server's loop answers each of its connections, more at once than it accepts in a turn, and gives no two open ones the
// same tag, while others come and go.
func TestServerEcho(t *testing.T) {
	open := map[int]Conn{}
	h := &testHandler{
		opened: func(c Conn) {
			if open[c.Tag()] != nil {
				t.Errorf("tag %d is given twice", c.Tag())
			}
			open[c.Tag()] = c
		},
		data: func(c Conn, in *ChainBuffer, _ int64) {
			if open[c.Tag()] != c {
				t.Errorf("data of tag %d is another connection's", c.Tag())
			}
			c.Write(in.Linear())
			in.Discard(in.Len())
		},
		closed: func(c Conn, err error) {
			if err != io.EOF {
				t.Errorf("closed: %v", err)
			}
			delete(open, c.Tag())
		},
	}
	addr, l, ended := startAccepting(t, h)
	var all sync.WaitGroup
	for i := range 3 * acceptsPerTurn {
		all.Go(func() {
			for range 1 + i%3 {
				c, err := net.Dial("tcp", addr)
				if err != nil {
					t.Error(err)
					return
				}
				_ = c.SetDeadline(time.Now().Add(10 * time.Second))
				want := bytes.Repeat([]byte{byte(i)}, 10_000)
				_, _ = c.Write(want)
				got := make([]byte, len(want))
				if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
					t.Errorf("connection %d: not its own bytes came back, %v", i, err)
				}
				c.Close()
			}
		})
	}
	all.Wait()
	l.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Without a descriptor for the next connection Run ends with an error instead of spinning.
func TestServerWithoutDescriptors(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	addr, _, ended := startAccepting(t, &testHandler{})
	client, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(client)
	a, _ := net.ResolveTCPAddr("tcp", addr)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 0, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err = syscall.Connect(client, &syscall.SockaddrInet4{Port: a.Port, Addr: [4]byte{127, 0, 0, 1}})
	var got error
	if err == nil {
		select {
		case got = <-ended:
		case <-time.After(10 * time.Second):
		}
	}
	if e := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); e != nil {
		t.Fatal(e)
	}
	if err != nil || got == nil || got.Error() != "accept4: too many open files" {
		t.Errorf("connect: %v; Run: %v", err, got)
	}
}
