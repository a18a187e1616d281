package runner

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"respbench/report"
)

// The block of --live: every line is cut to the terminal, and at the end nothing of it is left.
func TestLiveDrawing(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 2, Duration: 1200 * time.Millisecond, Requests: unlimited})
	var out bytes.Buffer
	ses.io.Stderr, ses.io.Width = &out, func() int { return 50 }
	ses.o.Output.Live, ses.o.Output.Interval = true, 100*time.Millisecond
	measureRound(t, ses, nil)
	text := out.String()
	if !strings.HasSuffix(text, "\x1b[4A\r\x1b[J") || !strings.Contains(text, "SET k v: ") || !regexp.MustCompile(`now +[1-9]`).MatchString(text) {
		t.Errorf("drawn: %q", text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		visible := regexp.MustCompile(`\x1b\[[0-9]*[A-Z]|\r`).ReplaceAllString(line, "")
		if n := report.Columns(visible); n > 49 {
			t.Errorf("line of %d columns on a terminal of 50: %q", n, visible)
		}
	}
	if !regexp.MustCompile(`in all +\d+ +0\.[0-9]*[1-9]`).MatchString(text) {
		t.Errorf("no latencies: %q", text)
	}
}

// What is not known yet, or where nothing came, is no figure of 0.
func TestFiguresThatAreNotKnown(t *testing.T) {
	hist := report.NewHistogram()
	hist.Record(int64(2 * time.Millisecond))
	second := func(n, requests, errors int64) report.Interval {
		i := report.Interval{At: time.Duration(n) * time.Second, Requests: requests, Errors: errors}
		if requests > 0 {
			i.P50, i.P99, i.P999, i.Max = 2*time.Millisecond, 2*time.Millisecond, 2*time.Millisecond, 2*time.Millisecond
		}
		return i
	}
	r := &round{plan: setPlan(t, "SET", "k", "v"), load: Load{Clients: 1, Pipeline: 1, Requests: unlimited}, interval: time.Second}
	f := &figures{}
	f.begin(r)
	for _, step := range []struct {
		name         string
		add          func()
		now, all     string // behind the rate
		metrics, not string // what they must show, and must not
	}{
		{"before the first interval", func() {}, `- +- +- +- +-`, `- +- +- +- +-`, `respbench_requests_total\{.*\} 0`, `per_second|latency`},
		{"after it", func() { f.add(second(1, 1, 0), hist) }, `2\.000 +2\.000 +2\.000 +2\.000 +0`, `2\.\d+ +2\.\d+ +2\.\d+ +2\.000 +0`, `per_second\{.*\} 1\n`, `NaN`},
		{"in a silence", func() { f.add(second(2, 0, 0), report.NewHistogram()) }, `- +- +- +- +0`, `2\.\d+ +2\.\d+ +2\.\d+ +2\.000 +0`, `per_second\{.*\} 0\n`, `latency`},
	} {
		step.add()
		var out bytes.Buffer
		l := &live{w: &out, width: func() int { return 100 }, f: f, r: r}
		l.draw(1, 0, time.Second)
		for _, want := range []string{`now +\d+ +` + step.now + `\x1b`, `in all +\d+ +` + step.all + `\x1b`} {
			if !regexp.MustCompile(want).MatchString(out.String()) {
				t.Errorf("%s: no %s in %q", step.name, want, out.String())
			}
		}
		out.Reset()
		f.metrics().WritePrometheus(&out)
		if text := out.String(); !regexp.MustCompile(step.metrics).MatchString(text) || regexp.MustCompile(step.not).MatchString(text) {
			t.Errorf("%s: metrics %q, want %s and not %s", step.name, text, step.metrics, step.not)
		}
	}
}

// Where there is no terminal, --live draws nothing.
func TestLiveWithoutTerminal(t *testing.T) {
	s := startServer(t, always("+OK\r\n"))
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 1, Duration: 400 * time.Millisecond, Requests: unlimited})
	var out bytes.Buffer
	ses.io.Stderr, ses.io.Width = &out, func() int { return 0 }
	ses.o.Output.Live = true
	measureRound(t, ses, nil)
	if out.Len() > 0 {
		t.Errorf("drawn: %q", out.String())
	}
}

// --metrics serves what the loops have handed over, while the round runs; titles may hold anything.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 2, Rate: Rate{500}, Duration: 2 * time.Second, Requests: unlimited})
	addr := freeAddr(t)
	ses.o.Output.Metrics, ses.o.Output.Interval = addr, 50*time.Millisecond
	closing, err := ses.openMetrics()
	if err != nil {
		t.Fatal(err)
	}
	defer closing()
	if _, err := ses.openMetrics(); err == nil || !strings.HasPrefix(err.Error(), "--metrics: cannot listen on "+addr+": ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("the address is in use: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = ses.watched(ctx, ses.newRound(setPlan(t, "SET", "a\"b\\c\nd", "v")))
	}()
	text := ""
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && !strings.Contains(text, "respbench_requests_total"); {
		text = get(t, "http://"+addr+"/metrics")
	}
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end) && regexp.MustCompile(`(?m)^respbench_requests_total.* 0$`).MatchString(text); {
		text = get(t, "http://"+addr+"/metrics")
	}
	cancel()
	<-ended
	for _, line := range []string{"# TYPE respbench_requests_total counter\n", "# TYPE respbench_latency_seconds gauge\n"} {
		if strings.Count(text, line) != 1 {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
	const test = `test="SET a\"b\\c?d v"`
	for _, line := range []string{
		"respbench_requests_total{" + test + "} [1-9]", "respbench_errors_total{" + test + "} 0\n", "respbench_clients{" + test + "} 2\n",
		"respbench_offered_requests_per_second{" + test + "} 500\n", "respbench_latency_seconds{" + test + `,quantile="0.99"} [0-9]`,
		"respbench_sent_bytes_total{" + test + "} [1-9]",
	} {
		labels, value, _ := strings.Cut(line, "} ")
		if !regexp.MustCompile("(?m)^" + regexp.QuoteMeta(labels+"} ") + value).MatchString(text) {
			t.Errorf("no line %s in\n%s", line, text)
		}
	}
}

func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %v", url, resp.Status, err)
	}
	return string(b)
}
