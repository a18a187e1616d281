//go:build !linux

package netpoll

import (
	"errors"
	"net"
	"syscall"
)

var engines = []string{"gnet"}

func newEpoll(Handler, Options) (Loop, error) {
	return nil, errors.New(`engine "epoll" needs Linux: use gnet`)
}

// NewServer is there on Linux only.
func NewServer(Handler, *net.TCPListener, Options) (Loop, error) { return nil, errors.ErrUnsupported }

// portAtConnect is there on Linux only: elsewhere a bound socket has its port from the bind on.
func portAtConnect(_, _ string, _ syscall.RawConn) error { return nil }
