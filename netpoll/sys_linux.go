package netpoll

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The loop's system calls go past the Go scheduler. Announcing each of them (syscall.Syscall)
// cost 29 to 45 % more CPU and 17 to 32 % of the rate; since a stop-the-world waits for the
// thread, every wait is bounded by maxWait.

const maxWait = 10 * time.Millisecond

// rawRead fills one slice by recv and several by readv: for one, recv skips what the kernel does
// for files, 1 to 2 % of a request at P=1. send does the same for write, and raises no SIGPIPE.
func rawRead(fd int32, iov []unix.Iovec) (int, syscall.Errno) {
	for {
		var n uintptr
		var e syscall.Errno
		if len(iov) == 1 {
			n, _, e = syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(iov[0].Base)), uintptr(iov[0].Len), 0, 0, 0)
		} else {
			n, _, e = syscall.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&iov[0])), uintptr(len(iov)))
		}
		if e != unix.EINTR {
			return int(n), e
		}
	}
}

func rawSend(fd int32, p []byte) (int, syscall.Errno) {
	for {
		n, _, e := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
		if e != unix.EINTR {
			return int(n), e
		}
	}
}

func rawWritev(fd int32, iov []unix.Iovec) (int, syscall.Errno) {
	for {
		n, _, e := syscall.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&iov[0])), uintptr(len(iov)))
		if e != unix.EINTR {
			return int(n), e
		}
	}
}

func rawWait(epfd int, events []unix.EpollEvent, timeout time.Duration) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), uintptr(timeout/time.Millisecond), 0, 0)
	if e == unix.EINTR {
		return 0, 0
	}
	return int(n), e
}

// maskPreemption keeps the runtime's preemption signal from this thread: a loop that lives in
// system calls is asked to yield at its cooperative points only. The goroutine stays locked to
// the thread for good, so the mask never leaks to other goroutines.
func maskPreemption() error {
	var set unix.Sigset_t
	set.Val[0] = 1 << (uint(unix.SIGURG) - 1)
	return os.NewSyscallError("rt_sigprocmask", unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil))
}

func pinThread(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &set))
}

// threadCPU is the CPU time of the calling thread.
func threadCPU() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// threadRunQueue is the time the calling thread was ready but had no processor; 0 when unknown.
func threadRunQueue() time.Duration {
	b, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	ns, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(ns)
}

func iovec(p []byte) unix.Iovec {
	v := unix.Iovec{Base: unsafe.SliceData(p)}
	v.SetLen(len(p))
	return v
}
