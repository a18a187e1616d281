package workload

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// What the real redis-benchmark sends is the reference: for each test and some commands of one's own, the bytes of one request are
// compared. With -r 1 its random numbers are all zero, and so are ours.
func TestSameBytesAsRedisBenchmark(t *testing.T) {
	tool, err := exec.LookPath("redis-benchmark")
	if err != nil {
		t.Skip("redis-benchmark is not installed")
	}
	commands := [][]string{
		{"set", "k:__rand_int__", "v__rand_int__"}, {"set", "a b", "", `x\ny`}, {"lpush", "l", "__rand_int_", "___rand_int__"},
		{"eval", "return redis.call('ping')", "0"}, {"set", "{tag}", "é"},
	}
	for _, r := range []string{"", "1"} {
		for _, size := range []int{1, 3, 20, 40000} {
			o := TestOptions{Random: r != "", Keyspace: 1, DataSize: size}
			flags := []string{"-d", strconv.Itoa(size)}
			if o.Random {
				flags = append(flags, "-r", r)
			}
			plans, _ := Suite(nil, o)
			want := recordTool(t, tool, append(flags, "-n", "1"))
			for _, p := range plans {
				got := wholeStream(t, p, 1<<20, 1)
				if p.Title == "XADD" && !bytes.Contains(want, []byte("XADD")) {
					continue // before 7.2 the tool has no such test
				}
				if !bytes.HasPrefix(want, got) {
					t.Fatalf("-d %d -r %q, %s: %q, the tool sends %q", size, r, p.Title, clip(got), clip(want))
				}
				want = want[len(got):]
			}
			if len(want) > 0 {
				t.Errorf("-d %d -r %q: the tool also sends %q", size, r, clip(want))
			}
		}
		for _, args := range commands {
			flags := []string{"-n", "1"}
			o := TestOptions{Random: r != "", Keyspace: 1, DataSize: 3}
			if o.Random {
				flags = append(flags, "-r", r)
			}
			got, want := wholeStream(t, mustCommand(t, o, args...), 1<<16, 1), recordTool(t, tool, append(flags, args...))
			if !bytes.Equal(got, want) {
				t.Errorf("-r %q %q: %q, the tool sends %q", r, args, got, want)
			}
		}
	}
}

// recordTool runs redis-benchmark with one connection against a server that answers everything with +OK, and returns what it sent,
// without its questions about the configuration.
func recordTool(t *testing.T, tool string, args []string) []byte {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []byte
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerOK(conn, func(request []byte) {
				mu.Lock()
				sent = append(sent, request...)
				mu.Unlock()
			})
		}
	}()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	out, err := exec.CommandContext(t.Context(), tool, append([]string{"-p", port, "-c", "1", "-q"}, args...)...).CombinedOutput()
	listener.Close()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mu.Lock()
	defer mu.Unlock()
	return sent
}

// answerOK serves one connection.
func answerOK(conn net.Conn, record func(request []byte)) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		request, err := readRequest(in)
		if err != nil {
			return
		}
		reply := "+OK\r\n"
		if bytes.Contains(request, []byte("CONFIG")) {
			reply = "*2\r\n$4\r\nsave\r\n$0\r\n\r\n"
		} else {
			record(request)
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

// readRequest reads an array or a line.
func readRequest(in *bufio.Reader) ([]byte, error) {
	request, err := in.ReadBytes('\n')
	if err != nil || request[0] != '*' {
		return request, err
	}
	args, err := strconv.Atoi(strings.TrimSpace(string(request[1:])))
	for range args {
		header, err := in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(strings.TrimSpace(string(header[1:])))
		if err != nil {
			return nil, fmt.Errorf("bulk header %q", header)
		}
		body := make([]byte, size+2)
		if _, err := io.ReadFull(in, body); err != nil {
			return nil, err
		}
		request = append(append(request, header...), body...)
	}
	return request, err
}
