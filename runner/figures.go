package runner

import (
	"sync"
	"time"

	"respbench/report"
)

// figures are what is shown of the rounds while they run: by --live and by --metrics. They are made of
// the intervals that the loops have handed over, so that showing them costs the loops nothing.
type figures struct {
	mu    sync.Mutex
	round roundFigures
	past  []testFigures // counts of the rounds before, one per test
}

// roundFigures are of the running round.
type roundFigures struct {
	title    string
	clients  int
	pipeline int
	offered  float64 // requests per second of a steady schedule; 0 = closed loop, or not steady
	every    time.Duration
	last     report.Interval // the newest whole interval
	lasted   time.Duration   // of that interval
	sum      testFigures
	hist     *report.Histogram // of all intervals
}

// testFigures are the counts of all rounds of a test.
type testFigures struct {
	title             string
	requests, errors  int64
	bytesIn, bytesOut int64
}

func (t *testFigures) add(o testFigures) {
	t.requests += o.requests
	t.errors += o.errors
	t.bytesIn += o.bytesIn
	t.bytesOut += o.bytesOut
}

// begin is the start of a round; the counts of the one before are kept.
func (f *figures) begin(r *round) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep()
	f.round = roundFigures{title: r.plan.Title, clients: r.load.Clients, pipeline: r.load.Pipeline,
		offered: r.load.Rate.PerSecond, every: r.interval, sum: testFigures{title: r.plan.Title}, hist: report.NewHistogram()}
}

func (f *figures) keep() {
	if f.round.title == "" {
		return
	}
	for i := range f.past {
		if f.past[i].title == f.round.title {
			f.past[i].add(f.round.sum)
			return
		}
	}
	f.past = append(f.past, f.round.sum)
}

// add takes over a finished interval.
func (f *figures) add(i report.Interval, hist *report.Histogram) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := &f.round
	r.lasted = i.At - r.last.At
	r.last = i
	r.sum.add(testFigures{requests: i.Requests, errors: i.Errors, bytesIn: i.BytesIn, bytesOut: i.BytesOut})
	r.hist.Merge(hist)
}

// view is a consistent copy of the running round; the histogram's figures are read under the lock.
type view struct {
	roundFigures
	p50, p99, p999, max time.Duration // of all intervals
}

func (f *figures) view() view {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := view{roundFigures: f.round}
	if h := f.round.hist; h != nil {
		v.p50, v.p99 = time.Duration(h.Percentile(50)), time.Duration(h.Percentile(99))
		v.p999, v.max = time.Duration(h.Percentile(99.9)), time.Duration(h.Max())
	}
	v.hist = nil
	return v
}

// counts are the sums of every test so far.
func (f *figures) counts() (list []testFigures) {
	f.mu.Lock()
	defer f.mu.Unlock()
	list = append(list, f.past...)
	for i := range list {
		if list[i].title == f.round.title {
			list[i].add(f.round.sum)
			return list
		}
	}
	if f.round.title != "" {
		list = append(list, f.round.sum)
	}
	return list
}

// show begins to show a round; stop ends it and wipes what was drawn.
func (s *session) show(r *round) (stop func()) {
	if !s.isLive() && s.o.Output.Metrics == "" {
		return func() {}
	}
	if s.figures == nil {
		s.figures = &figures{}
	}
	s.figures.begin(r)
	r.figures = s.figures
	if !s.isLive() {
		return func() {}
	}
	l := &live{w: s.io.Stderr, width: s.io.Width, f: s.figures, r: r}
	return watch(r, l.draw, l.wipe)
}

// isLive tells whether the running figures are drawn: only on a terminal.
func (s *session) isLive() bool {
	return s.o.Output.Live && s.io.Width != nil && s.io.Width() > 0
}
