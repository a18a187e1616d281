package workload

// The plain definition of a request: its pieces one after the other. Generators are fast ways to the same bytes.

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
