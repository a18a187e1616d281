package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program too: run under the name respbench, redis-benchmark or valkey-benchmark it is main,
// in a process of its own with signals, descriptors and an exit code of its own.

func TestMain(m *testing.M) {
	// Under the race detector every process would sleep for a second before it ends.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	testscript.Main(m, map[string]func(){"respbench": main, "redis-benchmark": main, "valkey-benchmark": main,
		weighed: weigh})
}

// weighed is the program under its own name that also says, last on stderr, how much memory it had at most. What wait
// tells of that begins with what the test process had when it forked.
const weighed = "respbench-weighed"

func weigh() {
	os.Args[0] = ownName
	code := run(os.Args, os.Stdin, os.Stdout, os.Stderr)
	status, _ := os.ReadFile("/proc/self/status") // of Linux
	fmt.Fprintf(os.Stderr, "%s\n", regexp.MustCompile(`(?m)^VmHWM:.*$`).Find(status))
	os.Exit(code)
}

// hang is how long a run may take before it counts as hung, unless a test says otherwise.
const hang = 20 * time.Second

// outcome is what a run left behind.
type outcome struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// process is a running respbench.
type process struct {
	*exec.Cmd
	t              testing.TB
	stdout, stderr *bytes.Buffer
	started        time.Time
	cancel         context.CancelFunc
	ctx            context.Context
}

// start runs the program under its own name.
func start(t testing.TB, limit time.Duration, stdin io.Reader, args ...string) *process {
	t.Helper()
	return startAs(t, limit, stdin, ownName, args...)
}

func startAs(t testing.TB, limit time.Duration, stdin io.Reader, name string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{name}, args...)
	cmd.Stdin = stdin
	p := &process{Cmd: cmd, t: t, stdout: new(bytes.Buffer), stderr: new(bytes.Buffer), cancel: cancel, ctx: ctx}
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	p.started = time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the process. A hang or a Go trace is a failure whatever the test is about.
func (p *process) end() outcome {
	p.t.Helper()
	defer p.cancel()
	err := p.Wait()
	o := outcome{p.stdout.String(), p.stderr.String(), p.ProcessState.ExitCode(), time.Since(p.started)}
	if p.ctx.Err() != nil {
		p.t.Fatalf("%v hung\nstdout: %s\nstderr: %s", p.Args, o.stdout, o.stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatalf("%v: %v", p.Args, err)
	}
	if strings.Contains(o.stderr, "goroutine ") || strings.Contains(o.stderr, "panic:") || strings.Contains(o.stderr, "DATA RACE") {
		p.t.Fatalf("%v crashed:\n%s", p.Args, o.stderr)
	}
	return o
}

// longerThan is a complaint for timed, if the run took so long.
func (o outcome) longerThan(limit time.Duration) string {
	if o.took <= limit {
		return ""
	}
	return fmt.Sprintf("took %v, more than %v", o.took, limit)
}

// respbench runs the program to its end.
func respbench(t testing.TB, args ...string) outcome {
	t.Helper()
	return start(t, hang, nil, args...).end()
}

// want is what an outcome must show: the exit code, and patterns that must be found (or, with a leading !, must not).
type want struct {
	code           int
	stdout, stderr string
}

func (o outcome) check(t testing.TB, w want) {
	t.Helper()
	if o.code != w.code || !matches(o.stdout, w.stdout) || !matches(o.stderr, w.stderr) {
		t.Errorf("exit code %d, want %d, stdout %q, stderr %q\nstdout: %s\nstderr: %s",
			o.code, w.code, w.stdout, w.stderr, cut(o.stdout), cut(o.stderr))
	}
}

func matches(text, pattern string) bool {
	pattern, not := strings.CutPrefix(pattern, "!")
	return pattern == "" || regexp.MustCompile(`(?m)`+pattern).MatchString(text) != not
}

// cut keeps a failure readable.
func cut(s string) string {
	const most = 2000
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// row is the line of a finished test under -q.
const qRow = `requests per second, p50=`

// redisServer is a real redis-server that ends with the test.
type redisServer struct {
	t    testing.TB
	port string
	addr string
}

// useRedis starts redis-server on a free port; the test is skipped where it is not installed.
func useRedis(t testing.TB, args ...string) *redisServer {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	port := freePort(t)
	cmd := exec.Command(path, append([]string{"--port", port, "--save", "", "--appendonly", "no",
		"--enable-debug-command", "local", "--dir", t.TempDir(), "--bind", "127.0.0.1", "--daemonize", "no"}, args...)...)
	log := new(bytes.Buffer)
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	r := &redisServer{t: t, port: port, addr: net.JoinHostPort("127.0.0.1", port)}
	waitAccepting(t, r.addr)
	return r
}

// given are the ports that freePort has returned.
var given sync.Map

// freePort is a port that was free a moment ago, and stays so: no other call returns it, and it is none of those that the
// kernel gives to connections and to listeners that do not name one (Linux begins at 32768).
func freePort(t testing.TB) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(20000 + rand.IntN(12000))
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		if ln, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			ln.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

func waitAccepting(t testing.TB, addr string) {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no server at %s: %v", addr, err)
		}
	}
}

// ask sends commands on a fresh connection and returns the raw reply of the last one, which must end within a moment
// of silence. args are words without spaces, one command a line.
func ask(t testing.TB, addr string, lines ...string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(hang))
	// QUIT makes the server close behind the last reply, so that its end is certain.
	for _, line := range append(lines, "QUIT") {
		words := strings.Fields(line)
		fmt.Fprintf(conn, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(all), okReply)
}

func (r *redisServer) ask(lines ...string) string {
	r.t.Helper()
	return ask(r.t, r.addr, lines...)
}

// calls is INFO commandstats' count of a command, 0 when it was never called.
func (r *redisServer) calls(command string) int {
	r.t.Helper()
	return statCalls(r.t, r.ask("INFO commandstats"), command)
}

func statCalls(t testing.TB, info, command string) int {
	t.Helper()
	m := regexp.MustCompile(`cmdstat_` + regexp.QuoteMeta(command) + `:calls=(\d+)`).FindStringSubmatch(info)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// integer is the value of a ":n" reply.
func integer(t testing.TB, reply string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.Trim(reply, ":\r\n"))
	if err != nil {
		t.Fatalf("reply %q is no integer", reply)
	}
	return n
}

// ownServer is `respbench serve` as a process; it ends with the test.
func ownServer(t testing.TB, args ...string) (addr, port string) {
	t.Helper()
	port = freePort(t)
	p := start(t, 5*time.Minute, nil, append([]string{"serve", "--port", port}, args...)...)
	t.Cleanup(func() {
		p.Process.Signal(syscall.SIGTERM)
		p.Wait()
		p.cancel()
	})
	addr = net.JoinHostPort("127.0.0.1", port)
	waitAccepting(t, addr)
	return addr, port
}

// exitCodeOf finds the exit code in an error of os/exec.
func exitCodeOf(err error) (int, bool) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), true
	}
	return 0, err == nil
}
