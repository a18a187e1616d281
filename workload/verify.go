package workload

// What a right reply to a request is. The reader of a reply knows only the request's index; all else is computed again, so that
// nothing has to be kept for a request in flight.

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
	if p.values.pool == nil {
		return min(len(piece), 1) - 1
	}
	number := p.keyOf(i)
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

// keyOf is the number of the key of request i.
func (p *Plan) keyOf(i uint64) uint64 {
	if p.unit == 1 && p.keys.kind == distUniform {
		return scale(p.streams[streamKey].at(i), p.keys.n)
	}
	_, x := p.locate(i)
	return p.keyNumber(&x)
}
