package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func asExit(err error, exit **exec.ExitError) bool { return errors.As(err, exit) }

// C76 and the exactness of -n, asked of the real server: never more and never fewer, whatever -c, -P and --threads.
func TestExactlyN(t *testing.T) {
	r := useRedis(t)
	for _, engine := range engines() {
		for _, c := range []struct {
			args, command string
			n             int
		}{
			{"-n 1000 -P 16 -c 7 -t set", "set", 1000},
			{"-n 1000 -P 16 -c 7 --threads 2 -t set", "set", 1000},
			{"-n 100 -P 10 -t set", "set", 100},
			{"-n 105 -P 10 -c 3 -t set", "set", 105},
			{"-n 1 -P 10 -c 1 -t set", "set", 1},
			{"-n 7 -P 3 -c 50 -t set", "set", 7},
			{"-n 1000 -c 10 --threads 4 -P 7 -t get", "get", 1000},
			{"-n 10000 -P 50 incr foo", "incr", 10000},
			{"--mode set --requests 105 --pipeline 10", "set", 105},
			{"--mode mixed --set-ratio 0 --requests 105 --pipeline 10 -c 9", "get", 105},
			{"-n 3 -c 50 -t ping_mbulk", "ping", 3},
		} {
			r.ask("CONFIG RESETSTAT")
			args := append([]string{"-p", r.port, "--engine", engine, "-q"}, strings.Fields(c.args)...)
			respbench(t, args...).check(t, want{0, "", ""})
			if got := r.calls(c.command); got != c.n {
				t.Errorf("%s %s: the server counted %d %s, want %d", engine, c.args, got, c.command, c.n)
			}
		}
	}
	if got := integer(t, r.ask("GET foo")[len("$5\r\n"):]); got != 10000*len(engines()) {
		t.Errorf("foo is %d", got)
	}
}

// The count that is printed is the count that was answered.
func TestPrintedCountIsTheTruth(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "105", "-P", "10", "-c", "3", "-t", "set").check(t, want{0, `^  105 requests completed in `, ""})
}

// C77: a deep pipeline, with keys that differ inside it.
func TestDeepPipeline(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-t", "set", "-n", "2000", "-c", "2", "-P", "1000", "-r", "1000", "-q").check(t, good("SET"))
	if n := integer(t, r.ask("DBSIZE")); n < 820 || n > 910 { // 1000 (1 - (1-1/1000)^2000) = 865, with 5 sigma
		t.Errorf("%d keys of 2000 random ones below 1000", n)
	}
	respbench(t, "-p", r.port, "-t", "set", "-P", "100000", "-c", "1", "-n", "100000", "-q").check(t, good("SET"))
}

// C78: large values, up to what the server takes and beyond.
func TestLargeValues(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: writes half a gigabyte")
	}
	r := useRedis(t)
	respbench(t, "-p", r.port, "-t", "set", "-n", "1", "-c", "1", "-d", "50000000", "-q").check(t, good("SET"))
	if n := integer(t, r.ask("STRLEN key:__rand_int__")); n != 50000000 {
		t.Errorf("the value has %d bytes", n)
	}
	r.ask("FLUSHALL")
	respbench(t, "-p", r.port, "-t", "set", "-n", "1", "-c", "1", "-d", "536870913", "-q").
		check(t, bad(`^Error from server: ERR Protocol error: invalid bulk length`))
}

// C05: sizes at the lower edge.
func TestSmallValues(t *testing.T) {
	r := useRedis(t)
	for _, c := range []struct {
		size string
		want int
	}{{"0", 1}, {"-1", 1}, {"1", 1}, {"4", 4}} {
		respbench(t, "-p", r.port, "-t", "set", "-n", "1", "-c", "1", "-d", c.size, "-q").check(t, good("SET"))
		if n := integer(t, r.ask("STRLEN key:__rand_int__")); n != c.want {
			t.Errorf("-d %s: the value has %d bytes, want %d", c.size, n, c.want)
		}
	}
	respbench(t, "-p", r.port, "--mode", "set", "--value-size", "0", "--requests", "1", "--keyspace", "1", "-q").check(t, want{0, "", ""})
	if got := r.ask("GET bench:key:0"); got != "$0\r\n\r\n" {
		t.Errorf("--value-size 0 stored %q", got)
	}
}

// C80: nothing of ours is unread or unsent when we close, so that the server sees no reset.
func TestNoResetAtTheEnd(t *testing.T) {
	log := t.TempDir() + "/redis.log"
	r := useRedis(t, "--loglevel", "verbose", "--logfile", log)
	respbench(t, "-p", r.port, "-t", "ping_mbulk", "-c", "10", "-P", "5", "-n", "1000", "-q").check(t, good("PING_MBULK"))
	if out := readFile(t, log); strings.Contains(out, "reset by peer") {
		t.Errorf("the server's log:\n%s", out)
	}
}

// C81: the replies to what comes before the load are not load.
func TestPrefixIsNotLoad(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "10", "-c", "2", "--dbnum", "3", "-t", "set").check(t, want{0, `^  10 requests completed`, ""})
	if sel, set := r.calls("select"), r.calls("set"); sel != 2 || set != 10 {
		t.Errorf("%d SELECT and %d SET, want 2 and 10", sel, set)
	}
	r.ask("CONFIG SET requirepass pw")
	o := respbench(t, "-p", r.port, "-a", "pw", "-3", "-P", "4", "--dbnum", "3", "--enable-tracking", "-n", "10", "-c", "2", "-t", "set")
	o.check(t, want{0, `^100\.000% <= [0-9.]+ milliseconds \(cumulative count 10\)$`, ""})
}

// C13: the last argument is every byte of stdin.
func TestBinaryStdin(t *testing.T) {
	r := useRedis(t)
	for _, c := range []struct {
		stdin string
		size  int
	}{{"a\x00b\n", 4}, {"", 0}, {strings.Repeat("x\x00", 1<<20), 1 << 21}} {
		start(t, hang, strings.NewReader(c.stdin), "-p", r.port, "-x", "-n", "1", "-c", "1", "-q", "set", "kx").end().check(t, good("set kx"))
		if n := integer(t, r.ask("STRLEN kx")); n != c.size {
			t.Errorf("stdin of %d bytes stored %d", c.size, n)
		}
	}
}

// C14: words of a command are sent as they are.
func TestCommandWords(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "1", "-c", "1", "-q", "set", "k", "-1").check(t, good("set k -1"))
	if got := r.ask("GET k"); got != "$2\r\n-1\r\n" {
		t.Errorf("k is %q", got)
	}
	respbench(t, "-p", r.port, "-n", "1", "-c", "1", "-q", "--", "set", "a b", "").check(t, good("set a b "))
	if got := r.ask("DBSIZE"); got != ":2\r\n" {
		t.Errorf("DBSIZE %q", got)
	}
	respbench(t, "-p", r.port, "-n", "1", "-c", "1", "-q", "set", `x\r\ny%d`, "v").check(t, want{0, "", ""})
	if got := r.ask(`STRLEN x\r\ny%d`); got != ":1\r\n" {
		t.Errorf("the key was changed: %q", got)
	}
	long := strings.Repeat("x", 20000) // C102
	o := respbench(t, "-p", r.port, "-n", "10", "--csv", "set", "k", long)
	o.check(t, want{0, "", ""})
	if lines := strings.Count(o.stdout, "\n"); lines != 2 {
		t.Errorf("%d lines of CSV, want 2", lines)
	}
}

// The same seed writes the same keys whatever -c, -P and --threads.
func TestSeedDecidesKeys(t *testing.T) {
	r := useRedis(t)
	digest := func(args ...string) string {
		r.ask("FLUSHALL")
		respbench(t, append([]string{"-p", r.port, "-q"}, args...)...).check(t, want{0, "", ""})
		return strings.TrimSpace(r.ask("DEBUG DIGEST"))
	}
	for _, load := range []string{"-t set -n 2000 -r 100000", "--mode set --requests 2000 --keyspace 100000"} {
		seen := map[string]string{}
		base := strings.Fields(load)
		for _, shape := range []string{"-c 1 -P 1", "-c 7 -P 16", "-c 5 -P 3 --threads 3"} {
			seen[digest(append(append(base, "--seed", "42"), strings.Fields(shape)...)...)] = shape
		}
		if len(seen) != 1 {
			t.Errorf("%s: one seed, %d different sets of keys: %v", load, len(seen), seen)
		}
		for seed := 43; seed < 46; seed++ {
			seen[digest(append(base, "--seed", strconv.Itoa(seed))...)] = ""
		}
		for range 2 { // from the clock
			seen[digest(base...)] = ""
		}
		if len(seen) != 6 {
			t.Errorf("%s: six seeds, %d different sets of keys", load, len(seen))
		}
	}
}
