package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	figure   = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
	progress = regexp.MustCompile(`^.*\r`)
)

// shape replaces every figure by its number of decimals, runs of spaces by one, and drops repeated lines:
// what is left is the layout.
func shape(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		line = figure.ReplaceAllStringFunc(progress.ReplaceAllString(line, ""), func(f string) string {
			_, dec, _ := strings.Cut(f, ".")
			return "#" + strings.Repeat("d", len(dec))
		})
		line = regexp.MustCompile(` {2,}#`).ReplaceAllString(line, "  #")
		if len(out) == 0 || out[len(out)-1] != line {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// Captured from redis-benchmark 7.0.15 against redis-server 7.0.15.
func TestLayoutIsRedisBenchmarks(t *testing.T) {
	threaded := classicResult()
	threaded.Threads, threaded.Threaded = 2, true
	csvOut := func(w io.Writer, r *Result) error {
		mset := classicResult()
		mset.Title = "MSET (10 keys)"
		return errors.Join(CSVHeader(w), CSVRow(w, r), CSVRow(w, mset))
	}
	for _, c := range []struct {
		file string
		out  func(io.Writer, *Result) error
		r    *Result
		end  string // the blank line after the suite is the caller's
	}{
		{"full", Text, classicResult(), "\n"},
		{"threads", Text, threaded, "\n"},
		{"quiet", QuietLine, classicResult(), "\n"},
		{"csv", csvOut, classicResult(), ""},
	} {
		want, err := os.ReadFile(filepath.Join("testdata", "redis-benchmark-7.0.15-"+c.file+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(output(t, c.out, c.r) + c.end); got != shape(string(want)) {
			t.Errorf("%s: %s", c.file, firstDifference(shape(string(want)), got))
		}
	}
}

func TestClassicText(t *testing.T) {
	golden(t, "classic.golden", output(t, Text, classicResult()))
}

func TestServerLines(t *testing.T) {
	node := func(role, save string) ClusterNode {
		return ClusterNode{Role: role, HasConfig: true, Save: save, AppendOnly: "no"}
	}
	for _, c := range []struct {
		s    Server
		want string
	}{
		{Server{}, ""},
		{Server{HasConfig: true, Save: "3600 1 300 100", AppendOnly: "yes"},
			"  host configuration \"save\": 3600 1 300 100\n  host configuration \"appendonly\": yes\n"},
		{Server{Nodes: []ClusterNode{node("primary", ""), {Role: "primary"}, node("primary", "900 1")}},
			"  cluster mode: yes (3 masters)\n  node [0] configuration:\n    save: NONE\n    appendonly: no\n" +
				"  node [2] configuration:\n    save: 900 1\n    appendonly: no\n"},
		{Server{Nodes: []ClusterNode{{Role: "replica"}}}, "  cluster mode: yes (1 replicas)\n"},
		{Server{Nodes: []ClusterNode{{Role: "replica"}, {Role: "primary"}}}, "  cluster mode: yes (2 nodes)\n"},
	} {
		if got := string(appendServer(nil, &c.s)); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.s, got, c.want)
		}
	}
}

// An empty or interrupted round must print zeros, never "nan" or "inf", and say what it is.
func TestClassicOutputsOfNothing(t *testing.T) {
	r := &Result{Title: "SET", Clients: 50, KeepAlive: true, Precision: 3, Interrupted: true}
	for name, f := range map[string]func(io.Writer, *Result) error{
		"Text": Text, "QuietLine": QuietLine, "CSVRow": CSVRow, "BenchText": BenchText,
		"BenchQuietLine": BenchQuietLine, "BenchCSVRow": BenchCSVRow, "Additions": Additions,
	} {
		got := output(t, f, r)
		if low := strings.ToLower(got); strings.Contains(low, "nan") || strings.Contains(low, "inf") {
			t.Errorf("%s: %s", name, got)
		}
		if name != "Additions" && name != "BenchCSVRow" && !strings.Contains(got, "(interrupted)") {
			t.Errorf("%s does not say that the round was interrupted:\n%s", name, got)
		}
	}
}

func TestTitlesStayOnTheirLine(t *testing.T) {
	for title, want := range map[string]string{
		"SET":             "SET",
		"set a \"b\", c":  "set a \"b\", c",
		"键 值":             "键 值",
		"set k a\nb\r\tc": `set k a\nb\r\tc`,
		"set k \x00\xff":  `set k \x00\xff`,
		"set k \u0085":    `set k \u0085`,
	} {
		if got := oneLine(title); got != want {
			t.Errorf("oneLine(%q) = %q, want %q", title, got, want)
		}
		r := classicResult()
		r.Title = title
		if got := output(t, QuietLine, r); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, want+": 70921.99 requests per second, p50=0.8") {
			t.Errorf("-q line of %q is %q", title, got)
		}
		rows, err := csv.NewReader(strings.NewReader(output(t, CSVRow, r))).ReadAll()
		if err != nil || len(rows) != 1 || len(rows[0]) != 8 || rows[0][0] != want {
			t.Errorf("CSV row of %q is %q, %v", title, rows, err)
		}
	}
}

// Bounds strictly increase (but for the last row, which repeats the whole), percentages never fall, and
// both tables end with all samples.
func TestDistributionTables(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000, 50000} {
		for precision := range 5 {
			h := histogramOf(lognormal(n, uint64(n))...)
			h.RecordN(int64(4*time.Second), int64(1+n/100))
			checkTable(t, percentileRows(h, precision), h, true)
			checkTable(t, cumulativeRows(h), h, false)
		}
	}
}

func checkTable(t *testing.T, rows []distRow, h *Histogram, twice bool) {
	t.Helper()
	last := rows[len(rows)-1]
	if last.count != h.Count() || last.percent != 100 || last.bound < h.Max()-h.Max()/1000 {
		t.Fatalf("the last row is %+v, of %d samples up to %d", last, h.Count(), h.Max())
	}
	if twice {
		if before := rows[len(rows)-2]; before.count != last.count || before.bound != last.bound {
			t.Fatalf("the last two rows are %+v and %+v", before, last)
		}
		rows = rows[:len(rows)-1]
	}
	for i, r := range rows {
		if i > 0 && (r.bound <= rows[i-1].bound || r.percent < rows[i-1].percent || r.count <= rows[i-1].count) {
			t.Fatalf("row %d %+v after %+v", i, r, rows[i-1])
		}
		if r.bound%step != 0 {
			t.Fatalf("row %d %+v is finer than it prints", i, r)
		}
		if c := h.CountAtMost(r.bound); c < r.count || h.CountAtMost(r.bound-r.bound/1000) > r.count {
			t.Fatalf("row %d %+v, but %d samples are below its bound", i, r, c)
		}
	}
}

func TestPercentilesHalve(t *testing.T) {
	want := []float64{50, 75, 87.5, 93.75, 96.875, 98.4375, 99.21875}
	for p, i := 0.0, 0; i < len(want); i++ {
		if p = nextTick(p, 1); p != want[i] {
			t.Fatalf("step %d is %v, want %v", i, p, want[i])
		}
	}
}

// The levels redis-benchmark shows: tenths to 2.1 ms, then 3.1, 4.1 …
func TestCumulativeLevels(t *testing.T) {
	for ns, want := range map[int64]float64{
		0: 0.1, 100_000: 0.1, 100_001: 0.2, 2_000_000: 2, 2_000_001: 2.1, 2_100_000: 2.1, 2_100_001: 3.1, 3_100_001: 4.1,
	} {
		if got := millis(levelFor(ns)); math.Abs(got-want) > 1e-9 {
			t.Errorf("level of %d ns is %v ms, want %v", ns, got, want)
		}
	}
	rows := cumulativeRows(histogramOf(5_000_000))
	if len(rows) != 2 || rows[0] != (distRow{0, 100_000, 0}) || rows[1] != (distRow{100, 5_100_000, 1}) {
		t.Errorf("one sample of 5 ms gives %v", rows)
	}
}

func TestPrecisionMakesBoundsCoarser(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		p    int
		want int64
	}{
		{123_456_789, 3, 123_456_000 + 1000}, {1_234_567, 3, 1_235_000}, {3_000_001, 3, 3_002_000},
		{1_234_567, 2, 1_240_000}, {1_234_567, 1, 1_280_000}, {1_234_567, 0, 2_048_000}, {1, 3, 1000},
	} {
		if got := coarse(c.ns, c.p); c.ns != 123_456_789 && got != c.want || got < c.ns {
			t.Errorf("coarse(%d, %d) = %d, want %d", c.ns, c.p, got, c.want)
		}
	}
}

// The bytes of redis-benchmark 7.0.15, but zeros where it prints "-nan".
func TestProgressLine(t *testing.T) {
	var b bytes.Buffer
	n, err := ProgressLine(&b, 0, 0, Progress{Title: "SET"})
	if err != nil || b.String() != " \rSET: rps=0.0 (overall: 0.0) avg_msec=0.000 (overall: 0.000)\r" || n != b.Len()-2 {
		t.Errorf("first line %q, %d, %v", b.String(), n, err)
	}
	b.Reset()
	m, err := ProgressLine(&b, n, 0, Progress{"SET", 72268, 71980.14, 0.4091, 0.4089})
	want := strings.Repeat(" ", n) + "\rSET: rps=72268.0 (overall: 71980.1) avg_msec=0.409 (overall: 0.409)\r"
	if err != nil || b.String() != want {
		t.Errorf("second line %q, want %q, %v", b.String(), want, err)
	}
	b.Reset()
	if err := ClearLine(&b, m); err != nil || b.String() != strings.Repeat(" ", m)+"\r" {
		t.Errorf("ClearLine wrote %q, %v", b.String(), err)
	}
	b.Reset()
	if _, err := ProgressLine(&b, 0, 0, Progress{Title: "set k\n" + strings.Repeat("é", 1000)}); err != nil ||
		!strings.HasPrefix(b.String(), " \rset k\\n"+strings.Repeat("é", 53)+"...: rps=") {
		t.Errorf("a long title makes the line %q, %v", b.String(), err)
	}
	for _, title := range []string{"SET", strings.Repeat("é", 70), "set " + strings.Repeat("键", 40)} {
		b.Reset()
		n, err := ProgressLine(&b, 0, 30, Progress{Title: title})
		if line := strings.Trim(b.String()[1:], "\r"); err != nil || Columns(line) > 28 || Columns(line) < 27 || n != Columns(line)+1 {
			t.Errorf("on 30 columns: %q, %d, %v", b.String(), n, err)
		}
	}
	b.Reset()
	if err := IdleLine(&b, 50); err != nil || b.String() != "clients: 50\r" {
		t.Errorf("IdleLine wrote %q, %v", b.String(), err)
	}
}

var errFull = errors.New("disk full")

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrorsAreReturned(t *testing.T) {
	r, w := benchResult(), fullWriter{}
	_, progressErr := ProgressLine(w, 0, 0, Progress{})
	for name, err := range map[string]error{
		"Text": Text(w, r), "QuietLine": QuietLine(w, r), "CSVHeader": CSVHeader(w), "CSVRow": CSVRow(w, r),
		"ProgressLine": progressErr, "ClearLine": ClearLine(w, 3), "BenchText": BenchText(w, r),
		"BenchQuietLine": BenchQuietLine(w, r), "BenchCSVHeader": BenchCSVHeader(w), "BenchCSVRow": BenchCSVRow(w, r),
		"Additions": Additions(w, r), "ErrorTable": ErrorTable(w, r),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}
