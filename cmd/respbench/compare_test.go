package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"respbench/report"
)

// savedRuns writes a file of ten results of a test around a rate, as --json does.
func savedRuns(t *testing.T, name string, perSecond float64) string {
	t.Helper()
	var results []*report.Result
	for i := range 10 {
		h := report.NewHistogram()
		h.RecordN(1_000_000, 100000)
		rate := perSecond * (1 + 0.002*float64(i-5))
		results = append(results, &report.Result{Title: "SET", Clients: 50, Requests: 100000, Latency: h,
			Started: time.Unix(1_700_000_000+int64(100*i), 0), Elapsed: time.Duration(100000 / rate * 1e9)})
	}
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := report.WriteJSON(f, results...); err != nil {
		t.Fatal(err)
	}
	return path
}

// The gate judges throughput: exit code 5 beyond the limit, and only then.
func TestCompareFiles(t *testing.T) {
	before, same, slow := savedRuns(t, "before.json", 100000), savedRuns(t, "same.json", 100050), savedRuns(t, "slow.json", 90000)
	respbench(t, "compare", before, same).check(t, want{0, `^SET +QPS +[0-9.]+ ± [0-9.]+% +[0-9.]+ ± [0-9.]+% +~ +p=`, `!.`})
	respbench(t, "compare", before, slow).check(t, want{0, `^SET +QPS .* -10\.00% +p=0\.000 n=10 +±\d+\.\d%$`, `!.`})
	respbench(t, "compare", "--fail-if-slower", "3%", before, slow).check(t, want{5, `^SET +QPS `, `^slow\.json is slower than before\.json by more than 3%: SET \(-10\.00%\)$`})
	respbench(t, "compare", "--fail-if-slower", "15", before, slow).check(t, want{0, `^SET +QPS `, `!.`})
	respbench(t, "compare", "--fail-if-slower", "3%", slow, before).check(t, want{0, `\+11\.11%`, `!.`})
	respbench(t, "compare", "--fail-if-slower", "3%", before, same).check(t, want{0, `~`, `!.`})
	few := filepath.Join(t.TempDir(), "few.json")
	if err := os.WriteFile(few, []byte(respbench(t, "report", "--format", "json", slow, before).stdout), 0o644); err != nil { // merged: one run
		t.Fatal(err)
	}
	respbench(t, "compare", few, few).check(t, want{0, `^SET +QPS .* n/a +p=1\.000 n=1 `, `!.`})
	respbench(t, "compare", "--fail-if-slower", "3%", few, few).check(t, want{1, `^SET +QPS `,
		`^--fail-if-slower cannot be judged with so few runs of SET \(1 and 1\): 4 of each are needed$`})
}

func TestCompareMistakes(t *testing.T) {
	good := savedRuns(t, "good.json", 1000)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(`{"schema":"other"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		stderr string
	}{
		{[]string{}, `compare needs two files, A and B`},
		{[]string{good}, `compare needs two files, A and B`},
		{[]string{good, "nosuch.json"}, `^open nosuch.json: no such file or directory$`},
		{[]string{good, text}, `schema "other": must be respbench/result \(--json\) or respbench/suite \(suite\)$`},
		{[]string{"--fail-if-slower", "x", good, good}, `invalid value "x" for --fail-if-slower: must be a percentage, such as 3%`},
		{[]string{"--", "-t set"}, `compare needs two lists of options`},
		{[]string{"--", "-t set", "--"}, `the options of B are empty`},
		{[]string{good, "--", "-t set", "--", "-t get"}, `stands before --`},
		{[]string{"--", "-t set --json x", "--", "-t get"}, `the options of A have --json`},
		{[]string{"--", "-t 'set", "--", "-t get"}, `the options of A: a quote or a backslash has no end`},
		{[]string{"--runs", "0", "--", "-t set", "--", "-t get"}, `invalid value 0 for --runs`},
		{[]string{"--runs", "3", "--fail-if-slower", "3", "--", "-t set", "--", "-t get"}, `invalid value 3 for --runs: --fail-if-slower needs at least 4 `},
		{[]string{"--runs", "1", "--", "--nosuch", "--", "-t get"}, `(?s)^warm-up of B.*Could not connect|^warm-up of A: exit status 1\nrespbench: Invalid option "--nosuch"`},
		{[]string{"--runs", "1", "--", "--help", "--", "--help"}, `^warm-up of B: it measured nothing$`},
	} {
		respbench(t, append([]string{"compare"}, c.args...)...).check(t, want{1, "!.", c.stderr})
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{
		"":                        nil,
		"  -t  set\t-P 16 ":       {"-t", "set", "-P", "16"},
		`set 'a b' "c d" e\ f ''`: {"set", "a b", "c d", "e f", ""},
		`"a\"b" 'c\d' x'y'z`:      {`a"b`, `c\d`, "xyz"},
	} {
		if got, err := splitWords(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("splitWords(%q) = %q, %v, want %q", text, got, err, want)
		}
	}
}

// Commands are run in turn, A B B A, each in a process of its own, with the same requests for both of a pair.
func TestCompareRuns(t *testing.T) {
	_, port := ownServer(t)
	o := start(t, time.Minute, nil, "compare", "--runs", "4", "--", "-t set -n 2000 -p "+port, "--", "-t", "set", "-n", "2000", "-p", port, "-P", "8").end()
	o.check(t, want{0, `^A: respbench -t set -n 2000 -p ` + port + `\nB: respbench -t set -n 2000 -p ` + port + ` -P 8\n`, ""})
	o.check(t, want{0, `^SET +QPS .* n=4 `, ""})
	o.check(t, want{0, `^note: SET: pipeline is 1 in A and 8 in B$`, ""})
	var order strings.Builder
	for line := range strings.Lines(o.stderr) {
		if _, rest, ok := strings.Cut(line, " of "); ok && strings.HasPrefix(line, "run") {
			order.WriteString(rest[:1])
		}
	}
	if order.String() != "ABBAABBA" {
		t.Errorf("order %s\n%s", order.String(), o.stderr)
	}
}

// An interrupted comparison prints what is complete, marked.
func TestCompareInterrupted(t *testing.T) {
	s := useFake(t, "ok")
	p := start(t, time.Minute, nil, "compare", "--runs", "1000", "--", "-t set -n 2000 -p "+s.port(), "--", "-t set -n 2000 -P 2 -p "+s.port())
	for end := time.Now().Add(30 * time.Second); s.count() < 20000; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no load arrived")
		}
	}
	p.Process.Signal(syscall.SIGINT)
	p.end().check(t, want{130, `^note: interrupted: \d+ runs of A and \d+ of B are complete$`, ""})
}

// Parts of one run are merged: counts are added and histograms merged.
func TestReportMerges(t *testing.T) {
	_, port := ownServer(t)
	var files []string
	for i := range 2 {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("part%d.json", i))
		respbench(t, "-p", port, "-t", "set,get", "-n", strconv.Itoa(1000*(i+1)), "--json", file, "-q").check(t, want{0, "", ""})
		files = append(files, file)
	}
	o := respbench(t, "report", "--format", "json", files[0], files[1])
	merged, err := report.ReadJSON(strings.NewReader(o.stdout))
	if err != nil || len(merged) != 2 {
		t.Fatalf("%d results, %v", len(merged), err)
	}
	for _, r := range merged {
		if r.Requests != 3000 || r.Latency.Count() != 3000 {
			t.Errorf("%s: %d requests, %d latencies", r.Title, r.Requests, r.Latency.Count())
		}
	}
	respbench(t, "report", files[0]).check(t, want{0, `^====== SET ======`, ""})
	respbench(t, "report", "--format", "csv", files[0]).check(t, want{0, `^"test","rps",.*\n"SET","[0-9.]+",`, ""})
	respbench(t, "report", "--format", "md", files[0]).check(t, want{0, `^# respbench results$`, ""})
	respbench(t, "report", "--format", "html", files[0], files[1]).check(t, want{0, `^<!DOCTYPE html>$`, ""})
	respbench(t, "report", "--format", "pdf", files[0]).check(t, want{1, "!.", `must be one of text, csv, md, html, json \(see respbench report --help\)$`})
	respbench(t, "report", files[0], files[1], files[0]).check(t, want{1, "!.", `part0\.json is there twice`})
	respbench(t, "report").check(t, want{1, "!.", `report needs a file`})
}
