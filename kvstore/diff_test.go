package kvstore

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startRedis runs a real redis-server on a free port until the end of the test.
func startRedis(t *testing.T) (addr string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server to compare with: ", err)
	}
	port := ""
	for range 100 { // none of the ports that the kernel gives to connections and to listeners that do not name one
		port = strconv.Itoa(20000 + rand.IntN(12000))
		addr = net.JoinHostPort("127.0.0.1", port)
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			break
		}
	}
	cmd := exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir(), "--enable-debug-command", "yes")
	if err := cmd.Start(); err != nil {
		t.Skip("redis-server does not start: ", err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("redis-server does not accept connections")
	return ""
}

// readReply reads one whole reply as text. The elements of unordered aggregates are few in these tests: at most one.
func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	n := 0
	switch line[0] {
	case '$', '=':
		n, err = strconv.Atoi(strings.TrimSpace(line[1:]))
		if err != nil || n < 0 {
			return line, err
		}
		body := make([]byte, n+2)
		_, err = io.ReadFull(in, body)
		return line + string(body), err
	case '*', '~', '>':
		n, err = strconv.Atoi(strings.TrimSpace(line[1:]))
	case '%':
		n, err = strconv.Atoi(strings.TrimSpace(line[1:]))
		n *= 2
	}
	for range n {
		var element string
		if element, err = readReply(in); err != nil {
			break
		}
		line += element
	}
	return line, err
}

// sharedCommand is a command of the families that both servers have, right or wrong. What Redis answers in an order of its
// own choice is asked of keys with one element.
func sharedCommand(rng *rand.Rand) []string {
	key := func(kind string) string {
		if rng.IntN(20) == 0 {
			kind = string("slhezx"[rng.IntN(6)])
		}
		return kind + strconv.Itoa(rng.IntN(8))
	}
	value := func() string {
		switch rng.IntN(4) {
		case 0:
			return strconv.Itoa(rng.IntN(100) - 50)
		case 1:
			return ""
		case 2:
			return strings.Repeat("\r\n\x00x", rng.IntN(100))
		}
		return strconv.FormatUint(rng.Uint64(), 36)
	}
	number := func() string {
		return []string{"0", "1", "-1", "2", "5", "-100", "9223372036854775807", "-9223372036854775808", "x", "", "1.5", "007"}[rng.IntN(12)]
	}
	score := func() string {
		return []string{"1", "-1", "0.1", "3.14159265358979", "1e20", "1e-7", "inf", "-inf", "+5", "1e400", "abc", "", "100000000000000000", "1e16", "-0"}[rng.IntN(15)]
	}
	s, l, h, e, z, x := key("s"), key("l"), key("h"), key("e"), key("z"), key("x")
	all := [][]string{
		{"SET", s, value()}, {"SET", s, value(), "NX"}, {"set", s, value(), "xx"}, {"SET", s, value(), "GET"}, {"SET", s, value(), "NX", "XX"}, {"SET", s},
		{"SET", s, number()}, {"GET", s}, {"GeT", s}, {"DEL", s}, {"DEL", s, l, h, e}, {"EXISTS", s, s, l}, {"TYPE", s}, {"TYPE", l}, {"TYPE", x},
		{"INCR", s}, {"DECR", s}, {"INCRBY", s, number()}, {"MSET", s, value(), key("s"), value()}, {"MSET", s, value(), "k"}, {"MGET", s, key("s"), l, "none"},
		{"APPEND", s, value()}, {"STRLEN", s}, {"PING"}, {"PING", value()}, {"PING", "a", "b"}, {"ECHO", value()}, {"ECHO"},
		{"LPUSH", l, value()}, {"LPUSH", l, value(), value(), value()}, {"RPUSH", l, value()}, {"LPOP", l}, {"RPOP", l}, {"LPOP", l, number()}, {"RPOP", l, "3"}, {"LPOP", l, "0"}, {"LPOP", l, "1", "2"},
		{"LLEN", l}, {"LINDEX", l, number()}, {"LRANGE", l, number(), number()}, {"LRANGE", l, "0", "-1"}, {"LRANGE", l, "0", "99"},
		{"SADD", e, "only"}, {"SREM", e, "only", "other"}, {"SREM", e, "other"}, {"SPOP", e}, {"SPOP", e, number()}, {"SPOP", e, "1", "2"}, {"SCARD", e}, {"SISMEMBER", e, "only"}, {"SISMEMBER", e, "x"},
		{"HSET", h, "f", value()}, {"HGET", h, "f"}, {"HGET", h, "g"}, {"HDEL", h, "f"}, {"HDEL", h, "g", "f"}, {"HEXISTS", h, "f"}, {"HLEN", h}, {"HGETALL", h}, {"HSET", h, "f", "v", "g"},
		{"ZADD", z, score(), strconv.Itoa(rng.IntN(9))}, {"ZADD", z, score(), "a", score(), "b"}, {"ZADD", z, "1"}, {"ZADD", z, "1", "a", "2"}, {"ZPOPMIN", z}, {"ZPOPMIN", z, number()}, {"ZPOPMIN", z, "2"},
		{"ZCARD", z}, {"ZSCORE", z, strconv.Itoa(rng.IntN(9))}, {"ZREM", z, strconv.Itoa(rng.IntN(9))}, {"ZREM", z, "a", "b"},
		{"XADD", x, strconv.Itoa(rng.IntN(1000)) + "-" + strconv.Itoa(rng.IntN(5)), "f", value()}, {"XADD", x, strconv.Itoa(rng.IntN(1000)) + "-*", "f", value()}, {"XADD", x, strconv.Itoa(rng.IntN(1000)), "f", value()},
		{"XADD", x, number(), "f", value()}, {"XADD", x, "0-0", "f", "v"}, {"XADD", x, "*", "f"}, {"XADD", x, "*", "f", "v", "g"}, {"XLEN", x},
		{"SELECT", "0"}, {"SELECT", "x"}, {"DBSIZE"}, {"FOO", value(), s}, {s}, {""}, {"CLIENT", "GETNAME"}, {"CLIENT", "NOSUCH"}, {"CONFIG", "GET", "save"}, {"CLIENT", "SETNAME", "n"}, {"CLIENT", "SETNAME", "a b"}, {"CLIENT", "SETNAME"},
		{"FLUSHALL", "x"}, {"AUTH"}, {"AUTH", "a"}, {"AUTH", "a", "b", "c"}, {"HELLO", "9"}, {"HELLO", "x"},
	}
	if rng.IntN(2000) == 0 {
		return []string{"FLUSHALL"}
	}
	return all[rng.IntN(len(all))]
}

// diffSeed is any number; another one makes other commands.
const diffSeed = 7

// The same random commands get the same replies from kvstore and from a real Redis, byte by byte: one by one and in pipelines,
// RESP2 and RESP3.
func TestDifferential(t *testing.T) {
	redis := startRedis(t)
	ours := startServer(t, Options{}).addr
	rounds := 50000
	if testing.Short() {
		rounds = 5000
	}
	for _, proto := range []string{"2", "3"} {
		t.Run("resp="+proto, func(t *testing.T) {
			differ(t, redis, ours, proto, rounds)
		})
	}
}

func differ(t *testing.T, redis, ours, proto string, rounds int) {
	a, b := dialWire(t, redis), dialWire(t, ours)
	for _, w := range []*wire{a, b} {
		w.SetDeadline(time.Now().Add(10 * patience))
		w.send("FLUSHALL\r\nHELLO " + proto + "\r\n")
		for range 2 {
			if _, err := readReply(w.in); err != nil {
				t.Fatal(err)
			}
		}
	}
	rng := rand.New(rand.NewPCG(uint64(proto[0]), diffSeed))
	for done := 0; done < rounds; {
		depth := 1
		if rng.IntN(2) == 0 {
			depth = 1 + rng.IntN(100)
		}
		var batch [][]string
		var text strings.Builder
		for range depth {
			cmd := sharedCommand(rng)
			batch = append(batch, cmd)
			text.WriteString(command3(cmd...))
		}
		a.send(text.String())
		b.send(text.String())
		for i, cmd := range batch {
			want, err := readReply(a.in)
			if err != nil {
				t.Fatalf("redis, %q: %v", cmd, err)
			}
			got, err := readReply(b.in)
			if err != nil {
				t.Fatalf("kvstore, %q: %v", cmd, err)
			}
			if got != want {
				t.Errorf("command %d, %.200q: got %.300q, redis says %.300q", done+i, cmd, got, want)
			}
		}
		done += depth
	}
}

// The commands of redis-benchmark's suite run without an error.
func TestSuiteCommands(t *testing.T) {
	s := startServer(t, Options{})
	path, err := exec.LookPath("redis-benchmark")
	if err != nil {
		t.Skip("no redis-benchmark: ", err)
	}
	_, port, _ := net.SplitHostPort(s.addr)
	out, err := exec.Command(path, "-p", port, "-n", "2000", "-r", "100", "-P", "4", "-q").CombinedOutput()
	if err != nil || strings.Contains(string(out), "WARN") || strings.Contains(strings.ToLower(string(out)), "err") {
		t.Errorf("%v: %s", err, out)
	}
	w := dialWire(t, s.addr)
	w.send("INFO commandstats\r\n")
	stats, err := readReply(w.in)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ping", "set", "get", "incr", "lpush", "rpush", "lpop", "rpop", "sadd", "hset", "spop", "zadd", "zpopmin", "lrange", "mset"} {
		if !strings.Contains(stats, fmt.Sprintf("cmdstat_%s:calls=", name)) || strings.Contains(stats, "failed_calls=1") {
			t.Errorf("%s: %s", name, stats)
		}
	}
}
