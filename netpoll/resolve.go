package netpoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Endpoint is a server's name and every address it resolved to, in the order to be tried.
// It is resolved once and then shared by all loops.
type Endpoint struct {
	Name  string // "127.0.0.1:6379" or a path: what messages show
	Host  string // as given; empty for a unix socket
	Addrs []netip.AddrPort
	Path  string // of a unix socket; Addrs is empty then
}

// maxUnixPath is the room of sockaddr_un without its closing zero byte.
const maxUnixPath = 107

// Resolve looks host up once.
func Resolve(ctx context.Context, host string, port int) (*Endpoint, error) {
	e := &Endpoint{Name: net.JoinHostPort(host, strconv.Itoa(port)), Host: host}
	if ip, err := netip.ParseAddr(host); err == nil {
		e.Addrs = []netip.AddrPort{netip.AddrPortFrom(ip, uint16(port))}
		return e, nil
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		var dns *net.DNSError
		if errors.As(err, &dns) && dns.IsNotFound {
			return nil, fmt.Errorf("%s: Name or service not known", e.Name)
		}
		return nil, fmt.Errorf("%s: %w", e.Name, err)
	}
	for _, v4 := range []bool{true, false} { // IPv4 first, as redis-benchmark does
		for _, ip := range ips {
			if ip = ip.Unmap(); ip.Is4() == v4 {
				e.Addrs = append(e.Addrs, netip.AddrPortFrom(ip, uint16(port)))
			}
		}
	}
	return e, nil
}

// UnixEndpoint is the server behind a socket file.
func UnixEndpoint(path string) (*Endpoint, error) {
	if len(path) > maxUnixPath {
		return nil, fmt.Errorf("%s: the socket's path has %d bytes: at most %d fit", path, len(path), maxUnixPath)
	}
	return &Endpoint{Name: path, Path: path}, nil
}
