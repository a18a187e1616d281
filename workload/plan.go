package workload

import "math"

// Plan says what request i of a round is; i counts over all connections and begins at 0. A Plan does not change after it is
// built and may be used by all loops at once.
type Plan struct {
	// Title is what redis-benchmark prints for the test: its name, or the words of the command.
	Title string
	// PayloadSize is the number of the report's line "N bytes payload".
	PayloadSize int
	// Requests is how many requests the plan has by its nature (Prefill, Probe); 0 = as many as are asked for.
	Requests int64
	// Setup are commands to be sent once to each node before the round; they are neither counted nor measured.
	Setup [][]string

	ops     []string
	entries []entry // what an execution may be; one, unless it is a mix
	unit    int     // requests per unit
	keys    keys
	values  values
	prefix  []byte // of __key__
	streams []stream
	data    *Dataset
	count   int  // commands of all entries
	tag     bool // some argument holds {tag}
	known   bool // some reply must be the key's value

	template *template // for requests that keep their length
	keyed    *keyed    // for bench mode with small values
}

// entry is a command, or a sequence of commands that belong together, with its share of the units.
type entry struct {
	upTo     uint64 // a unit whose draw is at most this, and above the entry before, is of this entry
	commands []command
	numbers  int // __rand_int__ places of the whole execution
}

// execution is one run through the commands of an entry: all its requests share numbers, key and row.
type execution struct {
	entry   *entry
	first   uint64 // index of its first request: the counter of its draws
	ordinal uint64 // it is the ordinal-th of its kind, for whatever goes in sequence
	key     uint64 // number of its key, once it is drawn
	drawn   bool
}

// locate finds the command of request i and the execution that it belongs to.
func (p *Plan) locate(i uint64) (*command, execution) {
	e, at := p.find(i)
	if at == 0 && len(e.commands) == 1 {
		return &e.commands[0], execution{entry: e, first: i, ordinal: i}
	}
	return &e.commands[at], execution{entry: e, first: i - at, ordinal: (i - at) / uint64(len(e.commands))}
}

// command finds the command of request i.
func (p *Plan) command(i uint64) *command {
	e, at := p.find(i)
	return &e.commands[at]
}

// find finds the entry of request i and which of the entry's commands it is.
func (p *Plan) find(i uint64) (*entry, uint64) {
	if p.unit == 1 {
		if len(p.entries) == 1 {
			return &p.entries[0], 0
		}
		return p.pick(i), 0
	}
	unit, pos := i/uint64(p.unit), i%uint64(p.unit)
	e := p.pick(unit)
	return e, pos % uint64(len(e.commands))
}

func (p *Plan) pick(unit uint64) *entry {
	draw := p.streams[streamOp].at(unit)
	e := 0
	for draw > p.entries[e].upTo {
		e++
	}
	return &p.entries[e]
}

// Ops are the kinds of requests, by their command names; at least one.
func (p *Plan) Ops() []string { return p.ops }

// Op is the index into Ops of request i.
func (p *Plan) Op(i uint64) int {
	return p.command(i).op
}

// Unit is the number of requests that belong together, such as those of MULTI … EXEC: requests n·Unit to n·Unit+Unit-1 go to one
// connection in one pipeline. It is 1 for single commands.
func (p *Plan) Unit() int { return p.unit }

// FixedLen tells whether all units have the same length on the wire.
func (p *Plan) FixedLen() bool {
	return len(p.entries) == 1 && p.entries[0].size() >= 0
}

// HasTag tells whether requests hold a {tag} that SetTag replaces.
func (p *Plan) HasTag() bool { return p.tag }

// Reads tells whether a null reply to request i is a miss: the key that it asks for does not exist.
func (p *Plan) Reads(i uint64) bool {
	return p.command(i).miss
}

// Writes tells whether request i stores the value of its key.
func (p *Plan) Writes(i uint64) bool {
	return p.command(i).writes
}

// Verifies tells whether a non-null reply to request i must be the value of its key.
func (p *Plan) Verifies(i uint64) bool { return p.known && p.command(i).known }

// ValueLen is the length in bytes of the value that belongs to the key of request i.
func (p *Plan) ValueLen(i uint64) int {
	if n := p.values.sizes.fixed(); n >= 0 {
		return n
	}
	return p.values.size(p.keyOf(i))
}

// ValueMatches compares a piece of a reply's body, off bytes into it, with the value that belongs to the key of request i. It is
// -1 when all bytes are equal, else the index in piece of the first byte that is wrong or beyond the value's end.
func (p *Plan) ValueMatches(i uint64, off int64, piece []byte) int {
	_, x := p.locate(i)
	if p.values.pool == nil {
		return min(len(piece), 1) - 1
	}
	number := p.keyNumber(&x)
	start := p.values.offset(number) + int(off&int64(p.values.pool.period-1))
	left := max(int64(p.values.size(number))-off, 0)
	if int64(len(piece)) <= left {
		return p.values.pool.mismatch(start, piece)
	}
	if bad := p.values.pool.mismatch(start, piece[:left]); bad >= 0 {
		return bad
	}
	return int(left)
}

// AppendKey appends the key of request i, in a plan that has numbered keys (bench mode and mixes).
func (p *Plan) AppendKey(dst []byte, i uint64) []byte {
	return p.appendKeyNumber(dst, p.keyOf(i))
}

// AppendValue appends the value that belongs to the key of request i.
func (p *Plan) AppendValue(dst []byte, i uint64) []byte {
	if p.values.pool == nil {
		return dst
	}
	number := p.keyOf(i)
	return p.values.pool.appendTo(dst, p.values.offset(number), p.values.size(number))
}

// Args is the number of arguments of request i, its command name included.
func (p *Plan) Args(i uint64) int {
	return len(p.command(i).args)
}

// AppendArg appends argument arg of request i; argument 0 is the command name. A {tag} appears as it stands. Nothing is appended
// when there is no such argument.
func (p *Plan) AppendArg(dst []byte, i uint64, arg int) []byte {
	c, x := p.locate(i)
	if arg < 0 || arg >= len(c.args) {
		return dst
	}
	for k := range c.args[arg] {
		dst = p.appendPiece(dst, c, &c.args[arg][k], &x)
	}
	return dst
}

// AppendRequest appends the whole request i as it goes to the wire. Loops use a Gen; this is for retries and tests.
func (p *Plan) AppendRequest(dst []byte, i uint64) []byte {
	c, x := p.locate(i)
	for k := range c.pieces {
		dst = p.appendPiece(dst, c, &c.pieces[k], &x)
	}
	return dst
}

func (p *Plan) appendPiece(dst []byte, c *command, pc *piece, x *execution) []byte {
	switch pc.kind {
	case pieceLiteral:
		return append(dst, pc.literal...)
	case pieceRing:
		return pc.ring.appendTo(dst, pc.off, pc.n)
	case pieceNumber:
		var digits [placeholderLen]byte
		putNumber12(digits[:], p.number(pc, x))
		return append(dst, digits[:]...)
	case pieceTag:
		return append(dst, tagPlaceholder...)
	case pieceKey:
		return p.appendKeyNumber(dst, p.keyNumber(x))
	case pieceValue:
		number := p.keyNumber(x)
		return p.values.pool.appendTo(dst, p.values.offset(number), p.values.size(number))
	case pieceColumn:
		return append(dst, p.data.cell(x.ordinal, pc.index)...)
	default:
		return appendBulkHeader(dst, p.argLen(c, pc.index, x))
	}
}

// requestSize is the length of request i on the wire.
func (p *Plan) requestSize(i uint64) int {
	c, x := p.locate(i)
	return p.piecesSize(c, c.pieces, &x)
}

// argLen is the length of an argument's body.
func (p *Plan) argLen(c *command, arg int, x *execution) int { return p.piecesSize(c, c.args[arg], x) }

func (p *Plan) piecesSize(c *command, pieces []piece, x *execution) int {
	size := 0
	for k := range pieces {
		switch pc := &pieces[k]; pc.kind {
		case pieceKey:
			size += len(p.prefix) + decimalLen(p.keyNumber(x))
		case pieceValue:
			size += p.values.size(p.keyNumber(x))
		case pieceColumn:
			size += len(p.data.cell(x.ordinal, pc.index))
		case pieceLength:
			size += len("$\r\n") + decimalLen(uint64(p.argLen(c, pc.index, x)))
		default:
			size += fixedSize(pieces[k : k+1])
		}
	}
	return size
}

// shortSize is the largest length of a command of which nothing is large enough to go by reference; -1 for other commands.
func (p *Plan) shortSize(c *command) int {
	total, part := 0, 0
	for k := range c.pieces {
		switch pc := &c.pieces[k]; pc.kind {
		case pieceKey:
			part = len(p.prefix) + placeholderLen
		case pieceValue:
			part = p.values.sizes.Max()
		case pieceColumn:
			part = p.data.longest(pc.index)
		case pieceLength:
			part = 24
		default:
			part = fixedSize(c.pieces[k : k+1])
		}
		if part >= refMin {
			return -1
		}
		total += part
	}
	return total
}

func (p *Plan) appendKeyNumber(dst []byte, number uint64) []byte {
	return appendNumber(append(dst, p.prefix...), number)
}

// keyOf is the number of the key of request i.
func (p *Plan) keyOf(i uint64) uint64 {
	if p.unit == 1 && p.keys.kind == distUniform {
		return scale(p.streams[streamKey].at(i), p.keys.n)
	}
	_, x := p.locate(i)
	return p.keyNumber(&x)
}

// keyNumber is the number of the key that an execution works on.
func (p *Plan) keyNumber(x *execution) uint64 {
	if !x.drawn {
		x.key, x.drawn = p.keys.draw(p.streams[streamKey], x.first, x.ordinal), true
	}
	return x.key
}

// number is what takes the place of a number placeholder.
func (p *Plan) number(pc *piece, x *execution) uint64 {
	ordinal := x.ordinal
	if pc.nth >= 0 {
		ordinal = ordinal*uint64(x.entry.numbers) + uint64(pc.nth)
	}
	return p.keys.draw(p.streams[pc.index], x.first, ordinal)
}

func appendBulkHeader(dst []byte, n int) []byte {
	return append(appendNumber(append(dst, '$'), uint64(n)), '\r', '\n')
}

// size is the length of the whole execution on the wire; -1 when it changes.
func (e *entry) size() int {
	total := 0
	for i := range e.commands {
		if e.commands[i].size < 0 {
			return -1
		}
		total += e.commands[i].size
	}
	return total
}

// finish completes a plan whose entries and sources are set: streams, flags, fast paths.
func (p *Plan) finish(seed uint64, streams int) *Plan {
	p.streams = make([]stream, streams)
	for f := range p.streams {
		p.streams[f] = newStream(seed, f)
	}
	p.entries[len(p.entries)-1].upTo = math.MaxUint64
	for e := range p.entries {
		for c := range p.entries[e].commands {
			p.entries[e].commands[c].template = p.count
			p.count++
			p.entries[e].commands[c].short = p.shortSize(&p.entries[e].commands[c])
			p.known = p.known || p.entries[e].commands[c].known
			for _, pc := range p.entries[e].commands[c].pieces {
				p.tag = p.tag || pc.kind == pieceTag
			}
		}
	}
	p.template = newTemplate(p)
	p.keyed = newKeyed(p)
	return p
}
