package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The fast paths. They only ever accept: what they do not recognise as whole and plain they leave to the state machine,
// which accepts or refuses it byte by byte. Tests hold both against each other at every cut.

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	zeros  = 0x3030303030303030 // eight times '0'
	crlf   = '\r' | '\n'<<8
	minus1 = '-' | '1'<<8 | crlf<<16
)

// Run consumes whole replies at the start of buf that repeat the last one: the same short line byte for byte (+OK, :1,
// $-1, *0, an error, ...), or a bulk string of the same length with any body. It takes k ≤ max of them, n bytes in all,
// and Reply still describes the last. It finds nothing in the middle of a reply, after a push, after an aggregate that
// had elements, and after bulk strings when Bodies is set. No reply, or one that Run stops before, is Next's.
func (d *Decoder) Run(buf []byte, max int) (n, k int) {
	if d.state != atReply || d.lineLen == 0 {
		return 0, 0
	}
	line := d.line[:d.lineLen]
	if d.reply.Kind != BulkString || d.reply.Null {
		k = runLines(buf, line, max)
		n = k * len(line)
	} else if !d.Bodies {
		size := len(line) + int(d.reply.Len) + len("\r\n")
		k = runBulks(buf, line, size, max)
		n = k * size
	}
	d.base += int64(n)
	return n, k
}

// runLines counts repetitions of line at the start of buf. Once the first one is known to be there, buf repeats it as
// far as it equals itself moved by one line, which needs no knowledge of the line and works in large words.
func runLines(buf, line []byte, max int) int {
	size := len(line)
	if max <= 0 || len(buf) < size || !bytes.Equal(buf[:size], line) {
		return 0
	}
	end := min(max, len(buf)/size) * size
	same := size
	for same < end {
		// A piece at a time: memory equality says only whether, not how far.
		next := min(same+512, end)
		if !bytes.Equal(buf[same:next], buf[same-size:next-size]) {
			same += common(buf[same:next], buf[same-size:next-size])
			break
		}
		same = next
	}
	return same / size
}

// common is the length of the common prefix of a and b, which are equally long.
func common(a, b []byte) int {
	i := 0
	for ; i+8 <= len(a); i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for i < len(a) && a[i] == b[i] {
		i++
	}
	return i
}

// runBulks counts bulk strings of size bytes in all at the start of buf that begin with line and end with CR LF.
func runBulks(buf, line []byte, size, max int) int {
	k := 0
	if len(line) <= 8 {
		want := load8(line)
		mask := ^uint64(0) >> (64 - 8*len(line))
		for k < max && len(buf) >= size && len(buf) >= 8 {
			if binary.LittleEndian.Uint64(buf)&mask != want || binary.LittleEndian.Uint16(buf[size-2:]) != crlf {
				return k
			}
			buf = buf[size:]
			k++
		}
	}
	for k < max && len(buf) >= size && bytes.HasPrefix(buf, line) && binary.LittleEndian.Uint16(buf[size-2:]) == crlf {
		buf = buf[size:]
		k++
	}
	return k
}

// whole takes the reply at the start of buf if it is a plain one and lies there whole, and returns its length or 0.
func (d *Decoder) whole(buf []byte) int {
	n, v := scan(buf)
	if n == 0 {
		return 0
	}
	k := Kind(buf[0])
	r := &d.reply
	r.Kind, r.Null, r.Int, r.Len = k, false, 0, 0
	line := n
	switch k {
	case BulkString:
		if v >= 0 {
			if d.Bodies {
				return 0
			}
			r.Len = v
			line -= int(v) + 2
		} else {
			r.Null = true
		}
	case Integer:
		r.Int = v
	case Null:
		r.Null = true
	}
	copy(d.line[:], buf[:line])
	d.kept, d.lineLen = uint8(line-2), uint8(line)
	return n
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
		k := 1
		if v >= 0 && left > 1 && buf[n] == byte(BulkString) {
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
// most 6 digits, or a bulk string with such a length. It returns its bytes n, or 0, and the number, or the length of the
// body (-1: null).
func scan(buf []byte) (n int, v int64) {
	if len(buf) < 3 {
		return 0, 0
	}
	x := load8(buf[1:])
	switch Kind(buf[0]) {
	case SimpleString, Error:
		if end := lineEnd(x); end < 8 {
			return end + 3, 0
		}
	case Integer:
		if digits := lineEnd(x); digits < 8 {
			if v = number(x, digits); v >= 0 {
				return digits + 3, v
			}
		}
	case BulkString:
		return scanBulk(buf, x)
	case Null:
		if uint16(x) == crlf {
			return 3, 0
		}
	}
	return 0, 0
}

// scanBulk is scan for a bulk string; x is the eight bytes after its type.
func scanBulk(buf []byte, x uint64) (n int, v int64) {
	if uint32(x) == minus1 {
		return 5, -1
	}
	digits := lineEnd(x)
	if digits == 8 {
		return 0, 0
	}
	v = number(x, digits)
	if v < 0 {
		return 0, 0
	}
	n = digits + 3 + int(v) + 2
	if len(buf) < n || binary.LittleEndian.Uint16(buf[n-2:]) != crlf {
		return 0, 0
	}
	return n, v
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

// lineEnd is the index in x of a CR that an LF follows, with no CR or LF before it; 8 if there is none.
func lineEnd(x uint64) int {
	cr := x ^ '\r'*ones
	lf := x ^ '\n'*ones
	// The lowest high bit of each marks the first such byte; those above it may be wrong, and are not used.
	cr = (cr - ones) &^ cr & highs
	lf = (lf - ones) &^ lf & highs
	i := bits.TrailingZeros64(cr)
	if cr == 0 || bits.TrailingZeros64(lf) != i+8 {
		return 8
	}
	return i / 8
}

// number reads the first n ≤ 6 bytes of x as a decimal number without sign or leading zero; -1 if they are none.
func number(x uint64, n int) int64 {
	if n == 0 || n > 1 && byte(x) == '0' {
		return -1
	}
	// Move the digits to the top and fill up with zeros in front, so that it is an eight-digit number.
	x = x<<(64-8*n) | zeros>>(8*n)
	if (x&0xf0f0f0f0f0f0f0f0)|((x+0x0606060606060606)&0xf0f0f0f0f0f0f0f0)>>4 != 0x3333333333333333 {
		return -1
	}
	x -= zeros
	x = x*10 + x>>8 // pairs of digits in every second byte
	const even = 0x000000ff000000ff
	return int64(((x&even)*(100+1000000<<32) + (x>>16&even)*(1+10000<<32)) >> 32)
}
