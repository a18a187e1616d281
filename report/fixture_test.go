package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares an output with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update rewrites it):\n%s", name, firstDifference(string(want), got))
	}
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := "(end)", "(end)"
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return "line " + plainNumber(float64(i+1)) + "\nwant " + a + "\ngot  " + b
		}
	}
	return "no line differs"
}

// output runs an output function into a string.
func output(t *testing.T, f func(io.Writer, *Result) error, r *Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// classicResult is a round of redis-benchmark mode: 20000 requests, latencies of 100 to 1600 µs.
func classicResult() *Result {
	h := NewHistogram()
	for i := range int64(20000) {
		h.Record(100_000 + 75*i)
	}
	return &Result{
		Title: "SET", Started: time.Date(2026, 3, 5, 7, 59, 54, 0, time.UTC),
		Clients: 50, Threads: 1, Pipeline: 1, PayloadSize: 3, KeepAlive: true, Precision: 3, Seed: 12345,
		Requests: 20000, Asked: 20000, Elapsed: 282 * time.Millisecond, Latency: h,
		BytesIn: 100_000, BytesOut: 740_000,
		CPU:    CPU{User: 20 * time.Millisecond, System: 140 * time.Millisecond},
		Server: Server{Software: "redis", Version: "7.0.15", HasConfig: true, Save: "", AppendOnly: "no"},
	}
}

// benchResult is a mixed round of bench.c mode with something of everything.
func benchResult() *Result {
	r := classicResult()
	r.Title, r.Mode, r.SetCmd, r.GetCmd = "mixed", "mixed", "RSET", "RGET"
	r.Clients, r.Pipeline, r.Keyspace, r.ValueSize = 1, 64, 100000, 32
	r.Hits, r.Misses, r.Conflicts, r.ErrorTotal = 7000, 3000, 2500, 12
	r.Errors = []Count{{"ERR out of memory", 9}, {"ERR odd\r\nline", 2}}
	r.Mismatches = 3
	r.Samples = []Mismatch{
		{"bench:key:17", 4, "abcdefgh", "abcdXfgh"}, {"bench:key:18", -2, "abc", ""},
	}
	half := NewHistogram()
	half.RecordN(500_000, 10000)
	r.Ops = []OpResult{
		{Name: "RSET", Requests: 10000, Errors: 12, Latency: half},
		{Name: "RGET", Requests: 10000, Hits: 7000, Misses: 3000, Latency: half.Clone()},
	}
	return r
}
