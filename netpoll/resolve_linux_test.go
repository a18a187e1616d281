package netpoll

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An address that this machine cannot reach does not stand beside one that it can, and alone it is refused at once: a
// connection to it would seem to wait for a local port. A network of its own without an address is a machine without IPv6.
func TestAddressesWithoutAWay(t *testing.T) {
	here, there := netip.MustParseAddrPort("127.0.0.1:1"), netip.MustParseAddrPort("[::1]:1")
	done, skip := make(chan struct{}), ""
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread, which is in the other network, ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			skip = fmt.Sprintf("no network of one's own: %v", err)
			return
		}
		if _, err := Resolve(context.Background(), "::1", 1); err == nil || !strings.HasSuffix(err.Error(), "(is IPv6 switched off?)") {
			t.Errorf("::1 without IPv6: %v", err)
		}
		if _, err := Resolve(context.Background(), "127.0.0.1", 1); err != nil { // connecting will say that the network is unreachable
			t.Errorf("127.0.0.1 without a network: %v", err)
		}
	}()
	<-done
	if err := wayTo(here); err != nil {
		t.Fatalf("127.0.0.1 is unreachable: %v", err)
	}
	e := &Endpoint{Name: "two", Addrs: []netip.AddrPort{netip.MustParseAddrPort("[fe80::1]:1"), here}}
	if err := e.leaveOutUnreachable(); err != nil || !slices.Equal(e.Addrs, []netip.AddrPort{here}) {
		t.Errorf("addresses %v, %v; want %v alone", e.Addrs, err, here)
	}
	if wayTo(there) == nil {
		e.Addrs = []netip.AddrPort{here, there}
		if err := e.leaveOutUnreachable(); err != nil || len(e.Addrs) != 2 {
			t.Errorf("addresses %v, %v; want both", e.Addrs, err)
		}
	}
	if skip != "" {
		t.Skip(skip)
	}
}
