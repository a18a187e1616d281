package runner

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

var ownPID = os.Getpid()

// peerProcess finds the process that holds the other end of a connection on this machine.
func peerProcess(conn net.Conn) (process, bool) {
	pid := 0
	switch c := conn.(type) {
	case *net.UnixConn:
		pid = peerOfUnix(c)
	case *net.TCPConn:
		pid = peerOfTCP(c)
	}
	if pid == 0 {
		return process{}, false
	}
	return process{pid: pid, name: oneLine(fmt.Sprintf("/proc/%d/comm", pid))}, true
}

// A connection is made before the server accepts it and so owns a socket. acceptTime is how long a busy machine may keep
// the server from that, seenTime how long the kernel's table may lack a connection that is there.
const (
	acceptTime = 500 * time.Millisecond
	seenTime   = 100 * time.Millisecond
)

// peerOfTCP looks for the socket at the other end, when that has an address of this machine.
func peerOfTCP(c *net.TCPConn) int {
	local, errLocal := netip.ParseAddrPort(c.LocalAddr().String())
	remote, errRemote := netip.ParseAddrPort(c.RemoteAddr().String())
	if errLocal != nil || errRemote != nil || local.Addr() != remote.Addr() && !remote.Addr().IsLoopback() {
		return 0
	}
	for start := time.Now(); ; time.Sleep(time.Millisecond) { // there is no event to wait for
		inode := socketInode(remote, local)
		if inode != "" && inode != notAccepted {
			return ownerOf(inode) // 0: of another user, and stays so
		}
		if waited := time.Since(start); waited > acceptTime || inode == "" && waited > seenTime {
			return 0
		}
	}
}

// peerOfUnix asks the socket who listened.
func peerOfUnix(c *net.UnixConn) (pid int) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}

// socketInode finds the socket between two addresses of this network namespace in the kernel's tables;
// notAccepted while it is nobody's, "" when there is none. A server that listens on :: has its IPv4 connections in the table of IPv6.
func socketInode(local, remote netip.AddrPort) string {
	if local.Addr().Unmap().Is4() {
		l, r := netip.AddrPortFrom(local.Addr().Unmap(), local.Port()), netip.AddrPortFrom(remote.Addr().Unmap(), remote.Port())
		if inode := findSocket("/proc/net/tcp", l, r); inode != "" {
			return inode
		}
	}
	l := netip.AddrPortFrom(netip.AddrFrom16(local.Addr().As16()), local.Port())
	r := netip.AddrPortFrom(netip.AddrFrom16(remote.Addr().As16()), remote.Port())
	return findSocket("/proc/net/tcp6", l, r)
}

// Columns of /proc/net/tcp.
const (
	columnLocal  = 1
	columnRemote = 2
	columnInode  = 9
)

const notAccepted = "0"

func findSocket(table string, local, remote netip.AddrPort) string {
	f, err := os.Open(table)
	if err != nil {
		return ""
	}
	defer f.Close()
	l, r := kernelAddr(local), kernelAddr(remote)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if !strings.Contains(lines.Text(), l) {
			continue
		}
		if c := strings.Fields(lines.Text()); len(c) > columnInode && c[columnLocal] == l && c[columnRemote] == r {
			return c[columnInode]
		}
	}
	return ""
}

// kernelAddr is an address as the kernel's tables have it: words of 32 bits in the machine's order.
func kernelAddr(a netip.AddrPort) string {
	var b strings.Builder
	bytes := a.Addr().AsSlice()
	for i := 0; i+4 <= len(bytes); i += 4 {
		fmt.Fprintf(&b, "%08X", binary.NativeEndian.Uint32(bytes[i:]))
	}
	fmt.Fprintf(&b, ":%04X", a.Port())
	return b.String()
}

// ownerOf finds the process that has the socket open; 0 when none may be seen.
func ownerOf(inode string) (pid int) {
	if inode == "" {
		return 0
	}
	want := "socket:[" + inode + "]"
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd")
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // of another user, or gone
		}
		for _, f := range files {
			if link, err := os.Readlink(filepath.Join(dir, f.Name())); err == nil && link == want {
				pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(dir)))
				return pid
			}
		}
	}
	return 0
}

// processTime reads the CPU clock of a process: nanoseconds of all its threads. Any user may.
func processTime(pid int) (time.Duration, bool) {
	var ts unix.Timespec
	// The clock's number as the kernel makes it (posix-timers.h): the complement of the pid, and 2 for
	// the scheduler's clock.
	if unix.ClockGettime(int32(^pid<<3|2), &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// cpusOf says how many processors a process may use; 0 when that may not be asked.
func cpusOf(pid int) int {
	var may unix.CPUSet
	if unix.SchedGetaffinity(pid, &may) != nil {
		return 0
	}
	return may.Count()
}

// threadsOf reads the scheduler's account of each thread; empty where the kernel keeps none.
func threadsOf(pid int) map[int]threadTimes {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	list := make(map[int]threadTimes, len(tasks))
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		var run, wait int64
		if n, _ := fmt.Sscan(oneLine(filepath.Join(dir, t.Name(), "schedstat")), &run, &wait); n == 2 {
			list[id] = threadTimes{run: time.Duration(run), wait: time.Duration(wait)}
		}
	}
	return list
}
