package netpoll

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"
)

// deafAddress is a listener that is full: what knocks there gets no answer (Linux drops the SYN).
func deafAddress(t *testing.T) netip.AddrPort {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(10 * time.Second)
	a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), uint16(name.(*syscall.SockaddrInet4).Port))
	for refused := 0; refused < 3; { // once may be a busy machine
		conn, err := net.DialTimeout("tcp", a.String(), 200*time.Millisecond)
		if err != nil {
			refused++
			continue
		}
		t.Cleanup(func() { conn.Close() })
		if refused = 0; time.Now().After(end) {
			t.Skip("a full listener takes connections here")
		}
	}
	return a
}

// An address that swallows what is sent to it takes its share of the time, and the next one is tried; who comes later
// begins with the one that answered.
func TestConnectGoesPastADeafAddress(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	deaf, good := deafAddress(t), ln.Addr().(*net.TCPAddr).AddrPort()
	e := &Endpoint{Name: "two", Addrs: []netip.AddrPort{deaf, good}}
	var conn net.Conn
	for limit := 2 * time.Second; ; limit *= 2 { // a busy machine may need more for the second
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		conn, err = Connect(ctx, Dial{Endpoint: e})
		cancel()
		if err == nil {
			break
		}
		if limit > 10*time.Second {
			t.Fatal(err)
		}
	}
	defer conn.Close()
	if conn.RemoteAddr().(*net.TCPAddr).AddrPort() == deaf {
		t.Skip("a full listener takes connections here")
	}
	e.Prefer(conn.RemoteAddr())
	if want := []netip.AddrPort{good, deaf}; !slices.Equal(e.Addrs, want) {
		t.Errorf("addresses %v, want %v", e.Addrs, want)
	}
	e.Prefer(&net.UnixAddr{Name: "x", Net: "unix"})
	e.Prefer(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 9), Port: 1})
	if want := []netip.AddrPort{good, deaf}; !slices.Equal(e.Addrs, want) {
		t.Errorf("addresses %v after strangers, want %v", e.Addrs, want)
	}
}
