package protocol

import (
	"bytes"
	"strconv"
)

// The state machine behind Next. A state is what the decoder expects at the next byte; each handler takes the bytes of
// its state that are in the buffer and returns the index after them. So any cut, even between CR and LF, is the normal
// case and has no code of its own.

type state uint8

const (
	atReply  state = iota // the type byte of a reply: nothing of it has come
	atValue               // the type byte of an element, or of the value after an attribute
	atNumber              // an integer, a length or a count, up to its CR
	atText                // a simple string or an error, up to its CR
	atDouble              // pos: state of doubleStep
	atBig                 // pos: 0 at the sign, 1 at the first digit, 2 after it
	atBool                // t or f
	atCR                  // the CR of a null or a bool
	atLF                  // the LF of a line
	atFormat              // the format of a verbatim string; pos: bytes seen
	atBody                // left bytes of a body
	atBodyCR
	atBodyLF
	broken
)

// first is the state after a type byte; atReply where the byte is none.
var first = [256]state{
	SimpleString: atText, Error: atText,
	Integer: atNumber, BulkString: atNumber, BulkError: atNumber, Verbatim: atNumber,
	Array: atNumber, Map: atNumber, Set: atNumber, Push: atNumber, Attribute: atNumber,
	Double: atDouble, BigNumber: atBig, Bool: atBool, Null: atCR,
}

// Messages of syntax errors. Where hiredis, and so redis-benchmark, has a text for the fault, it is that text.
const (
	msgInteger   = "Bad integer value"
	msgBulkLen   = "Bad bulk string length"
	msgBulkRange = "Bulk string length out of range"
	msgMulti     = "Bad multi-bulk length"
	msgMultiMax  = "Multi-bulk length out of range"
	msgDouble    = "Bad double value"
	msgBool      = "Bad bool value"
	msgNil       = "Bad nil value"
	msgBig       = "Bad bignum value"
	msgVerbatim  = "Verbatim string 4 bytes of content type are missing or incorrectly encoded"
	msgLineEnd   = "Reply line not ended by CRLF"
	msgLineLong  = "Reply line too long"
	msgBodyEnd   = "Bulk string not ended by CRLF"
	msgPush      = "Push message inside another reply"
	msgStreamed  = "Streamed strings and aggregates are not supported"
)

// step handles the bytes at buf[i:] that belong to the current state and returns the index after them.
func (d *Decoder) step(buf []byte, i int) int {
	switch d.state {
	case atReply, atValue:
		return d.onType(buf, i)
	case atNumber:
		return d.onNumber(buf, i)
	case atText:
		return d.onText(buf, i)
	case atDouble:
		return d.onDouble(buf, i)
	case atBig:
		return d.onBig(buf, i)
	case atBool:
		return d.onBool(buf, i)
	case atCR:
		return d.expect(buf, i, '\r', atLF)
	case atLF:
		if i = d.expect(buf, i, '\n', atLF); d.err == nil {
			d.onLine()
		}
		return i
	case atFormat:
		return d.onFormat(buf, i)
	case atBody:
		return d.onBody(buf, i)
	case atBodyCR:
		return d.expect(buf, i, '\r', atBodyLF)
	default: // atBodyLF
		if i = d.expect(buf, i, '\n', atBodyLF); d.err == nil {
			d.piece = nil
			d.ended()
		}
		return i
	}
}

// expect takes the byte c and goes to the next state.
func (d *Decoder) expect(buf []byte, i int, c byte, next state) int {
	if buf[i] == c {
		d.state = next
		return i + 1
	}
	switch {
	case d.state >= atBodyCR:
		return d.fail(i, msgBodyEnd)
	case d.state == atLF:
		return d.fail(i, msgLineEnd)
	case d.kind == Bool:
		return d.fail(i, msgBool)
	}
	return d.fail(i, msgNil)
}

// onType begins a value.
func (d *Decoder) onType(buf []byte, i int) int {
	if d.depth > 0 {
		if n := d.elements(buf[i:]); n > 0 {
			return i + n
		}
	}
	k := Kind(buf[i])
	switch {
	case first[k] == atReply:
		return d.fail(i, "Protocol error, got "+quoteByte(buf[i])+" as reply type byte")
	case k == Push && d.depth > 0:
		return d.fail(i, msgPush)
	case d.depth == MaxDepth && isAggregate(k):
		return d.fail(i, "Reply exceeds the max nesting depth of "+strconv.Itoa(MaxDepth))
	}
	d.state, d.kind = first[k], k
	d.pos, d.num, d.neg = 0, 0, false
	d.outer = d.depth == 0
	switch {
	case d.outer:
		d.inside = 0
		d.reply.Kind, d.reply.Null, d.reply.Int, d.reply.Len = k, k == Null, 0, 0
		d.line[0], d.kept, d.lineLen = byte(k), 1, 0
	case k == Error, k == BulkError:
		d.foundInner()
	}
	return i + 1
}

// onText looks for the end of the line. A bare LF is an error at once: a server that ends lines so would never be
// understood, only waited for.
func (d *Decoder) onText(buf []byte, i int) int {
	rest := buf[i:]
	cr := bytes.IndexByte(rest, '\r')
	if cr >= 0 {
		rest = rest[:cr]
	}
	end := d.lineLimit(buf, i)
	if i+len(rest) > end {
		rest = buf[i:end]
	}
	if lf := bytes.IndexByte(rest, '\n'); lf >= 0 {
		return d.fail(i+lf, msgLineEnd)
	}
	d.keepLine(rest)
	if d.kind == Error && !d.outer {
		d.keepInner(rest)
	}
	switch i += len(rest); {
	case i == len(buf):
		return i
	case buf[i] != '\r':
		return d.fail(i, msgLineLong)
	}
	d.state = atLF
	return i + 1
}

// lineLimit is the index in buf up to which the line may go on that is being read at buf[i]. A text, a double or a big
// number has no length before it; num counts its bytes.
func (d *Decoder) lineLimit(buf []byte, i int) int {
	return i + int(min(int64(len(buf)-i), MaxBulkLen-int64(d.num)))
}

// keepLine keeps and counts the next bytes of such a line.
func (d *Decoder) keepLine(p []byte) {
	d.keep(p)
	d.num += uint64(len(p))
}

// onBool takes the letter of a bool.
func (d *Decoder) onBool(buf []byte, i int) int {
	if c := buf[i]; c != 't' && c != 'f' {
		return d.fail(i, msgBool)
	}
	d.keep(buf[i : i+1])
	if d.outer && buf[i] == 't' {
		d.reply.Int = 1
	}
	d.state = atCR
	return i + 1
}

// onLine acts on a line that is whole: the value ended, or its body or elements follow.
func (d *Decoder) onLine() {
	if d.outer && d.kept != spilled {
		d.line[d.kept], d.line[d.kept+1] = '\r', '\n'
		d.lineLen = d.kept + 2
	}
	switch d.kind {
	case Integer:
		if d.outer {
			d.reply.Int = d.signed()
		}
		d.ended()
	case BulkString, BulkError, Verbatim:
		d.onBulkLine(d.signed())
	case Array, Map, Set, Push, Attribute:
		d.onAggregateLine(d.signed())
	default:
		d.ended()
	}
}

// onBulkLine begins a body of n bytes; n = -1 is the null bulk string.
func (d *Decoder) onBulkLine(n int64) {
	if n < 0 {
		d.reply.Null = d.reply.Null || d.outer
		d.ended()
		return
	}
	if d.outer {
		d.reply.Len = n
	}
	if d.outer && d.kind != BulkString {
		d.lineLen = 0
		d.spill(nil)
	}
	d.left = n
	switch {
	case d.kind == Verbatim:
		d.state, d.pos = atFormat, 0
	case n == 0:
		d.state = atBodyCR
	default:
		d.state = atBody
	}
}

// onAggregateLine opens an aggregate with a count of n; n = -1 is the null array.
func (d *Decoder) onAggregateLine(n int64) {
	if d.outer && n < 0 {
		d.reply.Null = true
	} else if d.outer {
		d.reply.Int = n
	}
	if d.kind == Push || n > 0 {
		d.lineLen = 0
	}
	if n <= 0 {
		if d.kind == Attribute {
			d.state = atValue
			return
		}
		d.ended()
		return
	}
	if d.kind == Map || d.kind == Attribute {
		n *= 2
	}
	d.open(n, d.kind == Attribute)
}

// onFormat takes the three letters and the colon that a verbatim string begins with.
func (d *Decoder) onFormat(buf []byte, i int) int {
	if (d.pos == 3) != (buf[i] == ':') {
		return d.fail(i, msgVerbatim)
	}
	d.left--
	if d.pos++; d.pos == 4 {
		d.state = atBody
		if d.left == 0 {
			d.state = atBodyCR
		}
	}
	return i + 1
}

// onBody skips the part of the body that is in the buffer, or hands it out.
func (d *Decoder) onBody(buf []byte, i int) int {
	n := int(min(d.left, int64(len(buf)-i)))
	piece := buf[i : i+n : i+n]
	if d.left -= int64(n); d.left == 0 {
		d.state = atBodyCR
	}
	switch {
	case d.kind == BulkError && d.outer:
		d.keep(piece)
	case d.kind == BulkError:
		d.keepInner(piece)
	case d.kind == BulkString && d.outer && d.Bodies:
		d.piece = piece
		d.event = Body
	}
	return i + n
}

func isAggregate(k Kind) bool {
	return k == Array || k == Map || k == Set || k == Push || k == Attribute
}

func quoteByte(c byte) string { return strconv.Quote(string([]byte{c})) }
