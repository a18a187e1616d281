package runner

import (
	"context"
	"strings"
	"testing"
	"time"

	"respbench/report"
	"respbench/workload"
)

// The end of the warm-up and that of --duration stand above the pipeline: what a connection was given and has not begun by
// then is not sent.

// A batch that would take hours ends with its time, and no transaction is cut in two. The fake server counts.
func TestDeepPipelineEndsInTime(t *testing.T) {
	t.Parallel()
	const deep, brief = 1<<31 - 1, 50 * time.Millisecond
	value := strings.Repeat("x", 4000)
	for _, l := range []Load{
		{Duration: brief},
		{Duration: brief, Engine: "gnet"},
		{Duration: brief, Rate: Rate{1e6}},
		{Duration: brief, Reconnect: 1 << 40},
		{Warmup: brief, Requests: 20},
		{Warmup: brief, Requests: 20, Engine: "gnet"},
		{Warmup: brief, Requests: 20, Rate: Rate{1e6}},
		{Warmup: brief, Requests: 20, Threads: 2},
	} {
		l.Clients, l.Pipeline = 2, deep
		asked := l.Requests
		if asked == 0 {
			l.Requests = unlimited
		}
		s := startServer(t, always("+OK\r\n"))
		ses := newTestSession(t, s.ln.Addr().String(), l)
		plan, err := workload.Command([]string{"MULTI", ";", "SET", "k", value, ";", "EXEC"}, nil, false, workload.TestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		res, err := ses.watched(ctx, ses.newRound(plan))
		cancel()
		switch {
		case err != nil:
			t.Errorf("%+v: %v", l, err)
		case res.Interrupted:
			t.Errorf("%+v: it did not end", l)
		case len(ses.newRound(plan).schedule) > 0 && res.Pipeline != MaxTracked:
			t.Errorf("%+v: pipeline %d: each request in flight is remembered", l, res.Pipeline)
		case asked > 0 && res.Requests != asked:
			t.Errorf("%+v: %d requests", l, res.Requests)
		case l.Warmup == 0 && int(res.Requests) != s.count():
			t.Errorf("%+v: %d requests, the server had %d", l, res.Requests, s.count())
		}
		whole := asked == 0 // 20 requests are six transactions and two requests
		for id, n := range s.inOrder(t, "MULTI", "SET", "EXEC") {
			if whole && n%3 != 0 {
				t.Errorf("%+v: connection %s ended with a part of a transaction: %d requests", l, id, n)
			}
		}
	}
}

// inOrder checks that every connection sent these commands in turn, and returns how many each sent. A transaction that -n
// has cut off is followed by nothing.
func (s *testServer) inOrder(t *testing.T, names ...string) map[string]int {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := map[string]int{}
	for _, cmd := range s.log {
		if want := names[sent[cmd[0]]%len(names)]; cmd[1] != want {
			t.Errorf("connection %s sent %s where %s was due", cmd[0], cmd[1], want)
			return nil
		}
		sent[cmd[0]]++
	}
	return sent
}

// Latencies of 0 are no result: a round without a measured request is an error that says why.
func TestNothingMeasured(t *testing.T) {
	interrupted, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		res  report.Result
		want string
	}{
		{context.Background(), report.Result{}, "no connection was free"},
		{context.Background(), report.Result{Pacing: &report.Pacing{Due: 5}}, "no connection was free"},
		{context.Background(), report.Result{Pacing: &report.Pacing{}}, "no request due"},
		{context.Background(), report.Result{Requests: 1}, ""},
		{interrupted, report.Result{}, ""},
	} {
		err := nothingMeasured(c.ctx, &c.res)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.res, err, c.want)
		}
	}
}

// What is taken back ends where a unit ends, and holds nothing that was begun here or tried at another node.
func TestTakeUnsent(t *testing.T) {
	for _, c := range []struct {
		touch func(f *flights)
		unit  uint64
		drops int
	}{
		{func(*flights) {}, 1, 7},
		{func(*flights) {}, 3, 6},
		{func(f *flights) { f.at(2).sentNs = 1 }, 1, 6},
		{func(f *flights) { f.at(3).sentNs = 1 }, 3, 3},
		{func(f *flights) { f.at(4).tries = 1 }, 1, 4},
		{func(f *flights) { f.at(4).flags = askingFlight }, 3, 3},
		{func(f *flights) { f.at(8).tries = 1 }, 1, 0},
	} {
		w := &worker{r: &round{unit: c.unit}, router: &router{}, clients: []client{{phase: phaseLoading}, {phase: phaseLoading}}}
		for i := range uint64(9) {
			w.give(&w.clients[1], flight{index: i})
		}
		f := &w.clients[1].fly
		f.sent = 2
		c.touch(f)
		if n := w.takeUnsent(); n != c.drops || f.n != 9-n || w.inFlight != 9-n || int(w.clients[1].pending) != 9-n {
			t.Errorf("unit %d: dropped %d of 9, want %d; %d are left, %d in flight", c.unit, n, c.drops, f.n, w.inFlight)
		}
	}
}
