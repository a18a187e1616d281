package runner

import (
	"fmt"
	"sync/atomic"
	"time"

	"respbench/netpoll"
	"respbench/report"
	"respbench/workload"
)

// worker is the handler of one loop: its share of the connections, its generator, its histogram.
// Everything in it belongs to the loop's goroutine but the published figures.
type worker struct {
	r       *round
	id      int
	loop    netpoll.Loop
	gen     *workload.Gen
	work    share
	clients []client
	iov     [][]byte

	// What was measured: of requests written at measureNs or later.
	measureNs int64
	hist      *report.Histogram // service time; of the interval when there is a series
	response  *report.Histogram // response time; nil in a closed loop
	tally     [classes]int64
	ops       []opStats // per kind of request; empty when there is one kind
	connect   *report.Histogram
	errors    errorCounts
	verify    verifier
	bytesIn   int64
	bytesOut  int64
	lastNs    int64       // the newest counted reply
	warmed    int64       // replies of the warm-up before its end
	coldErrs  errorCounts // error replies of the warm-up
	reads     bool        // every request is a read
	tracked   bool        // connections keep flights instead of batches
	series    series

	dialled  int // connections begun so far
	dialing  int // of these, not yet ready
	dials    int // connections begun, each renewal counted; only with --source
	portless int // connections that wait for a free local port
	loading  int // connections that may still have work
	inFlight int // flights of all connections
	running  bool
	warming  bool  // before measureNs
	endNs    int64 // no request is begun at or after it; 0 = the requests decide
	watchNs  int64 // when to look for silent connections next
	partNs   int64 // when to stop waiting for the server to close; 0 = the round goes on
	parting  int   // connections that the server has not closed yet
	cpuEnd   cpuUsage
	noPort   error // of the newest connection that had to wait for a port; nil once one has come about

	fromStats netpoll.Stats // of the loop when the measured part began
	toStats   netpoll.Stats // when every reply was there

	open   *open   // nil in a closed loop
	router *router // nil without --cluster

	done  atomic.Int64 // answered; published each tick
	sumNs atomic.Int64 // of the latencies of done
}

type opStats struct {
	hist  *report.Histogram
	tally [classes]int64
}

const (
	dialsAtOnce = 128 // per loop: a listener's backlog is short
	tickEvery   = 100 * time.Millisecond
)

func newWorker(r *round, id, clients int) *worker {
	w := &worker{r: r, id: id, clients: make([]client, clients), hist: report.NewHistogram(),
		connect: report.NewHistogram(), gen: r.plan.Gen(r.ahead), loading: clients,
		tracked: len(r.schedule) > 0 || r.cluster != nil}
	if len(r.schedule) > 0 {
		w.response = report.NewHistogram()
	}
	kinds := len(r.plan.Ops())
	if kinds > 1 {
		w.ops = make([]opStats, kinds)
		for i := range w.ops {
			w.ops[i].hist = report.NewHistogram()
		}
	} else {
		w.reads = r.plan.Reads(0)
	}
	w.verify.on, w.verify.missIsBad = r.verify, r.missIsBad
	return w
}

// start dials the first connections; the rest follow as these become ready.
func (w *worker) start() {
	w.dialMore()
	w.loop.SetDeadline(netpoll.Now() + int64(tickEvery))
}

func (w *worker) dialMore() {
	for w.dialing < dialsAtOnce && w.dialled < len(w.clients) {
		w.dial(w.dialled)
		w.dialled++
	}
}

func (w *worker) dial(tag int) { w.dialSince(tag, netpoll.Now()) }

func (w *worker) dialSince(tag int, ns int64) {
	c := &w.clients[tag]
	c.reset()
	c.dec.Bodies = w.verify.on
	c.phase, c.dialNs = phaseDialing, ns
	w.dialing++
	d := netpoll.Dial{Endpoint: w.endpointOf(c), Tag: tag, MPTCP: w.r.target.MPTCP}
	if s := w.r.sources; len(s) > 0 {
		d.Source = s[(w.id+w.dials)%len(s)] // in turn, so that a reconnecting run uses the ports of all
		w.dials++
	}
	w.loop.Dial(d)
}

// Opened sends the prefix commands, or has none to send.
func (w *worker) Opened(conn netpoll.Conn) {
	c := &w.clients[conn.Tag()]
	c.conn = conn
	c.heardNs = netpoll.Now()
	w.noPort = nil
	if p := w.r.prefix; len(p.bytes) > 0 {
		c.phase = phaseGreeting
		c.skip = conn.Write(p.bytes) // the rest, if any, follows when there is room
		return
	}
	w.ready(c)
}

// ready is the end of a connection's set-up, which is accounted apart from the load.
func (w *worker) ready(c *client) {
	w.dialing--
	w.connect.Record(netpoll.Now() - c.dialNs)
	c.phase = phaseReady
	if w.running {
		w.enter(c)
		return
	}
	w.dialMore()
	w.r.oneReady()
}

// begin is the start of the load: of the warm-up, if there is one, and else of the measured part.
func (w *worker) begin() {
	w.running = true
	w.measureNs, w.endNs = w.r.measureNs, w.r.endNs
	w.warming = w.measureNs > w.r.startNs
	w.work = share{q: w.r.warmup}
	if !w.warming {
		w.work, w.fromStats = w.r.shareOf(w.id), w.loop.Stats()
	}
	if len(w.r.schedule) > 0 {
		w.openLoop(w.r.startNs)
	}
	w.series.begin(w.measureNs, int64(w.r.interval), w.response != nil)
	for i := range w.clients {
		if c := &w.clients[i]; c.phase == phaseReady {
			w.enter(c)
		}
	}
}

// enter puts a connection that is set up to work.
func (w *worker) enter(c *client) {
	c.phase = phaseLoading
	if w.router != nil {
		w.entered(c)
		return
	}
	if w.open != nil {
		w.open.idle.push(c)
		return
	}
	w.issue(c)
}

// measure is the boundary between warm-up and measured part. What is in flight was sent before
// and is not counted; an open loop starts its schedule anew, without the backlog.
func (w *worker) measure() {
	w.warming = false
	w.work, w.fromStats = w.r.shareOf(w.id), w.loop.Stats()
	w.bytesIn, w.bytesOut = 0, 0
	w.r.measured()
	switch {
	case w.router != nil:
		w.router.dropUnsent()
	case w.open != nil:
		w.takeUnsent()
	}
	if w.open != nil {
		w.openLoop(w.measureNs)
	}
}

// Writable goes on with a write that was cut short. A server that takes bytes is not silent, however long it takes them.
func (w *worker) Writable(conn netpoll.Conn) {
	c := &w.clients[conn.Tag()]
	c.heardNs = netpoll.Now()
	switch {
	case c.phase == phaseGreeting:
		c.skip += conn.Write(w.r.prefix.bytes[c.skip:])
	case c.phase != phaseLoading:
	case w.router != nil:
		w.sendRouted(c)
	case w.tracked:
		w.sendTracked(c)
	default:
		if w.cut(c, c.heardNs); c.pending == 0 {
			w.answered(c) // nothing of the batch was in flight
			return
		}
		w.send(c)
	}
}

// Data walks the received segments where they lie.
func (w *worker) Data(conn netpoll.Conn, in *netpoll.ChainBuffer, now int64) {
	c := &w.clients[conn.Tag()]
	heard := c.heardNs
	c.heardNs = now
	if c.phase == phaseGreeting {
		w.greet(c, in)
		if c.phase == phaseGreeting || in.Len() == 0 {
			return
		}
	}
	w.bytesIn += int64(in.Len())
	pending := c.pending
	for in.Len() > 0 {
		seg := in.Segment()
		if err := w.replies(c, seg, now); err != nil {
			w.r.fail(err)
			return
		}
		in.Discard(len(seg))
	}
	if c.pending == pending && c.dec.Idle() {
		c.heardNs = heard // push messages alone: what was asked is still not answered
	}
	switch {
	case c.phase != phaseLoading:
	case w.tracked:
		w.replied(c, now)
	case c.pending == 0:
		w.answered(c)
	}
}

// Closed is a connection that failed, or that the server closed.
func (w *worker) Closed(conn netpoll.Conn, err error) {
	c := &w.clients[conn.Tag()]
	was := c.phase
	c.phase, c.conn = phaseIdle, nil
	switch was {
	case phaseDone:
		w.parted()
	case phaseDialing:
		if !w.waitsForPort(c, err) {
			w.r.fail(w.dialError(c, err))
		}
	default:
		w.r.fail(w.lost(c, was, err))
	}
}

// longIdle is how long a connection has had nothing to do, at least, when a time-out for idle clients may have closed it.
const longIdle = 900 * time.Millisecond

// lost words the end of a connection, with what may be its cause: the port's language, or an error reply before.
func (w *worker) lost(c *client, was phase, err error) error {
	if isAlert(err) && c.answered == 0 {
		return &tlsError{cause: err}
	}
	err = lostError(err)
	if !c.dec.Idle() {
		err = inPart(err, c.dec.Offset())
	}
	if idle := time.Duration(netpoll.Now() - c.heardNs); was == phaseLoading && c.pending == 0 && idle >= longIdle {
		err = fmt.Errorf("%w, after %.1f s without a request on that connection (a time-out for idle clients? fewer connections have less time to be idle)", err, idle.Seconds())
	}
	if node := w.nodeName(c); node != "" {
		err = fmt.Errorf("%w (node %s)", err, node)
	}
	if w.r.mute && w.r.tls == nil && w.bytesIn == 0 {
		err = fmt.Errorf("%w%s", err, wantsTLS)
	}
	if list := w.errors.sorted(); len(list) > 0 {
		err = fmt.Errorf("%w; error replies before that: %d, most often %s", err, w.errors.total(), example(list))
	}
	return err
}

// Tick begins the load when every loop is ready, passes the boundaries that are due and looks for
// connections that have been silent too long.
func (w *worker) Tick(now int64) {
	if !w.running && w.r.begun.Load() {
		w.begin()
	}
	if w.warming && now >= w.measureNs {
		w.measure()
	}
	if w.running && w.series.due(now) {
		w.series.step(w, now)
	}
	if w.open != nil {
		w.pace(now)
	}
	if w.router != nil {
		w.tickCluster(now)
	}
	if w.partNs > 0 && now >= w.partNs {
		w.loop.Stop()
	}
	if now >= w.watchNs {
		late := now - w.watchNs
		w.watchNs = now + int64(tickEvery)
		w.publish()
		w.watch(now, late)
		w.dialWaiting() // behind watch: what finds no port says so itself
	}
	w.loop.SetDeadline(w.nextTick())
}

// nextTick is the nearest time at which there is something to do.
func (w *worker) nextTick() int64 {
	next := w.watchNs
	if w.partNs > 0 {
		next = min(next, w.partNs)
	}
	if w.warming {
		next = min(next, w.measureNs)
	}
	if w.series.every > 0 && w.running {
		next = min(next, w.series.nextNs)
	}
	if w.open != nil && !w.open.over {
		next = min(next, w.open.due.dueNs)
	}
	if w.open != nil && !w.open.ended && w.endNs > 0 {
		next = min(next, w.endNs)
	}
	if w.router != nil {
		next = w.router.nextWait(next)
	}
	return next
}

func (w *worker) publish() {
	done, sum := w.series.totals(w.hist)
	w.done.Store(done)
	w.sumNs.Store(sum)
}
