package runner

import (
	"math"

	"respbench/netpoll"
)

// The closed loop: a connection gets its next batch when the one before is answered, in the same
// turn. It remembers only the batch's first index, its size and when it was written.

// issue gives the connection its next batch, or takes it out of the round.
func (w *worker) issue(c *client) {
	now := netpoll.Now()
	if w.warming && now >= w.measureNs {
		w.measure()
	}
	var first, n uint64
	if w.endNs == 0 || now < w.endNs {
		first, n = w.work.claim(uint64(w.batchOf(c)))
	}
	if n == 0 {
		w.finish(c)
		return
	}
	c.first, c.pending, c.unsent, c.skip = first, int32(n), int32(n), 0
	c.heardNs = now
	w.send(c)
}

// batchOf is how many requests a connection that has none may be given: a pipeline full, or what is left for it until
// it is opened anew.
func (w *worker) batchOf(c *client) int {
	units := int64(w.r.load.Pipeline)
	if w.r.load.Reconnect > 0 {
		units = max(w.roomOf(c), 1)
	}
	return int(min(units, math.MaxInt32/int64(w.r.unit))) * int(w.r.unit)
}

// send writes what of the batch is unsent, as far as the kernel takes it. A batch may be far larger than what the kernel takes
// at once, so the end of its time may come between two writes.
func (w *worker) send(c *client) {
	for c.unsent > 0 {
		resumed := c.skip > 0
		bufs := w.gen.Fill(c.first+uint64(c.pending-c.unsent), int(c.unsent), c.skip)
		now := netpoll.Now()
		n, size := w.write(c, bufs)
		whole, skip := w.gen.Sent(n)
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
		w.cut(c, now)
	}
}

// cut takes out of the batch what is not begun when the time of its part of the round, warm-up or measured, is up. Requests of
// one unit stay together.
func (w *worker) cut(c *client, now int64) {
	if !w.timeUp(c.first, now) {
		return
	}
	keep := c.unsent % int32(w.r.unit)
	if keep == 0 && c.skip > 0 {
		keep = int32(w.r.unit)
	}
	c.pending -= c.unsent - keep
	c.unsent = keep
}

// timeUp tells whether a request with this index may not be begun any more. The index says of which part it is.
func (w *worker) timeUp(index uint64, now int64) bool {
	return w.endNs > 0 && now >= w.endNs || index >= warmupFirst && now >= w.measureNs
}

// write hands the slices of a Fill to the connection: how many bytes it took of how many.
func (w *worker) write(c *client, bufs [][]byte) (n, size int) {
	if len(bufs) == 1 {
		size = len(bufs[0])
		n = c.conn.Write(bufs[0])
	} else {
		for _, b := range bufs {
			size += len(b)
		}
		w.iov = append(w.iov[:0], bufs...)
		n = c.conn.Writev(w.iov)
	}
	w.bytesOut += int64(n)
	return n, size
}

// answered is the end of a batch.
func (w *worker) answered(c *client) {
	if !w.renewed(c) {
		w.issue(c)
	}
}

// renewed opens a connection anew that has had its number of requests.
func (w *worker) renewed(c *client) bool {
	n := w.r.load.Reconnect
	if n == 0 || c.answered < n || w.work.empty() {
		return false
	}
	tag := c.conn.Tag()
	c.conn.Close()
	w.dial(tag)
	return true
}
