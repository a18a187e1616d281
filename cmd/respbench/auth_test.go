package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func withPassword(t *testing.T) *redisServer {
	return useRedis(t, "--requirepass", "sekret")
}

// C38: a password that is missing or wrong ends the run with the server's words.
func TestPasswordMissingOrWrong(t *testing.T) {
	r := withPassword(t)
	t.Setenv(passwordVariable, "")
	os.Unsetenv(passwordVariable)
	for _, c := range []struct{ args, say string }{
		{"-n 4 -c 1 -t set", `NOAUTH Authentication required\.$`},
		{"-a wrong -n 4 -c 1 -t set", `WRONGPASS invalid username-password pair or user is disabled\.$`},
		{"--user bob -a sekret -n 4 -t set", `WRONGPASS`},
		{"--mode set --requests 4", `NOAUTH`},
		{"-k 0 -n 4 -t set", `NOAUTH`},
	} {
		o := respbench(t, append([]string{"-p", r.port, "-q"}, strings.Fields(c.args)...)...)
		o.check(t, bad(c.say))
		if strings.Contains(o.stdout+o.stderr, "sekret") || strings.Contains(o.stderr, "wrong ") {
			t.Errorf("%s: the password is shown", c.args)
		}
	}
}

// C39: AUTH once a connection, never with a request.
func TestAuthOncePerConnection(t *testing.T) {
	r := withPassword(t)
	respbench(t, "-p", r.port, "-a", "sekret", "-n", "100", "-c", "4", "-q", "-t", "set").check(t, good("SET"))
	stats := ask(t, r.addr, "AUTH sekret", "INFO commandstats")
	if auth, set := statCalls(t, stats, "auth"), statCalls(t, stats, "set"); auth < 4 || auth > 4+3 || set != 100 {
		t.Errorf("%d AUTH and %d SET, want 4 (and a few probes) and 100", auth, set)
	}
}

// The password may come from the environment.
func TestPasswordVariable(t *testing.T) {
	r := withPassword(t)
	t.Setenv(passwordVariable, "sekret")
	respbench(t, "-p", r.port, "-n", "4", "-q", "-t", "set").check(t, good("SET"))
	t.Setenv(passwordVariable, "wrong")
	respbench(t, "-p", r.port, "-n", "4", "-q", "-t", "set").check(t, bad(`WRONGPASS .* \(the password is that of REDISCLI_AUTH\)$`))
	respbench(t, "-p", r.port, "-a", "also wrong", "-n", "4", "-q", "-t", "set").check(t, want{1, "", `!REDISCLI_AUTH`})
}

// An empty password is one: a user without a password logs in with it, and a server without any says so, as with
// redis-benchmark. It hides the environment's.
func TestEmptyPassword(t *testing.T) {
	r := useRedis(t)
	r.ask("ACL SETUSER guest on nopass ~* +@all")
	t.Setenv(passwordVariable, "unused")
	for _, c := range []struct {
		args []string
		want want
	}{
		{[]string{"-p", r.port, "--user", "guest", "-a", ""}, good("SET")},
		{[]string{"-u", "redis://guest:@127.0.0.1:" + r.port}, good("SET")},
		{[]string{"-p", r.port, "--user", "guest", "-a", "", "--mode", "set", "--requests", "4"}, want{0, `^set \(SET\): `, ""}},
		{[]string{"-p", r.port, "-a", ""}, bad(`^Node 127\.0\.0\.1:\d+ replied with error:\nERR AUTH <password> called without any password configured`)},
	} {
		args := append(c.args, "-c", "1", "-q")
		if !slices.Contains(args, "--mode") {
			args = append(args, "-n", "4", "-t", "set")
		}
		respbench(t, args...).check(t, c.want)
	}
}

// C42, C44: URIs against a real server with an ACL user.
func TestURIs(t *testing.T) {
	r := useRedis(t)
	r.ask("ACL SETUSER bob on >p@ss:/w+1 ~* +@all", "ACL SETUSER per on >100% ~* +@all")
	for _, c := range []struct {
		uri  string
		want want
		db   string
	}{
		{"redis://bob:p%40ss%3A%2Fw%2B1@127.0.0.1:PORT/3", good("SET"), "3"},
		{"redis://bob:p%40ss%3A%2Fw+1@127.0.0.1:PORT/4", good("SET"), "4"},
		{"redis://per:100%25@127.0.0.1:PORT/5", good("SET"), "5"},
		{"valkey://127.0.0.1:PORT/6", good("SET"), "6"},
		{"redis://bob:p%4@127.0.0.1:PORT", bad(`invalid percent escape`), ""},
		{"redis://bob:wrong@127.0.0.1:PORT", bad(`WRONGPASS`), ""},
		{"redis://127.0.0.1:PORT/zz", bad(`whole number`), ""},
		{"redis://127.0.0.1:PORT/99", bad(`^Error from server: ERR DB index is out of range$`), ""},
		{"http://x", bad(`^Invalid URI scheme`), ""},
		{"127.0.0.1:PORT", bad(`^Invalid URI scheme`), ""},
		{"redis://127.0.0.1:PORT?x=1", bad(`query`), ""},
	} {
		uri := strings.Replace(c.uri, "PORT", r.port, 1)
		o := respbench(t, "-u", uri, "-n", "4", "-c", "1", "-q", "-t", "set")
		o.check(t, c.want)
		if strings.Contains(o.stderr, "p%40ss") || strings.Contains(o.stderr, "p@ss") || strings.Contains(o.stderr, "wrong") {
			t.Errorf("%s: the password is shown: %s", uri, o.stderr)
		}
		if c.db != "" {
			if got := r.ask("SELECT "+c.db, "DBSIZE"); !strings.HasSuffix(got, ":1\r\n") {
				t.Errorf("%s: database %s: %q", uri, c.db, got)
			}
		}
	}
}

// No file or log holds the password.
func TestPasswordIsNotKept(t *testing.T) {
	r := withPassword(t)
	file := t.TempDir() + "/result.json"
	o := respbench(t, "-u", "redis://:sekret@127.0.0.1:"+r.port, "-n", "4", "-t", "set", "--json", file, "--log-level", "trace")
	o.check(t, want{0, "", ""})
	if strings.Contains(o.stdout+o.stderr, "sekret") {
		t.Errorf("the password is shown:\n%s%s", o.stdout, o.stderr)
	}
	if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), "sekret") {
		t.Errorf("the password is in the result file:\n%s", b)
	}
}
