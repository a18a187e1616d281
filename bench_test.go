//go:build linux

// Package respbench_test weighs the house from outside: the client's cost per request against the
// physical floor and against the peers that are installed.
//
// The server is `respbench serve --null`, which answers every command with +OK and stores nothing,
// in a process of its own. On a machine with two processors or more the server has the last one
// and the client the first, so that neither takes the other's time.
//
//	go test -bench . -benchtime 1x .              each benchmark once
//	go test -bench AgainstFloor -benchtime 25x .  medians of 25 interleaved pairs
package respbench_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"respbench/runner"
)

var binary string // respbench, built once

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "respbench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "respbench")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/respbench").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// clientCPU and serverCPU are the processors of the two sides; -1 = any.
func clientCPU() int { return pick(0) }
func serverCPU() int { return pick(runtime.NumCPU() - 1) }

func pick(cpu int) int {
	if runtime.NumCPU() < 2 {
		return -1
	}
	return cpu
}

// nullServer starts the cheapest server and returns its port.
func nullServer(tb testing.TB) int {
	tb.Helper()
	port, stop := startKvstore(tb, []string{"serve", "--null", "--port", "0", "--until-stdin-closes"})
	tb.Cleanup(stop)
	return port
}

// startKvstore starts `respbench serve` on the servers' processor; it ends when its stdin closes.
func startKvstore(tb testing.TB, args []string) (port int, stop func()) {
	tb.Helper()
	cmd := exec.Command(binary, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatalf("the server said %q: %v", line, err)
	}
	_, text, err := net.SplitHostPort(strings.TrimSpace(strings.TrimPrefix(line, "ready ")))
	if err != nil {
		tb.Fatalf("%q: %v", line, err)
	}
	if port, err = strconv.Atoi(text); err != nil {
		tb.Fatalf("no port in %q", line)
	}
	if cpu := serverCPU(); cpu >= 0 {
		pin(tb, cmd.Process.Pid, cpu)
	}
	return port, func() { in.Close(); _ = cmd.Wait() }
}

// pin keeps every thread of a process on one processor.
func pin(tb testing.TB, pid, cpu int) {
	tb.Helper()
	var set unix.CPUSet
	set.Set(cpu)
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range tasks {
		tid, _ := strconv.Atoi(t.Name())
		if err := unix.SchedSetaffinity(tid, &set); err != nil {
			tb.Fatal(err)
		}
	}
}

// sample is one run: how long it took and what the client's process used.
type sample struct {
	n    int
	wall time.Duration
	cpu  time.Duration
}

func (s sample) cpuPerRequest() float64 { return float64(s.cpu) / float64(s.n) }
func (s sample) rate() float64          { return float64(s.n) / s.wall.Seconds() }

func ownCPU() time.Duration {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru)
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// runClient drives n SETs with random keys and 32-byte values through the whole program's core.
func runClient(tb testing.TB, engine string, port, pipeline, clients, n int) sample {
	tb.Helper()
	o := runner.Options{Target: runner.Target{Host: "127.0.0.1", Port: port}, Seed: 1}
	o.Load = runner.Load{Clients: clients, Threads: 1, Pipeline: pipeline, Requests: int64(n), Engine: engine,
		ConnectTimeout: 10 * time.Second, Timeout: 30 * time.Second}
	if cpu := clientCPU(); cpu >= 0 {
		o.Load.CPUs = []int{cpu}
	}
	o.Output = runner.Output{Quiet: true, Precision: 3, Interval: time.Second} // recording as by default
	o.Classic = runner.ClassicOptions{Tests: []string{"set"}, Random: true, Keyspace: 100000, DataSize: 32}
	before, start := ownCPU(), time.Now()
	if err := runner.Main(context.Background(), o, runner.IO{Stdout: io.Discard, Stderr: io.Discard, Log: zerolog.Nop()}); err != nil {
		tb.Fatal(err)
	}
	return sample{n, time.Since(start), ownCPU() - before}
}

// requestsFor makes runs of about the same length at every depth, and long ones where many
// connections have to be made first.
func requestsFor(pipeline, clients int) int {
	n := map[int]int{1: 30_000, 16: 400_000, 128: 2_000_000}[pipeline]
	if clients > 100 {
		n *= 5
	}
	return n
}

// BenchmarkClient is the client as it is, per engine, depth and number of connections.
func BenchmarkClient(b *testing.B) {
	port := nullServer(b)
	for _, engine := range []string{"epoll", "gnet"} {
		for _, p := range []int{1, 16, 128} {
			for _, c := range []int{50, 1000} {
				b.Run(fmt.Sprintf("engine=%s/P=%d/c=%d", engine, p, c), func(b *testing.B) {
					reportRuns(b, func() sample { return runClient(b, engine, port, p, c, requestsFor(p, c)) })
				})
			}
		}
	}
}

// BenchmarkFloor is the physical floor: the same system calls with the same bytes (it makes its
// keys too), but nothing parsed, checked or recorded.
func BenchmarkFloor(b *testing.B) {
	port := nullServer(b)
	for _, p := range []int{1, 16, 128} {
		for _, c := range []int{50, 1000} {
			b.Run(fmt.Sprintf("P=%d/c=%d", p, c), func(b *testing.B) {
				reportRuns(b, func() sample { return runFloor(b, port, p, c, requestsFor(p, c)) })
			})
		}
	}
}

// reportRuns makes runs for as long as the benchmark lasts and reports their cost per request.
func reportRuns(b *testing.B, run func() sample) {
	var sum sample
	for b.Loop() {
		s := run()
		sum = sample{sum.n + s.n, sum.wall + s.wall, sum.cpu + s.cpu}
	}
	b.ReportMetric(sum.cpuPerRequest(), "cpu-ns/req")
	b.ReportMetric(sum.rate(), "req/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkAgainstFloor runs client and floor in turn, in changing order, and reports the median
// of the pairs' ratios: CPU per request and rate. One iteration is one pair.
func BenchmarkAgainstFloor(b *testing.B) {
	port := nullServer(b)
	for _, p := range []int{1, 16, 128} {
		for _, c := range []int{50, 1000} {
			b.Run(fmt.Sprintf("P=%d/c=%d", p, c), func(b *testing.B) {
				var cpu, rate []float64
				for i := 0; b.Loop(); i++ {
					var ours, floor sample
					run := []func(){
						func() { ours = runClient(b, "epoll", port, p, c, requestsFor(p, c)) },
						func() { floor = runFloor(b, port, p, c, requestsFor(p, c)) },
					}
					run[i%2]()
					run[1-i%2]()
					cpu = append(cpu, ours.cpuPerRequest()/floor.cpuPerRequest())
					rate = append(rate, ours.rate()/floor.rate())
				}
				b.ReportMetric(median(cpu), "cpu/floor")
				b.ReportMetric(median(rate), "rate/floor")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkManyConnections reports the program's own rate at 5000 connections over that at 50, the median of pairs. One iteration is one pair.
func BenchmarkManyConnections(b *testing.B) {
	port := nullServer(b)
	rate := func(clients int) (perSecond float64) {
		args := classicArgs(port, 16, clients, 8_000_000)
		out, err := onClientCPU(binary, args).Output()
		if err != nil {
			b.Fatalf("%v: %v", args, err)
		}
		if _, err := fmt.Sscanf(string(out), "SET: %f requests per second", &perSecond); err != nil {
			b.Fatalf("%q: %v", out, err)
		}
		return perSecond
	}
	var rates []float64
	for i := 0; b.Loop(); i++ {
		if i%2 == 0 {
			few := rate(50)
			rates = append(rates, rate(5000)/few)
		} else {
			many := rate(5000)
			rates = append(rates, many/rate(50))
		}
	}
	b.ReportMetric(median(rates), "c5000/c50")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	if len(v)%2 == 1 {
		return v[len(v)/2]
	}
	return (v[len(v)/2-1] + v[len(v)/2]) / 2
}

// floorConn is one connection of the floor: bytes are counted, not read.
type floorConn struct {
	fd   int
	owed int // bytes of the batch's replies that have not come
}

const (
	floorReply  = len("+OK\r\n")
	floorPrefix = "*3\r\n$3\r\nSET\r\n$16\r\nkey:"
	floorSuffix = "\r\n$32\r\nVXKeHogKgJ=[5V9_X^b?8N0B1Mm2pQ4r\r\n"
)

// runFloor answers n requests in batches over c connections with nothing but epoll_wait, recv and send.
func runFloor(tb testing.TB, port, pipeline, clients, n int) sample {
	tb.Helper()
	before, start := ownCPU(), time.Now()
	done := make(chan error)
	go func() { // the locked thread, and its affinity, end with the goroutine
		runtime.LockOSThread()
		done <- floorLoop(port, pipeline, clients, n)
	}()
	if err := <-done; err != nil {
		tb.Fatal(err)
	}
	return sample{n, time.Since(start), ownCPU() - before}
}

func floorLoop(port, pipeline, clients, n int) error {
	if cpu := clientCPU(); cpu >= 0 {
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return err
		}
	}
	epfd, err := unix.EpollCreate1(0)
	if err != nil {
		return err
	}
	defer unix.Close(epfd)
	conns := make([]floorConn, clients)
	for i := range conns {
		fd, err := floorDial(epfd, i, port)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		conns[i].fd = fd
	}
	f := floor{conns: conns, left: n, out: []byte(strings.Repeat(floorPrefix+"000000000000"+floorSuffix, pipeline)),
		pipeline: pipeline, in: make([]byte, 256<<10)}
	for i := range digits {
		copy(digits[i][:], fmt.Sprintf("%04d", i))
	}
	for i := range conns {
		f.send(&conns[i])
	}
	return f.serve(epfd)
}

func floorDial(epfd, slot, port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	return fd, unix.EpollCtl(epfd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(slot)})
}

type floor struct {
	conns    []floorConn
	left     int // requests not yet sent
	pending  int // requests without a reply
	pipeline int
	out, in  []byte
	seed     uint64
}

var digits [10000][4]byte

// send makes the keys of one batch and writes it.
func (f *floor) send(c *floorConn) {
	k := min(f.pipeline, f.left)
	if k == 0 {
		return
	}
	size := len(f.out) / f.pipeline
	for i := range k {
		f.seed += 0x9e3779b97f4a7c15
		x := f.seed
		x = (x ^ x>>32) * 0xd6e8feb86659fd93
		x = x >> 32 * 100000 >> 32
		at := i*size + len(floorPrefix) + 4
		copy(f.out[at:], digits[x/10000][:])
		copy(f.out[at+4:], digits[x%10000][:])
	}
	for b := f.out[:k*size]; len(b) > 0; {
		w, _, e := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(c.fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
		if e != 0 {
			continue
		}
		b = b[w:]
	}
	f.left -= k
	f.pending += k
	c.owed = k * floorReply
}

func (f *floor) serve(epfd int) error {
	var events [512]unix.EpollEvent
	for f.pending > 0 {
		n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 10, 0, 0)
		if e != 0 {
			continue // EINTR
		}
		for _, ev := range events[:n] {
			c := &f.conns[ev.Fd]
			r, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&f.in[0])), uintptr(len(f.in)), 0, 0, 0)
			if e != 0 || r == 0 {
				return fmt.Errorf("the floor's recv: %d bytes, %v", r, e)
			}
			c.owed -= int(r)
			f.pending -= int(r) / floorReply
			if c.owed == 0 {
				f.send(c)
			}
		}
	}
	return nil
}
