package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// A rate is held on any number of connections and loops, to the last of -n, and what is reported of it
// is what the server saw.
func TestRateIsHeld(t *testing.T) {
	t.Parallel()
	for _, l := range []Load{
		{Clients: 1}, {Clients: 5, Threads: 2}, {Clients: 7, Threads: 3, Pipeline: 4}, {Clients: 4, Poisson: true},
		{Clients: 4, Engine: "gnet"}, {Clients: 3, Reconnect: 1},
	} {
		s := startServer(t, always("+OK\r\n"))
		l.Rate, l.Requests = Rate{1000}, 500
		start := time.Now()
		res := measure(t, s.ln.Addr().String(), l)
		took := time.Since(start)
		p := res.Pacing
		if res.Requests != 500 || s.count() != 500 || p.Due != 500 || p.Unstarted != 0 {
			t.Errorf("%+v: %d requests, %d at the server, pacing %+v", l, res.Requests, s.count(), p)
		}
		if off := math.Abs(p.Offered-1000) / 1000; !l.Poisson && off > 1e-3 || off > 0.2 {
			t.Errorf("%+v: offered %v a second", l, p.Offered)
		}
		if p.Achieved > p.Offered*1.001 || took < 400*time.Millisecond {
			t.Errorf("%+v: achieved %v in %v", l, p.Achieved, took)
		}
		if l.Reconnect == 1 && s.conns < 500 {
			t.Errorf("%d connections for 500 requests of one each", s.conns)
		}
	}
}

// Rates below one a second: the next request may be due long after the end, which comes in time all the same.
func TestRateBelowOne(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	attempt(t, func() string {
		start := time.Now()
		res := measure(t, s.ln.Addr().String(), Load{Clients: 2, Threads: 2, Rate: Rate{0.01}, Duration: 700 * time.Millisecond, Requests: unlimited})
		took := time.Since(start)
		if res.Requests != 1 || took < 600*time.Millisecond || res.Elapsed != 700*time.Millisecond {
			t.Errorf("%d requests in %v, elapsed %v", res.Requests, took, res.Elapsed)
		}
		return slow(took, 3*time.Second)
	})
	attempt(t, func() string {
		start := time.Now()
		if res := measure(t, s.ln.Addr().String(), Load{Clients: 2, Threads: 2, Rate: Rate{0.01}, Requests: 1}); res.Requests != 1 {
			t.Errorf("-n 1: %d requests", res.Requests)
		}
		return slow(time.Since(start), 3*time.Second) // longer: the schedule went on behind the last request
	})
}

// slow is a complaint for attempt, if something took longer than its limit.
func slow(took, limit time.Duration) string {
	if took <= limit {
		return ""
	}
	return fmt.Sprintf("took %v, more than %v", took, limit)
}

// C113: a rate that cannot be reached: the run ends in time, and says what was offered, achieved and left.
func TestRateOutOfReach(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(*testConn, []string) string { time.Sleep(50 * time.Millisecond); return "+OK\r\n" })
	attempt(t, func() string {
		start := time.Now()
		res := measure(t, s.ln.Addr().String(), Load{Clients: 1, Rate: Rate{1000}, Duration: time.Second, Requests: unlimited})
		p, took := res.Pacing, time.Since(start)
		if math.Abs(p.Offered-1000) > 1 || p.Achieved > 21 {
			t.Errorf("offered %v, achieved %v", p.Offered, p.Achieved)
		}
		if p.Due != 1000 || p.Unstarted != 1000-res.Requests || !hasNote(res, "were due but not begun") {
			t.Errorf("%d requests, %+v, notes %q", res.Requests, p, res.Notes)
		}
		if p.Achieved < 5 || p.QueueMax < 900 {
			return fmt.Sprintf("%+v", p)
		}
		return slow(took, 3*time.Second)
	})
}

// A rate that the schedule cannot even be walked at: the run ends all the same, and what was offered is told.
func TestRateBeyondTheClient(t *testing.T) {
	t.Parallel()
	for _, l := range []Load{{Clients: 3, Threads: 2}, {Clients: 1, Poisson: true}} {
		s := startServer(t, always("+OK\r\n"))
		l.Rate, l.Duration, l.Requests = Rate{1e9}, 200*time.Millisecond, unlimited
		attempt(t, func() string {
			start := time.Now()
			p := measure(t, s.ln.Addr().String(), l).Pacing
			if math.Abs(float64(p.Due)-2e8) > 1e5 || p.Unstarted < 1e8 || p.Lag < 1e8 {
				t.Errorf("%+v: %+v", l, p)
			}
			return slow(time.Since(start), 3*time.Second)
		})
	}
}

// What is queued and what is late are requests that there are: with -n 20 no more than 20 ever wait, however long the
// schedule would go on.
func TestQueueIsWithinTheRequests(t *testing.T) {
	t.Parallel()
	for _, l := range []Load{{Clients: 1}, {Clients: 2, Threads: 2}, {Clients: 2, Threads: 2, Poisson: true}} {
		s := startServer(t, func(*testConn, []string) string { time.Sleep(20 * time.Millisecond); return "+OK\r\n" })
		l.Rate, l.Requests = Rate{10_000}, 20
		p := measure(t, s.ln.Addr().String(), l).Pacing
		if p.Due != 20 || p.QueueMax < 10 || p.QueueMax > 20 || p.Lag > 20 || p.Unstarted != 0 {
			t.Errorf("%+v: %+v", l, p)
		}
	}
}

// Steps end when they say so, whatever -n would allow, and the loops offer them together. What was due is the schedule's
// alone; on a busy machine some of it may find no free connection before the end, and that is accounted for.
func TestScheduleEnds(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	steps := []RateStep{{100, 100, 300 * time.Millisecond}, {200, 400, 200 * time.Millisecond}}
	res := measure(t, s.ln.Addr().String(), Load{Clients: 4, Threads: 2, Schedule: steps, Requests: unlimited})
	p := res.Pacing
	if p.Due != 90 || p.Offered != 180 || res.Elapsed < 500*time.Millisecond {
		t.Errorf("%d due in %v, %+v, want 90 in 0.5 s", p.Due, res.Elapsed, p)
	}
	if res.Requests != p.Due-p.Unstarted || int(res.Requests) != s.count() {
		t.Errorf("%d requests, %d at the server, %+v", res.Requests, s.count(), p)
	}
	if res.Asked != 0 {
		t.Errorf("asked for %d requests, though the schedule decides", res.Asked)
	}
}

// A transaction goes out as one, in order, on one connection, paced or not, even when -n cuts the last one.
func TestUnitsStayTogether(t *testing.T) {
	t.Parallel()
	for _, l := range []Load{{Clients: 3, Threads: 2, Pipeline: 2}, {Clients: 3, Threads: 2, Pipeline: 2, Rate: Rate{3000}}} {
		s := startServer(t, always("+QUEUED\r\n"))
		l.Requests = 302
		ses := newTestSession(t, s.ln.Addr().String(), l)
		r := ses.newRound(setPlan(t, "MULTI", ";", "INCR", "c", ";", "EXEC"))
		res, err := r.run(context.Background())
		if err != nil || res.Requests != 302 {
			t.Fatalf("%v: %+v", err, res)
		}
		byConn := map[string][]string{}
		for _, cmd := range s.log {
			byConn[cmd[0]] = append(byConn[cmd[0]], cmd[1])
		}
		cut := 0
		for id, names := range byConn {
			for i := 0; i < len(names); i += 3 {
				part := names[i:min(i+3, len(names))]
				if len(part) < 3 {
					cut++
				}
				if !slices.Equal(part, []string{"MULTI", "INCR", "EXEC"}[:len(part)]) {
					t.Fatalf("rate %v, connection %s: %v", l.Rate, id, names)
				}
			}
		}
		if cut != 1 {
			t.Errorf("rate %v: %d transactions are cut, want the last one", l.Rate, cut)
		}
	}
}

// C116: more connections than requests.
func TestMoreConnectionsThanRequests(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 1000} {
		s := startServer(t, always("+OK\r\n"))
		res := measure(t, s.ln.Addr().String(), Load{Clients: 100, Threads: 2, Requests: 10, Rate: Rate{rate}})
		if res.Requests != 10 || s.count() != 10 || res.QPS() < 10/(res.Elapsed.Seconds()+0.01) {
			t.Errorf("rate %v: %d requests, %d at the server, %v a second", rate, res.Requests, s.count(), res.QPS())
		}
	}
}

// A duration ends a closed loop in time; what is in flight is answered and counted.
func TestDuration(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(*testConn, []string) string { time.Sleep(time.Millisecond); return "+OK\r\n" })
	attempt(t, func() string {
		before, start := s.count(), time.Now()
		res := measure(t, s.ln.Addr().String(), Load{Clients: 4, Threads: 2, Pipeline: 3, Duration: 400 * time.Millisecond, Requests: unlimited})
		if n := s.count() - before; res.Elapsed < 400*time.Millisecond || int(res.Requests) != n {
			t.Errorf("elapsed %v, %d requests, %d at the server", res.Elapsed, res.Requests, n)
		}
		return slow(time.Since(start), 3*time.Second)
	})
}

// A server that falls silent before the end of --duration: what it answered is a result all the same, and what it did not
// is told, beside an error.
func TestSilenceAtTheEndOfADuration(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 2000} {
		answered := 0
		s := startServer(t, func(*testConn, []string) string { // of the only connection
			if answered++; answered > 20 {
				return ""
			}
			time.Sleep(time.Millisecond)
			return "+OK\r\n"
		})
		ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 1, Rate: Rate{rate}, Duration: time.Second, Requests: unlimited})
		r := ses.newRound(setPlan(t))
		r.load.Timeout = 30 * time.Second
		res, err := ses.watched(context.Background(), r)
		if err == nil || !strings.Contains(err.Error(), "the time of --duration is up") {
			t.Fatalf("rate %v: %v", rate, err)
		}
		if res == nil || res.Requests != 20 || res.Elapsed != time.Second || !hasNote(res, "1 request had no reply when the time was up; the latencies do not have it") {
			t.Errorf("rate %v: %+v", rate, res)
		}
	}
}

// A server that takes everything achieves what is offered, although its last replies come late.
func TestAchievedOfASlowButWideServer(t *testing.T) {
	t.Parallel()
	s := startServer(t, func(*testConn, []string) string { time.Sleep(100 * time.Millisecond); return "+OK\r\n" })
	attempt(t, func() string {
		res := measure(t, s.ln.Addr().String(), Load{Clients: 60, Rate: Rate{200}, Duration: 500 * time.Millisecond, Requests: unlimited})
		if p := res.Pacing; res.Requests != 100 || p.Achieved < 0.99*p.Offered || p.Unstarted != 0 {
			return fmt.Sprintf("%d requests, %+v", res.Requests, p)
		}
		return ""
	})
}

// C108: at a low rate our own wake-ups do not show: the median of a server that answers at once stays far
// below a millisecond, from the moment a request is due.
func TestLowRateHasNoLatencyOfItsOwn(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	attempt(t, func() string {
		res := measure(t, s.ln.Addr().String(), Load{Clients: 2, Rate: Rate{300}, Requests: 300})
		if p50 := time.Duration(res.Response.Percentile(50)); p50 > time.Millisecond {
			return "response time p50 " + p50.String()
		}
		return ""
	})
}
