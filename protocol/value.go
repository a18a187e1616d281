package protocol

import (
	"bytes"
	"math"
	"strconv"
)

// Value is a whole reply with its contents, for the few commands whose answer matters (INFO, CONFIG GET, HELLO, CLUSTER
// SHARDS). It is a copy: it does not refer to the bytes it was read from.
type Value struct {
	Kind  Kind
	Null  bool    // $-1, *-1 or _
	Int   int64   // of ':' the value; of '#' 1 or 0
	Float float64 // of ',' the value
	Str   string  // of '+', '-', '$', '!', '(' and ',' the text; of '=' the text after its format
	Elems []Value // of an aggregate; of a map key, value, key, value, ...
}

// IsError tells whether the value as a whole is an error.
func (v *Value) IsError() bool { return v.Kind == Error || v.Kind == BulkError }

// ParseValue reads the reply at the start of buf and returns how many bytes it has. Without an error n = 0 means that
// it is not whole yet. Attributes are left out; a push message is returned as a value of kind Push. The error is a
// *SyntaxError, and its offset counts from the start of buf.
//
// Each call starts from the beginning of the reply: a ValueParser does not, where it may be large.
func ParseValue(buf []byte) (n int, v Value, err error) {
	var p ValueParser
	return p.Parse(buf)
}

// ValueParser reads values from one stream. It goes over each byte once to find the end of a value, however small the
// pieces are in which a large one comes, and once more to make it. The zero value is ready.
type ValueParser struct {
	dec  Decoder
	seen int // bytes of the value that have been gone over
}

// Parse is ParseValue for a buffer that is the value as far as it has come: the next call sees the same bytes again,
// and more of them, until the value is whole. The offset of an error counts from the start of the stream.
func (p *ValueParser) Parse(buf []byte) (n int, v Value, err error) {
	n, ev, err := p.dec.Next(buf[p.seen:])
	p.seen += n
	if err != nil || ev == None {
		return 0, Value{}, err
	}
	n, p.seen = p.seen, 0
	v, _ = build(buf[:n])
	return n, v, nil
}

// Offset is how many bytes of the stream have been gone over, those of a value that is not whole yet too.
func (p *ValueParser) Offset() int64 { return p.dec.Offset() }

// build makes the value at the start of buf, which the decoder has proved, and returns the bytes after it. The decoder's
// limits bound the recursion and, since every element has come, the size of Elems.
func build(buf []byte) (Value, []byte) {
	kind := Kind(buf[0])
	end := bytes.IndexByte(buf, '\r')
	line, rest := buf[1:end], buf[end+2:]
	v := Value{Kind: kind}
	switch kind {
	case SimpleString, Error, BigNumber:
		v.Str = string(line)
	case Integer:
		v.Int = atoi(line)
	case Null:
		v.Null = true
	case Bool:
		if line[0] == 't' {
			v.Int = 1
		}
	case Double:
		v.Str = string(line)
		v.Float = parseDouble(v.Str)
	case BulkString, BulkError, Verbatim:
		return buildBulk(v, atoi(line), rest)
	case Attribute:
		for range 2 * atoi(line) {
			_, rest = build(rest)
		}
		return build(rest)
	default:
		return buildAggregate(v, atoi(line), rest)
	}
	return v, rest
}

func buildBulk(v Value, n int64, rest []byte) (Value, []byte) {
	if n < 0 {
		v.Null = true
		return v, rest
	}
	body := rest[:n]
	if v.Kind == Verbatim {
		body = body[len("txt:"):]
	}
	v.Str = string(body)
	return v, rest[n+2:]
}

func buildAggregate(v Value, n int64, rest []byte) (Value, []byte) {
	if n < 0 {
		v.Null = true
		return v, rest
	}
	if v.Kind == Map {
		n *= 2
	}
	v.Elems = make([]Value, n)
	for i := range v.Elems {
		v.Elems[i], rest = build(rest)
	}
	return v, rest
}

// atoi reads a number that the decoder has proved.
func atoi(b []byte) int64 {
	n, _ := strconv.ParseInt(string(b), 10, 64)
	return n
}

// parseDouble reads a double that the decoder has proved; one too large for 64 bits is an infinity.
func parseDouble(s string) float64 {
	if s == "-nan" {
		return math.NaN()
	}
	f, _ := strconv.ParseFloat(s, 64)
	return f
}
