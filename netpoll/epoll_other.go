//go:build !linux

package netpoll

import (
	"errors"
	"net"
)

var engines = []string{"gnet"}

func newEpoll(Handler, Options) (Loop, error) {
	return nil, errors.New(`engine "epoll" needs Linux: use gnet`)
}

// NewServer is there on Linux only.
func NewServer(Handler, *net.TCPListener, Options) (Loop, error) { return nil, errors.ErrUnsupported }
