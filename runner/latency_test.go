package runner

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"respbench/report"
)

// A measurement that a busy machine may spoil is repeated so often, and so long: the claim is about the program, which is
// right when it is right once. What makes the machine busy may be the tests beside this one, which end.
const (
	attempts   = 3
	attemptFor = time.Minute
)

// attempt repeats a measurement until it says nothing against the program.
func attempt(t *testing.T, measurement func() (complaint string)) {
	t.Helper()
	began := time.Now()
	for n := 1; ; n++ {
		complaint := measurement()
		if complaint == "" {
			return
		}
		if n >= attempts && time.Since(began) > attemptFor {
			t.Error(complaint)
			return
		}
		t.Logf("not so: %s", complaint)
	}
}

func near(got, want time.Duration, part float64) bool {
	return math.Abs(float64(got-want)) <= part*float64(want)
}

// A server that takes 10 ms a reply, 16 requests in a pipeline, one connection: mean, least and most are
// those of the server's own log, within 2 %.
func TestLatencyIsThatOfTheServersLog(t *testing.T) {
	t.Parallel()
	attempt(t, func() string {
		var mu sync.Mutex
		log := report.NewHistogram()
		s := startServer(t, func(c *testConn, _ []string) string {
			arrived := c.readAt
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			defer mu.Unlock()
			log.Record(int64(time.Since(arrived)))
			return "+OK\r\n"
		})
		h := measure(t, s.ln.Addr().String(), Load{Clients: 1, Pipeline: 16, Requests: 64}).Latency
		mu.Lock()
		defer mu.Unlock()
		if h.Count() != 64 || log.Count() != 64 {
			t.Fatalf("%d latencies of %d replies, want 64", h.Count(), log.Count())
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{{"mean", h.Mean(), log.Mean()}, {"min", float64(h.Min()), float64(log.Min())}, {"max", float64(h.Max()), float64(log.Max())}} {
			if math.Abs(f.got-f.want) > 0.02*f.want {
				return f.name + " " + time.Duration(f.got).String() + ", the server's log has " + time.Duration(f.want).String()
			}
		}
		return ""
	})
}

// stallingServer answers at once, but for one stall that begins so long after its first command.
func stallingServer(t *testing.T, after, length time.Duration) *testServer {
	var once sync.Once
	var from, to time.Time
	return startServer(t, func(*testConn, []string) string {
		once.Do(func() { from = time.Now().Add(after); to = from.Add(length) })
		if now := time.Now(); now.After(from) && now.Before(to) {
			time.Sleep(to.Sub(now))
		}
		return "+OK\r\n"
	})
}

// Ten connections, a thousand requests a second, one stall of two seconds in ten: the response times show
// it, the service times hide it, and the two are not mixed.
func TestStallInOpenLoop(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: takes ten seconds")
	}
	attempt(t, func() string {
		s := stallingServer(t, 4*time.Second, 2*time.Second)
		res := measure(t, s.ln.Addr().String(), Load{Clients: 10, Requests: 10000, Rate: Rate{1000}})
		p99, most := time.Duration(res.Response.Percentile(99)), time.Duration(res.Response.Max())
		service := time.Duration(res.Latency.Percentile(99))
		switch {
		case res.Requests != 10000 || res.Response.Count() != 10000 || res.Latency.Count() != 10000:
			t.Fatalf("%d requests, %d response and %d service times", res.Requests, res.Response.Count(), res.Latency.Count())
		case p99 < 1500*time.Millisecond || !near(most, 2*time.Second, 0.02):
			return "response time p99 " + p99.String() + ", max " + most.String()
		case service > 100*time.Millisecond:
			return "service time p99 " + service.String()
		case res.Pacing.QueueMax < 1800 || res.Pacing.QueueMax > 2100 || res.Pacing.Late < 1800:
			t.Errorf("at most %d queued, %d late of a stall of 2000 requests", res.Pacing.QueueMax, res.Pacing.Late)
		}
		return ""
	})
}

// The same stall in a closed loop: a note says what the percentiles leave out.
func TestStallInClosedLoopIsNoted(t *testing.T) {
	t.Parallel()
	s := stallingServer(t, 100*time.Millisecond, 500*time.Millisecond)
	res := measure(t, s.ln.Addr().String(), Load{Clients: 2, Duration: time.Second, Requests: unlimited})
	if !hasNote(res, "closed loop: a connection that waited") {
		t.Errorf("max %v, notes %q", time.Duration(res.Latency.Max()), res.Notes)
	}
	s = startServer(t, func(*testConn, []string) string { time.Sleep(20 * time.Millisecond); return "+OK\r\n" })
	if res := measure(t, s.ln.Addr().String(), Load{Clients: 2, Requests: 20}); hasNote(res, "closed loop") && res.Latency.Max() < int64(300*time.Millisecond) {
		t.Errorf("a steady server has the note: %q", res.Notes)
	}
}

// An interrupted round lasted until the interruption, also when the server has long been silent.
func TestInterruptedRoundsLastToTheInterruption(t *testing.T) {
	t.Parallel()
	const silence = 200 * time.Millisecond
	for _, answered := range []int{0, 10} {
		ctx, cancel := context.WithCancelCause(context.Background())
		forever := make(chan struct{})
		t.Cleanup(func() { close(forever) })
		n := 0
		s := startServer(t, func(*testConn, []string) string {
			if n++; n > answered {
				time.AfterFunc(silence, func() { cancel(Interrupt{syscall.SIGINT}) })
				<-forever
			}
			return "+OK\r\n"
		})
		ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 1, Requests: 1000})
		res, err := ses.watched(ctx, ses.newRound(setPlan(t)))
		if err != nil || !res.Interrupted || res.Requests != int64(answered) || res.Elapsed < silence {
			t.Errorf("%d requests in %v, want %d in %v or more; interrupted %v, error %v", res.Requests, res.Elapsed, answered, silence, res.Interrupted, err)
		}
	}
}

// A round that is interrupted in its warm-up has measured nothing: no time, no bytes, no CPU; and it says when that was.
func TestInterruptedInTheWarmup(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	s := startServer(t, func(*testConn, []string) string {
		cancel(Interrupt{syscall.SIGINT})
		return "+OK\r\n"
	})
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 1, Requests: 1000, Warmup: time.Hour})
	res, err := ses.watched(ctx, ses.newRound(setPlan(t)))
	if err != nil || !res.Interrupted || res.Requests != 0 || res.BytesIn != 0 || res.BytesOut != 0 || res.Elapsed != 0 || res.Started.IsZero() {
		t.Errorf("%+v, error %v", res, err)
	}
}

// The time series ends with the measured part, though the loops look on while their connections close.
func TestSeriesEndsWithTheRun(t *testing.T) {
	step := func(at time.Duration, n int64) *stepAccount {
		return &stepAccount{Interval: report.Interval{At: at * time.Millisecond, Requests: n}}
	}
	for _, c := range []struct {
		lasted time.Duration
		want   []time.Duration // ends of the steps, ms
	}{{250, []time.Duration{100, 200, 250}}, {300, []time.Duration{100, 200, 300}}, {450, []time.Duration{100, 200, 300, 400, 450}}} {
		r := &round{steps: []*stepAccount{step(100, 5), step(200, 0), step(300, 5), step(400, 0), step(500, 0), step(520, 0)}}
		for range 2 { // it is asked for twice
			var got []time.Duration
			for _, i := range r.intervals(c.lasted * time.Millisecond) {
				got = append(got, i.At/time.Millisecond)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("after %d ms: steps end at %v, want %v", c.lasted, got, c.want)
			}
		}
	}
}

func hasNote(res *report.Result, part string) bool {
	for _, n := range res.Notes {
		if strings.Contains(n, part) {
			return true
		}
	}
	return false
}

// What the loops hand over interval by interval, and what they keep, is together every sample once.
func TestIntervalsAndLoopsAddUpToAllSamples(t *testing.T) {
	for _, paced := range []bool{false, true} {
		r := &round{interval: time.Millisecond}
		all, allWaited := report.NewHistogram(), report.NewHistogram()
		x := uint64(1)
		for range 3 {
			w := &worker{r: r, hist: report.NewHistogram()}
			if paced {
				w.response = report.NewHistogram()
			}
			w.series.begin(0, int64(r.interval), paced)
			r.workers = append(r.workers, w)
		}
		for i := range 30000 {
			w := r.workers[i%3]
			x = mix(x + 1)
			ns := int64(x >> (20 + x%40))
			w.hist.Record(ns)
			all.Record(ns)
			if paced {
				w.response.Record(2 * ns)
				allWaited.Record(2 * ns)
			}
			w.lastNs = int64(i) * 1000
			if w.series.due(w.lastNs) {
				w.series.step(w, w.lastNs)
			}
		}
		total, waited := report.NewHistogram(), report.NewHistogram()
		for _, w := range r.workers {
			w.series.close(w)
			total.Merge(w.series.total)
			total.Merge(w.hist)
			waited.Merge(w.series.waited)
			waited.Merge(w.response)
		}
		if !total.Equal(all) || !waited.Equal(allWaited) {
			t.Errorf("paced %v: the merged histograms of three loops are not that of all samples", paced)
		}
		var n int64
		for _, i := range r.intervals(time.Hour) {
			n += i.Requests
		}
		if n != 30000 {
			t.Errorf("paced %v: the intervals have %d requests, want 30000", paced, n)
		}
	}
}

// C117: exactly -n requests of the measured part are counted, and nothing of the warm-up: neither its
// latencies, nor its errors, nor its bytes.
func TestWarmupIsNotCounted(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0, 2000} {
		attempt(t, func() string { return warmUp(t, rate) })
	}
}

// warmUp measures a server that is slow and errs at first; it says when the p99 is not that of the measured part.
func warmUp(t *testing.T, rate float64) (complaint string) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := startServer(t, func(*testConn, []string) string {
		mu.Lock()
		n++
		first := n <= 40
		mu.Unlock()
		if first {
			time.Sleep(50 * time.Millisecond)
			return "-ERR cold\r\n"
		}
		return "+OK\r\n"
	})
	res := measure(t, s.ln.Addr().String(), Load{Clients: 10, Requests: 1000, Warmup: 500 * time.Millisecond,
		Rate: Rate{rate}, OnError: CountErrors})
	if res.Requests != 1000 || res.Latency.Count() != 1000 || s.count() <= 1000 {
		t.Errorf("rate %v: %d requests, %d in all", rate, res.Requests, s.count())
	}
	if res.ErrorTotal != 0 || len(res.Errors) != 0 {
		t.Errorf("rate %v: errors of the warm-up are counted: %v", rate, res.Errors)
	}
	if got := res.BytesIn; got < 5*1000 || got > 5*1100 {
		t.Errorf("rate %v: %d bytes of 1000 replies of 5", rate, got)
	}
	if p99 := time.Duration(res.Latency.Percentile(99)); p99 >= 50*time.Millisecond {
		return fmt.Sprintf("rate %v: p99 %v", rate, p99)
	}
	return ""
}

// C117: a warm-up in which nothing was answered is told.
func TestWarmupWithoutReplies(t *testing.T) {
	r := &round{load: Load{Warmup: time.Second}, warmup: newQuota(unlimited, 1, 1, 1), workers: []*worker{{}}}
	r.warmup.next.Store(warmupFirst)
	if note := r.warmupNote(); note != "the warm-up sent nothing" {
		t.Error(note)
	}
	r.warmup.next.Add(1)
	if note := r.warmupNote(); note != "no request of the warm-up was answered before its end" {
		t.Error(note)
	}
	r.workers[0].warmed = 1
	if note := r.warmupNote(); note != "" {
		t.Error(note)
	}
}
