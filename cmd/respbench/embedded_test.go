package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// README's first command, with a smaller count.
func TestEmbedded(t *testing.T) {
	o := respbench(t, strings.Fields("--embedded -t set,get -n 50000 -c 20 -P 64 -q")...)
	o.check(t, want{0, `^SET: [0-9.]+ requests per second, p50=[0-9.]+ msec\nGET: [0-9.]+ requests per second, p50=[0-9.]+ msec\n\n$`, ""})
	if o.stderr != "" {
		t.Errorf("stderr %q", o.stderr)
	}
	// The name of a link must not take the subcommand from the child.
	as := startAs(t, hang, nil, "redis-benchmark", strings.Fields("--embedded -n 100 -q ping")...).end()
	as.check(t, good("ping"))
	// bench.c mode measures it too, conflicts and all.
	respbench(t, strings.Fields("--embedded --mode set --set-cmd RSET --requests 5000 --keyspace 1000")...).
		check(t, want{0, `ok=[0-9]+ errors=0 conflicts=[1-9]`, ""})
}

// children are the process ids of a process' children.
func children(t *testing.T, pid int) []int {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc to find the child in")
	}
	var out []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // state, parent, ...
		if parent, _ := strconv.Atoi(rest[1]); parent == pid && rest[0] != "Z" {
			id, _ := strconv.Atoi(strings.Split(path, "/")[2])
			out = append(out, id)
		}
	}
	return out
}

// ended tells whether a process is gone, or a zombie whose parent has not looked.
func ended(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || regexp.MustCompile(`\) Z `).Match(b)
}

// No server survives its benchmark, however that ends.
func TestEmbeddedServerEnds(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
		p := start(t, hang, nil, strings.Fields("--embedded -n 1000000000 -q -t ping_mbulk")...)
		var kids []int
		for end := time.Now().Add(hang); len(kids) == 0; time.Sleep(10 * time.Millisecond) {
			if kids = children(t, p.Process.Pid); time.Now().After(end) {
				t.Fatal("no child was started")
			}
		}
		time.Sleep(200 * time.Millisecond) // into the run, or still before it: both must work
		p.Process.Signal(sig)
		p.Wait()
		p.cancel()
		for end := time.Now().Add(hang); !ended(kids[0]); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				syscall.Kill(kids[0], syscall.SIGKILL)
				t.Errorf("after %v the server %d still runs", sig, kids[0])
				break
			}
		}
	}
}

// bench.c's usual commands, as they stand but for the name of the binary, the port, and the counts.
func TestBenchCommands(t *testing.T) {
	const kvstore = `
--host 127.0.0.1 --port PORT --mode set --set-cmd RSET --get-cmd RGET --requests 30000 --pipeline 128 --keyspace 10000 --value-size 32 --key-prefix bench:ts:set:
--host 127.0.0.1 --port PORT --mode get --set-cmd RSET --get-cmd RGET --requests 30000 --pipeline 128 --keyspace 10000 --value-size 32 --verify-get --key-prefix bench:ts:get:
--host 127.0.0.1 --port PORT --mode set --set-cmd HSET --get-cmd HGET --requests 30000 --pipeline 128 --keyspace 10000 --value-size 32 --key-prefix bench:ts:set:
--host 127.0.0.1 --port PORT --mode get --set-cmd HSET --get-cmd HGET --requests 30000 --pipeline 128 --keyspace 10000 --value-size 32 --verify-get --key-prefix bench:ts:get:`
	const redis = `
--host 127.0.0.1 --port PORT --mode set --requests 30000 --pipeline 128 --keyspace 1000000000 --value-size 32 --key-prefix bench:ts:redis:
--host 127.0.0.1 --port PORT --mode mixed --requests 30000 --pipeline 64 --keyspace 10000 --value-size 32 --set-ratio 50 --seed 12345 --verify-get`
	line := regexp.MustCompile(`(?m)^elapsed\(s\)=\d+\.\d\d QPS=\d+\.\d\d avg\(us/op\)=\d+\.\d\d$`)
	run := func(port, list string) {
		t.Helper()
		for args := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
			o := respbench(t, strings.Fields(strings.Replace(args, "PORT", port, 1))...)
			if o.code != 0 || !line.MatchString(o.stdout) || !strings.Contains(o.stdout, "errors=0") {
				t.Errorf("%s: exit code %d\n%s%s", args, o.code, o.stdout, o.stderr)
			}
			if strings.Contains(args, "verify") && !strings.Contains(o.stdout, "mismatches=0 verified=") {
				t.Errorf("%s: not verified\n%s", args, o.stdout)
			}
			if strings.Contains(args, "--mode set --set-cmd RSET") && !regexp.MustCompile(`conflicts=[1-9]`).MatchString(o.stdout) {
				t.Errorf("%s: no conflicts, though keys repeat\n%s", args, o.stdout)
			}
		}
	}
	_, port := ownServer(t)
	run(port, kvstore)
	run(useRedis(t).port, redis)
}

// The embedded server ends with 0 when it is told to stop, and the port's errors are told before it listens.
func TestServeEnds(t *testing.T) {
	port := freePort(t)
	p := start(t, hang, nil, "serve", "--port", port)
	waitAccepting(t, net.JoinHostPort("127.0.0.1", port))
	p.Process.Signal(syscall.SIGTERM)
	p.end().check(t, want{0, `^ready `, ""})
	respbench(t, "serve", "--port", "99999").check(t, want{1, "!ready", `port`})
	respbench(t, "serve", "--nosuch").check(t, want{1, "!ready", `^respbench: unknown option "--nosuch" \(see respbench serve --help\)$`})
	respbench(t, "serve", "--help").check(t, want{0, `Usage:`, ""})
}
