package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"respbench/report"
)

// suiteLimit is how long a small suite may take on a machine that is busy with other tests.
const suiteLimit = 3 * time.Minute

// suiteOutput is the files of a suite.
type suiteOutput struct {
	t   testing.TB
	dir string
}

// smallSuite runs a suite with small counts into a folder of its own.
func smallSuite(t testing.TB, args ...string) (outcome, suiteOutput) {
	t.Helper()
	out := suiteOutput{t, filepath.Join(t.TempDir(), "results")}
	return start(t, suiteLimit, nil, out.args(args...)...).end(), out
}

func (s suiteOutput) args(args ...string) []string {
	return append(strings.Fields("suite --kv-port 0 --rest 0s --keyspace 2000 -n 20000 --out "+s.dir), args...)
}

// file reads the one file of a kind.
func (s suiteOutput) file(pattern string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(pattern))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s suiteOutput) path(pattern string) string {
	s.t.Helper()
	found, _ := filepath.Glob(filepath.Join(s.dir, pattern))
	if len(found) != 1 {
		s.t.Fatalf("files %s: %v", pattern, found)
	}
	return found[0]
}

// rows are the rows of a CSV file by the names of their columns.
func (s suiteOutput) rows(pattern string) (rows []map[string]string) {
	s.t.Helper()
	all, err := csv.NewReader(strings.NewReader(s.file(pattern))).ReadAll()
	if err != nil || len(all) == 0 {
		s.t.Fatalf("%s: %v", pattern, err)
	}
	for _, r := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = r[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func (s suiteOutput) result() *report.SuiteResult {
	s.t.Helper()
	r, err := report.ReadSuiteJSON(strings.NewReader(s.file("result_*.json")))
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// statuses are the rounds of the detail file: "1 ok", "2 failed".
func (s suiteOutput) statuses() (list []string) {
	for _, r := range s.rows("hash_bench_detail_*.csv") {
		list = append(list, r["round"]+" "+r["status"])
	}
	return list
}

// noLitter checks that there is nothing in the folder but the seven files.
func (s suiteOutput) noLitter() {
	s.t.Helper()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if len(names) != 7 {
		s.t.Errorf("files %v, want seven", names)
	}
}

// The whole of it: kvstore and the real server, three rounds, every file, and one set of figures in all of them.
func TestSuite(t *testing.T) {
	args := []string{"--rounds", "3", "--warmup", "1"}
	systems := map[string][]string{"kvstore": {"persist_no", "persist_everysec", "nopersist"}}
	if _, err := exec.LookPath("redis-server"); err == nil {
		args = append(args, "--redis-server", "redis-server", "--redis-strategies", "none,rdb_default,aof_always")
		systems["redis"] = []string{"none", "rdb_default", "aof_always"}
	} else {
		t.Log("redis-server is not installed: kvstore alone is measured")
	}
	o, out := smallSuite(t, args...)
	if o.code != 0 {
		t.Fatalf("exit code %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	out.noLitter()
	cells := 0
	for name, strategies := range systems {
		cells += 2 * len(strategies)
		for _, st := range strategies {
			for _, mode := range []string{"set", "get"} {
				checkCell(t, out, name, st, mode)
			}
		}
	}
	if rows := out.rows("hash_bench_detail_*.csv"); len(rows) != 4*cells {
		t.Errorf("%d rows in the detail file, want %d", len(rows), 4*cells)
	}
	for _, want := range []string{`(?s)configuration.*"everysec"`, `(?i)command that repeats`} {
		if md := out.file("report_*.md"); !regexp.MustCompile(`(?i)` + want).MatchString(md) {
			t.Errorf("the report has no %s", want)
		}
	}
	if systems["redis"] != nil && !strings.Contains(out.file("report_*.md"), "too short for a save point") {
		t.Error("no note that no save point fired")
	}
	if page := out.file("report_*.html"); !strings.Contains(page, "<svg") || regexp.MustCompile(`(?:src|href)="http`).MatchString(page) {
		t.Error("the page has no picture, or asks for something outside")
	}
}

// checkCell looks for the same figures in CSV, Markdown, HTML and JSON.
func checkCell(t *testing.T, out suiteOutput, system, strategy, mode string) {
	t.Helper()
	var qps []string
	sum := 0.0
	for _, r := range out.rows("hash_bench_detail_*.csv") {
		if r["system"] != system || r["strategy"] != strategy || r["mode"] != mode {
			continue
		}
		if r["requests"] != "20000" || r["errors"] != "0" || r["status"] != "ok" && r["status"] != "warm-up" {
			t.Errorf("row %v", r)
		}
		if mode == "get" && (r["misses"] != "0" || r["mismatches"] != "0" || r["verified"] != "20000") {
			t.Errorf("reads of %s %s: %v", system, strategy, r)
		}
		if r["status"] == "ok" {
			v, err := strconv.ParseFloat(r["qps"], 64)
			if err != nil || v <= 0 {
				t.Errorf("QPS %q", r["qps"])
			}
			qps, sum = append(qps, r["qps"]), sum+v
		}
	}
	mean := fmt.Sprintf("%.2f", sum/3)
	where := system + " " + strategy + " " + mode
	if len(qps) != 3 {
		t.Fatalf("%s: %d rounds", where, len(qps))
	}
	for _, pattern := range []string{"hash_bench_summary_*.csv", "hash_bench_trimmed_*.csv"} {
		if !slices.ContainsFunc(out.rows(pattern), func(r map[string]string) bool {
			return r["system"] == system && r["strategy"] == strategy && r["mode"] == mode && r["mean_qps"] == mean && r["round_qps"] == strings.Join(qps, " ")
		}) {
			t.Errorf("%s has no row %s with mean %s", pattern, where, mean)
		}
	}
	// The same row in the table of rounds: strategy, mode, three rounds, mean.
	figures := append(slices.Clone(qps), mean)
	markdown := regexp.MustCompile(`\| ` + strategy + `[^|]*\| ` + mode + ` \| ` + strings.Join(figures, ` \| `) + ` \|`)
	if !markdown.MatchString(out.file("report_*.md")) {
		t.Errorf("the Markdown has no row %s", markdown)
	}
	page := html.UnescapeString(out.file("report_*.html"))
	if !strings.Contains(page, `<td>`+strings.Join(figures, `</td><td>`)+`</td>`) {
		t.Errorf("the page has no row %s %v", where, figures)
	}
	var found []string
	for _, sys := range out.result().Systems {
		for _, st := range sys.Strategies {
			for _, m := range st.Modes {
				for _, r := range m.Rounds {
					if sys.Name == system && st.Name == strategy && m.Mode == mode && !r.Warmup {
						found = append(found, fmt.Sprintf("%.2f", r.Result.QPS()))
					}
				}
			}
		}
	}
	if !slices.Equal(found, qps) {
		t.Errorf("%s: %v in the result file, %v in the detail file", where, found, qps)
	}
}

// The script's variables are defaults, and the flag wins; the file that is printed is read back the same.
func TestSuiteVariables(t *testing.T) {
	for name, value := range map[string]string{"ROUNDS": "7", "REQ": "11", "KEYSPACE": "set=1000000000,get=100000", "PIPE": "3", "VSIZE": "256",
		"RETRIES": "1", "SEED": "99", "ALLOC": "malloc", "KV_PORT": "7777", "SET_CMD": "HSET", "GET_CMD": "HGET"} {
		t.Setenv(name, value)
	}
	o := respbench(t, "suite", "--print-file", "--rounds", "9", "--get-cmd", "RGET")
	for _, want := range []string{"rounds: 9", "requests: 11", "keyspace: 1000000000", "keyspace: 100000", "pipeline: 3", "value-size: 256", "retries: 1",
		"seed: 99", "allocator: malloc", "port: 7777", "set-cmd: HSET", "get-cmd: RGET"} {
		o.check(t, want2(0, `^ *`+regexp.QuoteMeta(want)+`$`))
	}
	file := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(file, []byte(o.stdout), 0o644); err != nil {
		t.Fatal(err)
	}
	if again := respbench(t, "suite", "--file", file, "--print-file"); again.stdout != o.stdout {
		t.Errorf("read back\n%s\nprinted\n%s", again.stdout, o.stdout)
	}
	respbench(t, "suite", "--file", file, "--rounds", "2", "--print-file").check(t, want2(0, `^rounds: 2$`))
	t.Setenv("ROUNDS", "")
	t.Setenv("SET_CMD", "")
	t.Setenv("PIPE", "010")
	respbench(t, "suite", "--print-file").check(t, want2(0, `(?s)rounds: 5$.*pipeline: 10$.*set-cmd: RSET$`))
	t.Setenv("REQ", "1e6")
	respbench(t, "suite", "--print-file").check(t, want{1, "!.", `^respbench: the variable REQ="1e6" stands for --requests: must be a whole number, or one for each mode: set=N,get=N \(see respbench suite --help\)$`})
}

func want2(code int, stdout string) want { return want{code, stdout, ""} }

// The tables of strategy and allocator, and the real server's five strategies.
func TestSuiteMatrix(t *testing.T) {
	for _, spelling := range []string{"persistence×allocator", "persistencexallocator"} {
		o := respbench(t, "suite", "--dry-run", "--kv-port", "0", "--matrix", spelling)
		for _, name := range []string{"persist_mypool", "everysec_mypool", "nopersist_mypool", "persist_malloc", "everysec_malloc", "nopersist_malloc"} {
			o.check(t, want2(0, `^  `+name+` \(`))
		}
	}
}

// C11, C170: what cannot be right is told before anything is started or written.
func TestSuiteMistakes(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "suite.yaml")
	if err := os.WriteFile(file, []byte("rounds: 3\nrunds: 4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct{ args, stderr string }{
		{"--rounds -1", `^respbench: rounds -1: must be 1 to 2147483647 \(see respbench suite --help\)$`},
		{"--rounds 0", `rounds 0: must be`},
		{"--rounds x", `^respbench: invalid value "x" for --rounds: must be a whole number \(see`},
		{"--nosuch", `^respbench: unknown option "--nosuch" \(see respbench suite --help\)$`},
		{"--redis-server /nonexistent/redis-server", `^--redis-server /nonexistent/redis-server: (stat .*: )?no such file or directory$`},
		{"--redis-server true", `^--redis-server true is neither redis-server nor valkey-server: to --version it said ".*"$`},
		{"--file " + file, "^" + file + `:2:1: unknown key "runds": .*\n    2 \| runds: 4\n      \| \^$`},
		{"--file " + file + " --redis", `^respbench: --redis does not go with --file`},
		{"--resume nothing.csv", `^--resume nothing.csv: the name must be`},
		{"--resume x --rounds 3", `^respbench: --rounds does not go with --resume`},
		{"--keyspace put=3", `--keyspace names the mode "put", which is not measured`},
		{"--matrix a", `must be persistence×allocator`},
		{"--strategies persist_maybe", `there is no strategy "persist_maybe" of kvstore: there are persist_no, `},
		{"--kvstore=false --ready 200ms --target gone=127.0.0.1:1", `^gone at 127.0.0.1:1: the server was not ready after 200ms: Could not connect to Redis at 127.0.0.1:1: Connection refused$`},
		{"--rounds 0x5", `^respbench: invalid value "0x5" for --rounds: must be a whole number \(see`},
		{"--rest -1", `^respbench: invalid value "-1" for --rest: must be seconds`},
		{"--ready 0", `^respbench: ready 0s: must be above 0 \(see`},
		{"--engine odd", `^respbench: engine "odd": must be epoll or gnet \(see`},
		{"-n set=5,set=6", `^respbench: invalid value "set=5,set=6" for --requests: the mode "set" is there twice \(see`},
		{"--matrix persistencexallocator --kvstore=false", `^respbench: --kvstore=false does not go with --matrix`},
		{"--verify-get=maybe", `^respbench: invalid value "maybe" for --verify-get: must be true or false \(see`},
		{"--target here", `invalid value "here" for --target: must be NAME=HOST:PORT`},
		{"--kvstore=false", `there is no system to measure`},
		{"--modes delete", `must be set, get or mixed`},
		{"--key-dist odd", `invalid value "odd" for --key-dist`},
		{"--out " + file + "/out", `^--out: mkdir .*: not a directory$`},
	} {
		o := respbench(t, append([]string{"suite", "--kv-port", "0", "--out", out}, strings.Fields(c.args)...)...)
		if strings.HasPrefix(c.args, "--file") || strings.HasPrefix(c.args, "--resume") {
			o = respbench(t, append([]string{"suite"}, strings.Fields(c.args)...)...)
		}
		o.check(t, want{1, "!.", c.stderr})
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s: files were made", c.args)
			os.RemoveAll(out)
		}
	}
	ln := listenAnywhere(t)
	respbench(t, "suite", "--kv-port", ln, "--out", out).check(t, want{1, "!.", `^port ` + ln + ` for kvstore: address already in use \(--kv-port chooses another, 0 a free one\)$`})
}

// C11: huge counts cost no memory.
func TestSuiteDryRun(t *testing.T) {
	o := startAs(t, hang, nil, weighed, "suite", "--kv-port", "0", "--rounds", "2147483647", "--dry-run").end()
	o.check(t, want{0, `^6 measurements in each of 2147483647 rounds .* 12884901888 in all`, ""})
	peak := regexp.MustCompile(`^VmHWM:\s*(\d+) kB\n$`).FindStringSubmatch(o.stderr)
	if peak == nil {
		if runtime.GOOS == "linux" {
			t.Errorf("stderr %q", o.stderr)
		}
		return
	}
	if kb, err := strconv.Atoi(peak[1]); err != nil || kb > 100_000*memoryFactor { // a bit a round would be 268 MB
		t.Errorf("%s KiB of memory, %v", peak[1], err)
	}
}

// A server that runs already is measured under a fresh prefix each round, and runs on. C71: it may still be loading.
func TestSuiteTarget(t *testing.T) {
	r := useRedis(t)
	o, _ := smallSuite(t, "--kvstore=false", "--target", "here=127.0.0.1:"+r.port, "--rounds", "2", "--warmup", "0", "-n", "500", "--keyspace", "50")
	o.check(t, want{0, `here: redis `, ""})
	prefixes := map[string]bool{}
	for _, key := range regexp.MustCompile(`bench:\d+:(?:set|get):`).FindAllString(r.ask("KEYS *"), -1) {
		prefixes[key] = true
	}
	if len(prefixes) != 4 {
		t.Errorf("prefixes %v, want one for each mode and round", prefixes)
	}
	locked := useRedis(t, "--requirepass", "sekret")
	o, out := smallSuite(t, "--kvstore=false", "--target", "locked=127.0.0.1:"+locked.port)
	o.check(t, want{1, "!.", `^locked at 127.0.0.1:\d+: .*NOAUTH Authentication required\.$`})
	if _, err := os.Stat(out.dir); err == nil {
		t.Error("files were made for a server that refuses us")
	}
	s := useFake(t, "loading:500")
	o, _ = smallSuite(t, "--kvstore=false", "--target", "late=127.0.0.1:"+s.port(), "--rounds", "1", "--warmup", "0", "--retries", "0", "--modes", "set", "-n", "200")
	o.check(t, want{0, `late`, ""})
	s = useFake(t, "loading:60000")
	o, _ = smallSuite(t, "--kvstore=false", "--target", "never=127.0.0.1:"+s.port(), "--rounds", "1", "--warmup", "0", "--retries", "0", "--modes", "set", "--ready", "300ms")
	o.check(t, want{1, "!.", `^never at 127.0.0.1:\d+: the server was not ready after 300ms: .*LOADING`})
}

// C90: reads of keys that nobody wrote are shown as misses.
func TestSuiteMissRate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "suite.yaml")
	text := `rounds: 1
warmup: 0
workloads: [{name: nothing, op: get, requests: 1000, keyspace: 100}]
systems: [{name: kv, server: kvstore, strategies: [{name: plain}]}]
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o := respbench(t, "suite", "--file", file, "--out", filepath.Join(t.TempDir(), "out"))
	o.check(t, want{0, `^  plain +nothing +1000 +[0-9.]+ +100\.00% +n/a `, ""})
}

// C180: nobody reads what we print, and the suite goes on to its end.
func TestSuiteReaderGoesAway(t *testing.T) {
	out := suiteOutput{t, filepath.Join(t.TempDir(), "results")}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args = append([]string{ownName}, out.args("--rounds", "1", "--warmup", "0", "--modes", "set")...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(suiteLimit):
		cmd.Process.Kill()
		t.Fatal("hung")
	}
	if got := out.statuses(); !slices.Equal(got, []string{"1 ok", "1 ok", "1 ok"}) {
		t.Errorf("rounds %v", got)
	}
}

// The report of a suite in every format, and in Chinese.
func TestSuiteReport(t *testing.T) {
	o, out := smallSuite(t, "--rounds", "1", "--warmup", "0", "--modes", "set", "--strategies", "nopersist", "--lang", "zh", "-n", "1000")
	o.check(t, want{0, `压测报告`, ""})
	result := out.path("result_*.json")
	for _, c := range []struct{ args, file string }{
		{"--format csv", "hash_bench_detail_*.csv"}, {"--format csv --table summary", "hash_bench_summary_*.csv"},
		{"--format csv --table trimmed", "hash_bench_trimmed_*.csv"}, {"--format md --lang zh", "report_*.md"},
		{"--format html --lang zh", "report_*.html"}, {"--format json", "result_*.json"},
	} {
		got := respbench(t, append(append([]string{"report"}, strings.Fields(c.args)...), result)...)
		if got.code != 0 || got.stdout != out.file(c.file) {
			t.Errorf("report %s differs from %s (exit code %d, %s)", c.args, c.file, got.code, got.stderr)
		}
	}
	pictures := filepath.Join(t.TempDir(), "pictures")
	respbench(t, "report", "--pictures", pictures, result).check(t, want{0, "!.", "!."})
	if found, _ := filepath.Glob(filepath.Join(pictures, "kvstore_*.svg")); len(found) < 2 {
		t.Errorf("pictures %v", found)
	}
	respbench(t, "report", "--format", "md", "--before", result, result).check(t, want{0, `^## Before and after$`, ""})
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(strings.Replace(out.file("result_*.json"), `"name": "nopersist"`, `"name": "another"`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	respbench(t, "report", "--before", other, result).check(t, want{1, "!.", `have no strategy and mode in common$`})
	respbench(t, "report", result, other).check(t, want{1, "!.", `is a suite's file, which is not merged`})
	if bytes.Contains([]byte(o.stdout), []byte("0.00 QPS")) {
		t.Error("a zero is reported")
	}
}
