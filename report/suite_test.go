package report

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// suiteRound is a round of a million requests at the given rate, with latencies and a series to go with it.
func suiteRound(n int, qps float64, series bool) Round {
	r := rand.New(rand.NewPCG(uint64(qps), uint64(n)))
	h := NewHistogram()
	for range 4000 {
		h.RecordN(int64(128e9/qps*math.Exp(0.25*r.NormFloat64())), 250)
	}
	elapsed := time.Duration(1e15 / qps)
	res := &Result{
		Title: "RSET", Mode: "set", SetCmd: "RSET", GetCmd: "RGET", Started: time.Date(2026, 3, 7, 6, 25, 49+n, 0, time.UTC),
		Clients: 1, Threads: 1, Pipeline: 128, Keyspace: 1_000_000, ValueSize: 256, Requests: 1_000_000, Asked: 1_000_000,
		Elapsed: elapsed, Latency: h, CPU: CPU{User: time.Second, System: time.Second},
	}
	for at := 100 * time.Millisecond; series && at < elapsed; at += 100 * time.Millisecond {
		step := Interval{At: at, Requests: int64(qps / 10 * (1 + 0.05*r.NormFloat64())), P99: time.Millisecond}
		if at == 2*time.Second || at == 5*time.Second {
			step.Requests /= 2
			step.Events = []string{"rewrite"}
		}
		res.Series = append(res.Series, step)
	}
	return Round{Number: n, Seed: uint64(12345 + n), Result: res}
}

// scriptSuite is the run of run_bench.hash.sh of 2026-03-07 as a suite result.
func scriptSuite(t *testing.T) *SuiteResult {
	t.Helper()
	s := &SuiteResult{
		Title: "Big keys: kvstore and redis", Started: time.Date(2026, 3, 7, 6, 25, 49, 0, time.UTC), Elapsed: 9 * time.Minute, Rounds: 5,
		Command:    []string{"respbench", "suite", "--redis", "--value-size", "256"},
		Parameters: []Parameter{{"REQ", "1000000"}, {"KEYSPACE", "1000000"}, {"PIPE", "128"}, {"VSIZE", "256"}},
		Env:        Environment{Tool: "respbench 1.0", Go: "go1.26", OS: "linux/amd64", Kernel: "6.1.0", CPU: "AMD EPYC", Cores: 2, Engine: "epoll"},
		Systems: []System{
			{Name: "kvstore", Software: "kvstore", Version: "1.0", SetCmd: "RSET", GetCmd: "RGET", Baseline: "nopersist"},
			{Name: "redis", Software: "redis", Version: "7.0.15", SetCmd: "SET", GetCmd: "GET", Baseline: "none"},
		},
	}
	for _, row := range readGolden(t, "bigkey_trimmed.csv") {
		sys := systemNamed(s, row["system"])
		i := slices.IndexFunc(sys.Strategies, func(st Strategy) bool { return st.Name == row["strategy"] })
		if i < 0 {
			i = len(sys.Strategies)
			sys.Strategies = append(sys.Strategies, Strategy{Name: row["strategy"], Persists: row["strategy"] != sys.Baseline})
		}
		m := ModeRounds{Mode: row["mode"]}
		for n, f := range strings.Fields(row["round_qps"]) {
			m.Rounds = append(m.Rounds, suiteRound(n+1, number(t, f), row["mode"] == "set"))
		}
		sys.Strategies[i].Modes = append(sys.Strategies[i].Modes, m)
	}
	return s
}

// brokenSuite has a failed round, a retried one, a warm-up, a strategy that failed throughout, an
// interrupted end, and names that no format likes.
func brokenSuite() *SuiteResult {
	failed := Round{Number: 2, Seed: 2, Failures: []string{"server died: signal: killed", "connection refused"}}
	retried := suiteRound(3, 101000, false)
	retried.Failures = []string{"timeout"}
	warm := suiteRound(1, 50000, false)
	warm.Warmup = true
	cut := suiteRound(4, 90000, false)
	cut.Result.Interrupted = true
	return &SuiteResult{
		Rounds: 4, Interrupted: true, Started: time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC),
		Command: []string{"respbench", "suite", "--target", "it's|a=127.0.0.1:1"},
		Systems: []System{{Name: "a|b, \"c\" <x>\nd", Baseline: "none", Strategies: []Strategy{
			{Name: "none", Detail: "*no* `log`", Config: []Parameter{{"save", ""}}, Modes: []ModeRounds{
				{Mode: "set", Rounds: []Round{warm, suiteRound(1, 100000, false), failed, retried, cut}}}},
			{Name: "always", Persists: true, Modes: []ModeRounds{{Mode: "set", Rounds: []Round{failed}}}},
		}}},
		Notes: []string{"rounds too short for a save point <1>"},
	}
}

// A run that was gone on with, and interrupted again: a round stands under its own number, and warm-up rounds that went
// wrong are marked as such everywhere.
func TestSuiteGaps(t *testing.T) {
	cut, failed, third := suiteRound(1, 50000, false), Round{Number: 2, Warmup: true, Failures: []string{"refused"}}, suiteRound(3, 300000, false)
	cut.Warmup, cut.Result.Interrupted = true, true
	s := &SuiteResult{Rounds: 3, Systems: []System{{Name: "kv", Strategies: []Strategy{
		{Name: "a", Modes: []ModeRounds{{Mode: "set", Rounds: []Round{cut, failed, suiteRound(1, 100000, false), third}}}},
		{Name: "b", Modes: []ModeRounds{{Mode: "set", Rounds: []Round{suiteRound(2, 200000, false)}}}},
		{Name: "c", Modes: []ModeRounds{{Mode: "set"}}},
	}}}}
	md := suiteOutput(t, SuiteMarkdown, s, ReportOptions{})
	for _, want := range []string{
		"| Strategy | Mode | Round1 | Round2 | Round3 | Mean QPS |", "| a | set | 100000.00 |  | 300000.00 | 200000.00 |",
		"| b | set |  | 200000.00 |  | 200000.00 |", "| c | set |  |  |  | n/a |",
		"| kv | a | set | warm-up 2 | failed | 1 | refused |", "| kv | a | set | 1 | interrupted |\n| kv | a | set | 2 | failed |\n",
		"| a | set | 2000000 | 150000.00 |", // overall: two million requests in 13.33 s
	} {
		if !strings.Contains(md, want) {
			t.Errorf("the report does not have %s", want)
		}
	}
	if page := suiteOutput(t, SuiteHTML, s, ReportOptions{}); strings.Count(page, ">no complete round<") != 1 {
		t.Error("the picture does not say that c has no complete round")
	}
	var detail bytes.Buffer
	if err := SuiteDetailCSV(&detail, s); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kv,,a,,1,warm-up interrupted,", "kv,,a,,2,warm-up failed,"} {
		if !strings.Contains(detail.String(), want) {
			t.Errorf("the detail file does not have %s", want)
		}
	}
}

func suiteOutput(t *testing.T, f func(io.Writer, *SuiteResult, ReportOptions) error, s *SuiteResult, o ReportOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSuiteMarkdown(t *testing.T) {
	s := scriptSuite(t)
	golden(t, "suite.en.golden.md", suiteOutput(t, SuiteMarkdown, s, ReportOptions{}))
	golden(t, "suite.zh.golden.md", suiteOutput(t, SuiteMarkdown, s, ReportOptions{Lang: "zh"}))
	golden(t, "broken.en.golden.md", suiteOutput(t, SuiteMarkdown, brokenSuite(), ReportOptions{}))
}

func TestSuiteCSVFiles(t *testing.T) {
	s := scriptSuite(t)
	read := func(f func(io.Writer, *SuiteResult) error, s *SuiteResult) []map[string]string {
		var b bytes.Buffer
		if err := f(&b, s); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var out []map[string]string
		for _, r := range rows[1:] {
			m := map[string]string{}
			for i, name := range rows[0] {
				m[name] = r[i]
			}
			out = append(out, m)
		}
		return out
	}
	golden := readGolden(t, "bigkey_trimmed.csv")
	trimmed, summary := read(SuiteTrimmedCSV, s), read(SuiteSummaryCSV, s)
	if len(trimmed) != 12 || len(summary) != 12 || len(read(SuiteDetailCSV, s)) != 60 {
		t.Fatalf("%d trimmed rows, %d summary rows", len(trimmed), len(summary))
	}
	for i, want := range golden {
		for _, column := range []string{"system", "strategy", "mode", "round_qps", "mean_qps", "dropped_round", "dropped_qps", "trimmed_mean_qps", "trimmed_mean_us_per_op"} {
			if trimmed[i][column] != want[column] {
				t.Errorf("row %d %s = %s, the table has %s", i+1, column, trimmed[i][column], want[column])
			}
		}
		if summary[i]["mean_qps"] != want["mean_qps"] || summary[i]["ci95_low_qps"] == "n/a" {
			t.Errorf("summary row %d: %v", i+1, summary[i])
		}
	}
	detail := read(SuiteDetailCSV, brokenSuite())
	var states []string
	for _, r := range detail {
		states = append(states, r["round"]+" "+r["status"]+" "+r["attempts"]+" "+r["qps"])
		if r["system"] != `a|b, "c" <x>\nd` {
			t.Errorf("system name came back as %q", r["system"])
		}
	}
	want := []string{"1 warm-up 1 50000.00", "1 ok 1 100000.00", "2 failed 2 ", "3 ok 2 101000.00", "4 interrupted 1 90000.00", "2 failed 2 "}
	if !slices.Equal(states, want) {
		t.Errorf("rounds %q, want %q", states, want)
	}
	// Failed rounds never count as zero, and nothing is NaN.
	rows := read(SuiteSummaryCSV, brokenSuite())
	if rows[0]["mean_qps"] != "100500.00" || rows[0]["rounds_ok"] != "2" || rows[0]["rounds"] != "4" || rows[1]["mean_qps"] != "n/a" || rows[0]["ci95_low_qps"] != "n/a" {
		t.Errorf("summary %v", rows)
	}
}

// All files of a suite show the same figures.
func TestFormatsAgree(t *testing.T) {
	for _, s := range []*SuiteResult{scriptSuite(t), brokenSuite()} {
		md, page := suiteOutput(t, SuiteMarkdown, s, ReportOptions{}), suiteOutput(t, SuiteHTML, s, ReportOptions{})
		for _, f := range []func(io.Writer, *SuiteResult) error{SuiteSummaryCSV, SuiteTrimmedCSV} {
			var b bytes.Buffer
			if err := f(&b, s); err != nil {
				t.Fatal(err)
			}
			for _, figure := range regexp.MustCompile(`[0-9]+\.[0-9]{2}\b`).FindAllString(b.String(), -1) {
				// Smallest and largest round, and the SD of two, stand only where they are.
				if !strings.Contains(md, figure) || !strings.Contains(page, figure) {
					t.Errorf("%s is in the CSV but not in Markdown and HTML", figure)
				}
			}
		}
		for _, text := range []string{md, page} {
			if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("NaN or Inf in a report")
			}
		}
	}
}

func TestSuiteHTMLStandsAlone(t *testing.T) {
	for _, o := range []ReportOptions{{}, {Lang: "zh"}} {
		for _, s := range []*SuiteResult{scriptSuite(t), brokenSuite(), {}} {
			page := suiteOutput(t, SuiteHTML, s, o)
			for _, bad := range []string{"http:", "https:", "<script", "url(", "@import", "<x>", "<1>"} {
				if strings.Contains(page, bad) {
					t.Errorf("the page contains %s", bad)
				}
			}
			if strings.Count(page, "<svg") != strings.Count(page, "</svg>") || !strings.HasSuffix(page, "</html>\n") {
				t.Errorf("the page is cut short")
			}
		}
	}
}

func TestSuiteFileComesBack(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../docs/suite.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*SuiteResult{scriptSuite(t), brokenSuite(), {}, {Systems: []System{{Strategies: []Strategy{{}}}}}} {
		var b bytes.Buffer
		if err := WriteSuiteJSON(&b, s); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%v", err)
		}
		back, err := ReadSuiteJSON(&b)
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("the suite came back changed: %v", err)
		}
	}
	for text, want := range map[string]string{
		"[]":             "not a suite file",
		`{"schema":"x"}`: `not a suite file: schema is "x", must be "respbench/suite"`,
		`{"schema":"respbench/suite","version":9}`:              "suite file has version 9, this program reads 1 to 1",
		`{"schema":"respbench/suite","version":1,"systems":{}}`: "suite file: systems cannot be a JSON object",
	} {
		if _, err := ReadSuiteJSON(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestSuiteWriteErrors(t *testing.T) {
	s, w := brokenSuite(), fullWriter{}
	for name, err := range map[string]error{
		"SuiteMarkdown": SuiteMarkdown(w, s, ReportOptions{}), "SuiteHTML": SuiteHTML(w, s, ReportOptions{}),
		"SuiteDetailCSV": SuiteDetailCSV(w, s), "SuiteSummaryCSV": SuiteSummaryCSV(w, s), "SuiteTrimmedCSV": SuiteTrimmedCSV(w, s),
		"WriteSuiteJSON": WriteSuiteJSON(w, s), "Markdown": Markdown(w, []*Result{fullResult()}, ReportOptions{}),
		"HTML": HTML(w, []*Result{fullResult()}, ReportOptions{}),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}

// Every text is there in every language, takes the same arguments, and every key the code uses exists.
func TestTexts(t *testing.T) {
	verbs := regexp.MustCompile(`%[.0-9]*[sdf%]`)
	for key, row := range words {
		a, b := verbs.FindAllString(row[0], -1), verbs.FindAllString(row[1], -1)
		if row[0] == "" || row[1] == "" || !slices.Equal(a, b) {
			t.Errorf("%s: %q and %q", key, a, b)
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\bt\.f\("([^"]*)"`).FindAllStringSubmatch(string(src), -1) {
			used[m[1]] = true
			if _, ok := words[m[1]]; !ok {
				t.Errorf("%s uses the text %q, which is not in the table", f, m[1])
			}
		}
	}
	for key := range words {
		if !used[key] && !slices.Contains([]string{"costs", "gains", "between", "same between", "between plain", "same between plain"}, key) {
			t.Errorf("text %q is never used", key)
		}
	}
}

func TestChineseReportIsChinese(t *testing.T) {
	got := suiteOutput(t, SuiteMarkdown, scriptSuite(t), ReportOptions{Lang: "zh"})
	for _, want := range []string{"去异常均值QPS", "协议开销（基线 nopersist，去异常后）", "set QPS变化", "简要结论"} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not have %s", want)
		}
	}
	for line := range strings.Lines(got) {
		if strings.HasPrefix(line, "## ") && !strings.ContainsFunc(line, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("not translated: %s", line)
		}
	}
}

func TestMarkdownEscape(t *testing.T) {
	for text, want := range map[string]string{
		"persist_no": "persist_no", "_x_": `\_x\_`, "a*b`c": "a\\*b\\`c", "<b>": `\<b\>`, "# x": `\# x`, "-6.58%": "-6.58%",
		"--runs": "--runs", "- x": `\- x`, "a\nb": `a\\nb`, `a\b`: `a\\b`, "键_值": "键_值", "[a](b)": `\[a\](b)`,
	} {
		if got := mdEscape(text); got != want {
			t.Errorf("mdEscape(%q) = %q, want %q", text, got, want)
		}
	}
	g := &grid{head: []string{"a|b"}, left: 1, rows: [][]string{{"x|y\nz"}}}
	if got := escapedGrid(g).markdown(); got != "| a\\|b |\n|:--- |\n| x\\|y\\\\nz |\n" {
		t.Errorf("table %q", got)
	}
}

func TestCommandLine(t *testing.T) {
	got := ShellLine([]string{"respbench", "-n", "5", "it's", "", "a b", "--mix=8:GET"})
	if want := `respbench -n 5 'it'\''s' '' 'a b' --mix=8:GET`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Writes the pages of the fixtures to a directory, for a look with a browser.
func TestWritePages(t *testing.T) {
	dir := os.Getenv("REPORT_PAGES")
	if dir == "" {
		t.Skip("makes pages to look at: REPORT_PAGES names no directory for them")
	}
	for name, s := range map[string]*SuiteResult{"suite": scriptSuite(t), "broken": brokenSuite()} {
		for _, lang := range Languages {
			page := suiteOutput(t, SuiteHTML, s, ReportOptions{Lang: lang})
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%s.html", name, lang)), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
