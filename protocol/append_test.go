package protocol

import (
	"math"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"command", AppendCommand(nil, "SET", "k", ""), "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n"},
		{"command bytes", AppendCommandBytes(nil, []byte("GET"), []byte("a\x00b")), "*2\r\n$3\r\nGET\r\n$3\r\na\x00b\r\n"},
		{"no arguments", AppendCommand(nil), "*0\r\n"},
		{"array", AppendArray([]byte("x"), 1024), "x*1024\r\n"},
		{"map", AppendMap(nil, 3), "%3\r\n"},
		{"set", AppendSet(nil, 10), "~10\r\n"},
		{"push", AppendPush(nil, 99), ">99\r\n"},
		{"int", AppendInt(nil, 100), ":100\r\n"},
		{"int, negative", AppendInt(nil, -7), ":-7\r\n"},
		{"int, smallest", AppendInt(nil, math.MinInt64), ":-9223372036854775808\r\n"},
		{"bulk", AppendBulk(nil, []byte("\r\n\r\n")), "$4\r\n\r\n\r\n\r\n"},
		{"bulk int", AppendBulkInt(nil, -12), "$3\r\n-12\r\n"},
		{"simple", AppendSimple(nil, "OK"), "+OK\r\n"},
		{"simple with line ends", AppendSimple(nil, "a\r\nb"), "+a  b\r\n"},
		{"error with line ends", AppendError(nil, "ERR a\nb"), "-ERR a b\r\n"},
		{"null", AppendNull(nil), "_\r\n"},
		{"null bulk", AppendNullBulk(nil), "$-1\r\n"},
		{"null array", AppendNullArray(nil), "*-1\r\n"},
		{"true", AppendBool(nil, true), "#t\r\n"},
		{"false", AppendBool(nil, false), "#f\r\n"},
		{"double", AppendDouble(nil, 0.5), ",0.5\r\n"},
		{"double, whole", AppendDouble(nil, 12), ",12\r\n"},
		{"double, 17 digits", AppendDouble(nil, 0.1), ",0.10000000000000001\r\n"},
		{"double, minus zero", AppendDouble(nil, math.Copysign(0, -1)), ",-0\r\n"},
		{"double, inf", AppendDouble(nil, math.Inf(-1)), ",-inf\r\n"},
		{"double, nan", AppendDouble(nil, math.NaN()), ",nan\r\n"},
		{"double, large", AppendDouble(nil, 1e300), ",1.0000000000000001e+300\r\n"},
		{"big number", AppendBigNumber(nil, "123456789012345678901"), "(123456789012345678901\r\n"},
		{"verbatim", AppendVerbatim(nil, "txt", "hi"), "=6\r\ntxt:hi\r\n"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 256)
	value := []byte("0123456789012345678901234567890123456789")
	if n := testing.AllocsPerRun(100, func() {
		dst = AppendInt(AppendBulk(AppendArray(dst[:0], 2), value), 123456789)
		dst = AppendBulkInt(AppendDouble(AppendSimple(dst, "OK"), 1.25), 77)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
