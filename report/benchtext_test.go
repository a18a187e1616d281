package report

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"
)

func TestBenchText(t *testing.T) {
	golden(t, "bench.golden", output(t, BenchText, benchResult()))
}

func TestBenchQuietLine(t *testing.T) {
	want := "mixed (RSET/RGET): elapsed(s)=0.28 QPS=70921.99 avg(us/op)=14.10 p50(ms)=0.850 p99(ms)=1.585 " +
		"errors=12 conflicts=2500 misses=3000 mismatches=3\n"
	if got := output(t, BenchQuietLine, benchResult()); got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

// bench.c's line of a million requests in 5.67 s.
func TestBenchLine(t *testing.T) {
	r := &Result{Requests: 1_000_000, Elapsed: 5662684 * time.Microsecond}
	if got, want := benchLine(r), "elapsed(s)=5.66 QPS=176594.70 avg(us/op)=5.66"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBenchCSV(t *testing.T) {
	var b bytes.Buffer
	if err := BenchCSVHeader(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString(output(t, BenchCSVRow, benchResult()))
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"mode": "mixed", "set_cmd": "RSET", "requests": "20000", "ok": "17488", "errors": "12", "conflicts": "2500",
		"misses": "3000", "mismatches": "3", "qps": "70921.99", "us_per_op": "14.10", "elapsed_s": "0.282000",
		"min_latency_ms": "0.100", "max_latency_ms": "1.600", "client_us_per_request": "8.000", "client_cpu_percent": "56.7",
		"interrupted": "0",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
}

func TestReadWarning(t *testing.T) {
	for _, c := range []struct {
		mode         string
		hits, misses int64
		want         string
	}{
		{"get", 100, 0, ""}, {"get", 100, 100, ""}, {"", 100, 100, ""},
		{"get", 0, 10, "warning: none of the 10 reads found its key; --prefill always writes the keyspace first\n"},
		{"get", 1, 3, "warning: only 25.00% of the reads found their key; --prefill always writes the keyspace first\n"},
		{"", 0, 10, "warning: none of the 10 reads found its key; null replies are faster than values\n"},
	} {
		if got := readWarning(&Result{Mode: c.mode, Hits: c.hits, Misses: c.misses}); got != c.want {
			t.Errorf("%q, %d hits, %d misses: %q, want %q", c.mode, c.hits, c.misses, got, c.want)
		}
	}
	r := classicResult()
	r.Misses = 5
	if got := output(t, Additions, r); !strings.Contains(got, "\n  warning: none of the 5 reads found its key; null") {
		t.Errorf("the warning is not a line of the additions:\n%s", got)
	}
	r.Mode = "get"
	if got := output(t, Additions, r); strings.Contains(got, "warning") {
		t.Errorf("bench.c mode repeats the warning:\n%s", got)
	}
}

func TestAdditions(t *testing.T) {
	r := classicResult()
	r.Response, r.Connect = r.Latency.Clone(), histogramOf(80_000, 120_000)
	r.Redirects = []Count{{"MOVED", 3}, {"ASK", 1}}
	r.OverRange = 2
	r.Pacing = &Pacing{Offered: 1000, Achieved: 990, Due: 20000, Late: 20, MaxLate: 1500 * time.Microsecond,
		QueueMax: 7, Lag: 3, MaxLag: 2 * time.Millisecond, Unstarted: 4, Arrival: "poisson", Schedule: "1000:20s", Resolution: "gnet's timer has a resolution of 1 ms"}
	r.Server.CPU = 200 * time.Millisecond
	r.Server.Deltas = []Delta{{"total_commands_processed", 20000}, {"used_cpu_us_per_command", 9.871}}
	r.Verdict = &Verdict{Word: "client-bound", Advice: "try --threads 2", Reasons: []string{"loop 0 was busy 99 % of the time", "the server used 60 % of a core"}}
	r.Notes = []string{"a closed loop omits what the server would have got in a stall"}
	golden(t, "additions.golden", output(t, Additions, r))
	r.Mode = "set"
	if got := output(t, Additions, r); strings.Contains(got, "Additions:") || strings.Contains(got, "client CPU") {
		t.Errorf("bench.c mode repeats what BenchText has:\n%s", got)
	}
}

func TestUnits(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0 B", 999.4: "999 B", 999.6: "1.00 KB", 9994: "9.99 KB", 9995.1: "10.0 KB", 99949: "99.9 KB",
		99951: "100 KB", 999499: "999 KB", 999501: "1.00 MB", 12.3e9: "12.3 GB", 1.5e12: "1.50 TB",
	} {
		if got := siBytes(v); got != want {
			t.Errorf("siBytes(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[time.Duration]string{
		0: "0ns", 950: "950ns", 1000: "1.00µs", 12345: "12.3µs", 999499: "999µs", 999501: "1.00ms",
		4560 * time.Microsecond: "4.56ms", 123 * time.Millisecond: "123ms", 7890 * time.Millisecond: "7.89s", 2 * time.Minute: "120.0s",
	} {
		if got := shortDuration(v); got != want {
			t.Errorf("shortDuration(%d) = %q, want %q", v, got, want)
		}
	}
}
