package main

import (
	"encoding/csv"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// suiteTitles are the tests of redis-benchmark 7.2 and later, in order.
var suiteTitles = []string{"PING_INLINE", "PING_MBULK", "SET", "GET", "INCR", "LPUSH", "RPUSH", "LPOP", "RPOP", "SADD", "HSET", "SPOP",
	"ZADD", "ZPOPMIN", "LPUSH (needed to benchmark LRANGE)", "LRANGE_100 (first 100 elements)", "LRANGE_300 (first 300 elements)",
	"LRANGE_500 (first 500 elements)", "LRANGE_600 (first 600 elements)", "MSET (10 keys)", "XADD"}

// C94, C95, C97: the default suite as CSV that a reader of CSV can read; a single request has figures too.
func TestDefaultSuite(t *testing.T) {
	r := useRedis(t)
	for _, args := range []string{"-n 1 -c 1", "-n 200 -P 16 -r 10"} {
		o := respbench(t, append(strings.Fields(args), "-p", r.port, "--csv")...)
		o.check(t, want{0, `!inf|nan|\r`, ""})
		rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
		if err != nil || len(rows) != 1+len(suiteTitles) {
			t.Fatalf("%d rows: %v\n%s", len(rows), err, o.stderr)
		}
		for i, row := range rows[1:] {
			if row[0] != suiteTitles[i] || len(row) != 8 {
				t.Errorf("row %q, want %q and 7 figures", row, suiteTitles[i])
			}
			for _, cell := range row[1:] {
				if v, err := strconv.ParseFloat(cell, 64); err != nil || v < 0 {
					t.Errorf("%s: figure %q", row[0], cell)
				}
			}
		}
	}
}

// C96: a command that the server lacks ends the run; what was finished is on stdout.
func TestSuiteEndsAtUnknownCommand(t *testing.T) {
	o := respbench(t, "-p", useFake(t, "lacks:ZPOPMIN").port(), "-n", "20", "--csv")
	o.check(t, want{1, `^"ZADD",`, `^Error from server: ERR unknown command 'ZPOPMIN'$`})
	if n := strings.Count(o.stdout, "\n"); n != 14 || strings.Contains(o.stdout, "nan") {
		t.Errorf("%d lines, want the header and 13 tests\n%s", n, o.stdout)
	}
}

// C98: the distribution tables rise, and end with every request.
func TestDistributionTables(t *testing.T) {
	r := useRedis(t)
	o := respbench(t, "-p", r.port, "-n", "20000", "-t", "set")
	o.check(t, want{0, `(?s)^100\.000% <= [0-9.]+ milliseconds \(cumulative count 20000\)\n\nCumulative .*\n100\.000% <= [0-9.]+ milliseconds \(cumulative count 20000\)\n\nSummary`, ""})
	bound, share := -1.0, -1.0
	for line := range strings.Lines(o.stdout) {
		if strings.HasPrefix(line, "Cumulative") {
			bound, share = -1, -1
		}
		words := strings.Fields(line)
		if len(words) < 3 || words[1] != "<=" {
			continue
		}
		b, _ := strconv.ParseFloat(words[2], 64)
		s, _ := strconv.ParseFloat(strings.TrimSuffix(words[0], "%"), 64)
		if b < bound || s < share {
			t.Errorf("%q stands below %v ms and %v%%", line, bound, share)
		}
		bound, share = b, s
	}
}

// With -l a blank line follows each pass of the tests, none a command, and the CSV header comes once.
func TestLoopedOutput(t *testing.T) {
	const row = `: [0-9.]+ ` + qRow + `[0-9.]+ msec\n`
	for _, c := range []struct{ args, stdout string }{
		{"-q -t set,get", `\ASET` + row + `GET` + row + `\nSET` + row + `GET` + row + `\nSET`},
		{"-q set k v", `\Aset k v` + row + `set k v` + row + `set k v`},
		{"--csv -t set,get", `\A"test",[^\n]*\n"SET",[^\n]*\n"GET",[^\n]*\n"SET",[^\n]*\n"GET",[^\n]*\n"SET`},
	} {
		s := useFake(t, "ok")
		p := start(t, hang, nil, append([]string{"-l", "-n", "100", "-c", "5", "-p", s.port()}, strings.Fields(c.args)...)...)
		for end := time.Now().Add(hang); s.count() < 600 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		p.Process.Signal(syscall.SIGINT)
		p.end().check(t, want{130, c.stdout, ""})
	}
}

// C102: a title is one line, whatever the command holds.
func TestTitlesAreOneLine(t *testing.T) {
	s := useFake(t, "ok")
	o := respbench(t, "-p", s.port(), "-n", "10", "-q", "set", "a\nb", "c")
	if lines := strings.Count(strings.TrimRight(o.stdout, "\n"), "\n"); o.code != 0 || lines != 0 {
		t.Errorf("exit code %d, %d line ends in %q", o.code, lines, o.stdout)
	}
	o = respbench(t, "-p", s.port(), "-n", "10", "--csv", "set", "a\n\"b\",", "c")
	rows, err := csv.NewReader(strings.NewReader(o.stdout)).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[1]) != 8 {
		t.Errorf("CSV %q: %v", o.stdout, err)
	}
}
