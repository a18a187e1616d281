package protocol

// command.go is the server's half of the protocol: it finds the commands in what a client sent, arrays of bulk strings and
// inline lines alike, in place. Limits, error texts and the small leniencies (the two bytes after a length or a body are not
// looked at) are those of Redis 7.0 networking.c, so that what one accepts the other does too.
//
// A command that arrives in pieces is resumed where it stopped: the parser keeps offsets from the first byte of the
// command, never pointers, so that the caller may move the bytes to a larger buffer in between. Each byte of a header is
// looked at once and no byte of a bulk is, however small the pieces are.

import (
	"bytes"
	"errors"
)

// Limits of a request.
const (
	// MaxInlineRequest is the longest line, and the longest length line, that may be awaited (PROTO_INLINE_MAX_SIZE of
	// Redis). A longer inline line is fine when it arrives whole.
	MaxInlineRequest = 64 << 10
	// MaxRequestArgs is the largest count of arguments: 1024*1024 was Redis's own limit up to 6.2.
	MaxRequestArgs = 1 << 20
	// MaxRequestBulk is the longest argument in bytes (proto-max-bulk-len of Redis).
	MaxRequestBulk = 512 << 20
)

// Errors of CommandParser.Next. A server sends "ERR Protocol error: " and the text, then closes.
var (
	ErrBigInline      = errors.New("too big inline request")
	ErrBigCount       = errors.New("too big mbulk count string")
	ErrBigLength      = errors.New("too big bulk count string")
	ErrCount          = errors.New("invalid multibulk length")
	ErrLength         = errors.New("invalid bulk length")
	ErrQuotes         = errors.New("unbalanced quotes in request")
	ErrUnauthCount    = errors.New("unauthenticated multibulk length")
	ErrUnauthLength   = errors.New("unauthenticated bulk length")
	errExpectedDollar = "expected '$', got '"
)

// CommandParser finds the commands of one connection. The zero value is ready.
type CommandParser struct {
	// Unauthenticated narrows the limits to 10 arguments of 16 KiB, for a client that has yet to give its password.
	Unauthenticated bool

	partial bool   // an array command is under way: the fields below count
	scanned int    // bytes of the command in which no line end was found after pos
	pos     int    // offset of the next length line or body
	left    int    // arguments to come
	length  int    // bytes of the body at pos, -1: a length line is next
	spans   []span // the arguments so far
}

// span is an argument as offsets from the first byte of the command.
type span struct{ from, to int }

// Next finds the command at the start of buf and appends its arguments to args, as slices of buf. It returns the bytes used
// up. n == 0 without an error means that the command is not complete: call again with the same bytes and more behind them.
// n > 0 with no arguments is an empty line or an empty array, which a server skips. An error is final; the arguments
// before it were handed out by earlier calls.
func (p *CommandParser) Next(buf []byte, args [][]byte) (n int, out [][]byte, err error) {
	if len(buf) == 0 {
		return 0, args, nil
	}
	if p.partial {
		return p.resume(buf, args)
	}
	if buf[0] != '*' {
		return p.inline(buf, args)
	}
	if n, out, ok := p.whole(buf, args); ok {
		p.scanned = 0
		return n, out, nil
	}
	return p.start(buf, args)
}

// Restart forgets the command under way. Its bytes must be given again, from the first.
func (p *CommandParser) Restart() { p.done() }

// Pending returns how many bytes the command under way needs at least, counted from its first byte; 0 when that is unknown.
func (p *CommandParser) Pending() int {
	if !p.partial || p.length < 0 {
		return 0
	}
	return p.pos + p.length + 2
}

// whole is the fast path: a complete command with lengths of one to three digits. Anything else is left to start.
func (p *CommandParser) whole(buf []byte, args [][]byte) (n int, out [][]byte, ok bool) {
	if len(buf) < 4 || buf[2] != '\r' || uint(buf[1]-'1') > 8 {
		return 0, args, false
	}
	count, pos := int(buf[1]-'0'), 4
	out = args
	for ; count > 0; count-- {
		length, head := shortLength(buf, pos)
		if head == 0 {
			return 0, args, false
		}
		from := pos + head
		to := from + length
		if to+2 > len(buf) {
			return 0, args, false
		}
		out = append(out, buf[from:to:to])
		pos = to + 2
	}
	return pos, out, true
}

// shortLength reads "$d\r\n", "$dd\r\n" or "$ddd\r\n" at pos; head is the bytes it takes, 0 for anything else.
func shortLength(buf []byte, pos int) (length, head int) {
	if pos+4 > len(buf) {
		return 0, 0
	}
	b := buf[pos:]
	if b[0] != '$' {
		return 0, 0
	}
	d := uint(b[1] - '0')
	if d > 9 {
		return 0, 0
	}
	if b[2] == '\r' {
		return int(d), 4
	}
	e := uint(b[2] - '0')
	if e > 9 || d == 0 || len(b) < 6 {
		return 0, 0
	}
	if b[3] == '\r' {
		return int(d*10 + e), 5
	}
	f := uint(b[3] - '0')
	if f > 9 || b[4] != '\r' {
		return 0, 0
	}
	return int(d*100 + e*10 + f), 6
}

// start reads the count line of an array.
func (p *CommandParser) start(buf []byte, args [][]byte) (int, [][]byte, error) {
	line, next, err := p.line(buf, 0, ErrBigCount)
	if next == 0 {
		return 0, args, err
	}
	count, ok := ParseInt(line[1:])
	switch {
	case !ok || count > MaxRequestArgs:
		return 0, args, ErrCount
	case count <= 0:
		return next, args, nil
	case count > 10 && p.Unauthenticated:
		return 0, args, ErrUnauthCount
	}
	p.partial, p.pos, p.left, p.length = true, next, int(count), -1
	p.spans = p.spans[:0]
	return p.resume(buf, args)
}

// resume walks on from p.pos until the command is complete or buf is used up.
func (p *CommandParser) resume(buf []byte, args [][]byte) (int, [][]byte, error) {
	for p.left > 0 {
		if p.length < 0 {
			line, next, err := p.line(buf, p.pos, ErrBigLength)
			if next == 0 {
				return 0, args, err
			}
			if p.length, err = p.bulkLength(line); err != nil {
				return 0, args, err
			}
			p.pos = next
		}
		end := p.pos + p.length
		if end+2 > len(buf) {
			return 0, args, nil
		}
		p.spans = append(p.spans, span{p.pos, end})
		p.pos, p.length = end+2, -1
		p.left--
	}
	for _, s := range p.spans {
		args = append(args, buf[s.from:s.to:s.to])
	}
	n := p.pos
	p.done()
	return n, args, nil
}

func (p *CommandParser) bulkLength(line []byte) (int, error) {
	if len(line) == 0 || line[0] != '$' {
		got := byte('\r')
		if len(line) > 0 {
			got = line[0]
		}
		return -1, errors.New(errExpectedDollar + string([]byte{got}) + "'")
	}
	length, ok := ParseInt(line[1:])
	switch {
	case !ok || length < 0 || length > MaxRequestBulk:
		return -1, ErrLength
	case length > 16<<10 && p.Unauthenticated:
		return -1, ErrUnauthLength
	}
	return int(length), nil
}

// done forgets the command and, after an uncommonly long one, its spans.
func (p *CommandParser) done() {
	p.partial, p.pos, p.scanned = false, 0, 0
	if cap(p.spans) > 1024 {
		p.spans = nil
	}
}

// line finds the line at offset from, without its CRLF; next is the offset behind it, 0 while the line is not complete.
func (p *CommandParser) line(buf []byte, from int, tooBig error) (line []byte, next int, err error) {
	look := max(from, p.scanned)
	i := bytes.IndexByte(buf[look:], '\r')
	if i < 0 {
		p.scanned = len(buf)
		if len(buf)-from > MaxInlineRequest {
			return nil, 0, tooBig
		}
		return nil, 0, nil
	}
	end := look + i
	if end+2 > len(buf) {
		p.scanned = end
		return nil, 0, nil
	}
	p.scanned = 0
	return buf[from:end], end + 2, nil
}

// inline reads a line of words. A line with quotes is copied before they are resolved, since the caller may have to parse
// it again. A line with a NUL never ends, as in Redis: so a client that speaks TLS to this port gets no reply to its bytes.
func (p *CommandParser) inline(buf []byte, args [][]byte) (int, [][]byte, error) {
	end, looked := -1, len(buf)
	if i := bytes.IndexByte(buf[p.scanned:], '\n'); i >= 0 {
		end = p.scanned + i
		looked = end
	}
	if i := bytes.IndexByte(buf[p.scanned:looked], 0); i >= 0 {
		looked, end = p.scanned+i, -1
	}
	if end < 0 {
		p.scanned = looked
		if len(buf) > MaxInlineRequest {
			return 0, args, ErrBigInline
		}
		return 0, args, nil
	}
	p.scanned = 0
	line := buf[:end]
	if end > 0 && line[end-1] == '\r' {
		line = line[:end-1]
	}
	if bytes.ContainsAny(line, "\"'") {
		line = bytes.Clone(line)
	}
	args, ok := splitWords(line, args)
	if !ok {
		return 0, args, ErrQuotes
	}
	return end + 1, args, nil
}

// ParseInt reads a decimal integer as Redis does: an optional minus, no plus, no leading zero, no blank, within 64 bits.
func ParseInt(b []byte) (n int64, ok bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var u uint64 // 19 digits fit
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		u = u*10 + d
	}
	if negative {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}
