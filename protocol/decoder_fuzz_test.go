package protocol

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func addReplies(f *testing.F, add func(wire []byte)) {
	f.Helper()
	for _, r := range replies {
		if len(r.wire) < 300 {
			add([]byte(r.wire))
		}
	}
	add([]byte(strings.Repeat("+OK\r\n", 20) + strings.Repeat("$3\r\nabc\r\n", 9) + ":1\r\n:2\r\n:13\r\n-ERR x\r\n"))
	add([]byte("*3\r\n$3\r\nabc\r\n$3\r\nabc\r\n$3\r\nabc\r\n*2\r\n%1\r\n+a\r\n~1\r\n_\r\n,1.5\r\n|1\r\n#t\r\n(1\r\n=4\r\ntxt:\r\n"))
	add([]byte(strings.Repeat("*1\r\n", 1025)))
}

// FuzzSplit: however a stream is cut, the decoder sees the same.
func FuzzSplit(f *testing.F) {
	addReplies(f, func(wire []byte) { f.Add(wire, uint16(len(wire)/3), uint16(len(wire)/2), false) })
	addReplies(f, func(wire []byte) { f.Add(wire, uint16(1), uint16(len(wire)-1), true) })
	f.Fuzz(func(t *testing.T, wire []byte, a, b uint16, bodies bool) {
		read := func(cuts ...int) string {
			w := walker{d: Decoder{Bodies: bodies}}
			return w.walk(wire, cuts...)
		}
		whole := read()
		if got := read(everyByte(len(wire))...); got != whole {
			t.Errorf("a byte at a time:\n%s\nwhole:\n%s", got, whole)
		}
		lo, hi := min(a, b), max(a, b)
		if int(hi) <= len(wire) {
			if got := read(int(lo), int(hi)); got != whole {
				t.Errorf("cut at %d and %d:\n%s\nwhole:\n%s", lo, hi, got, whole)
			}
		}
	})
}

// integers finds the events of positive integers: Run tells how many digits they had, not which.
var integers = regexp.MustCompile(`(^|; ): \d+`)

func digitsOnly(events string) string {
	return integers.ReplaceAllStringFunc(events, func(s string) string {
		head, digits, _ := strings.Cut(s, ": ")
		return head + ": " + strings.Repeat("d", len(digits))
	})
}

// FuzzRunInStream: with Run before each Next, in buffers of any size, a stream has the same events as without.
func FuzzRunInStream(f *testing.F) {
	addReplies(f, func(wire []byte) { f.Add(wire, uint8(3), uint16(len(wire)/2)) })
	f.Fuzz(func(t *testing.T, wire []byte, max uint8, cut uint16) {
		var slow, fast walker
		fast.run = int(max)
		want := slow.walk(wire, everyByte(len(wire))...)
		got := fast.walk(wire, min(int(cut), len(wire)))
		if digitsOnly(got) != digitsOnly(want) {
			t.Errorf("with Run:\n%s\nwithout:\n%s", got, want)
		}
	})
}

// FuzzParseValue: ParseValue takes what the decoder takes, and refuses what it refuses, for the same reason.
func FuzzParseValue(f *testing.F) {
	addReplies(f, func(wire []byte) { f.Add(wire) })
	f.Fuzz(func(t *testing.T, wire []byte) {
		var d Decoder
		n, ev, err := d.Next(wire)
		if ev == None {
			n = 0
		}
		gotN, v, gotErr := ParseValue(wire)
		if gotN != n || !reflect.DeepEqual(gotErr, err) {
			t.Fatalf("ParseValue = %d, %v; the decoder has %d, %v", gotN, gotErr, n, err)
		}
		if n > 0 && (v.Kind != d.Reply().Kind || v.Null != d.Reply().Null || v.IsError() != d.Reply().IsError()) {
			t.Fatalf("ParseValue has %+v, the decoder %+v", v, *d.Reply())
		}
	})
}

// FuzzRoundTrip: what the encoders of this package write, the decoder reads back. The fuzzer's bytes choose the value.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x05\x03\x00\x03abc\x02\x00\x00\x00\x00\x00\x00\x00\x07\x06"))
	f.Add([]byte("\x0b\x02\x00\x02ab\x07\x01\x08\x00\x00\x00\x00\x00\x00\xf8\x3f"))
	f.Add([]byte("\x0c\x01\x0d\x01\x0b\x01\x09\x03123\x0a\x03abc"))
	f.Fuzz(func(t *testing.T, choice []byte) {
		g := generator{choice}
		want := g.value(0, true)
		wire := appendValue(nil, want)
		n, got, err := ParseValue(append(wire, "+OK\r\n"...))
		if n != len(wire) || err != nil || !sameValue(got, want) {
			t.Errorf("%q is read as %d bytes, %+v, %v; want %d bytes, %+v", wire, n, got, err, len(wire), want)
		}
		var w walker
		if events := w.walk(wire, everyByte(len(wire))...); len(w.out) != 1 || strings.Contains(events, "error:") {
			t.Errorf("%q gives %s", wire, events)
		}
	})
}

// A generator turns bytes into a value; when they are used up it makes nulls.
type generator struct{ choice []byte }

func (g *generator) byte() byte {
	if len(g.choice) == 0 {
		return 0
	}
	c := g.choice[0]
	g.choice = g.choice[1:]
	return c
}

func (g *generator) int64() (n int64) {
	for range 8 {
		n = n<<8 | int64(g.byte())
	}
	return n
}

func (g *generator) string() string {
	n := min(int(g.byte()), len(g.choice))
	s := string(g.choice[:n])
	g.choice = g.choice[n:]
	return s
}

// line is a string without line ends, which a simple string cannot carry.
func (g *generator) line() string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(g.string())
}

func (g *generator) value(depth int, top bool) Value {
	switch g.byte() % 14 {
	case 1:
		return Value{Kind: SimpleString, Str: g.line()}
	case 2:
		return Value{Kind: Integer, Int: g.int64()}
	case 3:
		return Value{Kind: BulkString, Str: g.string()}
	case 4:
		return Value{Kind: BulkString, Null: true}
	case 5:
		return g.aggregate(Array, depth)
	case 6:
		return Value{Kind: Array, Null: true}
	case 7:
		return Value{Kind: Bool, Int: int64(g.byte() & 1)}
	case 8:
		return Value{Kind: Double, Float: math.Float64frombits(uint64(g.int64()))}
	case 9:
		return Value{Kind: Error, Str: g.line()}
	case 10:
		return Value{Kind: Verbatim, Str: g.string()}
	case 11:
		return g.aggregate(Map, depth)
	case 12:
		return g.aggregate(Set, depth)
	case 13:
		if top {
			return g.aggregate(Push, depth)
		}
	}
	return Value{Kind: Null, Null: true}
}

func (g *generator) aggregate(k Kind, depth int) Value {
	v := Value{Kind: k}
	n := int(g.byte() % 5)
	if depth > 20 {
		n = 0
	}
	if k == Map {
		n *= 2
	}
	for range n {
		v.Elems = append(v.Elems, g.value(depth+1, false))
	}
	return v
}

func appendValue(dst []byte, v Value) []byte {
	switch v.Kind {
	case SimpleString:
		return AppendSimple(dst, v.Str)
	case Error:
		return AppendError(dst, v.Str)
	case Integer:
		return AppendInt(dst, v.Int)
	case Bool:
		return AppendBool(dst, v.Int == 1)
	case Double:
		return AppendDouble(dst, v.Float)
	case Verbatim:
		return AppendVerbatim(dst, "txt", v.Str)
	case Null:
		return AppendNull(dst)
	case BulkString:
		if v.Null {
			return AppendNullBulk(dst)
		}
		return AppendBulkString(dst, v.Str)
	}
	if v.Null {
		return AppendNullArray(dst)
	}
	switch v.Kind {
	case Map:
		dst = AppendMap(dst, len(v.Elems)/2)
	case Set:
		dst = AppendSet(dst, len(v.Elems))
	case Push:
		dst = AppendPush(dst, len(v.Elems))
	default:
		dst = AppendArray(dst, len(v.Elems))
	}
	for _, e := range v.Elems {
		dst = appendValue(dst, e)
	}
	return dst
}

// sameValue compares what was read with what was written: the text of a double is the encoder's choice, and one not a
// number is as good as another.
func sameValue(got, want Value) bool {
	if got.Kind != want.Kind || got.Null != want.Null || got.Int != want.Int || len(got.Elems) != len(want.Elems) {
		return false
	}
	if got.Kind == Double {
		return got.Float == want.Float || math.IsNaN(got.Float) && math.IsNaN(want.Float)
	}
	for i := range got.Elems {
		if !sameValue(got.Elems[i], want.Elems[i]) {
			return false
		}
	}
	return got.Str == want.Str
}
