package workload

// The general generator walks the pieces of each request. Short pieces are copied into the generator's buffer, long constants and
// long values are handed out by reference, and only the window between the bytes to skip and the limit is made: a value of a
// gigabyte is sent from a pool of a megabyte, and what is left of it after a short write costs nothing to find again.

// piecer is the window that a Fill is writing.
type piecer struct {
	skip int  // bytes still to be left out
	room int  // bytes that may still be made
	cut  bool // some bytes had no room
	run  int  // where the open run of copied bytes begins in the buffer
}

// put makes a few bytes by copying them.
func (g *Gen) put(b []byte) {
	w := &g.piecer
	if w.skip > 0 {
		if w.skip >= len(b) {
			w.skip -= len(b)
			return
		}
		b, w.skip = b[w.skip:], 0
	}
	if len(b) > w.room {
		b, w.cut = b[:w.room], true
	}
	w.room -= len(b)
	g.buf = append(g.buf, b...)
}

// refer makes bytes by reference.
func (g *Gen) refer(b []byte) {
	w := &g.piecer
	drop := min(w.skip, len(b))
	b, w.skip = b[drop:], w.skip-drop
	if len(b) > w.room {
		b, w.cut = b[:w.room], true
	}
	if len(b) == 0 {
		return
	}
	w.room -= len(b)
	g.closeRun()
	g.out = append(g.out, b)
}

// ring makes n bytes of a pool.
func (g *Gen) ring(r *pool, off, n int) {
	w := &g.piecer
	if n < refMin {
		g.put(r.at(off, n))
		return
	}
	drop := min(w.skip, n)
	off, n, w.skip = off+drop, n-drop, w.skip-drop
	for n > 0 && !w.cut {
		part := r.at(off, n)
		g.refer(part)
		off, n = off+len(part), n-len(part)
	}
}

// closeRun moves the copied bytes behind the last reference into the output.
func (g *Gen) closeRun() {
	if w := &g.piecer; len(g.buf) > w.run {
		g.out = append(g.out, g.buf[w.run:len(g.buf):len(g.buf)])
		w.run = len(g.buf)
	}
}

func (g *Gen) fillPieces(first uint64, k, skip int) {
	g.out, g.buf, g.ends = g.out[:0], g.buf[:0], g.ends[:0]
	g.piecer = piecer{skip: skip, room: g.ahead}
	for i := range uint64(k) {
		before, out, made := g.piecer, len(g.out), len(g.buf)
		c, x := g.plan.locate(first + i)
		if c.short >= 0 && c.short <= g.piecer.room && g.piecer.skip == 0 {
			g.appendShort(c, &x)
			g.ends = append(g.ends, g.ahead-g.piecer.room)
			continue
		}
		g.makeRequest(c, &x)
		if g.piecer.cut {
			if i > 0 {
				g.piecer, g.out, g.buf = before, g.out[:out], g.buf[:made]
			}
			break
		}
		g.ends = append(g.ends, g.ahead-g.piecer.room)
	}
	g.closeRun()
}

// appendShort makes a request of which all is copied and for all of which there is room.
func (g *Gen) appendShort(c *command, x *execution) {
	buf := g.buf
	for k := range c.pieces {
		switch pc := &c.pieces[k]; pc.kind {
		case pieceLiteral:
			buf = append(buf, pc.literal...)
		case pieceTag:
			buf = append(buf, g.tag[:]...)
		default:
			buf = g.plan.appendPiece(buf, c, pc, x)
		}
	}
	g.piecer.room -= len(buf) - len(g.buf)
	g.buf = buf
}

// makeRequest makes the part of a request that the window leaves.
func (g *Gen) makeRequest(c *command, x *execution) {
	p := g.plan
	var scratch [64]byte
	for k := range c.pieces {
		switch pc := &c.pieces[k]; pc.kind {
		case pieceLiteral:
			g.constant(pc.literal)
		case pieceRing:
			g.ring(pc.ring, pc.off, pc.n)
		case pieceTag:
			g.put(g.tag[:])
		case pieceValue:
			number := p.keyNumber(x)
			g.ring(p.values.pool, p.values.offset(number), p.values.size(number))
		case pieceColumn:
			g.constant(p.data.cell(x.ordinal, pc.index))
		case pieceKey:
			g.put(p.prefix)
			g.put(appendNumber(scratch[:0], p.keyNumber(x)))
		default:
			g.put(p.appendPiece(scratch[:0], c, pc, x))
		}
		if g.piecer.cut {
			return
		}
	}
}

// constant makes bytes that live as long as the plan.
func (g *Gen) constant(b []byte) {
	if len(b) >= refMin {
		g.refer(b)
	} else {
		g.put(b)
	}
}
