package runner

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"respbench/netpoll"
	"respbench/report"
)

func loopCPU(busy, queue float64) report.LoopCPU {
	return report.LoopCPU{Busy: time.Duration(busy * 1e9), RunQueue: time.Duration(queue * 1e9), Turns: 100, WorkTurns: 90}
}

func serverUse(busiest, wait, all float64) serverLoad {
	ns := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	return serverLoad{known: true, local: true, name: "redis-server, pid 7", lasted: time.Second, cpu: ns(all), waited: ns(wait),
		busiest: threadTimes{ns(busiest), ns(wait)}}
}

// The verdict is a function of the figures.
func TestJudge(t *testing.T) {
	base := facts{elapsed: time.Second, rate: 100_000, loops: []report.LoopCPU{loopCPU(0.4, 0.02)}, server: serverUse(0.5, 0.01, 0.5),
		cores: 8, clients: 50, pipeline: 1}
	remote := serverUse(0.5, 0, 0.5)
	remote.local = false
	tests := []struct {
		name   string
		change func(*facts)
		word   string
		advice string
		reason string
	}{
		{"neither side busy", func(*facts) {}, latencyBound, "raise -c or -P", "client loop 0 busy 40%"},
		{"server busy", func(f *facts) { f.server = serverUse(0.97, 0, 1.02) }, serverBound, "", "busiest thread 97%"},
		{"server waits for a processor", func(f *facts) { f.server = serverUse(0.5, 0.45, 0.5) }, serverBound, "the server lacked a processor", "waiting for a processor 45%"},
		{"server's work wanders over its threads", func(f *facts) { f.server = serverUse(0.3, 0, 0.96) }, serverBound, "", "96% of a processor in all"},
		{"server with many threads, none busy", func(f *facts) { f.server = serverUse(0.3, 0, 2.4) }, latencyBound, "raise -c or -P", "240%"},
		{"server with many threads, none busy, on few processors", func(f *facts) {
			f.server = serverUse(0.5, 0.06, 0.98)
			f.server.waited, f.server.confined = 300*time.Millisecond, 0.98
		}, serverBound, "", "98% of a processor in all, which is all it may use"},
		{"client busy", func(f *facts) { f.loops = []report.LoopCPU{loopCPU(0.95, 0.01)} }, clientBound, "try --threads 2", "busy 95%"},
		{"one of two loops busy", func(f *facts) { f.loops = []report.LoopCPU{loopCPU(0.1, 0), loopCPU(0.99, 0)} }, clientBound, "try --threads 3", "client loop 1 busy 99%"},
		{"client busy, server unknown", func(f *facts) { f.loops[0] = loopCPU(0.95, 0); f.server = serverLoad{} }, clientBound, "try --threads 2", "not known"},
		{"client busy, two processors", func(f *facts) { f.loops[0] = loopCPU(0.95, 0); f.cores = 2 }, clientBound, "does not help on 2 processors", ""},
		{"client busy, two processors, server elsewhere", func(f *facts) { f.loops[0] = loopCPU(0.95, 0); f.cores = 2; f.server = remote }, clientBound, "try --threads 2", ""},
		{"client busy with one connection", func(f *facts) { f.loops[0] = loopCPU(0.95, 0); f.clients = 1 }, clientBound, "raise -c", ""},
		{"client lacks a processor", func(f *facts) { f.loops[0] = loopCPU(0.4, 0.55) }, clientBound, "lacked a processor", "waiting for a processor 55%"},
		{"both busy", func(f *facts) { f.loops[0] = loopCPU(0.95, 0); f.server = serverUse(0.95, 0, 0.95) }, cannotTell, "respbench ceiling", "both are busy"},
		{"both lack a processor", func(f *facts) { f.loops[0] = loopCPU(0.5, 0.45); f.server = serverUse(0.5, 0.45, 0.5) }, cannotTell, "not enough", "both are busy"},
		{"both busy, below the ceiling", func(f *facts) {
			f.loops[0] = loopCPU(0.95, 0)
			f.server, f.ceiling = serverUse(0.95, 0, 0.95), 200_000
		}, serverBound, "", "50% of the client's ceiling"},
		{"at the ceiling", func(f *facts) { f.ceiling = 105_000 }, clientBound, "try --threads 2", "95% of the client's ceiling"},
		{"at the ceiling, which a server that does nothing has too", func(f *facts) { f.ceiling, f.server = 105_000, serverUse(0.95, 0, 0.95) }, clientBound, "try --threads 2", "95% of"},
		{"far above the ceiling, which was none", func(f *facts) { f.ceiling = 50_000 }, latencyBound, "raise -c", "too low to be one"},
		{"nothing is known of the server", func(f *facts) { f.server = serverLoad{} }, cannotTell, "", "not known"},
		{"a loop that polls busily tells nothing", func(f *facts) { f.loops[0] = loopCPU(1, 0); f.spins = true }, latencyBound, "raise -c", "polling busily"},
		{"the engine does not tell", func(f *facts) { f.loops[0] = report.LoopCPU{}; f.client = 950 * time.Millisecond }, clientBound, "try", "client 95%"},
		{"too short", func(f *facts) { f.elapsed = 20 * time.Millisecond }, cannotTell, "", "lasted only 20ms"},
		{"far too short", func(f *facts) { f.elapsed = 236400 * time.Nanosecond }, cannotTell, "", "lasted only 236µs"},
		{"paced", func(f *facts) { f.pacing = &report.Pacing{Offered: 1000, Achieved: 995, Due: 1000} }, pacedWord, "", "achieved 995.00 of 1000.00"},
		{"paced, the client late", func(f *facts) { f.pacing = &report.Pacing{Offered: 1000, Achieved: 1000, Due: 1000, Lag: 50} }, pacedWord, "processor was not free", "5.00%"},
		{"paced beyond the server", func(f *facts) {
			f.pacing = &report.Pacing{Offered: 1000, Achieved: 700, Due: 1000}
			f.server = serverUse(0.99, 0, 0.99)
		}, serverBound, "", "achieved 70.00% of the offered load"},
		{"paced beyond what a client gets of a processor", func(f *facts) {
			f.pacing, f.loops[0] = &report.Pacing{Offered: 1000, Achieved: 700, Due: 1000, Lag: 400, MaxLag: 4e8, MaxLate: 5e8}, loopCPU(0.02, 0.5)
		}, clientBound, "lacked a processor", "40.00% of the requests were noticed late"},
		{"paced beyond the connections, by more than the client lacked", func(f *facts) {
			f.pacing, f.loops[0] = &report.Pacing{Offered: 1000, Achieved: 700, Due: 1000, Lag: 400, MaxLag: 2e8, MaxLate: 5e8}, loopCPU(0.02, 0.5)
		}, latencyBound, "raise -c", "70.00%"},
		{"paced beyond the connections", func(f *facts) { f.pacing = &report.Pacing{Offered: 1000, Achieved: 700, Due: 1000} }, latencyBound, "raise -c or -P", "70.00%"},
	}
	for _, tt := range tests {
		f := base
		f.loops = append([]report.LoopCPU(nil), base.loops...)
		tt.change(&f)
		v := judge(f)
		if v.Word != tt.word || !strings.Contains(v.Advice, tt.advice) || tt.advice == "" && v.Advice != "" || !strings.Contains(strings.Join(v.Reasons, "; "), tt.reason) {
			t.Errorf("%s: %q (%q): %q\nwant %q (%q): %q", tt.name, v.Word, v.Advice, v.Reasons, tt.word, tt.advice, tt.reason)
		}
	}
}

// A server in a process of its own that burns CPU for every reply, and a client that does: each is found out.
func TestVerdictOfASlowServerAndASlowClient(t *testing.T) {
	if !canSeeProcesses {
		t.Skip("this system does not tell another process's CPU time")
	}
	tests := []struct {
		word           string
		server, client time.Duration // burnt per reply, and per read
	}{
		{serverBound, 200 * time.Microsecond, 0},
		{clientBound, 0, 400 * time.Microsecond},
	}
	for _, tt := range tests {
		t.Run(tt.word, func(t *testing.T) {
			addr, pid := startChild(t, tt.server)
			crowded := 0
			attempt(t, func() string {
				s := newTestSession(t, addr, Load{Clients: 4, Pipeline: 1, Duration: 700 * time.Millisecond, Requests: unlimited})
				res := measureRound(t, s, func(r *round) {
					r.around = func(h netpoll.Handler) netpoll.Handler { return slowHandler{h, tt.client} }
				})
				reasons := strings.Join(res.Verdict.Reasons, " ")
				if !strings.Contains(reasons, fmt.Sprintf("pid %d", pid)) {
					t.Errorf("the server's process is not %d: %q", pid, res.Verdict.Reasons)
				}
				if res.Verdict.Word == tt.word {
					return ""
				}
				if lackedProcessor.MatchString(reasons) {
					crowded++
				}
				if crowded == attempts {
					t.Skip("other work keeps the processors: " + reasons)
				}
				return fmt.Sprintf("%q, want %q: %q", res.Verdict.Word, tt.word, res.Verdict.Reasons)
			})
		})
	}
}

// lackedProcessor finds a wait of 10 % or more among a verdict's reasons: with so little of a processor left for either
// side neither shows what it is.
var lackedProcessor = regexp.MustCompile(`waiting for a processor \d\d+%`)

// What the loops used is that of the measured part alone.
func TestLoopUsageLeavesOutTheWarmup(t *testing.T) {
	s := startServer(t, always("+OK\r\n"))
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 1, Warmup: 600 * time.Millisecond, Duration: 200 * time.Millisecond, Requests: unlimited})
	var burn time.Duration = 2 * time.Millisecond
	res := measureRound(t, ses, func(r *round) {
		r.around = func(h netpoll.Handler) netpoll.Handler { return slowHandler{h, burn} }
	})
	if l := res.CPU.Loops[0]; canSeeProcesses && (l.Busy == 0 || l.Busy > 400*time.Millisecond || l.Turns == 0) {
		t.Errorf("loop used %+v in 0.2 s", l)
	}
	if res.Started.IsZero() || time.Since(res.Started) > time.Minute {
		t.Errorf("started at %v", res.Started)
	}
}
