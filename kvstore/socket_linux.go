package kvstore

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// writeSocket is write(2) on a non-blocking socket. It goes past the Go scheduler, since it cannot block: that saves the
// bookkeeping of a system call, and the processor cannot be taken away in between.
func writeSocket(fd int, b []byte) (int, error) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	switch errno {
	case 0:
		return int(n), nil
	case unix.EINTR:
		return 0, unix.EAGAIN
	}
	return 0, errno
}
