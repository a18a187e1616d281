package runner

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"respbench/netpoll"
	"respbench/report"
	"respbench/workload"
)

// The servers of these tests keep a log of their own, so that what was measured is held against what
// happened. One of them is a process: see TestMain.

// childVariable makes the test binary a server that burns so many microseconds of CPU per reply.
const childVariable = "RESPBENCH_TEST_BURN_US"

func TestMain(m *testing.M) {
	if us := os.Getenv(childVariable); us != "" {
		n, err := strconv.Atoi(us)
		if err != nil {
			panic(err)
		}
		childServer(time.Duration(n) * time.Microsecond)
		return
	}
	os.Exit(m.Run())
}

// childServer prints its address and serves until its stdin is closed.
func childServer(burn time.Duration) {
	s := &testServer{answer: func(*testConn, []string) string {
		burnCPU(burn)
		return "+OK\r\n"
	}}
	if err := s.listen("tcp", "127.0.0.1:0"); err != nil {
		panic(err)
	}
	fmt.Println(s.ln.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func burnCPU(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// startChild runs the server process until the test ends and returns its address and pid.
func startChild(t *testing.T, burn time.Duration) (addr string, pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	// One processor: a server whose one thread does all the work, as the verdict knows them.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", childVariable+"="+strconv.Itoa(int(burn.Microseconds())))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// testServer answers commands by a function, one connection a goroutine.
type testServer struct {
	// answer is the reply to one command; it may take its time.
	answer func(c *testConn, cmd []string) string
	// info is the reply to INFO, which is no load; empty: an error.
	info func() string

	ln    net.Listener
	mu    sync.Mutex
	conns int
	loads int
	log   [][]string // every command of the load, in the order of arrival
}

// testConn is one connection.
type testConn struct {
	net.Conn
	id     int
	readAt time.Time // when the read ended that brought the command
}

func (s *testServer) listen(network, addr string) (err error) {
	if s.ln, err = net.Listen(network, addr); err != nil {
		return err
	}
	go func() {
		for {
			c, err := s.ln.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			id := s.conns
			s.mu.Unlock()
			go s.serve(&testConn{Conn: c, id: id})
		}
	}()
	return nil
}

// stamped notes when a read ended.
type stamped struct{ c *testConn }

func (s stamped) Read(p []byte) (int, error) {
	n, err := s.c.Conn.Read(p)
	s.c.readAt = time.Now()
	return n, err
}

func (s *testServer) serve(c *testConn) {
	defer c.Close()
	r := bufio.NewReaderSize(stamped{c}, 1<<16)
	for {
		cmd, err := readCommand(r)
		if err != nil {
			return
		}
		if _, err := io.WriteString(c, s.reply(c, cmd)); err != nil {
			return
		}
	}
}

func (s *testServer) reply(c *testConn, cmd []string) string {
	switch strings.ToUpper(cmd[0]) {
	case "INFO":
		if s.info == nil {
			return "-NOPERM this user has no permissions to run the 'info' command\r\n"
		}
		text := s.info()
		return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text)
	case "CONFIG":
		return "-ERR unknown command\r\n"
	}
	s.mu.Lock()
	s.loads++
	s.log = append(s.log, append([]string{strconv.Itoa(c.id)}, cmd...))
	s.mu.Unlock()
	return s.answer(c, cmd)
}

func readCommand(r *bufio.Reader) ([]string, error) {
	number := func(mark string) (int, error) {
		line, err := r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(line, mark), "\r\n"))
	}
	n, err := number("*")
	if err != nil {
		return nil, err
	}
	cmd := make([]string, n)
	for i := range cmd {
		size, err := number("$")
		if err != nil {
			return nil, err
		}
		body := make([]byte, size+2)
		if _, err := io.ReadFull(r, body); err != nil {
			return nil, err
		}
		cmd[i] = string(body[:size])
	}
	return cmd, nil
}

func always(reply string) func(*testConn, []string) string {
	return func(*testConn, []string) string { return reply }
}

// startServer runs a server in this process until the test ends.
func startServer(t *testing.T, answer func(*testConn, []string) string) *testServer {
	t.Helper()
	s := &testServer{answer: answer}
	if err := s.listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.ln.Close() })
	return s
}

func (s *testServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// newTestSession is a session with a server, as Main prepares it.
func newTestSession(t *testing.T, addr string, l Load) *session {
	t.Helper()
	o := &Options{Load: l, Output: Output{Interval: time.Second, Additions: true}, Seed: 1}
	if network, path, found := strings.Cut(addr, ":/"); found && network == "unix" {
		o.Target.Socket = "/" + path
	} else {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			t.Fatal(err)
		}
		o.Target.Host = host
		o.Target.Port, _ = strconv.Atoi(port)
	}
	o.Load.Threads = max(o.Load.Threads, 1)
	o.Load.Pipeline = max(o.Load.Pipeline, 1)
	o.Load.ConnectTimeout = 5 * time.Second
	s := &session{o: o, io: IO{Stdout: io.Discard, Stderr: io.Discard, Log: zerolog.Nop()}, env: environment("")}
	if err := s.prepare(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.watch.close() })
	return s
}

// setPlan is SET k v.
func setPlan(t *testing.T, words ...string) *workload.Plan {
	t.Helper()
	if len(words) == 0 {
		words = []string{"SET", "k", "v"}
	}
	p, err := workload.Command(words, nil, false, workload.TestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// measure is one round of SET k v.
func measure(t *testing.T, addr string, l Load) *report.Result {
	t.Helper()
	return measureRound(t, newTestSession(t, addr, l), nil)
}

func measureRound(t *testing.T, s *session, change func(*round)) *report.Result {
	t.Helper()
	r := s.newRound(setPlan(t))
	if change != nil {
		change(r)
	}
	res, err := s.watched(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// slowHandler burns CPU before the worker hears of received bytes.
type slowHandler struct {
	netpoll.Handler
	burn time.Duration
}

func (h slowHandler) Data(c netpoll.Conn, in *netpoll.ChainBuffer, now int64) {
	burnCPU(h.burn)
	h.Handler.Data(c, in, now)
}
