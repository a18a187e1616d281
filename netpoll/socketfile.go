package netpoll

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"
)

// fullQueuePause is how often a listener whose queue was full is tried again.
const fullQueuePause = 2 * time.Millisecond

// dialSocket connects to a socket file. Where TCP makes the caller wait while the listener's queue is full, a socket
// file fails at once (EAGAIN): so the wait is here, until ctx ends.
func dialSocket(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", path)
		if !errors.Is(err, syscall.EAGAIN) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(fullQueuePause):
		}
	}
}
