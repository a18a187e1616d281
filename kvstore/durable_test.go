package kvstore

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startOn runs a server whose log is in a file system of the test.
func startOn(t *testing.T, fs *crashFS, fsync string) *running {
	t.Helper()
	o := Options{Persistence: PersistIncremental, Fsync: fsync}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	s := newServer(o)
	if err := s.openLog(fs); err != nil {
		t.Fatal(err)
	}
	s.log.journal.ahead = min(s.log.journal.ahead, 4096)
	s.lock, _ = lockDir(t.TempDir())
	r := &running{Server: s, done: make(chan error, 1)}
	port := make(chan int, 1)
	go func() { r.done <- s.Run(func(p int) { port <- p }) }()
	r.addr = net.JoinHostPort(s.opts.Host, strconv.Itoa(<-port))
	return r
}

// silent checks that nothing comes for a while.
func (w *wire) silent() {
	w.t.Helper()
	w.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if b, err := w.in.Peek(1); err == nil {
		w.t.Fatalf("got %q, want nothing yet", b)
	} else if !errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Fatal(err)
	}
	w.SetReadDeadline(time.Now().Add(patience))
}

// With always, while the sync hangs no reply leaves, neither to the change nor to a read behind it; an orderly half-close still
// gets them all.
func TestBlockedSyncMeansNoReply(t *testing.T) {
	fs := newCrashFS(1)
	s := startOn(t, fs, FsyncAlways)
	gate := make(chan struct{})
	fs.mu.Lock()
	fs.gate = gate
	fs.mu.Unlock()
	w, half := dialWire(t, s.addr), dialWire(t, s.addr)
	w.send("SET k v\r\nGET k\r\n")
	half.send("SET h v\r\nGET h\r\nQUIT\r\n")
	half.CloseWrite()
	w.silent()
	half.silent()
	close(gate)
	w.expect("+OK\r\n$1\r\nv\r\n")
	half.expect("+OK\r\n$1\r\nv\r\n+OK\r\n")
	half.closed()
	s.stop(t)
}

// With always, a failed sync turns the replies to the changes that wait for it into errors, leaves the others as they are, and
// refuses changes from then on.
func TestFailedSyncIsNotAcknowledged(t *testing.T) {
	fs := newCrashFS(1)
	s := startOn(t, fs, FsyncAlways)
	w := dialWire(t, s.addr)
	w.send("SET before 1\r\n")
	w.expect("+OK\r\n")
	fs.mu.Lock()
	fs.failAt, fs.failWith = fs.calls+2, syscall.EIO // the write, then the sync
	fs.mu.Unlock()
	w.send("PING\r\nSET k v\r\nGET before\r\nINCR n\r\n")
	const refused = "-MISCONF Errors writing to the operation log: input/output error\r\n"
	w.expect("+PONG\r\n" + refused + "$1\r\n1\r\n" + refused)
	w.send("SET k v\r\nGET before\r\nPING\r\n")
	w.expect(refused + "$1\r\n1\r\n+PONG\r\n")
	s.Stop()
	if err := <-s.done; !errors.Is(err, syscall.EIO) {
		t.Errorf("Run: %v, want the failure", err)
	}
	fs.crash()
	after := startOn(t, fs, FsyncAlways)
	w = dialWire(t, after.addr)
	w.send("GET before\r\n")
	w.expect("$1\r\n1\r\n")
	after.stop(t)
}

// load has clients that set keys to ascending numbers until stop is closed. acked gives, for each key, the numbers that were
// acknowledged and when.
type load struct {
	wg    sync.WaitGroup
	stop  chan struct{}
	mu    sync.Mutex
	acked map[string]ack
	older map[string][]ack
}

type ack struct {
	n  int
	at time.Time
}

func startLoad(addr string, clients int) *load {
	l := &load{stop: make(chan struct{}), acked: map[string]ack{}, older: map[string][]ack{}}
	for i := range clients {
		l.wg.Add(1)
		go func() {
			defer l.wg.Done()
			l.client(addr, fmt.Sprint("key", i))
		}()
	}
	return l
}

func (l *load) client(addr, key string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer c.Close()
	buf := make([]byte, 64)
	for n := 1; ; n++ {
		select {
		case <-l.stop:
			return
		default:
		}
		if _, err := io.WriteString(c, command3("SET", key, strconv.Itoa(n))); err != nil {
			return
		}
		if k, err := c.Read(buf); err != nil || string(buf[:k]) != "+OK\r\n" {
			return
		}
		l.mu.Lock()
		l.acked[key] = ack{n, time.Now()}
		l.older[key] = append(l.older[key], ack{n, time.Now()})
		l.mu.Unlock()
	}
}

// total counts the acknowledged changes.
func (l *load) total() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.acked {
		n += a.n
	}
	return n
}

// check compares what was acknowledged before until with what a server has.
func (l *load) check(t *testing.T, s *Server, until time.Time) {
	t.Helper()
	checked := 0
	for key, acks := range l.older {
		want := 0
		for _, a := range acks {
			if a.at.Before(until) {
				want = a.n
			}
		}
		got := 0
		if rec := s.store.plain.get([]byte(key)); rec != nil {
			value, _ := recordValue(rec)
			var err error
			if got, err = strconv.Atoi(string(value)); err != nil {
				t.Errorf("%s has the wrong value %q", key, value)
			}
		}
		if got < want {
			t.Errorf("%s is %d, but %d was acknowledged", key, got, want)
		}
		if last := acks[len(acks)-1].n; got > last+1 {
			t.Errorf("%s is %d, but only %d were sent", key, got, last+1)
		}
		if want > 0 {
			checked++
		}
	}
	if checked == 0 {
		t.Error("nothing was acknowledged")
	}
}

// waitFor waits until a load has had n replies.
func (l *load) waitFor(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(patience); l.total() < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d replies", l.total())
		}
	}
}

// The power goes while clients write: with always nothing acknowledged is lost, with everysec nothing that was acknowledged a
// second (and some patience for a busy machine) before.
func TestPowerLossUnderLoad(t *testing.T) {
	for _, c := range []struct {
		fsync string
		last  time.Duration
		bound time.Duration
	}{{FsyncAlways, 0, 0}, {FsyncEverySec, 2500 * time.Millisecond, 1500 * time.Millisecond}} {
		t.Run(c.fsync, func(t *testing.T) {
			fs := newCrashFS(rand.Uint64())
			s := startOn(t, fs, c.fsync)
			l := startLoad(s.addr, 20)
			start := time.Now()
			l.waitFor(t, 500)
			time.Sleep(c.last - time.Since(start)) // what is measured is a time
			fs.mu.Lock()
			fs.dead = true
			now := time.Now()
			fs.mu.Unlock()
			close(l.stop)
			s.Stop()
			<-s.done
			l.wg.Wait()
			fs.crash()
			after, err := openRig(t, fs, c.fsync)
			if err != nil {
				t.Fatal(err)
			}
			if c.bound == 0 {
				now = now.Add(time.Hour)
			}
			l.check(t, after.Server, now.Add(-c.bound))
		})
	}
}

// An orderly end under load loses nothing that was acknowledged, whatever fsync says.
func TestStopUnderLoad(t *testing.T) {
	for _, fsync := range []string{FsyncNo, FsyncEverySec, FsyncAlways} {
		t.Run(fsync, func(t *testing.T) {
			o := Options{Persistence: PersistIncremental, Fsync: fsync, Dir: t.TempDir()}
			s := startServer(t, o)
			l := startLoad(s.addr, 50)
			l.waitFor(t, 2000)
			s.stop(t)
			close(l.stop)
			l.wg.Wait()
			after, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			defer after.lock.Close()
			l.check(t, after, time.Now().Add(time.Hour))
		})
	}
}

// childDir names the folder when the test program is to be a server.
const childDir = "KVSTORE_TEST_DIR"

func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	s, err := New(Options{Persistence: PersistIncremental, Fsync: FsyncAlways, Dir: dir})
	if err == nil {
		err = s.Run(func(port int) { fmt.Println(port) })
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// The process is killed while clients write, in the middle of rewrites, several times in a row: nothing acknowledged is lost.
func TestKill(t *testing.T) {
	o := Options{Persistence: PersistIncremental, Dir: t.TempDir()}
	for life := range 3 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+o.Dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var port int
		if _, err := fmt.Fscan(out, &port); err != nil {
			t.Fatal(err)
		}
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		w := dialWire(t, addr)
		w.send("FLUSHALL\r\n" + strings.Repeat("BGREWRITEAOF\r\n", life))
		l := startLoad(addr, 20)
		l.waitFor(t, 1000)
		cmd.Process.Kill()
		cmd.Wait()
		close(l.stop)
		l.wg.Wait()
		s, err := New(o)
		if err != nil {
			t.Fatalf("life %d: %v", life, err)
		}
		l.check(t, s, time.Now().Add(time.Hour))
		s.log.start()
		if err := s.endLog(); err != nil {
			t.Fatal(err)
		}
	}
}

// A log that has doubled is rewritten while clients write, and afterwards it is short and complete.
func TestRewriteUnderLoad(t *testing.T) {
	o := Options{Persistence: PersistIncremental, Fsync: FsyncNo, Dir: t.TempDir(), rewriteMin: 16 << 10}
	s := startServer(t, o)
	l := startLoad(s.addr, 20)
	w := dialWire(t, s.addr)
	for i := range 300 {
		w.send(command3("RPUSH", "list", fmt.Sprint(i)) + command3("HSET", "hash", fmt.Sprint(i), "v") + command3("APPEND", "text", "0123456789") + command3("RSET", fmt.Sprint("r", i), "v"))
		w.expect(fmt.Sprintf(":%d\r\n:1\r\n:%d\r\n+OK\r\n", i+1, 10*(i+1)))
	}
	info := ""
	for deadline := time.Now().Add(patience); !strings.Contains(info, "aof_rewrites:3"); {
		if time.Now().After(deadline) {
			t.Fatalf("no rewrite: %s", info)
		}
		w.send("INFO persistence\r\n")
		info, _ = readReply(w.in)
	}
	if !strings.Contains(info, "aof_rewrites_failed:0") {
		t.Error(info)
	}
	s.stop(t)
	close(l.stop)
	l.wg.Wait()
	o.Strict = true
	after, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer after.lock.Close()
	l.check(t, after, time.Now().Add(time.Hour))
	if after.store.tree.count != 300 {
		t.Errorf("%d keys in the tree, want 300", after.store.tree.count)
	}
	for _, c := range [][2]string{{"LLEN list", ":300\r\n"}, {"HLEN hash", ":300\r\n"}, {"STRLEN text", ":3000\r\n"}} {
		name, key, _ := strings.Cut(c[0], " ")
		after.out = after.out[:0]
		after.key = after.store.plain.hash([]byte(key))
		after.dispatch(&after.nobody, lookup([]byte(name)), [][]byte{[]byte(name), []byte(key)})
		if string(after.out) != c[1] {
			t.Errorf("%s: got %q, want %q", c[0], after.out, c[1])
		}
	}
}
