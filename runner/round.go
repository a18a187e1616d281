package runner

import (
	"context"
	"crypto/tls"
	"fmt"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"respbench/netpoll"
	"respbench/report"
	"respbench/workload"
)

// round is one plan driven against one server by all loops. What is set before the loops start is
// read by all of them and written by none.
type round struct {
	plan      *workload.Plan
	load      Load
	target    Target
	endpoint  *netpoll.Endpoint
	tls       *tls.Config // nil: plain TCP
	mute      bool        // the server has said nothing so far
	sources   []netip.Addr
	prefix    prefix
	ahead     int  // bytes a generator makes ahead
	verify    bool // compare replies to reads
	missIsBad bool // the keyspace was written before
	conflicts bool // "exists" is an expected answer to a write
	schedule  schedule
	unit      uint64 // requests that stay together
	seed      uint64
	interval  time.Duration // of the time series; 0 = none
	figures   *figures      // what is shown while the round runs; nil: nothing
	log       func(string)

	// onMeasured is told once that the measured part begins, from a loop. wait: nothing is sent before
	// it returns. onAnswered is told, from a loop too, that every reply is there. nil: nobody asks.
	onMeasured func(wait bool)
	onAnswered func()

	// around stands between a loop and its worker; nil: nothing does. It makes a slow client of us.
	around func(netpoll.Handler) netpoll.Handler

	quota   *quota
	warmup  *quota
	workers []*worker
	loops   []netpoll.Loop

	waiting   atomic.Int64 // connections not yet ready
	begun     atomic.Bool
	answered  atomic.Int64 // loops that have all their replies
	startNs   int64        // these are written before begun
	measureNs int64
	endNs     int64
	measuring sync.Once
	started   time.Time
	cpu       cpuUsage

	cluster  *cluster // nil without --cluster
	routes   *routing
	conns    int            // of the loops made so far
	aside    sync.WaitGroup // what runs beside the loops; asideCtx ends it
	asideCtx context.Context

	mu    sync.Mutex
	err   error // the first one
	gone  error // the time was up and some replies did not come
	steps []*stepAccount

	events []event // of the server
}

// warmupFirst is below the request indices of a warm-up: far from those of the measured part.
const warmupFirst = 1 << 62

// warmupStart is the first request index of the warm-up, which begins with a whole unit.
func (r *round) warmupStart() uint64 {
	unit := max(r.unit, 1)
	return (warmupFirst + unit - 1) / unit * unit
}

// sendAhead bounds what a loop has ready for one write.
const sendAhead = 256 << 10

// prefix is what every new connection says before the load.
type prefix struct {
	bytes   []byte
	replies int
}

// newRound takes what all rounds of the session have in common.
func (s *session) newRound(plan *workload.Plan) *round {
	r := &round{plan: plan, load: s.o.Load, target: s.o.Target, endpoint: s.ep, tls: s.tls, mute: s.mute, sources: s.o.Target.sources(),
		cluster: s.cluster, prefix: prefixOf(&s.o.Target), ahead: sendAhead, log: s.logLine, seed: s.o.Seed,
		schedule: newSchedule(&s.o.Load), unit: uint64(plan.Unit()), interval: s.o.Output.Interval}
	if len(r.schedule) > 0 || r.cluster != nil {
		r.load.Pipeline = min(r.load.Pipeline, MaxTracked)
	}
	if r.load.PerBatch {
		r.load.Reconnect = int64(r.load.Pipeline) * int64(r.unit)
	}
	if r.load.Requests == 0 { // a duration decides
		r.load.Requests = unlimited
	}
	return r
}

// sources are the addresses to connect from.
func (t *Target) sources() (list []netip.Addr) {
	for _, a := range t.Sources {
		if ip, err := netip.ParseAddr(a); err == nil { // checked with the options
			list = append(list, ip.Unmap())
		}
	}
	return list
}

func (s *session) logLine(text string) { s.io.Log.Warn().Msg(text) }

// run is one round from the first connection to the last reply. When replies were missing at the end of --duration
// there is a result beside the error.
func (r *round) run(ctx context.Context) (*report.Result, error) {
	var endAside func()
	r.asideCtx, endAside = context.WithCancel(ctx)
	defer r.aside.Wait()
	defer endAside()
	if r.cluster != nil {
		if err := r.route(ctx); err != nil {
			return nil, err
		}
	}
	threads := min(r.load.Threads, r.load.Clients)
	r.quota = newQuota(uint64(r.load.Requests), threads, uint64(r.load.Pipeline), r.unit)
	if len(r.schedule) > 0 && r.load.bounded() {
		r.quota.block = r.unit // no loop may sit on work whose time has come
	}
	r.warmup = newQuota(math.MaxInt64, threads, uint64(r.load.Pipeline), r.unit)
	r.warmup.next.Store(r.warmupStart())
	r.waiting.Store(int64(r.load.Clients))
	for i := range threads {
		if err := r.addLoop(i, threads); err != nil {
			return nil, err
		}
	}
	stop := context.AfterFunc(ctx, r.stop)
	defer stop()
	var wg sync.WaitGroup
	for i, l := range r.loops {
		wg.Go(func() {
			r.workers[i].start()
			if err := l.Run(); err != nil {
				r.fail(err)
			}
		})
	}
	wg.Wait()
	if r.err != nil {
		return nil, r.err
	}
	res := r.result(ctx)
	if r.gone != nil && res.Requests == 0 {
		return nil, r.gone
	}
	return res, r.gone
}

func (r *round) addLoop(i, threads int) error {
	clients := r.load.Clients / threads
	if i < r.load.Clients%threads {
		clients++
	}
	w := newWorker(r, i, clients)
	if r.cluster != nil {
		r.conns += clients
		w.joinCluster(r.conns - clients)
	}
	cpu := -1
	if k := len(r.load.CPUs); k > 0 {
		cpu = r.load.CPUs[i%k]
	}
	var h netpoll.Handler = w
	if r.around != nil {
		h = r.around(w)
	}
	l, err := netpoll.New(h, netpoll.Options{Engine: r.load.Engine, CPU: cpu, Spin: r.load.Spin, Log: r.log,
		TLS: r.tls, HandshakeTimeout: r.load.ConnectTimeout})
	if err != nil {
		return err
	}
	w.loop = l
	r.workers, r.loops = append(r.workers, w), append(r.loops, l)
	return nil
}

// oneReady counts the connections that are set up; the last one starts the clock of all loops.
func (r *round) oneReady() {
	if r.waiting.Add(-1) > 0 {
		return
	}
	if r.load.Warmup == 0 && r.onMeasured != nil {
		r.onMeasured(true)
	}
	r.startNs = netpoll.Now()
	r.measureNs = r.startNs + int64(r.load.Warmup)
	if limit := r.timeLimit(); limit > 0 {
		r.endNs = r.measureNs + int64(limit)
	}
	if r.load.Warmup == 0 {
		r.measured()
	}
	r.begun.Store(true)
	r.wake()
}

func (r *round) wake() {
	for _, l := range r.loops {
		l.Wake()
	}
}

// measured is the beginning of the measured part: the client's own CPU time counts from here.
func (r *round) measured() {
	r.measuring.Do(func() {
		r.started, r.cpu = time.Now(), processCPU()
		if r.load.Warmup > 0 && r.onMeasured != nil {
			r.onMeasured(false)
		}
	})
}

// oneAnswered counts the loops that have all their replies.
func (r *round) oneAnswered() {
	if r.answered.Add(1) == int64(len(r.loops)) && r.onAnswered != nil {
		r.onAnswered()
	}
}

// fail keeps the first error and ends the round.
func (r *round) fail(err error) {
	r.mu.Lock()
	if r.err == nil {
		r.err = err
	}
	r.mu.Unlock()
	r.stop()
}

// giveUp ends a round whose time is up: what was answered counts, and err is told beside it.
func (r *round) giveUp(err error) {
	r.mu.Lock()
	if r.gone == nil {
		r.gone = err
	}
	r.mu.Unlock()
	r.stop()
}

func (r *round) stop() {
	for _, l := range r.loops {
		l.Stop()
	}
}

// progress is what is answered so far and the sum of its latencies. Before the load has begun
// the list of loops is still growing, and must not be read.
func (r *round) progress() (done int64, sum time.Duration) {
	if !r.begun.Load() {
		return 0, 0
	}
	for _, w := range r.workers {
		done += w.done.Load()
		sum += time.Duration(w.sumNs.Load())
	}
	return done, sum
}

// timeoutError says which step of a connection's set-up did not end in time.
func timeoutError(ep *netpoll.Endpoint, p phase, limit time.Duration) error {
	step := "no connection"
	if p == phaseGreeting {
		step = "no reply to AUTH, SELECT or HELLO"
	}
	return fmt.Errorf("Could not connect to Redis at %s: %s within %v (--connect-timeout)", ep.Name, step, limit)
}

// silenceError says how long a connection was waited for; timeUp is a wait that the end of --duration cut short.
func silenceError(ep *netpoll.Endpoint, pending int32, limit time.Duration, timeUp bool) error {
	why := "--timeout, 0 = wait for ever"
	if timeUp {
		why = "the time of --duration is up"
	}
	return fmt.Errorf("Error: no reply from %s for %v with %s in flight (%s)", ep.Name, limit, counted(int(pending), "request", "requests"), why)
}
