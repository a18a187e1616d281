package protocol

// Event is what stopped Next.
type Event uint8

const (
	None     Event = iota // the buffer is used up; the decoder needs more bytes
	Complete              // a reply ended; Reply describes it
	Body                  // Piece is the next part of the body of a top-level bulk string
	Pushed                // a RESP3 push message ended; it answers no request
)

// Decoder walks the reply stream of one connection, RESP2 and RESP3, and proves it: every length, number, terminator
// and type. It can stop and go on at every byte and always uses the whole buffer up, so that a connection with half a
// reply owns no buffer. It never copies the body of a bulk string and keeps no reference into the caller's buffer
// beyond a Piece; it allocates only for texts over 21 bytes and for nesting over four levels, and keeps that memory.
//
// The work is in three layers. Run (run.go) counts repetitions of the last reply by comparing bytes. Next first tries
// to take one short reply that lies whole in the buffer with a few 8-byte operations (scan, in scan.go). Whatever is
// cut, long, nested, rare or wrong goes through the state machine (machine.go), which alone decides what is an error.
//
// The zero value is ready. A Decoder must not be copied after its first use.
type Decoder struct {
	// Bodies asks for the bodies of top-level bulk strings ('$') as Body events. Change it between replies only.
	Bodies bool

	state   state
	event   Event
	kind    Kind  // of the value being read
	outer   bool  // the value being read is the reply itself, or an attribute before it; not an element
	neg     bool  // the number being read has a minus sign
	pos     uint8 // progress within the current field; its meaning belongs to the state
	kept    uint8 // bytes in line, or spilled
	lineLen uint8 // bytes of line that Run may look for; 0: the last reply cannot be predicted
	inside  uint8 // errors among the reply's elements: 0, 1, or 2 for more than one
	depth   int16 // open aggregates

	base  int64          // bytes consumed in all calls before this one
	line  [lineSize]byte // the reply's line: type byte, text, and CR LF once it is complete
	reply Reply          // up to Len in the cache line that ends here, the only one that Run needs

	num   uint64 // magnitude of the number being read
	left  int64  // bytes of the body still to come
	piece []byte
	long  []byte // text of the reply when it does not fit line; of an aggregate, that of the first error in it
	near  [4]int64
	far   []int64 // frames of the aggregates from the fifth level on; see open
	err   error   // sticky *SyntaxError
}

const (
	lineSize = 24  // the longest integer and the usual status replies fit
	spilled  = 255 // value of kept: the text went to long
)

// Next consumes buf up to and including the next event and returns how many bytes that were. With None it consumed all
// of buf. The error is a *SyntaxError and stays: every later call returns it again and consumes nothing.
func (d *Decoder) Next(buf []byte) (n int, ev Event, err error) {
	if d.state == atReply {
		if n, ev = d.whole(buf); n > 0 {
			d.base += int64(n)
			return n, ev, nil
		}
	}
	if d.state == atBodyCR && d.depth == 0 && len(buf) >= 2 && buf[0] == '\r' && buf[1] == '\n' {
		d.state, d.piece = atReply, nil
		d.base += 2
		return 2, Complete, nil
	}
	for n < len(buf) && d.event == None && d.err == nil {
		n = d.step(buf, n)
	}
	d.base += int64(n)
	ev, d.event = d.event, None
	return n, ev, d.err
}

// Reply describes the reply that ended last, or the push after a Pushed event. After a Body event its Kind and Len are
// already those of the bulk string. It is valid until the next call of Next.
func (d *Decoder) Reply() *Reply {
	d.reply.Text = nil
	if d.reply.isText() {
		d.reply.Text = d.text()
	}
	return &d.reply
}

// InnerError is the text of the first error within the array, set or map that ended last, such as the reply to EXEC, in
// which each command has its own. ok is false when there is none. The text is valid until the next call of Next.
func (d *Decoder) InnerError() (text []byte, ok bool) { return d.long, d.inside > 0 }

// foundInner begins the text of an error among the elements; only the first one's is kept.
func (d *Decoder) foundInner() {
	if d.inside == 0 {
		d.long = d.long[:0]
	}
	d.inside = min(d.inside+1, 2)
}

// keepInner stores the next bytes of that text.
func (d *Decoder) keepInner(p []byte) {
	if d.inside == 1 {
		d.long = append(d.long, p[:min(len(p), MaxKeptText-len(d.long))]...)
	}
}

// Piece is the part of the body that the last Body event found: bytes of the caller's buffer, valid until the next call.
func (d *Decoder) Piece() []byte { return d.piece }

// PieceOffset is the place of Piece in its body, in bytes.
func (d *Decoder) PieceOffset() int64 { return d.reply.Len - d.left - int64(len(d.piece)) }

// Idle tells whether the decoder is between replies: no byte of a next one has come.
func (d *Decoder) Idle() bool { return d.state == atReply }

// Offset is how many bytes of the stream the decoder has consumed.
func (d *Decoder) Offset() int64 { return d.base }

// Forget keeps Run from taking replies for repetitions of the last one, which answered something else.
func (d *Decoder) Forget() { d.lineLen = 0 }

// Reset makes the decoder ready for a new stream. Bodies and the memory already allocated stay.
func (d *Decoder) Reset() {
	*d = Decoder{Bodies: d.Bodies, long: d.long[:0], far: d.far[:0]}
}

// fail ends the stream with a syntax error at byte i of the buffer.
func (d *Decoder) fail(i int, msg string) int {
	d.err = &SyntaxError{Offset: d.base + int64(i), Msg: msg}
	d.state = broken
	return i
}

// keep stores the next bytes of the reply's line. They serve as Reply's text and as Run's pattern.
func (d *Decoder) keep(p []byte) {
	if !d.outer {
		return
	}
	if n := int(d.kept); n+len(p) <= lineSize-len("\r\n") {
		copy(d.line[n:], p)
		d.kept += uint8(len(p))
		return
	}
	if d.kept != spilled {
		d.spill(d.line[1:d.kept])
	}
	room := MaxKeptText - len(d.long)
	d.long = append(d.long, p[:min(len(p), room)]...)
}

// spill lets the text continue in long, where it begins with p.
func (d *Decoder) spill(p []byte) {
	d.long = append(d.long[:0], p...)
	d.kept = spilled
}

func (d *Decoder) text() []byte {
	if d.kept == spilled {
		return d.long
	}
	return d.line[1:d.kept:d.kept]
}

// A frame counts the elements of one open aggregate that have not ended yet, times two; the lowest bit says that the
// aggregate is an attribute.
const (
	frameElement   = 2
	frameAttribute = 1
)

// open enters an aggregate of n > 0 elements.
func (d *Decoder) open(n int64, attribute bool) {
	f := n * frameElement
	if attribute {
		f |= frameAttribute
	}
	if i := int(d.depth); i < len(d.near) {
		d.near[i] = f
	} else {
		d.far = append(d.far[:i-len(d.near)], f)
	}
	d.depth++
	d.state = atValue
}

// frame is the innermost open aggregate.
func (d *Decoder) frame() *int64 {
	i := int(d.depth) - 1
	if i < len(d.near) {
		return &d.near[i]
	}
	return &d.far[i-len(d.near)]
}

// ended counts a value that is whole, and every aggregate that it was the last element of. An attribute that ends is
// not a value: the value it describes follows.
func (d *Decoder) ended() {
	for d.depth > 0 {
		f := d.frame()
		*f -= frameElement
		if *f >= frameElement {
			d.state = atValue
			return
		}
		attribute := *f&frameAttribute != 0
		d.depth--
		if attribute {
			d.state = atValue
			return
		}
	}
	d.state = atReply
	d.event = Complete
	if d.reply.Kind == Push {
		d.event = Pushed
	}
}
