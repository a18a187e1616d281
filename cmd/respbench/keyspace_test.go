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

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func writeFile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// keys are the key names of database 0.
func (r *redisServer) keys() []string { return r.keysOf("0") }

func (r *redisServer) keysOf(db string) []string {
	return regexp.MustCompile(`(?m)^[^*$\r\n][^\r\n]*`).FindAllString(r.ask("SELECT "+db, "KEYS *")[len(okReply):], -1)
}

// C83: a range above 2^31 is not cut to 32 bits.
func TestWideRange(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "200", "-c", "1", "-t", "set", "-r", "3000000000", "-q").check(t, good("SET"))
	high := 0
	for _, key := range r.keys() {
		if !regexp.MustCompile(`^key:00[0-2]\d{9}$`).MatchString(key) {
			t.Errorf("key %q", key)
		}
		if key >= "key:002147483648" {
			high++
		}
	}
	if len(r.keys()) < 199 || high == 0 {
		t.Errorf("%d keys, %d of them above 2^31", len(r.keys()), high)
	}
	respbench(t, "-p", r.port, "-n", "2", "-r", "999999999999999", "-t", "set", "-q").check(t, want{0, "", `^WARNING: Too many keys`})
}

// C84: every placeholder has a number of its own, and only the exact word is one.
func TestPlaceholders(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "50", "-c", "1", "-P", "10", "-r", "1000000000", "-q", "set", "__rand_int__x__rand_int__", "__RAND_INT__").check(t, want{0, "", ""})
	seen := map[string]bool{}
	for _, key := range r.keys() {
		m := regexp.MustCompile(`^(\d{12})x(\d{12})$`).FindStringSubmatch(key)
		if m == nil || m[1] == m[2] {
			t.Fatalf("key %q", key)
		}
		seen[m[1]], seen[m[2]] = true, true
	}
	if len(seen) < 99 {
		t.Errorf("100 placeholders, %d different numbers", len(seen))
	}
	if got := r.ask("GET " + r.keys()[0]); !strings.Contains(got, "__RAND_INT__") {
		t.Errorf("value %q", got)
	}
	r.ask("FLUSHALL")
	respbench(t, "-p", r.port, "-n", "5", "-t", "set", "-q").check(t, good("SET"))
	if keys := r.keys(); len(keys) != 1 || keys[0] != "key:__rand_int__" {
		t.Errorf("without -r the keys are %q", keys)
	}
}

// C85, C86: how many different keys a random run makes, with one loop and with several.
func TestDistinctKeys(t *testing.T) {
	r := useRedis(t)
	for _, c := range []struct {
		args        string
		least, most int
	}{
		{"-t set -n 100000 -r 100000 -P 50", 63212 - 400, 63212 + 400},
		{"-t set -n 1000 -r 1000 --threads 4", 632 - 40, 632 + 40},
		{"-t set -n 8000 -r 1000000000 --threads 8", 7990, 8000},
		{"--mode set --requests 100000 --keyspace 100000", 63212 - 400, 63212 + 400},
	} {
		r.ask("FLUSHALL")
		respbench(t, append(strings.Fields(c.args), "-p", r.port, "-q")...).check(t, want{0, "", ""})
		if n := integer(t, r.ask("DBSIZE")); n < c.least || n > c.most {
			t.Errorf("%s: %d keys, want %d to %d", c.args, n, c.least, c.most)
		}
	}
}

// The tests of a run draw numbers of their own: GET finds 63 % of the keys when SET wrote as many as there are, and -l goes on
// to other keys in each pass.
func TestTestsDrawTheirOwnKeys(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-t", "set,get", "-n", "10000", "-r", "10000", "-q").check(t, want{0, "", ""})
	m := regexp.MustCompile(`keyspace_hits:(\d+)`).FindStringSubmatch(r.ask("INFO stats"))
	if hits, err := strconv.Atoi(m[1]); err != nil || hits < 6321-250 || hits > 6321+250 {
		t.Errorf("%s hits of 10000, want 6321 +- 250", m[1])
	}
	r.ask("FLUSHALL", "CONFIG RESETSTAT")
	p := start(t, hang, nil, "-p", r.port, "-t", "set", "-n", "100", "-r", "1000000000000", "-l", "-q")
	for end := time.Now().Add(hang); r.calls("set") < 1000 && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
	p.Process.Signal(syscall.SIGINT)
	p.end().check(t, want{130, "", ""})
	if sets, keys := r.calls("set"), integer(t, r.ask("DBSIZE")); sets < 1000 || keys < sets {
		t.Errorf("-l made %d keys with %d SET", keys, sets)
	}
}

// C89: keys stay inside the range, and a small range is used whole.
func TestSmallRanges(t *testing.T) {
	r := useRedis(t)
	for _, keyspace := range []int{1, 11, 101} {
		r.ask("FLUSHALL")
		respbench(t, "-p", r.port, "--mode", "set", "--requests", "5000", "--keyspace", fmt.Sprint(keyspace), "-c", "50", "-q").check(t, want{0, "", ""})
		if n := integer(t, r.ask("DBSIZE")); n != keyspace {
			t.Errorf("keyspace %d: %d keys", keyspace, n)
		}
		if got := r.ask(fmt.Sprintf("EXISTS bench:key:%d", keyspace)); got != ":0\r\n" {
			t.Errorf("keyspace %d: the key behind the last exists", keyspace)
		}
	}
}

// C90: reading what is not there is shown as such.
func TestMissesAreShown(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-t", "get", "-n", "1000", "-r", "1000", "-q").check(t, good("GET"))
	if got := r.ask("INFO stats"); !strings.Contains(got, "keyspace_hits:0\r\n") || !strings.Contains(got, "keyspace_misses:1000\r\n") {
		t.Errorf("INFO stats: %s", got)
	}
	respbench(t, "-p", r.port, "--mode", "get", "--keyspace", "1000", "--requests", "1000", "--prefill", "never").
		check(t, want{0, `misses=1000`, ""})
	respbench(t, "-p", r.port, "--mode", "get", "--keyspace", "1000", "--requests", "1000").check(t, want{0, `misses=0`, ""})
	if n := integer(t, r.ask("DBSIZE")); n != 1000 {
		t.Errorf("get mode wrote %d keys first, want 1000", n)
	}
}

// C92: a key of another type ends the run.
func TestWrongType(t *testing.T) {
	r := useRedis(t)
	r.ask("SET mylist x")
	respbench(t, "-p", r.port, "-t", "lpush", "-n", "10", "-q").
		check(t, bad(`^Error from server: WRONGTYPE Operation against a key holding the wrong kind of value$`))
}

// C99: the share of writes is what was asked for.
func TestSetRatio(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "--mode", "mixed", "--set-ratio", "10", "--requests", "100000", "-q").check(t, want{0, "", ""})
	set, get := r.calls("set"), r.calls("get")
	if set+get != 100000 || set < 9600 || set > 10400 {
		t.Errorf("%d SET and %d GET", set, get)
	}
}

// One flipped byte in one key of ten thousand is found, and none where there is none.
func TestVerifyFindsOneByte(t *testing.T) {
	r := useRedis(t)
	get := []string{"-p", r.port, "--mode", "get", "--requests", "200000", "--keyspace", "10000", "--verify-get", "-P", "64"}
	respbench(t, append(get, "--prefill", "always", "--seed", "1")...).check(t, want{0, `misses=0 mismatches=0`, ""})
	old := r.ask("GETRANGE bench:key:7777 17 17")
	flipped := "x"
	if strings.Contains(old, "x") {
		flipped = "y"
	}
	r.ask("SETRANGE bench:key:7777 17 " + flipped)
	described := `^mismatch: key=bench:key:7777 offset=17 expected=`
	respbench(t, append(get, "--seed", "2")...).check(t, want{4, `(?s)mismatches=[1-9].*` + described, "!mismatch"})
	for _, short := range []string{"-q", "--csv"} {
		respbench(t, append(get, "--seed", "2", short)...).check(t, want{4, "!offset", described})
	}
}
