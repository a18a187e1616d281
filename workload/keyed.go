package workload

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Bench mode's requests are "COMMAND prefix+number [value]". Their length depends only on the command and on how many digits the
// number has. For each of these an image of everything before the value is made once; a request is a copy of the image, a word with
// the digits, and the value. Short copies have a constant size and run over the end of what they mean; what comes next overwrites
// it. All of that happens in a window of constant size, and places are bytes, so that the compiler sees that nothing leaves it.
// Which of two commands a request is, is a table index and no branch: nobody could predict the draw.

const (
	imageSize = 64              // bytes of an image that are copied at once
	moveSize  = 32              // bytes of a value that are copied at once
	headMax   = 100             // bytes before the digits; longer prefixes go the general way
	window    = 256 + imageSize // bytes from the start of a request that its copies may touch
)

// valueCopy is how values are copied.
type valueCopy uint8

const (
	valueNone  valueCopy = iota // no request has one
	valueShort                  // at most moveSize bytes: one copy of constant size, for requests without a value as well
	valueLong
	valueSized // of many sizes
)

// keyed is the form of a plan with one or two commands, each with the key as first and at most the value as second argument.
type keyed struct {
	layouts [2][16]layout // by command and number of digits
	upTo    uint64        // requests whose draw is at most this are of the first command
	maxSize int           // bytes of the longest request
	minSize int           // bytes of the shortest
	twoPart bool          // some image is longer than one part
	values  valueCopy
}

// layout is a request up to its value, and where its parts begin. All places come from here, so that one addition leads to the next
// request.
type layout struct {
	image  [2][imageSize]byte // with zero bytes for the digits
	mask   uint64             // the bytes that are digits in the word that ends with the last digit
	word   uint64             // the other bytes of that word
	size   int                // bytes of the request; valueSized: without the value's size, the value and their ends
	last   uint8              // where that word begins
	value  uint8              // where the value begins, valueSized: the digits of its size; size, without a value
	end    uint8              // valueShort: where the "\r\n" behind the value begins; size, without a value
	valued bool               // it has a value
}

// newKeyed is nil when the plan has another form, or large values.
func newKeyed(p *Plan) *keyed {
	value := p.values.sizes.fixed()
	if p.unit != 1 || len(p.entries) > 2 || p.values.pool == nil || p.values.sizes.Max() >= refMin {
		return nil
	}
	k := &keyed{upTo: p.entries[0].upTo, minSize: math.MaxInt}
	for e := range p.entries {
		cmd := &p.entries[e].commands[0]
		if !isKeyed(cmd) {
			return nil
		}
		if len(cmd.args) == 3 {
			switch {
			case value < 0:
				k.values = valueSized
			case value > moveSize:
				k.values = valueLong
			default:
				k.values = valueShort
			}
		}
		for digits := 1; digits <= placeholderLen; digits++ {
			head := append([]byte(nil), cmd.pieces[0].literal...) // the array's header and the name
			head = append(appendBulkHeader(head, len(p.prefix)+digits), p.prefix...)
			if len(head) > headMax {
				return nil
			}
			l := newLayout(head, digits, len(cmd.args) == 3, value)
			k.layouts[e][digits] = l
			size := l.size
			if k.values == valueSized && l.valued {
				size += len("16383\r\n") + p.values.sizes.Max() + len("\r\n")
			}
			k.maxSize = max(k.maxSize, size)
			k.minSize = min(k.minSize, l.size)
			k.twoPart = k.twoPart || l.value > imageSize
		}
	}
	return k
}

// isKeyed tells whether the command is NAME __key__ or NAME __key__ __data__.
func isKeyed(c *command) bool {
	return len(c.args) >= 2 && len(c.args) <= 3 &&
		isPiece(c.args[0], pieceLiteral) && len(c.args[0][0].literal) <= headMax && // a longer name might be a piece of its own
		isPiece(c.args[1], pieceKey) &&
		(len(c.args) == 2 || isPiece(c.args[2], pieceValue))
}

func newLayout(head []byte, digits int, hasValue bool, value int) layout {
	var image [2 * imageSize]byte
	key := copy(image[:], head)
	n := key + digits + copy(image[key+digits:], "\r\n")
	l := layout{last: uint8(key + digits - 8), size: n, valued: hasValue}
	switch {
	case hasValue && value < 0:
		n += copy(image[n:], "$")
		l.size = n
	case hasValue:
		n += copy(image[n:], "$"+strconv.Itoa(value)+"\r\n")
		l.size = n + value + 2
	}
	l.value = uint8(n)
	if value <= moveSize {
		l.end = uint8(max(l.size-2, n))
	}
	l.mask = ^uint64(0) << (8 * max(8-digits, 0))
	l.word = binary.LittleEndian.Uint64(image[l.last:]) &^ l.mask
	copy(l.image[0][:], image[:])
	copy(l.image[1][:], image[imageSize:])
	return l
}

func (g *Gen) fillKeyed(first uint64, k, skip int) {
	p := g.plan
	k = min(k, g.ahead/p.keyed.minSize)
	if need := min(k*p.keyed.maxSize, g.ahead) + window; len(g.buf) < need {
		g.buf = make([]byte, min(2*need, g.ahead+window))
	}
	if cap(g.ends) < k {
		n := min(2*k, g.ahead/p.keyed.minSize)
		g.ends, g.draws = make([]int, n), make([]uint64, n)
	}
	g.draws = g.draws[:k]
	g.drawKeyed(first, g.draws)
	made, size := p.keyed.fill(g.buf, g.ahead-p.keyed.maxSize, g.draws, g.ends[:k], &p.values)
	g.ends = g.ends[:made]
	if skip > 0 {
		for i := range g.ends {
			g.ends[i] -= skip
		}
	}
	g.out = append(g.out[:0], g.buf[skip:size])
}

// secondCommand marks in a draw that the request is of the second command.
const secondCommand = 1 << 63

// drawKeyed draws the key number of each request from first on, and which command it is.
func (g *Gen) drawKeyed(first uint64, draws []uint64) {
	p := g.plan
	key := uint64(p.streams[streamKey]) + first*streamStep
	if n := p.keys.n; p.keys.kind == distUniform {
		for i := range draws {
			draws[i] = scale(fold(key), n)
			key += streamStep
		}
	} else {
		for i := range draws {
			draws[i] = p.keys.draw(p.streams[streamKey], first+uint64(i), first+uint64(i))
		}
	}
	if len(p.entries) == 1 {
		return
	}
	choice, upTo := uint64(p.streams[streamOp])+first*streamStep, p.keyed.upTo
	for i := range draws {
		_, second := bits.Sub64(upTo, fold(choice), 0)
		draws[i] |= second << 63
		choice += streamStep
	}
}

// fill makes one request for each draw, as long as one begins at limit or before. It says in ends where each ends, and returns how
// many they are and the bytes of all.
func (k *keyed) fill(buf []byte, limit int, draws []uint64, ends []int, v *values) (made, size int) {
	pos := 0
	for i, draw := range draws[:len(ends)] {
		if pos > limit {
			return i, pos
		}
		number := draw &^ secondCommand
		l := &k.layouts[draw>>63&1][decimalLen(number)&15]
		w := (*[window]byte)(buf[pos:])
		copyImage((*[imageSize]byte)(w[:]), &l.image[0])
		if k.twoPart {
			copyImage((*[imageSize]byte)(w[imageSize:]), &l.image[1])
		}
		hi := number / 1e8
		binary.LittleEndian.PutUint64(w[l.last:], digits8(uint32(number-hi*1e8))&l.mask|l.word)
		if hi > 0 {
			putDecimal(w[:l.last], hi)
		}
		if k.values == valueShort {
			copyValue((*[moveSize]byte)(w[l.value:]), (*[moveSize]byte)(v.pool.b[v.offset(number):]))
			binary.LittleEndian.PutUint16(w[l.end:], '\r'|'\n'<<8)
			pos += l.size
		} else if k.values == valueNone || !l.valued {
			pos += l.size
		} else {
			pos += int(l.value)
			if k.values == valueSized {
				pos += putSize(buf[pos:], v.size(number))
			}
			n := v.size(number)
			copy(buf[pos:pos+n], v.pool.b[v.offset(number):])
			binary.LittleEndian.PutUint16(buf[pos+n:], '\r'|'\n'<<8)
			pos += n + 2
		}
		ends[i] = pos
	}
	return len(ends), pos
}

// putSize writes n below 10^8 in decimal and "\r\n" at the start of dst, and a few bytes of rubbish behind; it returns their number.
func putSize(dst []byte, n int) int {
	digits := decimalLen(uint64(n))
	binary.LittleEndian.PutUint64(dst, digits8(uint32(n))>>(8*uint(8-digits)&63))
	binary.LittleEndian.PutUint16(dst[digits:], '\r'|'\n'<<8)
	return digits + 2
}

// copyImage copies 64 bytes through registers, 16 at a time: a larger move between arrays would call memmove, as they might overlap.
func copyImage(d, s *[imageSize]byte) {
	*(*[16]byte)(d[0:]) = *(*[16]byte)(s[0:])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
	*(*[16]byte)(d[32:]) = *(*[16]byte)(s[32:])
	*(*[16]byte)(d[48:]) = *(*[16]byte)(s[48:])
}

// copyValue copies 32 bytes through registers.
func copyValue(d, s *[moveSize]byte) {
	*(*[16]byte)(d[0:]) = *(*[16]byte)(s[0:])
	*(*[16]byte)(d[16:]) = *(*[16]byte)(s[16:])
}

// putDecimal writes the digits of v > 0 so that they end where dst ends.
func putDecimal(dst []byte, v uint64) {
	for at := len(dst) - 1; v > 0; at-- {
		dst[at] = '0' + byte(v%10)
		v /= 10
	}
}
