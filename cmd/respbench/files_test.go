package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"respbench/report"
)

// Result files are whole, hold every round, and can be read back.
func TestResultFiles(t *testing.T) {
	s := useFake(t, "ok")
	dir := t.TempDir()
	file, hgrm := dir+"/r.json", dir+"/r.hgrm"
	respbench(t, "-p", s.port(), "-n", "500", "-t", "set,mset", "-q", "--json", file, "--hdr", hgrm).check(t, want{0, "", ""})
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	results, err := report.ReadJSON(f)
	if err != nil || len(results) != 2 || results[0].Title != "SET" || results[1].Requests != 500 || results[1].Latency.Count() != 500 {
		t.Errorf("%d results, %v", len(results), err)
	}
	if command := strings.Join(results[0].Command, " "); !strings.Contains(command, "-n 500 -t set,mset") {
		t.Errorf("command line %q", command)
	}
	for _, name := range []string{"r.SET.hgrm", "r.MSET_10_keys.hgrm"} {
		if text := readFile(t, filepath.Join(dir, name)); !strings.Contains(text, "Total count    =          500]") {
			t.Errorf("%s: %s", name, text)
		}
	}
	respbench(t, "-p", s.port(), "-n", "500", "-q", "--hdr", hgrm, "ping").check(t, good("ping"))
	if text := readFile(t, hgrm); !strings.Contains(text, "Total count    =          500]") {
		t.Errorf("%s: %s", hgrm, text)
	}
	if err := os.Mkdir(dir+"/q.SET.hgrm", 0o755); err != nil {
		t.Fatal(err)
	}
	respbench(t, "-p", s.port(), "-n", "500", "-t", "set,get", "-q", "--hdr", dir+"/q.hgrm").check(t, want{1, "", `q.SET.hgrm is a directory`})
	if text := readFile(t, dir+"/q.GET.hgrm"); !strings.Contains(text, "Total count    =          500]") {
		t.Errorf("the other test's file: %s", text)
	}
	for _, path := range []string{"/dev/stdout", "-"} {
		o := respbench(t, "-p", s.port(), "-n", "5", "--csv", "--json", path, "ping") // standard output holds nothing else
		if results, err := report.ReadJSON(strings.NewReader(o.stdout)); err != nil || len(results) != 1 || !strings.Contains(o.stderr, `"ping","`) {
			t.Errorf("--json %s wrote %q %q: %v", path, o.stdout, o.stderr, err)
		}
	}
}

// A file that cannot be written is told before the first request, and a failed run leaves none behind.
func TestResultFilesThatFail(t *testing.T) {
	s := useFake(t, "errat:1")
	dir := t.TempDir()
	for _, path := range []string{dir + "/no/such/dir/r.json", dir} {
		respbench(t, "-p", s.port(), "-n", "5", "-q", "--json", path, "ping").check(t, bad(`^--json: .*`+regexp.QuoteMeta(path)))
		respbench(t, "-p", s.port(), "-n", "5", "-q", "--hdr", path, "ping").check(t, bad(`^--hdr: .*`+regexp.QuoteMeta(path)))
	}
	if err := os.Symlink(dir, dir+"/same"); err != nil {
		t.Fatal(err)
	}
	respbench(t, "-p", s.port(), "-n", "5", "-q", "--json", dir+"/r", "--hdr", dir+"/same/r", "ping").check(t, bad(`^--json and --hdr need a file each$`))
	respbench(t, "-p", s.port(), "-n", "5", "--json", "-", "--hdr", "/dev/stdout", "ping").check(t, bad(`^--json and --hdr need a file each$`))
	respbench(t, "sweep", "-p", s.port(), "--rates", "10", "--json", dir+"/r", "--svg", dir+"/r").check(t, bad(`^--json and --svg need a file each$`))
	if err := os.Remove(dir + "/same"); err != nil {
		t.Fatal(err)
	}
	if s.count() != 0 {
		t.Errorf("%d requests were sent", s.count())
	}
	if full := "/dev/full"; exists(full) { // a disk that fills up is found at the end
		good := useFake(t, "ok")
		for _, option := range []string{"--json", "--hdr"} {
			respbench(t, "-p", good.port(), "-n", "5", "-q", option, full, "ping").
				check(t, want{1, qRow, `^` + option + `: cannot write /dev/full: no space left on device$`})
		}
	}
	respbench(t, "-p", s.port(), "-n", "5", "-q", "--json", dir+"/r.json", "ping").check(t, bad(`boom at 1`))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Assertions decide the exit code, and their table goes where it does not disturb.
func TestAssertions(t *testing.T) {
	s := useFake(t, "ok")
	for _, c := range []struct {
		args string
		want want
	}{
		{"--assert errors==0 --assert p99<10s", want{0, `2 of 2 assertions hold`, ""}},
		{"--assert errors==0 --assert p99<1ns", want{5, `(?s)p99<1ns .*FAIL.*1 of 2 assertions hold`, ""}},
		{"-q --assert qps<=0", want{5, "!assertions", `0 of 1 assertions hold`}},
		{"--csv --assert errors==0", want{0, "!assertions", `1 of 1 assertions hold`}},
		{"--assert p99<2mx", want{1, "!.", `^respbench: invalid condition "p99<2mx" for --assert: column 6: `}},
	} {
		respbench(t, append([]string{"-p", s.port(), "-n", "100"}, append(strings.Fields(c.args), "ping")...)...).check(t, c.want)
	}
	// An error of the run outranks an assertion.
	s = useFake(t, "errat:5")
	respbench(t, "-p", s.port(), "-n", "100", "-q", "--on-error", "count", "--assert", "errors==0", "ping").check(t, want{1, "", `FAIL`})
}
