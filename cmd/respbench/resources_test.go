package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// rss is the resident memory of a process in MiB.
func rss(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Skip("no /proc to read the memory from")
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		t.Fatal("the process has ended")
	}
	kb, _ := strconv.Atoi(string(m[1]))
	return kb >> 10
}

// C173: memory does not grow with -c, -P and -d: the naive 50 GB of this run are one shared value.
func TestMemoryOfDeepPipelines(t *testing.T) {
	for _, engine := range engines() {
		s := useFake(t, "noread")
		p := start(t, hang, nil, "-p", s.port(), "--engine", engine, "-c", "50", "-P", "1000", "-d", "1000000", "-n", "50000", "-q", "-t", "set", "--timeout", "0")
		time.Sleep(1500 * time.Millisecond) // until the sockets are full
		mb := rss(t, p.Process.Pid)
		p.Process.Signal(syscall.SIGINT)
		p.end()
		limit := 100
		if engine == "gnet" {
			limit = 400 // it keeps what the socket did not take, a bounded part of each connection's pipeline
		}
		if limit *= memoryFactor; mb > limit {
			t.Errorf("%s: %d MiB, want at most %d", engine, mb, limit)
		}
	}
}

// C174: results take no memory per request.
func TestMemoryOfLongRuns(t *testing.T) {
	s := useFake(t, "ok")
	p := start(t, hang, nil, "-p", s.port(), "-n", "1000000000", "-P", "100", "-q", "-t", "ping_mbulk")
	waitForLoad(t, s)
	time.Sleep(300 * time.Millisecond)
	first, n := rss(t, p.Process.Pid), s.count()
	for end := time.Now().Add(hang / 2); s.count() < 4*n && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	last := rss(t, p.Process.Pid)
	p.Process.Signal(syscall.SIGINT)
	p.end()
	if last-first > 10 {
		t.Errorf("%d MiB after %d requests, %d after %d", first, n, last, s.count())
	}
}

// C177: loops and connections come and go between tests.
func TestManyThreadsManyTests(t *testing.T) {
	r := useRedis(t)
	o := respbench(t, strings.Fields("--threads 8 -c 1000 -n 20000 -t set,get,lpush,lpop -q -p "+r.port)...)
	o.check(t, want{0, "", ""})
	if n := strings.Count(o.stdout, qRow); n != 4 {
		t.Errorf("%d rows, want 4\n%s", n, o.stdout)
	}
	respbench(t, strings.Fields("--threads 8 -c 100 -n 2000 -t set,del -q -p "+r.port)...).check(t, want{0, `^SET: `, `^WARNING: Unknown test "del"`})
}
