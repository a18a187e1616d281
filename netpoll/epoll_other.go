//go:build !linux

package netpoll

import "errors"

var engines = []string{"gnet"}

func newEpoll(Handler, Options) (Loop, error) {
	return nil, errors.New(`engine "epoll" needs Linux: use gnet`)
}
