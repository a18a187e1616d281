package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Fake servers that misbehave in one way each. They share no code with the program: what they read and write is
// spelt out here, so that a wrong idea of the protocol cannot agree with itself.
//
// All answer CONFIG and HELLO as a real server would unless the fake is about these; the two, and INFO, never count
// as load. Every other command is load, numbered from 1 on its connection and in all.

const (
	okReply     = "+OK\r\n"
	configReply = "*2\r\n$4\r\nsave\r\n$0\r\n\r\n"
	helloReply  = "%1\r\n+proto\r\n:3\r\n"
)

// endless is the beginning of a reply, longer than any to a question of the set-up, whose end does not come.
var endless = "$400000000\r\n" + strings.Repeat("x", 20<<20)

// silence is a config that is never sent.
const silence = "(nothing)"

// fake is how one fake server behaves. Empty fields mean the ordinary answer.
type fake struct {
	config, hello string
	noInfo        bool          // closes the connection at INFO, as proxies do
	greeting      string        // sent right after accept
	hangUp        bool          // closes behind the greeting
	idle          time.Duration // closes a connection that has said nothing for so long; 0 = never
	refuseFor     time.Duration // answers refusal to load for so long after the start
	refusal       string
	needAuth      bool // answers -NOAUTH to everything before AUTH
	mute          bool // does not answer AUTH
	// load answers the load commands of one read. n is the number of the first on its connection.
	load func(c *fakeConn, cmds [][]string, n int) error
}

// fakeServer is a running fake.
type fakeServer struct {
	fake
	ln      net.Listener
	started time.Time

	mu    sync.Mutex
	loads int            // load commands in all
	conns int            // connections that sent a load command
	calls map[string]int // by command name, upper case, set-up included
	order [][]string     // command names of each connection, the first few
	took  []float64      // FAKE(slow): ms from the read of a command to its reply
}

// fakeConn is one connection of a fake.
type fakeConn struct {
	net.Conn
	s      *fakeServer
	id     int
	authed bool
	loads  int
	readAt time.Time // of the commands being answered
}

func (c *fakeConn) send(s string) error {
	_, err := io.WriteString(c, s)
	return err
}

// each answers every command by itself.
func each(answer func(c *fakeConn, cmd []string, n int) error) func(*fakeConn, [][]string, int) error {
	return func(c *fakeConn, cmds [][]string, n int) error {
		for i, cmd := range cmds {
			if err := answer(c, cmd, n+i); err != nil {
				return err
			}
		}
		return nil
	}
}

// always answers every load command with the same bytes, those of one read in one write.
func always(reply string) func(*fakeConn, [][]string, int) error {
	return func(c *fakeConn, cmds [][]string, n int) error {
		return c.send(strings.Repeat(reply, len(cmds)))
	}
}

// newFake makes a fake from its name, such as "ok", "closeafter:5" or `reply:"+OK\r\n"`.
func newFake(spec string) (fake, error) {
	name, arg, _ := strings.Cut(spec, ":")
	number, _ := strconv.Atoi(arg)
	f := fake{config: configReply, hello: helloReply, load: always(okReply)}
	switch name {
	case "ok":
	case "reply":
		text, err := strconv.Unquote(arg)
		if err != nil {
			return f, fmt.Errorf("reply %s: %w", arg, err)
		}
		f.load = always(text)
	case "two":
		f.load = always(okReply + okReply)
	case "byte":
		f.load = each(oneByOne)
	case "idle":
		f.idle = time.Duration(number) * time.Millisecond
	case "closeafter":
		f.load = each(closeAfter(number, false))
	case "rstafter":
		f.load = each(closeAfter(number, true))
	case "lastfin":
		f.load = each(replyAndClose(number))
	case "errfin":
		f.load = each(func(c *fakeConn, _ []string, _ int) error {
			c.send("-ERR too bad\r\n")
			return io.EOF
		})
	case "partfin":
		f.load = each(func(c *fakeConn, _ []string, _ int) error {
			c.send("$100\r\nabc")
			return io.EOF
		})
	case "alert": // a port with TLS, to which a plain command is no hello
		f.greeting, f.hangUp = "\x15\x03\x03\x00\x02\x02\x46", true
	case "silent":
		f.load = func(*fakeConn, [][]string, int) error { return nil }
	case "noread":
		// Holds the socket open, unread from the first load on, for as long as the test process lives.
		f.load = func(*fakeConn, [][]string, int) error { select {} }
	case "errat":
		f.load = each(errorAt(number))
	case "lacks":
		f.load = each(func(c *fakeConn, cmd []string, _ int) error {
			if strings.EqualFold(cmd[0], arg) {
				return c.send("-ERR unknown command '" + arg + "'\r\n")
			}
			return c.send(okReply)
		})
	case "slow":
		seconds, err := strconv.ParseFloat(arg, 64)
		if err != nil {
			return f, err
		}
		f.load = each(slow(time.Duration(seconds * float64(time.Second))))
	case "stag":
		f.load = staggered
	case "greeting":
		f.greeting = "+HI\r\n"
	case "denied":
		f.greeting, f.hangUp = "-DENIED Redis is running in protected mode\r\n", true
	case "pushing":
		f.greeting = ">2\r\n+message\r\n+hi\r\n"
	case "pushdenied":
		f.greeting = ">2\r\n+message\r\n+hi\r\n-DENIED Redis is running in protected mode\r\n"
	case "pushonly":
		f.load = func(c *fakeConn, _ [][]string, _ int) (err error) {
			for ; err == nil; time.Sleep(20 * time.Millisecond) { // as often as it has something to push, by definition
				err = c.send(">2\r\n+message\r\n+hi\r\n")
			}
			return err
		}
	case "authsilent":
		f.needAuth, f.mute = true, true
	case "loading":
		f.refuseFor, f.refusal = time.Duration(number)*time.Millisecond, "-LOADING Redis is loading the dataset in memory\r\n"
	case "authgate":
		f.needAuth, f.load = true, each(closeAfter(number, false))
	case "cfgerr":
		f.config = "-ERR unknown command 'CONFIG'\r\n"
	case "cfgempty":
		f.config = "*0\r\n"
	case "cfgclose":
		f.config = ""
	case "proxy": // a command that it does not know ends the connection
		f.config, f.noInfo = "", true
	case "cfgsilent":
		f.config = silence
	case "cfgendless":
		f.config = endless
	case "helloendless":
		f.hello = endless
	case "noauthcfg":
		f.config = "-NOAUTH Authentication required.\r\n"
	case "nohello":
		f.hello = "-ERR unknown command 'HELLO'\r\n"
	case "noproto":
		f.hello = "-NOPROTO unsupported protocol version\r\n"
	case "bulk":
		f.load = always("$" + arg + "\r\n" + strings.Repeat("x", number) + "\r\n")
	default:
		return f, fmt.Errorf("no fake server is called %q", name)
	}
	return f, nil
}

func oneByOne(c *fakeConn, _ []string, _ int) error {
	for i := range okReply {
		if err := c.send(okReply[i : i+1]); err != nil {
			return err
		}
		time.Sleep(500 * time.Microsecond) // the fake is slow by definition
	}
	return nil
}

// closeAfter answers the first commands of a connection and closes when the next one arrives.
func closeAfter(answered int, reset bool) func(*fakeConn, []string, int) error {
	return func(c *fakeConn, _ []string, n int) error {
		if n <= answered {
			return c.send(okReply)
		}
		if tcp, ok := c.Conn.(*net.TCPConn); ok && reset {
			tcp.SetLinger(0)
		}
		return io.EOF
	}
}

// replyAndClose closes right behind the reply to command number last.
func replyAndClose(last int) func(*fakeConn, []string, int) error {
	return func(c *fakeConn, _ []string, n int) error {
		err := c.send(okReply)
		if n == last {
			return io.EOF
		}
		return err
	}
}

// errorAt answers the k-th load command in all with an error.
func errorAt(k int) func(*fakeConn, []string, int) error {
	return func(c *fakeConn, _ []string, _ int) error {
		c.s.mu.Lock()
		c.s.calls["answered"]++
		hit := c.s.calls["answered"] == k
		c.s.mu.Unlock()
		if hit {
			return c.send(fmt.Sprintf("-ERR boom at %d\r\n", k))
		}
		return c.send(okReply)
	}
}

func slow(d time.Duration) func(*fakeConn, []string, int) error {
	return func(c *fakeConn, _ []string, _ int) error {
		time.Sleep(d)
		took := float64(time.Since(c.readAt)) / 1e6
		c.s.mu.Lock()
		c.s.took = append(c.s.took, took)
		c.s.mu.Unlock()
		return c.send(okReply)
	}
}

// staggered sends the first reply of a read at once and the others half a second later.
func staggered(c *fakeConn, cmds [][]string, _ int) error {
	if err := c.send(okReply); err != nil || len(cmds) == 1 {
		return err
	}
	time.Sleep(500 * time.Millisecond)
	return c.send(strings.Repeat(okReply, len(cmds)-1))
}

// startFake runs a fake on a free port of 127.0.0.1.
func startFake(spec string) (*fakeServer, error) {
	f, err := newFake(spec)
	if err != nil {
		return nil, err
	}
	return runFake(f)
}

func runFake(f fake) (*fakeServer, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &fakeServer{fake: f, ln: ln, started: time.Now(), calls: map[string]int{}}
	go s.run()
	return s, nil
}

func (s *fakeServer) run() {
	for {
		conn, err := s.ln.Accept()
		if err != nil {
			return
		}
		go s.serve(conn)
	}
}

// useFake runs a fake until the test ends.
func useFake(t testing.TB, spec string) *fakeServer {
	t.Helper()
	s, err := startFake(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	return s
}

func (s *fakeServer) close() { s.ln.Close() }

func (s *fakeServer) port() string { return strconv.Itoa(s.ln.Addr().(*net.TCPAddr).Port) }

// count is how many load commands came.
func (s *fakeServer) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loads
}

// log is what FAKE(slow) noted: mean, least and most, in ms.
func (s *fakeServer) log() (mean, least, most float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ms := range s.took {
		mean += ms / float64(len(s.took))
	}
	return mean, slices.Min(s.took), slices.Max(s.took)
}

// awaitConnection waits until a client has connected.
func (s *fakeServer) awaitConnection(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(hang); ; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		n := len(s.order)
		s.mu.Unlock()
		if n > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nobody connected")
		}
	}
}

// called is how often a command came.
func (s *fakeServer) called(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[name]
}

// firstCommands are the names of the first commands of each connection that sent load.
func (s *fakeServer) firstCommands() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out [][]string
	for _, names := range s.order {
		if len(names) > 0 {
			out = append(out, append([]string(nil), names...))
		}
	}
	return out
}

func (s *fakeServer) serve(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	c := &fakeConn{Conn: conn, s: s, id: len(s.order)}
	s.order = append(s.order, nil)
	s.mu.Unlock()
	if s.greeting != "" && c.send(s.greeting) != nil || s.hangUp {
		return
	}
	r := bufio.NewReaderSize(conn, 1<<16)
	for {
		if s.idle > 0 {
			conn.SetReadDeadline(time.Now().Add(s.idle))
		}
		cmds, err := readBatch(r)
		c.readAt = time.Now()
		if err != nil || s.answer(c, cmds) != nil {
			return
		}
	}
}

// answer deals with the set-up commands of one read, and hands runs of load commands to the fake.
func (s *fakeServer) answer(c *fakeConn, cmds [][]string) error {
	for i := 0; i < len(cmds); {
		end := i
		for end < len(cmds) && s.isLoad(c, cmds[end]) {
			end++
		}
		if end > i {
			if err := s.answerLoad(c, cmds[i:end]); err != nil {
				return err
			}
			i = end
			continue
		}
		if err := s.answerSetup(c, cmds[i]); err != nil {
			return err
		}
		i++
	}
	return nil
}

const fewNames = 8

func (s *fakeServer) note(c *fakeConn, cmd []string) string {
	name := ""
	if len(cmd) > 0 {
		name = strings.ToUpper(cmd[0])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[name]++
	if len(s.order[c.id]) < fewNames {
		s.order[c.id] = append(s.order[c.id], name)
	}
	return name
}

func (s *fakeServer) isLoad(c *fakeConn, cmd []string) bool {
	switch name := strings.ToUpper(cmd[0]); name {
	case "CONFIG", "HELLO", "INFO":
		return false
	case "AUTH", "SELECT", "CLIENT":
		return !s.needAuth
	}
	return !s.needAuth || c.authed
}

func (s *fakeServer) answerLoad(c *fakeConn, cmds [][]string) error {
	for _, cmd := range cmds {
		s.note(c, cmd)
	}
	first := c.loads + 1
	s.mu.Lock()
	if c.loads == 0 {
		s.conns++
	}
	s.loads += len(cmds)
	s.mu.Unlock()
	c.loads += len(cmds)
	if time.Since(s.started) < s.refuseFor {
		return c.send(strings.Repeat(s.refusal, len(cmds)))
	}
	return s.load(c, cmds, first)
}

func (s *fakeServer) answerSetup(c *fakeConn, cmd []string) error {
	name := s.note(c, cmd)
	if s.needAuth && !c.authed && name != "AUTH" {
		return c.send("-NOAUTH Authentication required.\r\n")
	}
	switch name {
	case "CONFIG":
		switch s.config {
		case "":
			return io.EOF
		case silence:
			return nil
		}
		return c.send(s.config)
	case "HELLO":
		return c.send(s.hello)
	case "INFO":
		if s.noInfo {
			return io.EOF
		}
		return c.send("$0\r\n\r\n")
	case "AUTH":
		if s.mute {
			return nil
		}
		c.authed = true
	}
	return c.send(okReply)
}

// readBatch reads a command, and all others that came with it.
func readBatch(r *bufio.Reader) (cmds [][]string, err error) {
	for len(cmds) == 0 || r.Buffered() > 0 {
		cmd, err := readCommand(r)
		if err != nil {
			return nil, err
		}
		if len(cmd) > 0 {
			cmds = append(cmds, cmd)
		}
	}
	return cmds, nil
}

// readCommand reads an array of bulk strings, or an inline line.
func readCommand(r *bufio.Reader) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if !strings.HasPrefix(line, "*") {
		return strings.Fields(line), nil
	}
	n, err := strconv.Atoi(line[1:])
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		if args[i], err = readBulk(r); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func readBulk(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return "", err
	}
	size, err := strconv.Atoi(strings.Trim(line, "$\r\n"))
	if err != nil {
		return "", err
	}
	body := make([]byte, size+2)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", err
	}
	if !bytes.HasSuffix(body, []byte("\r\n")) {
		return "", fmt.Errorf("bulk of %d bytes has no CRLF behind it", size)
	}
	return string(body[:size]), nil
}
