//go:build !linux

package kvstore

import "golang.org/x/sys/unix"

// writeSocket is write(2) on a non-blocking socket.
func writeSocket(fd int, b []byte) (int, error) {
	n, err := unix.Write(fd, b)
	if err == unix.EINTR {
		err = unix.EAGAIN
	}
	return max(n, 0), err
}
