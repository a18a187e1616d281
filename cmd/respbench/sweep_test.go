package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"respbench/report"
)

// A short curve with a list of rates: a row each, and the same in JSON and as a picture.
func TestSweepOfRates(t *testing.T) {
	t.Parallel()
	s := useFake(t, "ok")
	dir := t.TempDir()
	file, picture := filepath.Join(dir, "s.json"), filepath.Join(dir, "s.svg")
	o := respbench(t, "sweep", "-p", s.port(), "-c", "4", "-t", "set", "--rates", "200,100,400", "--duration", "0.3", "--warmup", "0.1", "--json", file, "--svg", picture)
	o.check(t, want{0, `^ *rate +achieved/s`, `^rate 100: `})
	for _, rate := range []string{"100", "200", "400"} {
		if !regexp.MustCompile(`(?m)^ *` + rate + ` +\d`).MatchString(o.stdout) {
			t.Errorf("no row of rate %s in\n%s", rate, o.stdout)
		}
	}
	var sweep struct {
		Schema string `json:"schema"`
		Points []struct {
			Load   float64        `json:"load"`
			Result *report.Result `json:"result"`
		} `json:"points"`
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &sweep)
	}
	if err != nil || sweep.Schema != report.SweepSchemaName || len(sweep.Points) != 3 {
		t.Fatalf("%v, %+v", err, sweep)
	}
	for _, p := range sweep.Points {
		if got := float64(p.Result.Pacing.Due); !within(got, 0.3*p.Load-1, 0.3*p.Load+1) || p.Result.Verdict == nil {
			t.Errorf("rate %v: %v requests due in 0.3 s, verdict %v", p.Load, got, p.Result.Verdict)
		}
	}
	if svg, err := os.ReadFile(picture); err != nil || !strings.HasPrefix(string(svg), "<svg") {
		t.Errorf("picture %.40q, %v", svg, err)
	}
}

// Error replies that were counted are told, and decide the exit code as in a run.
func TestSweepWithErrors(t *testing.T) {
	t.Parallel()
	s := useFake(t, "errat:30")
	o := respbench(t, "sweep", "-p", s.port(), "-c", "2", "--rates", "200", "--duration", "0.3", "--warmup", "0", "--on-error", "count")
	o.check(t, want{1, `^note: error replies: 1, most often ERR boom at 30$`, ``})
}

// Numbers of clients and pipelines; bench.c mode with its prefill.
func TestSweepOfClientsAndPipelines(t *testing.T) {
	t.Parallel()
	s := useFake(t, "ok")
	o := respbench(t, "sweep", "-p", s.port(), "--clients", "1,3", "--duration", "0.2", "--warmup", "0", "-q")
	o.check(t, want{0, `^ *clients +achieved/s`, `!.`})
	o = respbench(t, "sweep", "-p", s.port(), "--mode", "set", "--keyspace", "100", "--pipelines", "1,8", "--duration", "0.2", "--warmup", "0")
	o.check(t, want{0, `^ +8 +\d`, ``})
}

// A server that answers 40 a second, one after the other: the search ends below that, and not far below.
func TestSweepFindsTheLimit(t *testing.T) {
	t.Parallel()
	timed(t, func() string {
		s := useFake(t, "slow:0.025")
		o := start(t, time.Minute, nil, "sweep", "-p", s.port(), "-c", "1", "--find-max", "p99<200ms", "--duration", "0.6", "--warmup", "0").end()
		m := regexp.MustCompile(`(?m)^highest rate that holds p99<200ms: ([0-9.]+)$`).FindStringSubmatch(o.stdout)
		if o.code != 0 || m == nil {
			return fmt.Sprintf("exit code %d\n%s\n%s", o.code, o.stdout, o.stderr)
		}
		var best float64
		if err := json.Unmarshal([]byte(m[1]), &best); err != nil || !within(best, 10, 48) {
			return fmt.Sprintf("%v a second of a server that answers 40", best)
		}
		return ""
	})
}

// An objective that nothing holds is exit code 5; a window that fails is measured twice.
func TestSweepWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := useFake(t, "slow:0.02")
	o := start(t, time.Minute, nil, "sweep", "-p", s.port(), "-c", "50", "--rates", "50", "--find-max", "p50<1ms", "--duration", "0.1", "--warmup", "0").end()
	o.check(t, want{5, `^no rate holds p50<1ms$`, `fails at try 2$`})
}

func TestSweepRefuses(t *testing.T) {
	for _, tt := range []struct{ args, stderr string }{
		{"--rates 1,x", `invalid list "1,x" for --rates: must be rates joined by commas`}, {"--clients 0", `for --clients: must be whole numbers from 1`},
		{"--clients 1 --rates 5", `--rates does not go with --clients`}, {"-n 5", `-n does not go with sweep`},
		{"--rps 5", `--rps does not go with sweep`}, {"--clients 1,2 -c 5", `-c does not go with sweep`},
		{"--find-max p99", `for --find-max: column 4`}, {"--assert p99<2ms", `--assert does not go with sweep`},
		{"-t set,get", `names 2: choose one`}, {"--csv", `--csv does not go`}, {"-host x", `did you mean --host`},
		{"--json /no/such/dir/x", `^--json: `},
	} {
		args := append([]string{"sweep", "-p", "1"}, strings.Fields(tt.args)...)
		if strings.Contains(tt.args, "set,get") {
			args[2] = useFake(t, "ok").port()
		}
		o := respbench(t, args...)
		o.check(t, want{1, `!.`, tt.stderr})
		if strings.Count(o.stderr, "\n") != 1 {
			t.Errorf("%s: %q is not one line", tt.args, o.stderr)
		}
	}
	respbench(t, "sweep", "--help").check(t, want{0, `^ --find-max <condition>`, `!.`})
}

// Ctrl-C ends a sweep with the windows that were complete.
func TestSweepInterrupted(t *testing.T) {
	t.Parallel()
	s := useFake(t, "ok")
	p := start(t, hang, nil, "sweep", "-p", s.port(), "-c", "1", "--rates", "100,200", "--duration", "1", "--warmup", "0")
	for end := time.Now().Add(hang); s.count() < 110 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	p.Process.Signal(os.Interrupt)
	o := p.end()
	o.check(t, want{130, `interrupted`, ``})
	if regexp.MustCompile(`(?m)^ *200 +\d`).MatchString(o.stdout) {
		t.Errorf("half a window is shown:\n%s", o.stdout)
	}
}

// The ceiling is measured against a server of its own, and a measurement that reaches it is client-bound.
func TestCeiling(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "c.json")
	o := respbench(t, "ceiling", "-c", "5", "-P", "4", "--duration", "0.5", "--json", file)
	o.check(t, want{0, `^ceiling: [1-9][0-9.]+ requests per second \(SET, -c 5 -P 4, 3 bytes payload, 1 loop\)$`, `!.`})
	o.check(t, want{0, `^give it to a measurement .*--ceiling [1-9]`, ``})
	respbench(t, "ceiling", "-c", "5", "--duration", "0.1", "--json", "-").check(t, want{0, `\A\{\n "schema": "respbench/result"`, `^ceiling: `})
	respbench(t, "--embedded", "-c", "5", "-P", "4", "-n", "100000", "-t", "set", "--ceiling", file).
		check(t, want{0, `verdict: .*% of the client's ceiling of [1-9]`, `!WARNING: The ceiling`})
	respbench(t, "--embedded", "-c", "2", "--duration", "0.2", "-t", "set", "--ceiling", file).
		check(t, want{0, `verdict: .*% of the client's ceiling`, `^WARNING: The ceiling was measured with -c 5 -P 4 --threads 1`})
	respbench(t, "--embedded", "-c", "2", "--duration", "0.2", "-t", "set", "--ceiling", "1").
		check(t, want{0, `verdict: .*the ceiling is too low to be one`, ``})
	respbench(t, "--embedded", "-c", "5", "-P", "4", "-n", "1000", "-d", "100", "-t", "set", "-q", "--ceiling", file, "--json", file).
		check(t, want{0, `^SET: `, `^WARNING: The ceiling was measured with a payload of 3 bytes, not with the 100 of this run`})
	respbench(t, "--ceiling", file, "-p", "1").check(t, want{1, `!.`, `the file is of a measurement`})
	respbench(t, "ceiling", "-p", "1").check(t, want{1, `!.`, `leave out --port`})
	respbench(t, "--ceiling", "nonsense", "-p", "1").check(t, want{1, `!.`, `invalid ceiling "nonsense" for --ceiling: must be requests per second`})
	respbench(t, "ceiling", "--mode", "get", "--keyspace", "100", "-q", "--requests", "1000").check(t, want{0, `^ceiling: `, `!.`})
}

// Against a real server: its figures before and after are those of the load, and a verdict closes the report. Under
// the name of redis-benchmark nothing of it is printed, and no INFO is sent.
func TestServerInfoAndVerdict(t *testing.T) {
	r := useRedis(t)
	r.ask("SET key:__rand_int__ v")
	o := respbench(t, "-p", r.port, "-n", "20000", "-c", "5", "-t", "get")
	for _, line := range []string{
		`^    total_commands_processed +20000$`, `^    keyspace_hits +20000$`, `^    cmdstat_get calls +20000$`, `^    used_cpu_us_per_command +\d`,
		`^  server: redis 7\.`, `^  verdict: (server-bound|client-bound|neither: latency-bound|cannot tell)`,
	} {
		o.check(t, want{0, line, ``})
	}
	paced := outcome{}
	for range 5 { // a busy machine may keep the client from its schedule, which it then says
		if paced = respbench(t, "-p", r.port, "-c", "2", "--rps", "500", "--duration", "0.5", "-t", "get"); strings.Contains(paced.stdout, "verdict: paced") {
			break
		}
	}
	paced.check(t, want{0, `^  verdict: paced`, ``})
	respbench(t, "-p", r.port, "-n", "100", "--server-info=false", "-t", "get").check(t, want{0, `!total_commands_processed`, ``})
	before := r.calls("info")
	startAs(t, hang, nil, "redis-benchmark", "-p", r.port, "-n", "100", "-t", "get").end().check(t, want{0, `!verdict|Additions`, ``})
	if after := r.calls("info"); after != before+1 { // ours, just now
		t.Errorf("redis-benchmark sent %d INFO", after-before-1)
	}
}
