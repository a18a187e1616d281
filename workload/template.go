package workload

import "encoding/binary"

// A plan whose units keep their length is served from copies of the unit that lie ready in the generator's buffer: a Fill writes
// the digits that can change and returns one slice of the buffer. A number below r changes only the lowest digits of its twelve, so
// one to three groups of four are written; the rest of the placeholder stays "0000…" for ever.

// template is the unit as constant bytes, and the places to write to.
type template struct {
	size    int   // bytes of the unit
	starts  []int // where each request of the unit begins, and the unit's end
	numbers []numberPlace
	tags    []int
}

// numberPlace is a twelve-digit field of the unit.
type numberPlace struct {
	at     int
	source piece
}

// newTemplate is nil when the plan's units change their length.
func newTemplate(p *Plan) *template {
	if !p.FixedLen() {
		return nil
	}
	t := &template{size: p.entries[0].size()}
	at := 0
	for c := range p.entries[0].commands {
		t.starts = append(t.starts, at)
		for _, pc := range p.entries[0].commands[c].pieces {
			switch pc.kind {
			case pieceNumber:
				t.numbers = append(t.numbers, numberPlace{at, pc})
			case pieceTag:
				t.tags = append(t.tags, at)
			}
			at += fixedSize([]piece{pc})
		}
	}
	t.starts = append(t.starts, at)
	return t
}

// appendUnit appends one copy of the unit, all numbers zero.
func (t *template) appendUnit(dst []byte, p *Plan) []byte {
	zeros := execution{entry: &p.entries[0]}
	for c := range p.entries[0].commands {
		cmd := &p.entries[0].commands[c]
		for k := range cmd.pieces {
			if cmd.pieces[k].kind == pieceNumber {
				dst = append(dst, "000000000000"...)
				continue
			}
			dst = p.appendPiece(dst, cmd, &cmd.pieces[k], &zeros)
		}
	}
	return dst
}

// position is where request pos begins, counted from the start of the first unit.
func (t *template) position(pos int) int {
	n := len(t.starts) - 1
	if n == 1 {
		return pos * t.size
	}
	return pos/n*t.size + t.starts[pos%n]
}

func (g *Gen) fillTemplate(first uint64, k, skip int) {
	t, n := g.plan.template, len(g.plan.template.starts)-1
	unit, pos := first, 0
	if n > 1 {
		unit, pos = first/uint64(n), int(first%uint64(n))
	}
	units := min((pos+k-1)/n+1, g.ahead/t.size)
	if units > g.copies {
		g.growTemplate(units)
	}
	for i := range t.numbers {
		g.patchNumbers(&t.numbers[i], unit, units)
	}
	for _, at := range t.tags {
		for ; at < units*t.size; at += t.size {
			*(*[len(tagPlaceholder)]byte)(g.buf[at:]) = g.tag
		}
	}
	end := t.position(min(pos+k, units*n))
	g.out = append(g.out[:0], g.buf[t.position(pos)+skip:end])
}

// growTemplate makes at least units copies ready, more if the buffer has room for more within ahead.
func (g *Gen) growTemplate(units int) {
	t := g.plan.template
	units = min(max(units, 2*g.copies), g.ahead/t.size)
	if cap(g.buf) < units*t.size {
		g.buf = append(make([]byte, 0, units*t.size), g.buf...)
	}
	for ; g.copies < units; g.copies++ {
		if g.copies == 0 {
			g.buf = t.appendUnit(g.buf, g.plan)
		} else {
			g.buf = append(g.buf, g.buf[:t.size]...)
		}
	}
}

// patchNumbers writes one number of each of the units that lie at the start of the buffer.
func (g *Gen) patchNumbers(place *numberPlace, unit uint64, units int) {
	p, t := g.plan, g.plan.template
	n := uint64(len(t.starts) - 1)
	if p.keys.kind != distUniform {
		for i := range units {
			u := unit + uint64(i)
			x := execution{entry: &p.entries[0], first: u * n, ordinal: u}
			putNumber12(g.buf[place.at+i*t.size:], p.number(&place.source, &x))
		}
		return
	}
	step := n * streamStep
	x := uint64(p.streams[place.source.index]) + unit*step
	switch r := p.keys.n; {
	case r <= 1e4:
		patch4(g.buf[place.at+8:], t.size, units, x, step, r)
	case r <= 1e8:
		patch8(g.buf[place.at+4:], t.size, units, x, step, r)
	default:
		patch12(g.buf[place.at:], t.size, units, x, step, r)
	}
}

// patch4 writes four digits of a number below r at buf[0], buf[size], …, count times; x is the counter of the first draw.
func patch4(buf []byte, size, count int, x, step, r uint64) {
	for at := 0; count > 0; count-- {
		binary.LittleEndian.PutUint32(buf[at:], digits4(uint32(scale(fold(x), r))))
		at += size
		x += step
	}
}

// patch8 is patch4 for eight digits.
func patch8(buf []byte, size, count int, x, step, r uint64) {
	for at := 0; count > 0; count-- {
		binary.LittleEndian.PutUint64(buf[at:], digits8(uint32(scale(fold(x), r))))
		at += size
		x += step
	}
}

// patch12 is patch4 for twelve digits.
func patch12(buf []byte, size, count int, x, step, r uint64) {
	for at := 0; count > 0; count-- {
		v, w := scale(fold(x), r), (*[placeholderLen]byte)(buf[at:])
		hi := v / 1e8
		binary.LittleEndian.PutUint32(w[:], digits4(uint32(hi)))
		binary.LittleEndian.PutUint64(w[4:], digits8(uint32(v-hi*1e8)))
		at += size
		x += step
	}
}

// sent is Gen.Sent for n bytes counted from the start of request first.
func (t *template) sent(first uint64, n int) (whole, skip int) {
	requests := len(t.starts) - 1
	if requests == 1 {
		return n / t.size, n % t.size
	}
	pos := int(first % uint64(requests))
	n += t.starts[pos]
	whole, n = n/t.size*requests-pos, n%t.size
	r := 0
	for t.starts[r+1] <= n {
		r++
	}
	return whole + r, n - t.starts[r]
}
