package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The parity harness: the real redis-benchmark and ours, called by its name, run the same command line on the same
// server, emptied before each. What the server counted, the keys it holds (where chance has no say), what was printed
// (figures aside) and the exit code must agree, or the row says what differs and why.

// parityCase is one command line.
type parityCase struct {
	args   string
	random bool   // keys depend on chance: only the server's counts are compared
	differ string // stdout or exit code differ on purpose: what README's table of differences says
	stdin  string
}

func parityCases() []parityCase {
	var cases []parityCase
	for _, name := range strings.Fields("ping_inline ping_mbulk ping set get incr lpush rpush lpop rpop sadd hset spop zadd zpopmin " +
		"lrange lrange_100 lrange_300 lrange_500 lrange_600 mset") {
		cases = append(cases, parityCase{args: "-q -n 300 -c 10 -t " + name})
	}
	return append(cases, []parityCase{
		{args: "-n 300 -t set"},
		{args: "-n 300 -t set,get,incr"},
		{args: "-n 300 -t get,set"},
		{args: "-n 300 -t SET,Get -q"},
		{args: "-n 300 -t ping,lrange_100 --csv"},
		{args: "-n 300 -t mset -d 20 --csv"},
		{args: "-n 320 -P 16 -c 5 -t set -q"},
		{args: "-n 1 -c 1 -t set -q"},
		{args: "-n 3 -c 50 -t ping_mbulk -q"},
		{args: "-n 400 -r 10 -t set,incr,hset -q", random: true},
		{args: "-n 2000 -r 20 -t set -q"},
		{args: "-n 2000 -r 20 -t sadd -q"},
		{args: "-n 2000 -r 20 -t zadd -q", random: true},
		{args: "-n 300 -r 1000 -P 10 -t mset -q", random: true},
		{args: "-n 300 -d 100 -t set,rpush -q"},
		{args: "-n 300 -d 0 -t set -q"},
		{args: "-n 300 --dbnum 5 -t set -q"},
		{args: "-n 300 -3 -t set,hset -q"},
		{args: "-n 300 --enable-tracking -t set,get -q"},
		{args: "-n 300 --threads 2 -t set -q"},
		{args: "-n 300 --threads 2 -t set"},
		{args: "-n 300 --threads 0 -t set"},
		{args: "-n 300 -k 0 -c 5 -t set -q"},
		{args: "-n 300 -k 1 -t set -q"},
		{args: "-n 300 -e -t set -q"},
		{args: "-n 300 --precision 2 -t set -q"},
		{args: "-n 300 ping"},
		{args: "-n 300 -q set k v"},
		{args: "-n 300 --csv set k v"},
		{args: "-n 300 --csv -q -t set,get"},
		{args: "-n 10 --csv foo"},
		{args: "-n 10 -q --threads 2 -t set --dbnum 99"},
		{args: "-n 300 -d 50 -P 10 -t get,mset"},
		{args: "-n 300 -q -k 0 -P 5 -c 3 -t incr"},
		{args: "-n 300 -q -u redis://127.0.0.1:1/3 -p PORT --dbnum 5 -t set"},
		{args: "-n 300 -q set k -1"},
		{args: "-n 300 -q -t get ping"},
		{args: "-n 300 -q -r 100000 lpush mylist __rand_int__", random: true},
		{args: "-n 300 -q lpush mylist __rand_int__"},
		{args: "-n 300 -q -P 10 incr foo"},
		{args: "-n 300 -q -r 5 set __rand_int__x__rand_int__ v", random: true},
		{args: `-n 300 -q set a\r\nb 100%`},
		{args: "-n 1 -c 1 -q -x set kx", stdin: "last argument\n"},
		{args: "-n 1 -c 1 -q -x set kx", stdin: ""},
		{args: "-n 10 -q foo"},
		{args: "-n 10 -q set k v -n 5"},
		{args: "-n 10 -q lpush stringkey v"},
		{args: "--dbnum 99 -n 10 -q -t set"},
		{args: "-a nopassword -n 10 -q -t set"},
		{args: "-u redis://127.0.0.1:PORT/3 -n 300 -q -t set"},
		{args: "-u http://127.0.0.1 -n 10 -q -t set"},
		{args: "--nosuch", differ: "the usage is ours, with more options"},
		{args: "-n 300 -P 7 -c 1 -t ping_mbulk -q", differ: "-n is exact: the real tool rounds up to a multiple of -P"},
		{args: "-n 10 -q -t nosuch", differ: "a list of unknown tests is an error"},
		{args: "-n 10 -q -t nosuch,set"},
	}...)
}

// tool is one of the two programs.
type tool func(args []string, stdin string) (stdout string, code int)

func TestParity(t *testing.T) {
	real := realTool("redis-benchmark")
	if real == "" {
		t.Skip("redis-benchmark is not installed")
	}
	r := useRedis(t)
	theirs := func(args []string, stdin string) (string, int) {
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		cmd := exec.CommandContext(ctx, real, args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
			t.Fatalf("redis-benchmark %q: %v", args, err)
		}
		return string(out), cmd.ProcessState.ExitCode()
	}
	ours := func(args []string, stdin string) (string, int) {
		o := startAs(t, hang, strings.NewReader(stdin), "redis-benchmark", args...).end()
		return o.stdout, o.code
	}
	for _, c := range parityCases() {
		want, wantCode := r.traces(theirs, c)
		got, gotCode := r.traces(ours, c)
		if c.differ != "" {
			if want.stdout == got.stdout && wantCode == gotCode && slices.Equal(want.calls, got.calls) {
				t.Errorf("%s: nothing differs, though %s", c.args, c.differ)
			}
			continue
		}
		if wantCode != gotCode {
			t.Errorf("%s: exit code %d, want %d", c.args, gotCode, wantCode)
		}
		if want.stdout != got.stdout {
			t.Errorf("%s: stdout\n%s\nwant\n%s", c.args, got.stdout, want.stdout)
		}
		if !slices.Equal(want.calls, got.calls) {
			t.Errorf("%s: the server counted\n%v, want\n%v", c.args, got.calls, want.calls)
		}
		if !c.random && want.keys != got.keys {
			t.Errorf("%s: keys %s, want %s", c.args, got.keys, want.keys)
		}
	}
}

// realTool finds a program on the path, but not the copy of this test binary that testscript has put there.
func realTool(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		_, ours := os.Stat(filepath.Join(dir, ownName))
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 && ours != nil {
			return path
		}
	}
	return ""
}

// trace is what a run leaves behind.
type trace struct {
	stdout string
	calls  []string // "set=300"; what a probe asks is left out
	keys   string
}

// traces runs a tool on an empty server.
func (r *redisServer) traces(run tool, c parityCase) (trace, int) {
	r.t.Helper()
	r.ask("FLUSHALL", "SET stringkey v", "CONFIG RESETSTAT")
	out, code := run(append([]string{"-p", r.port}, strings.Fields(strings.ReplaceAll(c.args, "PORT", r.port))...), c.stdin)
	tr := trace{stdout: normalise(out)}
	for _, m := range regexp.MustCompile(`cmdstat_([a-z|]+):calls=(\d+)`).FindAllStringSubmatch(r.ask("INFO commandstats"), -1) {
		if m[1] != "config|get" && m[1] != "config|resetstat" && m[1] != "quit" {
			tr.calls = append(tr.calls, m[1]+"="+m[2])
		}
	}
	slices.Sort(tr.calls)
	if code != 0 {
		tr.calls = nil // how many requests were under way when an error ended the run is chance
		return tr, code
	}
	tr.keys = fmt.Sprint(r.sizes())
	return tr, code
}

// sizes are the keys of all databases in use, each with the length of its value.
func (r *redisServer) sizes() []string {
	var out []string
	for _, db := range []string{"0", "3", "5"} {
		for _, key := range slices.Sorted(slices.Values(r.keysOf(db))) {
			digest := r.ask("SELECT "+db, "DEBUG DIGEST-VALUE "+key)
			if strings.HasPrefix(key, "mystream") {
				digest = "" // ids are times
			}
			out = append(out, db+":"+key+"="+strings.TrimSpace(digest))
		}
	}
	return out
}

var (
	progress = regexp.MustCompile(`(?m)^.*\r`)
	figure   = regexp.MustCompile(`\b\d+(\.\d+)?\b`)
	buckets  = regexp.MustCompile(`(?m)^.*% <= .*\n`)
	spaces   = regexp.MustCompile(` +`)
)

// normalise leaves the shape of an output: figures are F, the tables' rows are cut to none, and progress, which the
// real tool writes into pipes as well, is gone.
func normalise(out string) string {
	out = progress.ReplaceAllString(out, "")
	out = buckets.ReplaceAllString(out, "")
	kept := strings.Split(out, "\n")
	for i, line := range kept {
		if !strings.HasPrefix(line, "  ") || strings.Contains(line, " in ") || strings.Contains(line, "summary") {
			line = regexp.MustCompile(`\b\d+\.\d+\b|\binf\b|\bnan\b`).ReplaceAllString(line, "F")
		} else if figure.MatchString(line) && strings.HasPrefix(line, "   ") {
			line = spaces.ReplaceAllString(figure.ReplaceAllString(line, "F"), " ")
		}
		kept[i] = line
	}
	return strings.Join(kept, "\n")
}
