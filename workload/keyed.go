package workload

import (
	"encoding/binary"
	"strconv"
)

// Bench mode's requests are "COMMAND prefix+number [value]". Their length depends only on the command and on how many digits the
// number has, so the bytes before the digits are made once for each of these, and a request is four moves: head, digits, what stands
// between key and value, value. All moves have a constant size and run over the end of what they mean; the next one overwrites it.
// Which of two commands a request is, is a table index and no branch: the draw cannot be predicted.

const (
	headMax  = 96 // bytes before the digits; longer prefixes go the general way
	moveSize = 32 // bytes of a move
	overrun  = headMax + 2*moveSize
)

// keyed is the form of a plan with one or two commands, each with the key as first and at most the value as second argument.
type keyed struct {
	ops     [2]keyedOp
	upTo    uint64 // requests whose draw is at most this are ops[0]
	maxSize int    // bytes of the longest request
}

type keyedOp struct {
	heads  [placeholderLen + 1]keyedHead // by number of digits
	middle [16]byte                      // "\r\n", or "\r\n$32\r\n" where a value follows
	midLen int
	value  int // bytes of the value
	end    int // bytes of the end behind the value: 2, or 0 without a value
}

type keyedHead struct {
	n int
	b [headMax]byte
}

// newKeyed is nil when the plan has another form, or values that are large or of many sizes.
func newKeyed(p *Plan) *keyed {
	if p.unit != 1 || len(p.entries) > 2 || p.values.pool == nil || p.values.sizes.fixed() < 0 || p.values.sizes.fixed() >= refMin {
		return nil
	}
	k := &keyed{upTo: p.entries[0].upTo}
	for e := range p.entries {
		cmd := &p.entries[e].commands[0]
		if !isKeyed(cmd) || !k.ops[e].build(p, cmd) {
			return nil
		}
		op := &k.ops[e]
		k.maxSize = max(k.maxSize, op.heads[placeholderLen].n+placeholderLen+op.midLen+op.value+op.end)
	}
	return k
}

// isKeyed tells whether the command is NAME __key__ or NAME __key__ __data__.
func isKeyed(c *command) bool {
	is := func(arg []piece, kind pieceKind) bool { return len(arg) == 1 && arg[0].kind == kind }
	return len(c.args) >= 2 && len(c.args) <= 3 && is(c.args[0], pieceLiteral) && is(c.args[1], pieceKey) &&
		(len(c.args) == 2 || is(c.args[2], pieceValue))
}

func (op *keyedOp) build(p *Plan, cmd *command) bool {
	for digits := 1; digits <= placeholderLen; digits++ {
		head := append([]byte(nil), cmd.pieces[0].literal...) // the array's header and the name
		head = append(appendBulkHeader(head, len(p.prefix)+digits), p.prefix...)
		if len(head) > headMax {
			return false
		}
		op.heads[digits].n = copy(op.heads[digits].b[:], head)
	}
	middle := "\r\n"
	if len(cmd.args) == 3 {
		op.value, op.end = p.values.sizes.fixed(), 2
		middle += "$" + strconv.Itoa(op.value) + "\r\n"
	}
	op.midLen = copy(op.middle[:], middle)
	return true
}

func (g *Gen) fillKeyed(first uint64, k, skip int) {
	p := g.plan
	k = min(k, g.ahead/p.keyed.maxSize)
	if need := k*p.keyed.maxSize + overrun; len(g.buf) < need {
		g.buf = make([]byte, min(2*need, g.ahead+overrun))
	}
	if cap(g.ends) < k {
		g.ends = make([]int, min(2*k, g.ahead/p.keyed.maxSize))
	}
	g.ends = g.ends[:k]
	size := g.makeKeyed(first)
	if skip > 0 {
		for i := range g.ends {
			g.ends[i] -= skip
		}
	}
	g.out = append(g.out[:0], g.buf[skip:size])
}

// makeKeyed makes as many requests as g.ends has places, from request first on, and returns their bytes.
func (g *Gen) makeKeyed(first uint64) int {
	p, k, buf := g.plan, g.plan.keyed, g.buf
	ring, salt, period := p.values.pool.b, p.values.salt, uint64(p.values.pool.period)
	uniform, n := p.keys.kind == distUniform, p.keys.n
	key := uint64(p.streams[streamKey]) + first*streamStep
	choice := uint64(p.streams[streamOp]) + first*streamStep
	pos := 0
	for i := range g.ends {
		var number uint64
		if uniform {
			number = scale(fold(key), n)
		} else {
			number = p.keys.draw(p.streams[streamKey], first+uint64(i), first+uint64(i))
		}
		which := 0
		if fold(choice) > k.upTo {
			which = 1
		}
		key += streamStep
		choice += streamStep
		op := &k.ops[which]
		digits := decimalLen(number)
		head := &op.heads[digits]
		for at := 0; at < head.n; at += moveSize {
			*(*[moveSize]byte)(buf[pos+at:]) = *(*[moveSize]byte)(head.b[at:])
		}
		pos += head.n
		putDecimal(buf[pos:], number, digits)
		pos += digits
		*(*[16]byte)(buf[pos:]) = op.middle
		pos += op.midLen
		off := int(scale(fold(number^salt), period))
		*(*[moveSize]byte)(buf[pos:]) = *(*[moveSize]byte)(ring[off:])
		if op.value > moveSize {
			copy(buf[pos+moveSize:pos+op.value], ring[off+moveSize:])
		}
		pos += op.value
		binary.LittleEndian.PutUint16(buf[pos:], '\r'|'\n'<<8)
		pos += op.end
		g.ends[i] = pos
	}
	return pos
}

// putDecimal writes v, which has that many digits, at the start of dst, and up to seven bytes of rubbish behind them.
func putDecimal(dst []byte, v uint64, digits int) {
	if digits > 8 {
		hi := v / 1e8
		binary.LittleEndian.PutUint64(dst, digits8(uint32(hi))>>(8*uint(16-digits)))
		binary.LittleEndian.PutUint64(dst[digits-8:], digits8(uint32(v-hi*1e8)))
		return
	}
	binary.LittleEndian.PutUint64(dst, digits8(uint32(v))>>(8*uint(8-digits)))
}
