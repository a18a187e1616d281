package netpoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Endpoint is a server's name and every address it resolved to, in the order to be tried.
// It is resolved once and then shared by all loops.
type Endpoint struct {
	Name  string // "127.0.0.1:6379" or a path: what messages show
	Host  string // as given; empty for a unix socket
	Addrs []netip.AddrPort
	Path  string // of a unix socket; Addrs is empty then
}

// Prefer puts the address that a connection has reached in front: the next one need not find out which answers. It is
// called before the endpoint is shared.
func (e *Endpoint) Prefer(reached net.Addr) {
	tcp, ok := reached.(*net.TCPAddr)
	if !ok {
		return
	}
	a := tcp.AddrPort()
	if at := slices.Index(e.Addrs, netip.AddrPortFrom(a.Addr().Unmap(), a.Port())); at > 0 {
		e.Addrs = slices.Concat(e.Addrs[at:at+1], e.Addrs[:at], e.Addrs[at+1:])
	}
}

// maxUnixPath is the room of sockaddr_un without its closing zero byte.
const maxUnixPath = 107

// Resolve looks host up once.
func Resolve(ctx context.Context, host string, port int) (*Endpoint, error) {
	e := &Endpoint{Name: net.JoinHostPort(host, strconv.Itoa(port)), Host: host}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		ip, err = inetAton(host)
	}
	if err == nil {
		e.Addrs = []netip.AddrPort{netip.AddrPortFrom(ip.Unmap(), uint16(port))}
		return e, e.leaveOutUnreachable()
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", e.Name, lookupFault(err))
	}
	for _, v4 := range []bool{true, false} { // IPv4 first, as redis-benchmark does
		for _, ip := range ips {
			if ip = ip.Unmap(); ip.Is4() == v4 {
				e.Addrs = append(e.Addrs, netip.AddrPortFrom(ip, uint16(port)))
			}
		}
	}
	return e, e.leaveOutUnreachable()
}

// leaveOutUnreachable drops the addresses to which this machine has no way, such as localhost's ::1 where IPv6 is switched
// off: their errors would stand in the place of what the others say. It fails when all of them are so for want of an address
// here: connecting would fail with the errno that also says that no local port is free, which is worth waiting for; this is not.
func (e *Endpoint) leaveOutUnreachable() (err error) {
	var reachable []netip.AddrPort
	for _, a := range e.Addrs {
		if noWay := wayTo(a); noWay != nil {
			err = noWay
			continue
		}
		reachable = append(reachable, a)
	}
	switch {
	case len(reachable) > 0:
		e.Addrs = reachable
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%s: this machine has no address to reach it from (is IPv6 switched off?)", e.Name)
	}
	return nil
}

// wayTo asks the kernel for a route and an address here, by connecting a UDP socket, which sends nothing.
func wayTo(a netip.AddrPort) error {
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(a))
	if err == nil {
		conn.Close()
	}
	return err
}

// lookupFault says in the C library's words why a name has no address.
func lookupFault(err error) string {
	const temporary = "Temporary failure in name resolution"
	var dns *net.DNSError
	switch {
	case !errors.As(err, &dns):
		return err.Error()
	case dns.IsNotFound:
		return "Name or service not known"
	case dns.IsTimeout:
		return temporary + ": no answer in time"
	}
	return temporary + ": " + dns.Err
}

// inetAton reads the forms of an IPv4 address that the C library takes beside the usual one, and with it
// redis-benchmark: one to four numbers (decimal, 0x…, octal 0…) of which the last fills the bytes that are left. 0 is
// this machine, 127.1 is 127.0.0.1.
func inetAton(host string) (netip.Addr, error) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, strconv.ErrSyntax
	}
	var ip uint32
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		base := 10
		switch lower := strings.ToLower(part); {
		case strings.HasPrefix(lower, "0x"):
			part, base = part[2:], 16
		case len(part) > 1 && part[0] == '0':
			base = 8
		}
		n, err := strconv.ParseUint(part, base, bits)
		if err != nil {
			return netip.Addr{}, err
		}
		ip = ip<<bits | uint32(n)
	}
	return netip.AddrFrom4([4]byte{byte(ip >> 24), byte(ip >> 16), byte(ip >> 8), byte(ip)}), nil
}

// UnixEndpoint is the server behind a socket file.
func UnixEndpoint(path string) (*Endpoint, error) {
	if len(path) > maxUnixPath {
		return nil, fmt.Errorf("%s: the socket's path has %d bytes: at most %d fit", path, len(path), maxUnixPath)
	}
	return &Endpoint{Name: path, Path: path}, nil
}
