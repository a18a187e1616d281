package runner

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

func TestPlainError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{os.NewSyscallError("read", syscall.ECONNRESET), "Connection reset by peer"},
		{&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, "Connection refused"},
		{&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, "Connection timed out"},
		{&net.OpError{Op: "local error", Err: errors.New("tls: bad record MAC")}, "TLS: bad record MAC"},
		{&net.OpError{Op: "remote error", Err: errors.New("tls: handshake failure")}, "TLS alert from the server: handshake failure"},
		{tls.RecordHeaderError{Msg: "oversized record received"}, "TLS: oversized record received"},
		{errors.New("something else"), "something else"},
	} {
		if got := plainError(c.err); got != c.want {
			t.Errorf("%v is worded %q, not %q", c.err, got, c.want)
		}
	}
}
