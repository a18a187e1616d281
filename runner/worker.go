package runner

import (
	"sync/atomic"
	"time"

	"respbench/netpoll"
	"respbench/report"
	"respbench/workload"
)

// worker is the handler of one loop: its share of the connections, its generator, its histogram.
// Everything in it belongs to the loop's goroutine but the two published figures.
type worker struct {
	r       *round
	loop    netpoll.Loop
	gen     *workload.Gen
	work    share
	clients []client
	iov     [][]byte

	hist              *report.Histogram
	tally             [classes]int64
	ops               []opStats // per kind of request; empty when there is one kind
	connect           *report.Histogram
	errors            errorCounts
	verify            verifier
	bytesIn, bytesOut int64
	reads             bool // every request is a read

	dialled int // connections begun so far
	dialing int // of these, not yet ready
	loading int // connections that may still have work
	running bool
	lastNs  int64 // the newest reply

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

func newWorker(r *round, clients int) *worker {
	w := &worker{r: r, clients: make([]client, clients), hist: report.NewHistogram(),
		connect: report.NewHistogram(), gen: r.plan.Gen(r.ahead), work: share{q: r.quota}}
	kinds := len(r.plan.Ops())
	if kinds > 1 {
		w.ops = make([]opStats, kinds)
		for i := range w.ops {
			w.ops[i].hist = report.NewHistogram()
		}
	} else {
		w.reads = r.plan.Reads(0)
	}
	w.loading = clients
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

func (w *worker) dial(tag int) {
	c := &w.clients[tag]
	c.reset()
	c.phase, c.dialNs = phaseDialing, netpoll.Now()
	w.dialing++
	d := netpoll.Dial{Endpoint: w.r.endpoint, Tag: tag, MPTCP: w.r.target.MPTCP}
	if s := w.r.sources; len(s) > 0 {
		d.Source = s[tag%len(s)]
	}
	w.loop.Dial(d)
}

// Opened sends the prefix commands, or has none to send.
func (w *worker) Opened(conn netpoll.Conn) {
	c := &w.clients[conn.Tag()]
	c.conn = conn
	c.heardNs = netpoll.Now()
	if p := w.r.prefix; len(p.bytes) > 0 {
		c.phase = phaseGreeting
		if n := conn.Write(p.bytes); n < len(p.bytes) {
			c.skip = n // the rest follows when there is room
		}
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
		w.issue(c)
		return
	}
	w.dialMore()
	w.r.oneReady()
}

// begin is the start of the measured part.
func (w *worker) begin() {
	w.running = true
	for i := range w.clients {
		if c := &w.clients[i]; c.phase == phaseReady {
			w.issue(c)
		}
	}
}

// issue gives the connection its next batch, or takes it out of the round.
func (w *worker) issue(c *client) {
	first, n := w.work.claim(uint64(w.r.load.Pipeline))
	if n == 0 {
		w.finish(c)
		return
	}
	c.phase = phaseLoading
	c.first, c.pending, c.unsent, c.skip = first, int32(n), int32(n), 0
	c.heardNs = netpoll.Now()
	w.send(c)
}

// send writes what of the batch is unsent, as far as the kernel takes it.
func (w *worker) send(c *client) {
	for c.unsent > 0 {
		resumed := c.skip > 0
		bufs := w.gen.Fill(c.first+uint64(c.pending-c.unsent), int(c.unsent), c.skip)
		now := netpoll.Now()
		var n, size int
		if len(bufs) == 1 {
			size = len(bufs[0])
			n = c.conn.Write(bufs[0])
		} else {
			w.iov = append(w.iov[:0], bufs...)
			for _, b := range bufs {
				size += len(b)
			}
			n = c.conn.Writev(w.iov)
		}
		whole, skip := w.gen.Sent(n)
		w.bytesOut += int64(n)
		begun := whole
		if skip > 0 {
			begun++
		}
		if resumed {
			begun--
		}
		c.sent(now, int32(begun))
		c.unsent -= int32(whole)
		c.skip = skip
		if n < size {
			return
		}
	}
}

// Writable goes on with a write that was cut short.
func (w *worker) Writable(conn netpoll.Conn) {
	c := &w.clients[conn.Tag()]
	switch c.phase {
	case phaseGreeting:
		c.skip += conn.Write(w.r.prefix.bytes[c.skip:])
	case phaseLoading:
		w.send(c)
	}
}

// Data walks the received segments where they lie.
func (w *worker) Data(conn netpoll.Conn, in *netpoll.ChainBuffer, now int64) {
	c := &w.clients[conn.Tag()]
	c.heardNs = now
	switch c.phase {
	case phaseGreeting:
		w.greet(c, in)
		if c.phase == phaseGreeting || in.Len() == 0 {
			return
		}
	case phaseReady:
		w.r.fail(errNoRequest)
		return
	}
	w.bytesIn += int64(in.Len())
	for in.Len() > 0 {
		seg := in.Segment()
		if err := w.replies(c, seg, now); err != nil {
			w.r.fail(err)
			return
		}
		in.Discard(len(seg))
	}
	if c.pending == 0 && c.phase == phaseLoading {
		w.answered(c)
	}
}

// answered is the end of a batch.
func (w *worker) answered(c *client) {
	if n := w.r.load.Reconnect; n > 0 && c.answered >= n && !w.work.empty() {
		tag := c.conn.Tag()
		c.conn.Close()
		w.dial(tag)
		return
	}
	w.issue(c)
}

// Closed is a connection that failed, or that the server closed.
func (w *worker) Closed(conn netpoll.Conn, err error) {
	c := &w.clients[conn.Tag()]
	was := c.phase
	c.phase, c.conn = phaseIdle, nil
	switch was {
	case phaseDone:
	case phaseDialing:
		w.r.fail(connectError(w.r.endpoint, err))
	default:
		w.r.fail(lostError(err))
	}
}

// finish takes a connection out of the round; the last one ends the loop.
func (w *worker) finish(c *client) {
	c.phase = phaseDone
	if w.loading--; w.loading == 0 {
		w.loop.Stop()
	}
}

// Tick begins the measured part when every loop is ready, publishes the progress and looks for
// connections that have been silent too long.
func (w *worker) Tick(now int64) {
	if !w.running && w.r.begun.Load() {
		w.begin()
	}
	w.publish()
	w.watch(now)
	w.loop.SetDeadline(now + int64(tickEvery))
}

func (w *worker) publish() {
	w.done.Store(w.hist.Count())
	w.sumNs.Store(int64(w.hist.Sum()))
}

func (w *worker) watch(now int64) {
	connect, silent := int64(w.r.load.ConnectTimeout), int64(w.r.load.Timeout)
	for i := range w.clients {
		c := &w.clients[i]
		switch {
		case (c.phase == phaseDialing || c.phase == phaseGreeting) && connect > 0 && now-c.dialNs > connect:
			w.r.fail(timeoutError(w.r.endpoint, c.phase, w.r.load.ConnectTimeout))
			return
		case c.phase == phaseLoading && silent > 0 && now-c.heardNs > silent:
			w.r.fail(silenceError(w.r.endpoint, c.pending, w.r.load.Timeout))
			return
		}
	}
}
