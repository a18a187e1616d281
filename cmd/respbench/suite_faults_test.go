package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// listenAnywhere takes a port until the test ends.
func listenAnywhere(t testing.TB) (port string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// oddRedis is a redis-server that behaves as the body of a shell script says: $n counts the starts, and REDIS
// is the real one.
func oddRedis(t *testing.T, body string) string {
	t.Helper()
	real, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	dir := t.TempDir()
	script := fmt.Sprintf(`#!/bin/sh
REDIS=%s
if [ "$1" = --version ]; then exec $REDIS --version; fi
n=$(($(cat %[2]s 2>/dev/null || echo 0) + 1))
echo $n >%[2]s
%s
exec $REDIS "$@"
`, real, filepath.Join(dir, "count"), body)
	path := filepath.Join(dir, "redis-server")
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// redisAlone are the arguments that measure nothing but SET on one strategy of a redis-server, a request at a
// time, so that a round takes long enough for something to happen in it.
func redisAlone(path, strategy string) []string {
	return append(strings.Fields("--kvstore=false --modes set --warmup 0 -P 1 --redis-strategies "+strategy), "--redis-server", path)
}

// C167: the server dies in round 2. The round is failed, not zero; the other rounds count; the exit code says so.
func TestSuiteServerDies(t *testing.T) {
	t.Parallel()
	redis := oddRedis(t, `if [ $n = 2 ]; then $REDIS "$@" & sleep 0.4; kill -9 $!; echo "out of memory"; exit 7; fi`)
	o, out := smallSuite(t, append(redisAlone(redis, "none"), "--rounds", "3", "--retries", "0", "-n", "40000")...)
	o.check(t, want{1, `none \(save "", appendonly no\) +set +[0-9.]+ +failed +[0-9.]+ `,
		`round 2/3, redis none set: attempt 1 of 1 failed: .*the server ended: exit status 7: out of memory$`})
	o.check(t, want{1, "", `^1 round failed: see .*report_\d+_\d+\.md \(respbench suite --resume .*hash_bench_detail_\d+_\d+\.csv tries again\)$`})
	if got := out.statuses(); !slices.Equal(got, []string{"1 ok", "2 failed", "3 ok"}) {
		t.Errorf("rounds %v", got)
	}
	row := out.rows("hash_bench_summary_*.csv")[0]
	if row["rounds_ok"] != "2" || row["rounds"] != "3" || len(strings.Fields(row["round_qps"])) != 2 {
		t.Errorf("summary %v", row)
	}
	out.noLitter()
	// Resumed, only the failed round is measured; why it failed is kept.
	o = respbench(t, "suite", "--resume", out.path("hash_bench_detail_*.csv"))
	o.check(t, want{0, "", `^\[3/3\] round 2/3, redis none set: `})
	if got := out.statuses(); !slices.Equal(got, []string{"1 ok", "2 ok", "3 ok"}) || strings.Count(o.stderr, "\n") != 1 {
		t.Errorf("rounds %v\n%s", got, o.stderr)
	}
	if rows := out.rows("hash_bench_detail_*.csv"); rows[1]["attempts"] != "2" || !strings.Contains(rows[1]["failures"], "out of memory") {
		t.Errorf("row %v", rows[1])
	}
}

// The path of a program counts from where we were started, not from the folder of a round's server; and what is to be typed
// to go on can be pasted as it is.
func TestSuiteRelativePaths(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	redis, err := filepath.Rel(here, oddRedis(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	o, _ := smallSuite(t, append(redisAlone(redis, "none"), "--rounds", "1", "--retries", "0", "-n", "100")...)
	o.check(t, want{0, "", "!failed"})
	out := suiteOutput{t, filepath.Join(t.TempDir(), "it's here")}
	args := append(redisAlone(oddRedis(t, "exit 3"), "none"), "--rounds", "1", "--retries", "0", "--rest", "0s", "-n", "100", "--out", out.dir)
	respbench(t, append([]string{"suite"}, args...)...).check(t, want{1, "", `respbench suite --resume '/.*/it'\\''s here/hash_bench_detail_[0-9_]+\.csv' tries again\)$`})
}

// A round that fails is tried again.
func TestSuiteRetries(t *testing.T) {
	redis := oddRedis(t, `if [ $n = 1 ]; then echo "not today"; exit 3; fi`)
	o, out := smallSuite(t, append(redisAlone(redis, "none"), "--rounds", "1", "-n", "100")...)
	o.check(t, want{0, `not today`, `attempt 1 of 4 failed: the server did not start; the server ended: exit status 3: not today$`})
	if row := out.rows("hash_bench_detail_*.csv")[0]; row["status"] != "ok" || row["attempts"] != "2" {
		t.Errorf("row %v", row)
	}
}

// A strategy that is not in force is not measured: by the configuration, and by what is on the disk.
func TestSuiteStrategyNotInForce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, strategy, stderr string }{
		{`exec $REDIS "$@" --appendonly no`, "aof_always", `failed: the strategy is not in force: CONFIG GET appendonly is "no", must be "yes"$`},
		{`exec $REDIS "$@" --appendfsync everysec`, "aof_always", `failed: the strategy is not in force: CONFIG GET appendfsync is "everysec", must be "always"$`},
		{`exec $REDIS "$@" --dir ` + t.TempDir(), "aof_no", `failed: the strategy is not in force: the log did not grow$`},
		{`mkdir -p "$6"; head -c 100 /dev/zero >"$6/secret"`, "none", `failed: the strategy is not in force: 100 bytes were written without persistence$`},
	} {
		o, out := smallSuite(t, append(redisAlone(oddRedis(t, c.body), c.strategy), "--rounds", "1", "--retries", "0", "-n", "2000", "-P", "16")...)
		o.check(t, want{1, "", c.stderr})
		if got := out.statuses(); !slices.Equal(got, []string{"1 failed"}) {
			t.Errorf("%s: rounds %v", c.strategy, got)
		}
	}
}

// awaitRounds waits until so many rounds are complete.
func awaitRounds(t *testing.T, p *process, out suiteOutput, n int) {
	t.Helper()
	for end := time.Now().Add(suiteLimit); ; time.Sleep(5 * time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(out.dir, "hash_bench_detail_*.csv"))
		if len(found) == 1 && len(out.statuses()) >= n {
			return
		}
		if time.Now().After(end) {
			p.Process.Kill()
			t.Fatalf("not %d rounds: %v", n, found)
		}
	}
}

func awaitFile(t *testing.T, p *process, pattern string) {
	t.Helper()
	for end := time.Now().Add(suiteLimit); ; time.Sleep(5 * time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
		if time.Now().After(end) {
			p.Process.Kill()
			t.Fatalf("no file %s", pattern)
		}
	}
}

// C178, C179: Ctrl-C in round 3 keeps two rounds, marks the report, leaves no server behind, and can be gone on from.
func TestSuiteInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		timed(t, func() string {
			out := suiteOutput{t, filepath.Join(t.TempDir(), "results")}
			p := start(t, suiteLimit, nil, out.args(strings.Fields("--rounds 5 --warmup 0 --modes set --strategies persist_everysec -P 1 -n 30000")...)...)
			awaitRounds(t, p, out, 2)
			time.Sleep(300 * time.Millisecond) // into round 3: nothing shows from outside how far it is
			servers := children(t, p.Process.Pid)
			asked := time.Now()
			p.Process.Signal(c.signal)
			o := p.end()
			took := time.Since(asked)
			if o.code != c.code {
				t.Errorf("exit code %d", o.code)
			}
			for _, pid := range servers {
				if !ended(pid) {
					t.Errorf("server %d still runs", pid)
				}
			}
			got := out.statuses()
			if len(got) < 2 || !slices.Equal(got[:2], []string{"1 ok", "2 ok"}) || len(got) == 5 {
				t.Errorf("rounds %v", got)
			}
			if !strings.Contains(out.file("report_*.md"), "was interrupted") || !out.result().Interrupted {
				t.Error("the report is not marked")
			}
			out.noLitter()
			o.check(t, want{c.code, "", `^interrupted; respbench suite --resume .*hash_bench_detail_\d+_\d+\.csv goes on$`})
			respbench(t, "suite", "--dry-run", "--resume", out.path("report_*.md")).check(t, want{0, `^[234] of them are there already$`, ""})
			start(t, suiteLimit, nil, "suite", "--resume", out.path("report_*.md")).end().check(t, want{0, `Rounds: 5 of each`, ""})
			if got := out.statuses(); !slices.Equal(got, []string{"1 ok", "2 ok", "3 ok", "4 ok", "5 ok"}) || out.result().Interrupted {
				t.Errorf("after --resume: rounds %v", got)
			}
			if took > 2*time.Second {
				return fmt.Sprintf("took %v", took)
			}
			return ""
		})
	}
}

// No server survives a suite that is killed.
func TestSuiteServersEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux binds a child to its parent's end")
	}
	redis := oddRedis(t, "")
	for _, args := range [][]string{redisAlone(redis, "aof_no"), strings.Fields("--modes set --strategies nopersist -P 1 --warmup 0")} {
		out := suiteOutput{t, filepath.Join(t.TempDir(), "results")}
		p := start(t, suiteLimit, nil, out.args(append(args, "-n", "100000000")...)...)
		var servers []int
		for end := time.Now().Add(hang); len(servers) == 0; time.Sleep(10 * time.Millisecond) {
			if servers = children(t, p.Process.Pid); time.Now().After(end) {
				t.Fatal("no server was started")
			}
		}
		time.Sleep(200 * time.Millisecond)
		p.Process.Kill()
		p.Wait()
		p.cancel()
		for end := time.Now().Add(hang); !ended(servers[0]); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				syscall.Kill(servers[0], syscall.SIGKILL)
				t.Errorf("server %d still runs", servers[0])
				break
			}
		}
	}
}

// C170: the disk fills up in mid-run. The suite ends with the reason and the way to go on, every file is whole, and
// going on completes it.
func TestSuiteDiskFull(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if text, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("a small disk cannot be mounted here: %s", strings.TrimSpace(string(text)))
	}
	t.Cleanup(func() {
		if text, err := exec.Command("umount", disk).CombinedOutput(); err != nil {
			t.Errorf("umount: %s", text)
		}
	})
	out := suiteOutput{t, filepath.Join(disk, "results")}
	p := start(t, suiteLimit, nil, out.args("--rounds", "4", "--warmup", "0", "--modes", "set", "--strategies", "nopersist", "-P", "1", "--dir", t.TempDir())...)
	awaitRounds(t, p, out, 1)
	awaitFile(t, p, filepath.Join(out.dir, "report_*.html")) // the last of the files that a round writes
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o644); err == nil {
		t.Error("the disk took more than it has")
	}
	o := p.end()
	o.check(t, want{1, "", `^--out: .*no space left on device; the files have the rounds before \(respbench suite --resume .*hash_bench_detail_\d+_\d+\.csv\)$`})
	out.noLitter()
	got := out.statuses()
	if len(got) == 0 || len(got) == 4 || len(out.result().Results()) == 0 {
		t.Errorf("rounds %v", got)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	start(t, suiteLimit, nil, "suite", "--resume", out.path("hash_bench_detail_*.csv")).end().check(t, want{0, "", ""})
	if got := out.statuses(); len(got) != 4 {
		t.Errorf("after --resume: rounds %v", got)
	}
}
