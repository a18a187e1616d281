package runner

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const canSeeProcesses = true

// The process at the other end of a connection is found over IPv4, over IPv4 to a socket of IPv6, and over a
// unix socket; here it is this process.
func TestPeerProcess(t *testing.T) {
	for _, a := range []struct{ network, listen, dial string }{
		{"tcp", "127.0.0.1:0", ""}, {"tcp", "[::]:0", "127.0.0.1"}, {"tcp", "[::1]:0", ""},
		{"unix", filepath.Join(t.TempDir(), "s"), ""},
	} {
		ln, err := net.Listen(a.network, a.listen)
		if err != nil {
			if a.listen == "[::1]:0" || a.listen == "[::]:0" {
				t.Logf("no IPv6 here: %v", err)
				continue
			}
			t.Fatal(err)
		}
		defer ln.Close()
		to := ln.Addr().String()
		if a.dial != "" {
			_, port, _ := net.SplitHostPort(to)
			to = net.JoinHostPort(a.dial, port)
		}
		c, err := net.Dial(a.network, to)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		accepted, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		if p, ok := peerProcess(c); !ok || p.pid != os.Getpid() || p.name == "" {
			t.Errorf("%s %s: process %+v, want %d", a.network, to, p, os.Getpid())
		}
		if p, ok := localServer(c); ok {
			t.Errorf("the client itself is taken for the server: %+v", p)
		}
	}
}

// A server that is kept from its processor accepts late, and is found all the same.
func TestPeerProcessThatAcceptsLate(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	late := make(chan net.Conn, 1)
	time.AfterFunc(2*seenTime, func() { // by definition
		accepted, _ := ln.Accept()
		late <- accepted
	})
	if p, ok := peerProcess(c); !ok || p.pid != os.Getpid() {
		t.Errorf("process %+v, want %d", p, os.Getpid())
	}
	(<-late).Close()
}

// The CPU time of another process grows with what it burns, its busiest thread with it; a process that has
// ended is told.
func TestProcessSample(t *testing.T) {
	addr, pid := startChild(t, 20*time.Millisecond)
	p := process{pid: pid}
	before, ok := p.sample()
	if !ok {
		t.Fatal("no account of a running process")
	}
	measure(t, addr, Load{Clients: 1, Requests: 10})
	after, _ := p.sample()
	u := before.until(after)
	if u.cpu < 30*time.Millisecond || u.cpu > u.lasted*2 || u.lasted < 200*time.Millisecond {
		t.Errorf("used %+v for ten replies of 20 ms", u)
	}
	if len(after.threads) > 0 && (u.busiest.run < 15*time.Millisecond || u.busiest.run > u.cpu+u.cpu/10) {
		t.Errorf("busiest thread %+v of %v", u.busiest, u.cpu)
	}
	if _, ok := (process{pid: 1 << 22}).sample(); ok {
		t.Error("an account of a process beyond the largest number there is")
	}
}
