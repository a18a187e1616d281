package protocol

import (
	"encoding/binary"
	"math/bits"
)

// Plain values, eight bytes at a time, for Next. These paths only ever accept: what they do not recognise as whole and
// plain they leave to the state machine, which accepts or refuses it byte by byte. Tests hold both against each other at
// every cut and with every wrong byte.

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	zeros  = '0' * ones
	nines  = (0x7f - 9) * ones // added to a byte, sets its high bit if it is above 9
	crlf   = '\r' | '\n'<<8
	minus1 = '-' | '1'<<8 | crlf<<16
)

// whole takes the reply at the start of buf if it is a plain one and lies there whole, and returns its length and Complete,
// or 0. With Bodies it takes the line of a bulk string and its body and returns Body.
func (d *Decoder) whole(buf []byte) (n int, ev Event) {
	n, v := scan(buf)
	if n == 0 {
		return 0, None
	}
	k := Kind(buf[0])
	line := n
	r := &d.reply
	r.Kind, r.Null, r.Int, r.Len = k, false, 0, 0
	d.inside = 0
	switch {
	case k == BulkString && v >= 0:
		r.Len = v
		line -= int(v) + len("\r\n")
	case k == Integer:
		r.Int = v
	default:
		r.Null = v < 0
	}
	// A plain line has at most nine bytes; those after it do not matter. Stored as Run will load it.
	x := load8(buf[1:])
	binary.LittleEndian.PutUint64(d.line[:], uint64(k)|x<<8)
	d.line[8] = byte(x >> 56)
	d.kept, d.lineLen = uint8(line-2), uint8(line)
	if d.Bodies && r.Len > 0 {
		d.kind, d.outer, d.left, d.state = k, true, 0, atBodyCR
		n -= len("\r\n")
		d.piece = buf[line:n:n]
		return n, Body
	}
	return n, Complete
}

// elements takes plain elements of the innermost aggregate that lie whole in buf and returns their bytes.
func (d *Decoder) elements(buf []byte) (n int) {
	f := d.frame()
	left := *f / frameElement
	for left > 0 {
		size, v := scan(buf[n:])
		if size == 0 {
			break
		}
		if buf[n] == byte(Error) {
			d.foundInner()
			d.keepInner(buf[n+1 : n+size-len("\r\n")])
		}
		k := 1
		if left > 1 && buf[n] == byte(BulkString) && v >= 0 {
			line := buf[n : n+size-int(v)-2]
			k += runBulks(buf[n+size:], line, size, int(left-1))
		}
		n += k * size
		left -= int64(k)
	}
	*f = left*frameElement | *f&frameAttribute
	if n > 0 && left == 0 {
		*f += frameElement
		d.ended()
	}
	return n
}

// scan looks for a plain value at the start of buf: a simple string or error of at most 6 bytes, a null, a number of at
// most 6 digits, or a bulk string with such a length. It returns its bytes n, or 0 if there is none, and v: the number,
// the length of the body, or -1 for a null.
func scan(buf []byte) (n int, v int64) {
	if len(buf) < 3 {
		return 0, 0
	}
	x := load8(buf[1:])
	switch Kind(buf[0]) {
	case SimpleString, Error:
		return lineEnd(x), 0
	case Integer, BulkString:
		v, n = number(x)
		if Kind(buf[0]) == Integer {
			return n, v
		}
		if uint32(x) == minus1 {
			return 5, -1
		}
		if n == 0 {
			return 0, 0
		}
		n += int(v) + len("\r\n")
		if n > len(buf) || binary.LittleEndian.Uint16(buf[n-2:]) != crlf {
			return 0, 0
		}
		return n, v
	case Null:
		if uint16(x) == crlf {
			return 3, -1
		}
	}
	return 0, 0
}

// load8 reads the first eight bytes of buf, little-endian; zero bytes stand for those it does not have.
func load8(buf []byte) uint64 {
	if len(buf) >= 8 {
		return binary.LittleEndian.Uint64(buf)
	}
	if n := len(buf); n >= 4 {
		lo := uint64(binary.LittleEndian.Uint32(buf))
		hi := uint64(binary.LittleEndian.Uint32(buf[n-4:]))
		return lo | hi<<(8*(n-4))
	}
	var x uint64
	for i, c := range buf {
		x |= uint64(c) << (8 * i)
	}
	return x
}

// lineEnd is the length of a line whose eight bytes after the type are x: those up to the first CR, with the LF that
// must follow, and the type. It is 0 if there is no CR, no LF behind it, or an LF before it.
func lineEnd(x uint64) int {
	cr := x ^ '\r'*ones
	lf := x ^ '\n'*ones
	// The lowest high bit of each marks the first such byte; those above it may be wrong, and are not used.
	cr = (cr - ones) &^ cr & highs
	lf = (lf - ones) &^ lf & highs
	i := bits.TrailingZeros64(cr)
	if cr == 0 || bits.TrailingZeros64(lf) != i+8 {
		return 0
	}
	return i/8 + len("+\r\n")
}

// number reads a line whose eight bytes after the type are x: digits without a leading zero, at most 6 of them as the CR
// LF has to be in x too. It returns the number and the length of the line with its type, or 0, 0.
func number(x uint64) (v int64, n int) {
	x ^= zeros // digits are 0 to 9 now
	// The lowest high bit marks the first byte above 9. Bytes after it may be wrong, and are not used.
	digits := uint(bits.TrailingZeros64(((x+nines)|x)&highs)) / 8
	if digits == 0 || uint16(x>>(8*digits)) != crlf^0x3030 || byte(x) == 0 && digits > 1 {
		return 0, 0
	}
	x <<= 64 - 8*digits // an eight-digit number, with zeros in front
	x = x*10 + x>>8     // pairs of digits in every second byte
	const even = 0x000000ff000000ff
	x = ((x&even)*(100+1000000<<32) + (x>>16&even)*(1+10000<<32)) >> 32
	return int64(x), int(digits) + len(":\r\n")
}
