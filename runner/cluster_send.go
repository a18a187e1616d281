package runner

import "respbench/netpoll"

// sendRouted writes the flights that are not yet sent. Their indices are seldom in sequence, since
// keys decide where a request goes: they are made one by one and gathered, so that a pipeline still
// is one write.
func (w *worker) sendRouted(c *client) {
	f := &c.fly
	for f.sent < f.n {
		size := w.gather(c)
		if size == 0 {
			if !w.sendLarge(c) {
				return
			}
			continue
		}
		now := netpoll.Now()
		n := c.conn.Write(w.router.out)
		w.bytesOut += int64(n)
		w.wrote(c, n, now)
		if n < size {
			return
		}
	}
}

// gather makes the next unsent requests ready in the router's buffer, up to a large one, and returns
// how many bytes they are.
func (w *worker) gather(c *client) int {
	rt, f := w.router, &c.fly
	rt.out, rt.ends = rt.out[:0], rt.ends[:0]
	for i := f.sent; i < f.n && len(rt.out) < gatherBytes; i++ {
		skip := 0
		if i == f.sent {
			skip = c.skip
		}
		if f.at(i).flags&askingFlight != 0 {
			rt.out = append(rt.out, askingRequest[skip:]...)
		} else {
			bufs := w.make(f.at(i), skip)
			if len(bufs) != 1 || len(bufs[0]) >= directBytes {
				break
			}
			rt.out = append(rt.out, bufs[0]...)
		}
		rt.ends = append(rt.ends, len(rt.out))
	}
	return len(rt.out)
}

// make is the bytes of one request from skip on; a very large one may be cut.
func (w *worker) make(x *flight, skip int) [][]byte {
	if w.router.routes.tagged && x.slot != noSlot {
		w.gen.SetTag(slotTags()[x.slot][:])
	}
	return w.gen.Fill(x.index, 1, skip)
}

// sendLarge writes a part of one large request; false when the kernel took less.
func (w *worker) sendLarge(c *client) bool {
	f := &c.fly
	bufs := w.make(f.at(f.sent), c.skip)
	now := netpoll.Now()
	n, size := w.write(c, bufs)
	whole, skip := w.gen.Sent(n)
	if n > 0 {
		w.begun(c, f.at(f.sent), c.skip > 0, now)
	}
	f.sent += whole
	c.skip = skip
	return n == size
}

// wrote accounts for n bytes of what was gathered.
func (w *worker) wrote(c *client, n int, now int64) {
	f, ends := &c.fly, w.router.ends
	start := 0
	for _, end := range ends {
		if n <= start {
			break
		}
		w.begun(c, f.at(f.sent), c.skip > 0, now)
		if n < end {
			c.skip += n - start
			return
		}
		f.sent++
		c.skip = 0
		start = end
	}
}

// begun is the first byte of a request on this connection, unless it was resumed. The clock of a
// request that is tried again goes on.
func (w *worker) begun(c *client, x *flight, resumed bool, now int64) {
	if resumed {
		return
	}
	c.inOrder++
	if x.sentNs == 0 && x.flags&uncounted == 0 {
		x.sentNs = now
		w.started(x)
	}
}
