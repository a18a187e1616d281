package kvstore

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

// running is a server of a test.
type running struct {
	*Server
	addr string
	done chan error
}

// startServer runs a server until the end of the test.
func startServer(t *testing.T, o Options) *running {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Server: s, done: make(chan error, 1)}
	port := make(chan int, 1)
	go func() { r.done <- s.Run(func(p int) { port <- p }) }()
	select {
	case p := <-port:
		r.addr = net.JoinHostPort(s.opts.Host, strconv.Itoa(p))
	case err := <-r.done:
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t) })
	return r
}

// stop ends the server in order.
func (r *running) stop(t *testing.T) {
	t.Helper()
	if r.done == nil {
		return
	}
	r.Stop()
	select {
	case err := <-r.done:
		if err != nil {
			t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		t.Error("the server does not stop")
	}
	r.done = nil
}

// wire is a raw connection.
type wire struct {
	t *testing.T
	*net.TCPConn
	in *bufio.Reader
}

func dialWire(t *testing.T, addr string) *wire {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return &wire{t, c.(*net.TCPConn), bufio.NewReader(c)}
}

func (w *wire) send(s string) {
	w.t.Helper()
	if _, err := io.WriteString(w.TCPConn, s); err != nil {
		w.t.Fatal(err)
	}
}

// expect reads exactly want.
func (w *wire) expect(want string) {
	w.t.Helper()
	got := make([]byte, len(want))
	n, err := io.ReadFull(w.in, got)
	if err == nil && string(got) == want {
		return
	}
	same := 0
	for same < n && got[same] == want[same] {
		same++
	}
	w.t.Fatalf("at byte %d of %d: got %.100q (%v), want %.100q", same, len(want), got[same:n], err, want[same:])
}

// closed reads up to the orderly end of the stream and returns what came.
func (w *wire) closed() string {
	w.t.Helper()
	rest, err := io.ReadAll(w.in)
	if err != nil {
		w.t.Fatalf("the connection did not end in order: %v", err)
	}
	return string(rest)
}

// roundTrip sends a command and returns the first line of the reply.
func (w *wire) roundTrip(args ...string) string {
	w.t.Helper()
	w.send(command3(args...))
	line, err := w.in.ReadString('\n')
	if err != nil {
		w.t.Fatalf("%q: %v", args, err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

func command3(args ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(args))
	for _, a := range args {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b.String()
}

// open checks that a connection still answers.
func (w *wire) open() {
	w.t.Helper()
	w.send("PING\r\n")
	w.expect("+PONG\r\n")
}

func TestWire(t *testing.T) {
	s := startServer(t, Options{})
	for _, c := range []struct {
		name   string
		send   string
		want   string
		closes bool
	}{
		{"inline LF", "PING\n", "+PONG\r\n", false},
		{"inline CRLF", "PING\r\n", "+PONG\r\n", false},
		{"blank lines", "\r\n\r\nPING\r\n", "+PONG\r\n", false},
		{"inline quotes", "SET k 'a b'\r\nGET k\r\n", "+OK\r\n$3\r\na b\r\n", false},
		{"zero count", "*0\r\n*1\r\n$4\r\nPING\r\n", "+PONG\r\n", false},
		{"negative count", "*-10\r\n*1\r\n$4\r\nPING\r\n", "+PONG\r\n", false},
		{"bad count", "*abc\r\n", "-ERR Protocol error: invalid multibulk length\r\n", true},
		{"bad length", "*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n", true},
		{"no dollar", "*1\r\nPING\r\n", "-ERR Protocol error: expected '$', got 'P'\r\n", true},
		{"LF only waits", "*1\n$4\nPING\n", "", false},
		{"long inline", strings.Repeat("x", 70000), "-ERR Protocol error: too big inline request\r\n", true},
		{"empty and binary", "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$0\r\n\r\n*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "+OK\r\n$0\r\n\r\n", false},
		{"binary key", command3("RSET", "a\x00b", "\r\n\r\n") + command3("RGET", "a\x00b"), "+OK\r\n$4\r\n\r\n\r\n\r\n", false},
		{"binary table key", command3("HSET", "a\x00b", "\r\n") + command3("HGET", "a\x00b"), "+OK\r\n$2\r\n\r\n\r\n", false},
		{"unknown", command3("foo"), "-ERR unknown command 'foo', with args beginning with: \r\n", false},
		{"unknown, empty name", command3(""), "-ERR unknown command '', with args beginning with: \r\n", false},
		{"unknown with arguments", command3("foo", "bar", "b\r\nz"), "-ERR unknown command 'foo', with args beginning with: 'bar' 'b  z' \r\n", false},
		{"SET arity", command3("SET", "k"), "-ERR wrong number of arguments for 'set' command\r\n", false},
		{"HSET arity", command3("HSET", "h", "f", "v", "g"), "-ERR wrong number of arguments for 'hset' command\r\n", false},
		{"GET arity", command3("GET"), "-ERR wrong number of arguments for 'get' command\r\n", false},
		{"SET options", command3("SET", "k", "v", "XX", "FOO"), "-ERR syntax error\r\n", false},
		{"SET with expiry", command3("SET", "k", "v", "EX", "10"), "-ERR syntax error\r\n", false},
		{"SELECT", "SELECT 0\nSELECT 16\nSELECT -1\nSELECT abc\n", "+OK\r\n-ERR DB index is out of range\r\n-ERR DB index is out of range\r\n-ERR value is not an integer or out of range\r\n", false},
		{"HELLO 4", "HELLO 4\n", "-NOPROTO unsupported protocol version\r\n", false},
		{"HELLO with a name that has a blank", command3("HELLO", "2", "SETNAME", "a b") + "CLIENT GETNAME\n",
			"-ERR Client names cannot contain spaces, newlines or special characters.\r\n$-1\r\n", false},
		{"SHUTDOWN that contradicts itself", "SHUTDOWN NOSAVE SAVE\n", "-ERR syntax error\r\n", false},
		{"COMMAND INFO", "COMMAND INFO nosuch\n", "*1\r\n$-1\r\n", false},
		{"stream at its end", "XADD x 18446744073709551615-18446744073709551615 f v\nXADD x * f v\n",
			"$41\r\n18446744073709551615-18446744073709551615\r\n-ERR The stream has exhausted the last possible ID, unable to add more items\r\n", false},
		{"CONFIG SET is whole or nothing", "CONFIG SET requirepass x nosuch 1\nCONFIG GET requirepass\n",
			"-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'\r\n*2\r\n$11\r\nrequirepass\r\n$0\r\n\r\n", false},
		{"CONFIG GET save", "CONFIG GET save\n", "*2\r\n$4\r\nsave\r\n$0\r\n\r\n", false},
		{"ECHO", "ECHO hi\n", "$2\r\nhi\r\n", false},
		{"QUIT", "QUIT\r\nPING\r\n", "+OK\r\n", true},
		{"HTTP POST", "POST / HTTP/1.1\r\nHost: x\r\n\r\nSET evil 1\r\n", "", true},
		{"HTTP GET", "GET / HTTP/1.1\r\nHost: x\r\n\r\nSET evil 1\r\n", "-ERR wrong number of arguments for 'get' command\r\n", true},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\n\x03\n", "", false},
		{"SELECT above 32 bits", "SELECT 99999999999\n", "-ERR value is out of range, value must between -2147483648 and 2147483647\r\n", false},
		{"lower case and mixed", command3("sEt", "c", "1") + command3("gET", "c"), "+OK\r\n$1\r\n1\r\n", false},
		{"RSET twice", command3("RSET", "r", "1") + command3("RSET", "r", "2") + command3("RMOD", "r", "3") + command3("RGET", "r") + command3("REXIST", "r") + command3("RDEL", "r") + command3("RMOD", "r", "1"),
			"+OK\r\n-ERR key already exists\r\n+OK\r\n$1\r\n3\r\n:1\r\n:1\r\n-ERR no such key\r\n", false},
		{"table", command3("HSET", "t", "1") + command3("HSET", "t", "2") + command3("HGET", "t") + command3("HMOD", "t", "3") + command3("HEXIST", "t") + command3("HDEL", "t") + command3("HGET", "t") + command3("HMOD", "t", "1"),
			"+OK\r\n+OK\r\n$1\r\n2\r\n+OK\r\n:1\r\n:1\r\n$-1\r\n-ERR no such key\r\n", false},
		{"both kinds of HSET", command3("HSET", "kind", "1") + command3("HSET", "kind", "f", "v") + command3("HGET", "kind", "f") + command3("HSET", "hash", "f", "v") + command3("HSET", "hash", "1") + command3("HGET", "hash") + command3("HDEL", "hash"),
			"+OK\r\n-" + errWrongType + "\r\n-" + errWrongType + "\r\n:1\r\n-" + errWrongType + "\r\n-" + errWrongType + "\r\n-" + errWrongType + "\r\n", false},
		{"RRANGE", command3("RSET", "o1", "a") + command3("RSET", "o3", "c") + command3("RSET", "o2", "b") + command3("RRANGE", "o1", "o3", "LIMIT", "2") + command3("RRANGE", "o2", "o9"),
			"+OK\r\n+OK\r\n+OK\r\n*4\r\n$2\r\no1\r\n$1\r\na\r\n$2\r\no2\r\n$1\r\nb\r\n*4\r\n$2\r\no2\r\n$1\r\nb\r\n$2\r\no3\r\n$1\r\nc\r\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := dialWire(t, s.addr)
			w.send(c.send)
			w.expect(c.want)
			switch {
			case c.closes:
				if rest := w.closed(); rest != "" {
					t.Errorf("after the reply: %q", rest)
				}
			case c.want != "":
				w.open()
			}
		})
	}
	if got := dialWire(t, s.addr).roundTrip("GET", "evil"); got != "$-1" {
		t.Errorf("a line behind HTTP headers was executed: %q", got)
	}
}

// A bulk of 512 MB that is announced and does not come costs nothing.
func TestAnnouncedBulkCostsNothing(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	w.send("*1\r\n$536870912\r\nabc")
	other := dialWire(t, s.addr)
	var size int
	for deadline := time.Now().Add(patience); size == 0 && time.Now().Before(deadline); {
		_, size = clientField(other, "qbuf", "resp=2")
	}
	if size != len("*1\r\n$536870912\r\nabc") {
		t.Errorf("the input buffer has %d bytes", size)
	}
}

// clientField sums a numeric field of CLIENT LIST over the clients whose line contains part.
func clientField(w *wire, field, part string) (clients, sum int) {
	head := w.roundTrip("CLIENT", "LIST")
	n, _ := strconv.Atoi(head[1:])
	body := make([]byte, n+2)
	if _, err := io.ReadFull(w.in, body); err != nil {
		w.t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(string(body)), "\n") {
		if !strings.Contains(l, part) {
			continue
		}
		clients++
		for _, f := range strings.Fields(l) {
			if v, ok := strings.CutPrefix(f, field+"="); ok {
				k, _ := strconv.Atoi(v)
				sum += k
			}
		}
	}
	return clients, sum
}

// A value that comes in many pieces is taken in time that grows with its size, and comes back whole.
func TestLargeValue(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	value := strings.Repeat("0123456789abcdef", 1<<22) // 64 MiB
	go io.WriteString(w.TCPConn, command3("SET", "big", value)+command3("GET", "big")+command3("APPEND", "big", "xyz")+command3("STRLEN", "big"))
	w.expect("+OK\r\n$67108864\r\n" + value + "\r\n:67108867\r\n:67108867\r\n")
}

// The error that ends a stream arrives behind all replies, and the end is an orderly one, although the client goes on sending.
func TestProtocolErrorIsReadable(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	go io.WriteString(w.TCPConn, strings.Repeat(command3("SET", "k", "v"), 10000)+"*2\r\n$3\r\nGET\r\n$-1\r\n"+strings.Repeat("x", 1<<20))
	w.expect(strings.Repeat("+OK\r\n", 10000) + "-ERR Protocol error: invalid bulk length\r\n")
	if rest := w.closed(); rest != "" {
		t.Errorf("behind the error: %.100q", rest)
	}
}

// A client that closes its half of the connection gets all replies to what it sent, also more than socket buffers hold, and
// more than the server lets wait.
func TestHalfCloseGetsAllReplies(t *testing.T) {
	s := startServer(t, Options{})
	setup := dialWire(t, s.addr)
	setup.roundTrip("SET", "k", strings.Repeat("v", 10000))
	w := dialWire(t, s.addr)
	const n = 4000 // 40 MB of replies
	w.send(strings.Repeat("GET k\r\n", n))
	w.CloseWrite()
	reply := fmt.Sprintf("$10000\r\n%s\r\n", strings.Repeat("v", 10000))
	for range n {
		w.expect(reply)
	}
	if rest := w.closed(); rest != "" {
		t.Errorf("behind the replies: %.100q", rest)
	}
}

// A client that never reads is stopped: its commands wait when 16 MiB of output do, and others are served meanwhile.
func TestClientThatDoesNotRead(t *testing.T) {
	s := startServer(t, Options{})
	other := dialWire(t, s.addr)
	other.roundTrip("SET", "big", strings.Repeat("v", 100000))
	w := dialWire(t, s.addr)
	w.send(strings.Repeat("GET big\r\n", 20000)) // 2 GB of replies
	waiting := 0
	for deadline := time.Now().Add(patience); waiting < MaxOutputWait && time.Now().Before(deadline); {
		_, waiting = clientField(other, "omem", "id=")
	}
	if waiting < MaxOutputWait || waiting > 2*MaxOutputWait {
		t.Errorf("%d bytes of output wait, want little more than %d", waiting, MaxOutputWait)
	}
	for range 100 {
		start := time.Now()
		other.open()
		if took := time.Since(start); took > time.Second {
			t.Errorf("another client's PING took %v", took)
		}
	}
	// It gets everything when it reads after all.
	reply := fmt.Sprintf("$100000\r\n%s\r\n", strings.Repeat("v", 100000))
	for range 1000 {
		w.expect(reply)
	}
}

// What a client that never read has asked for is not executed any more when it has gone, whether it had closed its half of the
// connection before or not: it would be work for nobody, and others would wait for it.
func TestUnreadRepliesOfAClientThatWent(t *testing.T) {
	for _, half := range []bool{false, true} {
		t.Run(fmt.Sprintf("half=%v", half), func(t *testing.T) {
			s := startServer(t, Options{})
			other := dialWire(t, s.addr)
			other.roundTrip("SET", "big", strings.Repeat("v", 100000))
			w := dialWire(t, s.addr)
			w.send(strings.Repeat("GET big\r\n", 200000)) // 20 GB of replies
			waitForClients(t, other, "omem", func(_, waiting int) bool { return waiting >= MaxOutputWait })
			if half {
				w.CloseWrite()
				waitForClients(t, other, "id", func(clients, _ int) bool { return clients == 1 })
			}
			w.SetLinger(0)
			w.Close()
			waitForClients(t, other, "id", func(clients, _ int) bool { return clients == 1 })
			s.senders.Wait()
			other.open()
			other.send("INFO commandstats\r\n")
			stats, _ := readReply(other.in)
			_, stats, _ = strings.Cut(stats, "cmdstat_get:calls=")
			if n, err := strconv.Atoi(stats[:strings.IndexByte(stats, ',')]); err != nil || n > 2000 {
				t.Errorf("%d of its commands were executed (%v)", n, err)
			}
		})
	}
}

// waitForClients waits until the number of clients and the sum of a field of theirs are as wanted.
func waitForClients(t *testing.T, w *wire, field string, done func(clients, sum int) bool) {
	t.Helper()
	clients, sum := 0, 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if clients, sum = clientField(w, field, "id="); done(clients, sum) {
			return
		}
	}
	t.Fatalf("%d clients, %s is %d", clients, field, sum)
}

// Connections of clients that vanish are forgotten.
func TestClientsThatVanish(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	for i := range 200 {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, strings.Repeat("PING\r\n", i)+"*2\r\n$3\r\nGET\r\n$100\r\nhalf")
		c.(*net.TCPConn).SetLinger(i % 2 * 5) // half of them reset
		c.Close()
	}
	left := 0
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if left, _ = clientField(w, "id", "id="); left == 1 {
			return
		}
	}
	t.Errorf("%d clients are left, want 1", left)
}

func TestMaxClients(t *testing.T) {
	s := startServer(t, Options{MaxClients: 2})
	a, b := dialWire(t, s.addr), dialWire(t, s.addr)
	a.open()
	b.open()
	c := dialWire(t, s.addr)
	if got := c.closed(); got != "-ERR max number of clients reached\r\n" {
		t.Errorf("got %q", got)
	}
	a.open()
}

// Who is refused can read why, also when it has sent commands already.
func TestRefusedClientReadsWhy(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := dialWire(t, l.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	w.send("PING\r\nPING\r\n")
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // now the rest is there as well
		t.Fatal(err)
	}
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	raw.Control(func(fd uintptr) { refuse(int(fd), errMaxClients) })
	c.Close()
	if got := w.closed(); got != errMaxClients {
		t.Errorf("got %q", got)
	}
}

func TestPassword(t *testing.T) {
	s := startServer(t, Options{RequirePass: "secret"})
	for _, c := range []struct{ name, send, want string }{
		{"none", "GET k\n", "-NOAUTH Authentication required.\r\n"},
		{"wrong", "AUTH wrong\nGET k\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n-NOAUTH Authentication required.\r\n"},
		{"right", "AUTH secret\nGET k\n", "+OK\r\n$-1\r\n"},
		{"with user", "AUTH default secret\nGET k\n", "+OK\r\n$-1\r\n"},
		{"wrong user", "AUTH other secret\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"},
		{"HELLO without", "HELLO 3\n", "-NOAUTH HELLO must be called"},
		{"HELLO with", "HELLO 3 AUTH default secret\n", "%7\r\n"},
		{"narrow limits", "*11\r\n", "-ERR Protocol error: unauthenticated multibulk length\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := dialWire(t, s.addr)
			w.send(c.send)
			w.expect(c.want)
		})
	}
	open := startServer(t, Options{})
	w := dialWire(t, open.addr)
	if got := w.roundTrip("AUTH", "x"); !strings.HasPrefix(got, "-ERR AUTH <password> called without any password") {
		t.Errorf("got %q", got)
	}
}

// INFO has the sections that are asked for, in any case of letters, and figures that are figures.
func TestInfo(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	for ask, want := range map[string]string{
		"INFO":                   "[Server Clients Memory Persistence Stats CPU Keyspace]",
		"INFO everything":        "[Server Clients Memory Persistence Stats CPU Commandstats Keyspace]",
		"INFO cpu Commandstats":  "[CPU Commandstats]",
		"INFO nosuch":            "[]",
		"INFO MEMORY keyspace x": "[Memory Keyspace]",
	} {
		w.send(ask + "\r\n")
		info, err := readReply(w.in)
		if err != nil {
			t.Fatal(err)
		}
		headings := []string{}
		for _, l := range strings.Split(info, "\r\n") {
			if name, ok := strings.CutPrefix(l, "# "); ok {
				headings = append(headings, name)
			}
			for _, figure := range []string{"used_cpu_sys:", "used_cpu_user:", "used_memory:", "used_memory_rss:"} {
				if text, ok := strings.CutPrefix(l, figure); ok {
					if f, err := strconv.ParseFloat(text, 64); err != nil || f < 0 {
						t.Errorf("%s: %q", ask, l)
					}
				}
			}
		}
		if fmt.Sprint(headings) != want {
			t.Errorf("%s: %v, want %s", ask, headings, want)
		}
	}
}

func TestResp3(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	w.send("HELLO 3 SETNAME me\r\nCLIENT GETNAME\r\nGET none\r\nZADD z 1.5 m\r\nZPOPMIN z\r\nHSET h f v\r\nHGETALL h\r\nLPOP l 3\r\nSADD s x\r\nSPOP s 1\r\n")
	w.expect("%7\r\n$6\r\nserver\r\n$7\r\nkvstore\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n$5\r\nproto\r\n:3\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n")
	w.expect("$2\r\nme\r\n_\r\n:1\r\n*2\r\n$1\r\nm\r\n,1.5\r\n:1\r\n%1\r\n$1\r\nf\r\n$1\r\nv\r\n_\r\n:1\r\n~1\r\n$1\r\nx\r\n")
}

// The server that stores nothing answers each command once: many at once, in small pieces, larger than any buffer, and when
// the client reads none of the replies for a while.
func TestNull(t *testing.T) {
	for _, onGnet := range []bool{false, true} {
		t.Run(fmt.Sprintf("gnet=%v", onGnet), func(t *testing.T) {
			s := startServer(t, Options{Null: true, MaxClients: 2, nullOnGnet: onGnet})
			w := dialWire(t, s.addr)
			w.send("PING\n")
			w.expect(nullReply)
			const n = 50000
			sent := make(chan error)
			go func() {
				_, err := io.WriteString(w.TCPConn, strings.Repeat(command3("SET", "k", "some value")+"PING\n", n))
				sent <- err
			}()
			if err := <-sent; err != nil { // nothing has been read so far
				t.Fatal(err)
			}
			w.expect(strings.Repeat(nullReply, 2*n))

			pieces := dialWire(t, s.addr)
			for _, b := range []byte(command3("SET", "k", "v") + "\r\n*0\r\nPING\r\n") {
				pieces.send(string(b))
			}
			pieces.expect(strings.Repeat(nullReply, 2))
			pieces.send(command3("SET", "k", strings.Repeat("\r\n", 1<<20)) + command3("GET", "k", "x"))
			pieces.expect(strings.Repeat(nullReply, 2))

			third := dialWire(t, s.addr)
			third.expect(errMaxClients)
			third.closed()

			w.send("PING\r\n*x\r\n")
			w.expect(nullReply + "-ERR Protocol error: invalid multibulk length\r\n")
			w.closed()
		})
	}
}

func TestShutdownCommand(t *testing.T) {
	s := startServer(t, Options{})
	w := dialWire(t, s.addr)
	w.send("SHUTDOWN\r\n")
	w.closed()
	select {
	case err := <-s.done:
		if err != nil {
			t.Error(err)
		}
		s.done = nil
	case <-time.After(patience):
		t.Error("the server goes on")
	}
}

func TestPortInUse(t *testing.T) {
	s := startServer(t, Options{})
	port, _ := strconv.Atoi(s.addr[strings.LastIndexByte(s.addr, ':')+1:])
	other, err := New(Options{Port: port})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Run(nil); err == nil {
		t.Error("two servers on one port")
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want string
	}{
		{"port", Options{Port: 70000}, "--port"},
		{"persistence", Options{Persistence: "rdb"}, "--persistence"},
		{"fsync", Options{Fsync: "sometimes"}, "--fsync"},
		{"allocator", Options{Allocator: "jemalloc"}, "--allocator"},
		{"maxclients", Options{MaxClients: -1}, "--maxclients"},
		{"null", Options{Null: true, Persistence: PersistIncremental}, "--null"},
		{"repair and strict", Options{Repair: true, Strict: true}, "--repair"},
		{"dir", Options{Persistence: PersistIncremental, Dir: "testdata/absent"}, "--dir"},
	} {
		if _, err := New(c.o); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %s", c.name, err, c.want)
		}
	}
	if _, err := New(Options{Persistence: PersistIncremental, Dir: t.TempDir() + "/none"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
}
