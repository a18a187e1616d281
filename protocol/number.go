package protocol

import "math"

// Numbers of the reply stream, a byte at a time. All are strict: no plus sign, no leading zero, no minus zero, 64 bits.
// A length that a lenient reader takes for another one shifts the whole stream, so that body bytes become replies.

// onNumber takes digits of an integer, a length or a count, up to and including the CR.
func (d *Decoder) onNumber(buf []byte, i int) int {
	start := i
	for ; i < len(buf); i++ {
		c := buf[i]
		switch {
		case c >= '0' && c <= '9':
			if !d.addDigit(c - '0') {
				return d.fail(i, d.badNumber())
			}
		case c == '-' && d.pos == 0 && !d.neg:
			d.neg = true
		case c == '\r' && d.pos > 0:
			if msg := d.badRange(); msg != "" {
				return d.fail(i, msg)
			}
			d.keep(buf[start:i])
			d.state = atLF
			return i + 1
		case c == '?' && d.pos == 0 && !d.neg && d.kind != Integer:
			return d.fail(i, msgStreamed)
		default:
			return d.fail(i, d.badNumber())
		}
	}
	d.keep(buf[start:])
	return i
}

// addDigit appends a digit to the number and tells whether it still is one; pos counts the digits.
func (d *Decoder) addDigit(v byte) bool {
	limit := uint64(math.MaxInt64)
	if d.neg {
		limit++
	}
	leadingZero := d.pos > 0 && d.num == 0
	minusZero := d.neg && d.pos == 0 && v == 0
	if leadingZero || minusZero || d.num > (limit-uint64(v))/10 {
		return false
	}
	d.num = d.num*10 + uint64(v)
	d.pos++
	return true
}

// signed is the number that was read.
func (d *Decoder) signed() int64 {
	if d.neg {
		return int64(-d.num)
	}
	return int64(d.num)
}

// badNumber is the message for a byte that belongs to no number of this kind.
func (d *Decoder) badNumber() string {
	switch d.kind {
	case Integer:
		return msgInteger
	case BulkString, BulkError, Verbatim:
		return msgBulkLen
	}
	return msgMulti
}

// badRange is the message for a number that is out of its kind's range, or empty. Only '$' and '*' have a null.
func (d *Decoder) badRange() string {
	n := d.signed()
	switch d.kind {
	case Integer:
	case BulkString, BulkError, Verbatim:
		if n > MaxBulkLen || n < -1 || n < 0 && d.kind != BulkString {
			return msgBulkRange
		}
		if d.kind == Verbatim && n < int64(len("txt:")) {
			return msgVerbatim
		}
	default:
		if n > MaxElements || n < -1 || n < 0 && d.kind != Array {
			return msgMultiMax
		}
	}
	return ""
}

// onBig takes digits of a big number, which may be of any length, up to and including the CR.
func (d *Decoder) onBig(buf []byte, i int) int {
	start, end := i, d.lineLimit(buf, i)
	for ; i < end || i < len(buf) && buf[i] == '\r'; i++ {
		c := buf[i]
		switch {
		case c >= '0' && c <= '9':
			d.pos = 2
		case (c == '-' || c == '+') && d.pos == 0:
			d.pos = 1
		case c == '\r' && d.pos == 2:
			d.keep(buf[start:i])
			d.state = atLF
			return i + 1
		default:
			return d.fail(i, msgBig)
		}
	}
	return d.cutLine(buf, start, end)
}

// cutLine keeps what there is of a line that has no end up to buf[end].
func (d *Decoder) cutLine(buf []byte, start, end int) int {
	d.keepLine(buf[start:end])
	if end < len(buf) {
		return d.fail(end, msgLineLong)
	}
	return end
}

// onDouble takes bytes of a double up to and including the CR.
func (d *Decoder) onDouble(buf []byte, i int) int {
	start, end := i, d.lineLimit(buf, i)
	for ; i < end || i < len(buf) && buf[i] == '\r'; i++ {
		if buf[i] == '\r' && doubleDone[d.pos] {
			d.keep(buf[start:i])
			d.state = atLF
			return i + 1
		}
		if d.pos = doubleStep(d.pos, buf[i]); d.pos == dblBad {
			return d.fail(i, msgDouble)
		}
	}
	return d.cutLine(buf, start, end)
}

// States of a double: [sign] digits [. digits] [e [sign] digits], or inf or nan with an optional minus. RESP3 has no
// "-nan" and no capitals, but servers that print by C's printf send them, and hiredis takes them.
const (
	dblStart uint8 = iota
	dblMinus
	dblPlus
	dblInt
	dblDot
	dblFrac
	dblE
	dblExpSign
	dblExp
	dblI
	dblIn
	dblN
	dblNa
	dblWord
	dblBad
)

var doubleDone = [dblBad + 1]bool{dblInt: true, dblFrac: true, dblExp: true, dblWord: true}

// doubleStep is the state after byte c.
func doubleStep(s, c byte) byte {
	if c >= '0' && c <= '9' {
		return doubleDigit(s)
	}
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	switch {
	case c == '-' && s == dblStart:
		return dblMinus
	case c == '+' && s == dblStart:
		return dblPlus
	case c == '.' && s == dblInt:
		return dblDot
	case c == 'e' && (s == dblInt || s == dblFrac):
		return dblE
	case (c == '-' || c == '+') && s == dblE:
		return dblExpSign
	case c == 'i' && s <= dblMinus:
		return dblI
	case c == 'n' && s == dblI:
		return dblIn
	case c == 'n' && s <= dblMinus:
		return dblN
	case c == 'a' && s == dblN:
		return dblNa
	case c == 'f' && s == dblIn, c == 'n' && s == dblNa:
		return dblWord
	}
	return dblBad
}

// doubleDigit is the state after a digit.
func doubleDigit(s byte) byte {
	switch s {
	case dblStart, dblMinus, dblPlus, dblInt:
		return dblInt
	case dblDot, dblFrac:
		return dblFrac
	case dblE, dblExpSign, dblExp:
		return dblExp
	}
	return dblBad
}
