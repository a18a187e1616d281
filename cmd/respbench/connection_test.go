package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestConnectionsThatFail(t *testing.T) {
	runFakeCases(t, []fakeCase{
		{"C23 closed after 5 of 10 each", "closeafter:5", loadOf20, bad(`^Error: Server closed the connection$`)},
		{"C23 closed at the first GET of a probe", "closeafter:0", "--mode get --requests 20 --keyspace 10", bad(`^Error: Server closed the connection$`)},
		{"C24 reset after 5 of 10 each", "rstafter:5", loadOf20, bad(`^Error: Connection reset by peer$`)},
		{"C23 closed in a pipeline", "closeafter:5", "-c 2 -P 8 -n 40 -t set", bad(`^Error: Server closed the connection$`)},
		{"C35 reply and close together", "lastfin:1", "-c 1 -n 1 -t set", good("SET")},
		{"C35 the same with reconnect", "lastfin:1", "-c 1 -n 3 -k 0 -t set", want{0, `^SET: [0-9.]+ ` + qRow, "^WARNING: Keepalive"}},
		{"closed in the middle of a reply", "partfin", "-c 1 -n 20 -t set", bad(`^Error: Server closed the connection; a reply has come in part, up to byte 9$`)},
		{"the same at the first GET of a probe", "partfin", "--mode get --requests 20 --keyspace 10", bad(`^Error: Server closed the connection; a reply has come in part, up to byte 9$`)},
		{"an error reply is the reason", "errfin", "-c 1 -n 20 --on-error count -t set", bad(`^Error: (Server closed the connection|Connection reset by peer); error replies before that: 1, most often ERR too bad$`)},
		{"a TLS alert in plain", "alert", loadOf20, bad(`^Error: Protocol error, got "\\x15" as reply type byte \(byte 0\): does the port want --tls\?$`)},
		{"AUTH is not answered", "authsilent", "-a pw --connect-timeout 300ms -c 2 -n 4 -t set", bad(`^Error: no reply from 127\.0\.0\.1:\d+ to AUTH within 300ms \(--connect-timeout\)$`)},
		{"no such source address", "ok", "--source 192.0.2.1 -c 2 -n 4 -t set", bad(`source address 192\.0\.2\.1 is none of this machine's$`)},
		{"a source address of the other family", "ok", "--source ::1 -c 2 -n 4 -t set", bad(`: source address ::1 does not fit the server's address family$`)},
		{"never answers", "silent", "--timeout 300ms -c 2 -n 4 -t set", bad(`^Error: .*(imed out|imeout)`)},
		{"never ends a reply", `reply:"$100\r\nabc"`, "--timeout 300ms -c 1 -n 4 -t set", bad(`^Error: no reply from 127\.0\.0\.1:\d+ for 300ms with 1 request in flight \(--timeout, 0 = wait for ever\); a reply has come in part, up to byte 9$`)},
		{"pushes, and no answer", "pushonly", "--timeout 300ms -c 2 -n 4 -t set", bad(`^Error: no reply from 127\.0\.0\.1:\d+ for 300ms `)},
		{"the same, at a rate", "pushonly", "--timeout 300ms -c 2 -n 4 --rps 1000 -t set", bad(`^Error: no reply from 127\.0\.0\.1:\d+ for 300ms `)},
		{"a TLS hello is answered in plain", "denied", "--tls -c 1 -n 4 -t set", bad(`^Could not negotiate a TLS connection: the server answered, but not with TLS: it began with "-DENI"$`)},
		{"C45 TLS to a plain port", "silent", "--tls --connect-timeout 300ms -c 1 -n 4 -t set", bad(`(?i)tls|timed out`)},
	})
}

// A proxy closes the connection at a command that it does not know. That is no sign of TLS, since the load is answered.
func TestProxyWithoutInfo(t *testing.T) {
	s := useFake(t, "proxy")
	respbench(t, "-p", s.port(), "-c", "2", "-n", "20", "-t", "set").
		check(t, want{0, `^  note: no INFO from 127\.0\.0\.1:\d+: Error: Server closed the connection$`, `\AWARNING: Could not fetch server CONFIG\n\z`})
}

// C18: refused is told at once. C20 is in the tables of options_test.go.
func TestNobodyListens(t *testing.T) {
	port := freePort(t)
	for _, args := range []string{"-q -t set -n 4", "--mode set --requests 4", "--cluster -n 4 -q", "-I -c 2", "-k 0 -n 4 -q ping"} {
		timed(t, func() string {
			o := respbench(t, append([]string{"-p", port}, strings.Fields(args)...)...)
			o.check(t, bad(`^Could not connect to Redis at 127\.0\.0\.1:`+port+`: Connection refused$`))
			return o.longerThan(2 * time.Second)
		})
	}
	respbench(t, "-h", "no-such-host.invalid", "-n", "1").check(t, bad(`^Could not connect to Redis at no-such-host\.invalid:6379: Name or service not known$`))
	respbench(t, "-s", "/no/such/socket", "-n", "1").check(t, bad(`^Could not connect to Redis at /no/such/socket: No such file or directory$`))
	respbench(t, "-s", strings.Repeat("x", 120), "-n", "1").check(t, bad(`^Could not connect to Redis at x{120}: the socket's path has 120 bytes: at most 107 fit$`))
}

// C21: every address of a name is tried.
func TestAddresses(t *testing.T) {
	four := useFake(t, "ok")
	for _, host := range []string{"localhost", "127.1", "0"} { // the last two as the C library understands them
		respbench(t, "-h", host, "-p", four.port(), "-n", "4", "-c", "1", "-q", "-t", "set").check(t, good("SET"))
	}
	ln, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("no IPv6 on the loopback:", err)
	}
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	f, _ := newFake("ok")
	six := &fakeServer{fake: f, ln: ln, calls: map[string]int{}}
	defer six.close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go six.serve(conn)
		}
	}()
	hosts := []string{"::1", "[::1]"}
	if all, err := net.LookupHost("localhost"); err == nil && indexOf(all, "::1") >= 0 {
		hosts = append(hosts, "localhost")
	}
	for _, host := range hosts {
		respbench(t, "-h", host, "-p", port, "-n", "4", "-c", "1", "-q", "-t", "set").check(t, good("SET"))
	}
	respbench(t, "-u", "redis://[::1]:"+port+"/0", "-n", "4", "-c", "1", "-q", "-t", "set").check(t, good("SET"))
}

// A connection that an open loop has no use for may be closed by the server, which is told as what it is.
func TestIdleConnectionIsClosed(t *testing.T) {
	t.Parallel()
	for _, engine := range engines() {
		timed(t, func() string {
			s := useFake(t, "idle:2000")
			o := respbench(t, "-p", s.port(), "--engine", engine, "-q", "-c", "4", "--rps", "0.05", "-n", "30", "-t", "set")
			o.check(t, bad(`^Error: Server closed the connection`))
			if !matches(o.stderr, `^.*, after \d+\.\d s without a request on that connection \(a time-out for idle clients\?`) {
				return o.stderr
			}
			return ""
		})
	}
}

// C26: a listener whose queue is full drops the SYN. The run must end in its connect time, without burning CPU.
func TestConnectThatBlocks(t *testing.T) {
	t.Parallel()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for range 3 {
		if conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, 50*time.Millisecond); err == nil {
			defer conn.Close()
		}
	}
	for _, engine := range engines() {
		for _, args := range []string{"-c 50 -n 50 -q", "-a pw -c 50 -n 50 -q", "--mode set -c 5", "-I -c 5"} {
			args += " --connect-timeout 300ms --engine " + engine + " -p " + port
			timed(t, func() string {
				p := start(t, hang, nil, strings.Fields(args)...)
				o := p.end()
				o.check(t, bad(`^Could not connect to Redis at 127\.0\.0\.1:`+port+`: no connection within 300ms \(--connect-timeout\)$`))
				if usage := p.ProcessState.UserTime() + p.ProcessState.SystemTime(); usage > 500*time.Millisecond {
					return fmt.Sprintf("%s: %v of CPU", args, usage)
				}
				return o.longerThan(4 * time.Second)
			})
		}
	}
}

// A socket file whose queue is full refuses at once, and that is no reason to give up: the server gets to it.
func TestFullQueueOfASocketFile(t *testing.T) {
	path := t.TempDir() + "/s"
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), path)
	ln, err := net.FileListener(file)
	file.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	f, _ := newFake("ok")
	s := &fakeServer{fake: f, ln: ln, started: time.Now(), calls: map[string]int{}}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			time.Sleep(time.Millisecond) // slower than the client connects, by definition
			go s.serve(conn)
		}
	}()
	for _, engine := range engines() {
		respbench(t, "-s", path, "--engine", engine, "-c", "100", "-n", "200", "-q", "-t", "set").check(t, good("SET"))
	}
	if s.count() != 200*len(engines()) {
		t.Errorf("%d requests", s.count())
	}
}

// onEach is a server that does f on each connection, and its port.
func onEach(t *testing.T, f func(net.Conn)) (port string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go f(conn)
		}
	}()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// C78: a server that refuses a request while it is being written answers, closes and resets. The answer is shown,
// not the reset.
func TestRefusedWhileWriting(t *testing.T) {
	port := onEach(t, func(conn net.Conn) {
		defer conn.Close() // with much unread: this is the reset
		io.ReadFull(conn, make([]byte, 20))
		io.WriteString(conn, "-ERR Protocol error: invalid bulk length\r\n")
	})
	for _, engine := range engines() {
		for range 5 {
			respbench(t, "-p", port, "--engine", engine, "-d", "50000000", "-c", "1", "-n", "1", "-q", "-t", "set").
				check(t, bad(`^Error from server: ERR Protocol error: invalid bulk length$`))
		}
	}
}

// C12, C27, C33, C116: many connections, few requests; a normal end is no mass disconnect.
func TestManyConnections(t *testing.T) {
	for _, engine := range engines() {
		s := useFake(t, "ok")
		for _, args := range []string{"-n 3 -c 50 -t ping_mbulk", "-n 10 -c 500 -t ping_mbulk", "-c 500 -n 500 -t ping_mbulk",
			"-n 20001 -c 100 -t ping_mbulk", "-n 1000 -c 10 --threads 4 -P 7 -t ping_mbulk"} {
			before := s.count()
			fields := strings.Fields(args)
			respbench(t, append(fields, "-q", "-p", s.port(), "--engine", engine)...).check(t, good("PING_MBULK"))
			n, _ := strconv.Atoi(fields[indexOf(fields, "-n")+1])
			if got := s.count() - before; got != n {
				t.Errorf("%s %s: %d requests, want %d", engine, args, got, n)
			}
		}
	}
}

func indexOf(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// C30: reconnecting ends when the count is reached, however it divides.
func TestReconnectIsExact(t *testing.T) {
	for _, engine := range engines() {
		for _, c := range []struct {
			args           string
			n, least, most int
		}{
			{"-k 0 -n 5 -c 1", 5, 5, 6},
			{"-k 0 -n 119 -c 17", 119, 119, 119 + 17},
			{"-k 0 -n 100 -c 10 -P 4", 100, 25, 25 + 10},
			{"--reconnect 10 -n 100 -c 1", 100, 10, 11},
			{"--reconnect 7 -n 100 -c 3 -P 2", 100, 15, 20},
			{"--reconnect 3 -n 100 -c 1 -P 5", 100, 34, 35},
			{"--reconnect 10 -n 200 -c 2 -P 64", 200, 20, 22},
			{"--reconnect 10 -n 200 -c 2 -P 64 --rps 100000", 200, 20, 22},
		} {
			s := useFake(t, "ok")
			respbench(t, append(strings.Fields(c.args), "-p", s.port(), "--engine", engine, "-q", "ping")...).check(t, good("ping"))
			if s.count() != c.n || s.conns < c.least || s.conns > c.most {
				t.Errorf("%s %s: %d requests on %d connections, want %d on %d to %d", engine, c.args, s.count(), s.conns, c.n, c.least, c.most)
			}
		}
	}
}

// C32: on each new connection AUTH and SELECT come before any load.
func TestReconnectAuthenticatesFirst(t *testing.T) {
	s := useFake(t, "authgate:5")
	respbench(t, "-p", s.port(), "-a", "pw", "--dbnum", "3", "-c", "2", "-n", "50", "--reconnect", "5", "-q", "set", "k", "v").check(t, good("set k v"))
	if s.count() != 50 {
		t.Errorf("%d SET answered, want 50", s.count())
	}
	for _, names := range s.firstCommands() {
		line := strings.Join(names, " ")
		if strings.Contains(line, "SET") && strings.Contains(line, "SELECT") && !strings.HasPrefix(line, "AUTH SELECT SET") {
			t.Errorf("a connection began with %s", line)
		}
	}
}

// C36: a server that never reads must not keep the process when it is told to stop.
func TestStopWithFullSendBuffers(t *testing.T) {
	for _, engine := range engines() {
		timed(t, func() string {
			s := useFake(t, "noread")
			p := start(t, hang, nil, "-p", s.port(), "--engine", engine, "-c", "4", "-P", "1000", "-d", "100000", "-n", "100000", "-t", "set", "-q", "--timeout", "0")
			for end := time.Now().Add(hang); s.count() == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
			}
			time.Sleep(time.Second) // until the buffers are full
			asked := time.Now()
			p.Process.Signal(syscall.SIGINT)
			o := p.end()
			took := time.Since(asked)
			if o.code != 130 {
				t.Errorf("%s: exit code %d\n%s", engine, o.code, o.stderr)
			}
			if took > time.Second {
				return fmt.Sprintf("%s: it took %v after SIGINT", engine, took)
			}
			return ""
		})
	}
}

// C171: too few descriptors are told before the first connection.
func TestFileLimit(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to set a limit in")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/respbench"
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	s := useFake(t, "ok")
	for args, needs := range map[string]string{"-c 100": "-c 100 needs 132 ", "-c 10 --threads 8": "-c 10 with 8 loops needs 70 "} {
		out, err := exec.Command(sh, "-c", "ulimit -n 40 && exec "+link+" "+args+" -n 200 -q -t ping -p "+s.port()).CombinedOutput()
		var exit *exec.ExitError
		if !asExit(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "Too many open files: "+needs) || !strings.Contains(string(out), "the limit is 40") {
			t.Errorf("%s: error %v, output %q", args, err, out)
		}
	}
	if s.count() != 0 {
		t.Errorf("%d requests were sent before the limit was noticed", s.count())
	}
}

// A reply to a request that is only half written belongs to none: what follows would be out of step.
func TestReplyBeforeTheRequest(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				io.ReadFull(conn, make([]byte, 20))
				io.WriteString(conn, okReply) // to CONFIG, too, which is no array and only warned of
				<-over                        // reads no more: the request cannot be written whole before the reply is read
			}()
		}
	}()
	port := strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
	for _, args := range []string{"-d 50000000 -n 3 -t set", "-d 50000000 -n 3 -P 2 --rps 10 -t set"} {
		args = "-q -c 1 --connect-timeout 300ms --timeout 5 -p " + port + " " + args
		respbench(t, strings.Fields(args)...).check(t, bad(`^Error: reply to a request that is not wholly written$`))
	}
}

// A server that takes a large request slowly is not silent, although it has nothing to say for longer than --timeout.
func TestSlowReaderIsNotSilent(t *testing.T) {
	t.Parallel()
	const size, takes = 40_000_000, 3 * time.Second
	port := onEach(t, func(conn net.Conn) {
		defer conn.Close()
		conn.(*net.TCPConn).SetReadBuffer(64 << 10)
		started, buf := time.Now(), make([]byte, 64<<10)
		for n := 0; n < size; {
			k, err := conn.Read(buf)
			if err != nil {
				return
			}
			if n += k; strings.Contains(string(buf[:k]), "CONFIG") {
				io.WriteString(conn, "-ERR unknown command\r\n")
				n = 0
			}
			time.Sleep(time.Until(started.Add(takes * time.Duration(n) / size))) // slow by definition
		}
		io.WriteString(conn, okReply)
		io.Copy(io.Discard, conn)
	})
	for _, engine := range engines() {
		args := "-q -c 1 -n 1 -t set --timeout 1 -d " + strconv.Itoa(size) + " -p " + port + " --engine " + engine
		timed(t, func() string {
			o := respbench(t, strings.Fields(args)...)
			if o.code == 1 {
				return o.stderr // a fake that had no processor for a second is silent
			}
			o.check(t, want{0, `^SET: [0-9.]+ ` + qRow, `^WARNING: Could not fetch server CONFIG$`})
			return ""
		})
	}
}
