package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// Run and its three loops. A load generator gets the same answer again and again; to find that it did costs a small part
// of decoding it. Like the other fast paths, Run only ever accepts: the reply it stops at is Next's.

// Run consumes whole replies at the start of buf that have the shape of the last one: the same short line byte for byte
// (+OK, $-1, *0, an error, ...), a positive integer of as many digits with any value, or a bulk string of the same length
// with any body. It takes k ≤ max of them, n bytes in all; Reply then describes the last of them.
//
// It finds nothing in the middle of a reply, after a push, after an aggregate that had elements, after a line of more
// than 24 bytes, and after bulk strings when Bodies is set.
func (d *Decoder) Run(buf []byte, max int) (n, k int) {
	if d.state != atReply || d.lineLen == 0 {
		return 0, 0
	}
	line := d.line[:d.lineLen]
	size := len(line)
	switch {
	case d.reply.Kind == Integer:
		k = d.runInts(buf, line, max)
	case max <= 0 || !hasLine(buf, line):
		return 0, 0 // where nothing repeats, most calls end here
	case d.reply.Kind != BulkString || d.reply.Null:
		k = runLines(buf, size, max)
	case !d.Bodies:
		size += int(d.reply.Len) + len("\r\n")
		k = runBulks(buf, line, size, max)
	}
	n = k * size
	d.base += int64(n)
	return n, k
}

// runLines counts repetitions of the line of size bytes that buf begins with. Having the first one, buf repeats it as far
// as it equals itself moved by one line, which needs no pattern and compares in the largest words that the machine has.
func runLines(buf []byte, size, max int) int {
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

// hasLine tells whether buf begins with line, the start of a Decoder's line array.
func hasLine(buf, line []byte) bool {
	if len(buf) >= 8 && len(line) <= 8 {
		return (binary.LittleEndian.Uint64(buf)^binary.LittleEndian.Uint64(line[:8]))<<(64-8*uint(len(line))) == 0
	}
	return bytes.HasPrefix(buf, line)
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

// maxRunInt is the longest line of an integer that two overlapping words cover with digits in both: 13 digits.
const maxRunInt = 16

// runInts counts integers with a line as long as the last one at the start of buf, and keeps the last of them. Often they
// are all the same; a negative one has to be.
func (d *Decoder) runInts(buf, line []byte, max int) (k int) {
	size := len(line)
	if max > 0 && hasLine(buf, line) {
		k = runLines(buf, size, max)
		buf = buf[k*size:]
	}
	if k == max || line[1] == '-' || size > maxRunInt {
		return k
	}
	if more := countInts(buf, size, max-k); more > 0 {
		copy(line, buf[(more-1)*size:])
		d.reply.Int = atoi(line[1 : size-2])
		k += more
	}
	return k
}

// countInts counts positive integers of any value with lines of size bytes.
func countInts(buf []byte, size, max int) int {
	s := shapeOf(size)
	k := 0
	for k < max && len(buf) >= size && len(buf) >= 8 {
		bad := s.check(binary.LittleEndian.Uint64(buf))
		if size > 8 {
			bad |= checkIntEnd(binary.LittleEndian.Uint64(buf[size-8:]))
		}
		if bad&highs != 0 {
			return k
		}
		buf = buf[size:]
		k++
	}
	if k < max && len(buf) >= size && s.check(load8(buf))&highs == 0 {
		k++
	}
	return k
}

// intShape checks the first eight bytes of the line of an integer with a given number of digits. A word XOR base has the
// values of the digits, and 0 where the line's other bytes are right. Adding add sets the high bit of a digit above 9 and
// of any other byte above 0, unless it overflows; then the byte had its high bit before, and has it still after lead was
// taken away. Taking lead away sets a high bit if the first of several digits is 0.
type intShape struct{ base, mask, add, lead uint64 }

func shapeOf(size int) intShape {
	digits := min(size-len(":\r\n"), 7)
	inDigits := uint64(1)<<(8*digits) - 1
	s := intShape{
		base: ':' | zeros&inDigits<<8 | crlf<<(8*digits+8),
		mask: ^uint64(0) >> (64 - 8*min(size, 8)),
		add:  0x7f*ones - 9*ones&(inDigits<<8),
	}
	if digits > 1 {
		s.lead = 1 << 8
	}
	return s
}

// check has a high bit set if x does not have the shape.
func (s *intShape) check(x uint64) uint64 {
	x = (x ^ s.base) & s.mask
	return x + s.add | (x - s.lead)
}

// checkIntEnd is check for the last eight bytes of a longer line: six digits and CR LF.
func checkIntEnd(x uint64) uint64 {
	const sixDigits = 1<<48 - 1
	x ^= zeros&sixDigits | crlf<<48
	return x + (0x7f*ones - 9*ones&sixDigits) | x
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
