package protocol

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

func str(k Kind, s string) Value { return Value{Kind: k, Str: s} }
func num(n int64) Value          { return Value{Kind: Integer, Int: n} }
func agg(k Kind, elems ...Value) Value {
	if elems == nil {
		elems = []Value{}
	}
	return Value{Kind: k, Elems: elems}
}

var values = []struct {
	wire string
	want Value
}{
	{"+OK\r\n", str(SimpleString, "OK")},
	{"-ERR x\r\n", str(Error, "ERR x")},
	{"-" + strings.Repeat("e", 2000) + "\r\n", str(Error, strings.Repeat("e", 2000))},
	{":-9223372036854775808\r\n", num(math.MinInt64)},
	{"$5\r\nhe\r\no\r\n", str(BulkString, "he\r\no")},
	{"$0\r\n\r\n", str(BulkString, "")},
	{"$-1\r\n", Value{Kind: BulkString, Null: true}},
	{"*-1\r\n", Value{Kind: Array, Null: true}},
	{"_\r\n", Value{Kind: Null, Null: true}},
	{"#t\r\n", Value{Kind: Bool, Int: 1}},
	{"#f\r\n", Value{Kind: Bool}},
	{",1.5\r\n", Value{Kind: Double, Str: "1.5", Float: 1.5}},
	{",-inf\r\n", Value{Kind: Double, Str: "-inf", Float: math.Inf(-1)}},
	{",1e999\r\n", Value{Kind: Double, Str: "1e999", Float: math.Inf(1)}},
	{"(-123456789012345678901234567890\r\n", str(BigNumber, "-123456789012345678901234567890")},
	{"!10\r\nERR syntax\r\n", str(BulkError, "ERR syntax")},
	{"=7\r\ntxt:abc\r\n", str(Verbatim, "abc")},
	{"*0\r\n", agg(Array)},
	{"*2\r\n$4\r\nsave\r\n$0\r\n\r\n", agg(Array, str(BulkString, "save"), str(BulkString, ""))},
	{"*2\r\n*1\r\n:1\r\n*-1\r\n", agg(Array, agg(Array, num(1)), Value{Kind: Array, Null: true})},
	{"%2\r\n+proto\r\n:3\r\n+id\r\n:7\r\n", agg(Map, str(SimpleString, "proto"), num(3), str(SimpleString, "id"), num(7))},
	{"~1\r\n:1\r\n", agg(Set, num(1))},
	{">2\r\n+invalidate\r\n*1\r\n+k\r\n", agg(Push, str(SimpleString, "invalidate"), agg(Array, str(SimpleString, "k")))},
	{"|1\r\n+ttl\r\n*1\r\n:3600\r\n+OK\r\n", str(SimpleString, "OK")},
	{"*2\r\n|1\r\n+ttl\r\n:3600\r\n:1\r\n:2\r\n", agg(Array, num(1), num(2))},
	{"|0\r\n|1\r\n+a\r\n|1\r\n+b\r\n:1\r\n:2\r\n:3\r\n", num(3)},
}

// TestParseValue has another reply behind each value, and asks for more at every cut before its end.
func TestParseValue(t *testing.T) {
	for _, tt := range values {
		wire := []byte(tt.wire + "+next\r\n")
		for cut := range len(tt.wire) {
			if n, v, err := ParseValue(wire[:cut]); n != 0 || err != nil || v.Kind != 0 {
				t.Errorf("%.60q cut at %d: %d, %v, %v", tt.wire, cut, n, v, err)
			}
		}
		n, v, err := ParseValue(wire)
		if n != len(tt.wire) || err != nil || !reflect.DeepEqual(v, tt.want) {
			t.Errorf("%.60q: %d, %+v, %v; want %d, %+v", tt.wire, n, v, err, len(tt.wire), tt.want)
		}
	}
	for _, nan := range []string{",nan\r\n", ",-nan\r\n"} {
		if n, v, err := ParseValue([]byte(nan)); n != len(nan) || !math.IsNaN(v.Float) || err != nil {
			t.Errorf("%q: %d, %v, %v", nan, n, v, err)
		}
	}
}

// TestValueParser reads two values of each row from one stream, a byte more at a time, and sees that no byte of it was
// gone over twice.
func TestValueParser(t *testing.T) {
	for _, tt := range values {
		wire := []byte(tt.wire + tt.wire)
		var p ValueParser
		from, found := 0, 0
		for end := range len(wire) + 1 {
			n, v, err := p.Parse(wire[from:end])
			if err != nil || n > 0 && !reflect.DeepEqual(v, tt.want) {
				t.Fatalf("%.60q: %+v, %v; want %+v", tt.wire, v, err, tt.want)
			}
			if n > 0 {
				from += n
				found++
			}
		}
		if found != 2 || from != len(wire) || p.dec.base != int64(len(wire)) {
			t.Errorf("%.60q: %d values, %d bytes, %d gone over", tt.wire, found, from, p.dec.base)
		}
	}
}

func TestParseValueErrors(t *testing.T) {
	for wire, want := range map[string]string{
		"hello\r\n":                      `Protocol error, got "h" as reply type byte (byte 0)`,
		"*2\r\n:1\r\n:x\r\n":             "Bad integer value (byte 9)",
		"*134217728\r\n*134217728\r\n,x": "Bad double value (byte 25)",
		strings.Repeat("*1\r\n", 200000): "Reply exceeds the max nesting depth of 1024 (byte 4096)",
	} {
		if n, v, err := ParseValue([]byte(wire)); n != 0 || v.Kind != 0 || err == nil || err.Error() != want {
			t.Errorf("%.40q: %d, %v, %v; want %s", wire, n, v, err, want)
		}
	}
}

// TestValueIsACopy overwrites the buffer after the value was read.
func TestValueIsACopy(t *testing.T) {
	wire := []byte("*2\r\n$5\r\nhello\r\n+OK\r\n")
	_, v, _ := ParseValue(wire)
	clear(wire)
	if v.Elems[0].Str != "hello" || v.Elems[1].Str != "OK" {
		t.Errorf("the value changed with the buffer: %+v", v)
	}
}

func TestIsError(t *testing.T) {
	for wire, want := range map[string]bool{
		"-ERR\r\n": true, "!3\r\nERR\r\n": true, "+ERR\r\n": false, "*1\r\n-ERR\r\n": false, "$3\r\nERR\r\n": false,
	} {
		var d Decoder
		d.Next([]byte(wire))
		_, v, _ := ParseValue([]byte(wire))
		if d.Reply().IsError() != want || v.IsError() != want {
			t.Errorf("%q: %v, %v; want %v", wire, d.Reply().IsError(), v.IsError(), want)
		}
	}
}
