package runner

import (
	"respbench/netpoll"
)

// Where requests may be paced, redirected or retried, a connection cannot remember its batch as
// (first, count): it keeps a ring of flights, one per request, in the order of the replies.

// flight is a request that a connection has been given and that has no reply yet.
type flight struct {
	index  uint64
	dueNs  int64 // when the schedule wanted it begun; 0 in a closed loop
	sentNs int64 // when its first byte was written; 0 = not yet

	slot  int16  // in a cluster: of its key or tag, or noSlot
	tries uint16 // how often it was redirected
	flags uint8  // askingFlight, silent, single, asking
}

// untouched tells that nothing of it was written, to no node.
func (x *flight) untouched() bool { return x.sentNs == 0 && x.tries == 0 && x.flags == 0 }

// flights is a ring; the first sent of its n flights are wholly written.
type flights struct {
	buf           []flight // its length is a power of two
	head, n, sent int
}

func (f *flights) at(i int) *flight { return &f.buf[(f.head+i)&(len(f.buf)-1)] }

func (f *flights) push(x flight) {
	if f.n == len(f.buf) {
		grown := make([]flight, max(2*len(f.buf), 4))
		for i := range f.n {
			grown[i] = *f.at(i)
		}
		f.buf, f.head = grown, 0
	}
	f.n++
	*f.at(f.n - 1) = x
}

// pop takes the oldest flight out; it must have been sent.
func (f *flights) pop() flight {
	x := *f.at(0)
	f.head = (f.head + 1) & (len(f.buf) - 1)
	f.n--
	f.sent--
	return x
}

// take is pop for a queue of flights that are not sent.
func (f *flights) take() flight {
	x := f.pop()
	f.sent = 0
	return x
}

// give hands a request to a connection, to be sent with the next sendTracked.
func (w *worker) give(c *client, x flight) {
	if c.fly.n == 0 {
		c.first = x.index
	}
	c.fly.push(x)
	c.pending++
	w.inFlight++
}

// sendTracked writes the flights that are not yet sent, as far as the kernel takes them. Requests
// with indices in sequence go out in one write.
func (w *worker) sendTracked(c *client) {
	f := &c.fly
	for f.sent < f.n {
		first := f.at(f.sent).index
		run := 1
		for f.sent+run < f.n && f.at(f.sent+run).index == first+uint64(run) {
			run++
		}
		bufs := w.gen.Fill(first, run, c.skip)
		now := netpoll.Now()
		n, size := w.write(c, bufs)
		whole, skip := w.gen.Sent(n)
		begun := whole
		if skip > 0 {
			begun++
		}
		for i := range begun {
			if x := f.at(f.sent + i); x.sentNs == 0 {
				x.sentNs = now
				c.inOrder++
				w.started(x)
			}
		}
		f.sent += whole
		c.skip = skip
		if n < size {
			return
		}
	}
}

// takeUnsent takes back from all connections what they were given and have not begun, when the time of the warm-up or of the
// measured part is up, but not what is on its way to another node. Requests of one unit stay together. It returns how many
// requests that were.
func (w *worker) takeUnsent() (dropped int) {
	for i := range w.clients {
		c := &w.clients[i]
		f := &c.fly
		if c.phase != phaseLoading || f.n == f.sent {
			continue
		}
		keep := f.n
		for keep > f.sent && f.at(keep-1).untouched() {
			keep--
		}
		for keep < f.n && f.at(keep).index%w.r.unit != 0 {
			keep++
		}
		n := f.n - keep
		f.n = keep
		c.pending -= int32(n)
		dropped += n
		if c.pending == 0 && w.router == nil {
			w.room(c)
		}
	}
	w.inFlight -= dropped
	return dropped
}

// countTracked accounts for k replies of one class, each against its own flight.
func (w *worker) countTracked(c *client, k int32, now int64) {
	for range k {
		x := c.fly.pop()
		w.inFlight--
		switch {
		case x.flags&uncounted != 0:
		case x.index < warmupFirst:
			w.tally[c.class]++
			w.hist.Record(now - x.sentNs)
			if w.response != nil {
				w.response.Record(now - x.dueNs)
			}
			if w.ops != nil {
				op := &w.ops[w.r.plan.Op(x.index)]
				op.hist.Record(now - x.sentNs)
				op.tally[c.class]++
			}
			w.lastNs = now
		case w.warming:
			w.warmed++
		}
		if c.fly.n > 0 {
			c.first = c.fly.at(0).index
		}
	}
	c.inOrder -= k
	c.pending -= k
	c.answered += int64(k)
}

// replied goes on after replies on c have been read.
func (w *worker) replied(c *client, now int64) {
	if w.router != nil {
		w.servedNode(c, now)
		return
	}
	if c.pending > 0 || !w.renewed(c) {
		w.room(c)
	}
	w.pace(now)
}

// idle tells that no request is in flight, and in a cluster that none waits for another try.
func (w *worker) idle() bool {
	return w.inFlight == 0 && (w.router == nil || w.router.settled())
}
