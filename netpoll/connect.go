package netpoll

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"
)

// Connect is one connection of the kind that a Loop makes, for who waits: the caller's goroutine, and the gnet engine's.
// It tries the endpoint's addresses in turn until ctx ends, each for its share of the time that is left: one that swallows
// what is sent to it must not keep us from the next. The error names no address: the caller knows the endpoint.
func Connect(ctx context.Context, d Dial) (net.Conn, error) {
	if d.Endpoint.Path != "" {
		return dialSocket(ctx, d.Endpoint.Path)
	}
	var nd net.Dialer
	if d.MPTCP {
		nd.SetMultipathTCP(true)
	}
	if d.Source.IsValid() {
		nd.Control = portAtConnect
		nd.LocalAddr = &net.TCPAddr{IP: d.Source.AsSlice(), Zone: d.Source.Zone()}
	}
	err := errors.New("no address")
	for i, a := range d.Endpoint.Addrs {
		if d.Source.IsValid() && d.Source.Is4() != a.Addr().Is4() {
			err = familyError(d.Source)
			continue
		}
		var nc net.Conn
		if nc, err = dialWithin(ctx, &nd, a, len(d.Endpoint.Addrs)-i); err == nil {
			return nc, nil
		}
	}
	if sys := new(os.SyscallError); errors.As(err, &sys) && sys.Syscall == "bind" {
		return nil, sourceError(d.Source, sys.Err)
	}
	return nil, plainCause(err)
}

// dialWithin takes at most one of so many equal parts of the time until ctx ends.
func dialWithin(ctx context.Context, nd *net.Dialer, a netip.AddrPort, parts int) (net.Conn, error) {
	if end, limited := ctx.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(parts))
		defer cancel()
	}
	return nd.DialContext(ctx, "tcp", a.String())
}

// plainCause drops the addresses that net's errors carry.
func plainCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
