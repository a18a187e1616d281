package protocol

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A walker reads a stream through one decoder and tells what it saw in a form to read and to compare, an event a string:
//
//   - OK              a simple string; kinds with a text show it
//     : 12              an integer, a bool or an aggregate: Int
//     $ 5               a bulk string: Len, with Bodies also the body; "$ null" for a null
//     push > 2          a push
//     error: ... (byte 3)
//     more              the stream ended inside a reply
type walker struct {
	d    Decoder
	run  int // the most replies to ask Run for before each Next; 0: never
	body []byte
	out  []string
}

func walk(stream []byte, cuts ...int) string {
	var w walker
	return w.walk(stream, cuts...)
}

// walk cuts the stream at the given places. Every part is a slice of its own without capacity behind it.
func (w *walker) walk(stream []byte, cuts ...int) string {
	from := 0
	for _, cut := range append(cuts, len(stream)) {
		if !w.part(stream[from:cut:cut]) {
			return strings.Join(w.out, "; ")
		}
		from = cut
	}
	if !w.d.Idle() {
		w.out = append(w.out, "more")
	}
	return strings.Join(w.out, "; ")
}

// part reads one buffer and tells whether the stream can go on.
func (w *walker) part(buf []byte) bool {
	for len(buf) > 0 {
		if n, k := w.d.Run(buf, w.run); k > 0 {
			for range k {
				w.complete()
			}
			buf = buf[n:]
			continue
		}
		n, ev, err := w.d.Next(buf)
		switch {
		case err != nil:
			w.out = append(w.out, "error: "+err.Error())
			return false
		case ev == Complete:
			w.complete()
		case ev == Pushed:
			w.out = append(w.out, "push "+describe(w.d.Reply()))
		case ev == Body:
			if len(w.d.Piece()) == 0 || w.d.PieceOffset() != int64(len(w.body)) {
				w.out = append(w.out, fmt.Sprintf("piece of %d at %d, want %d", len(w.d.Piece()), w.d.PieceOffset(), len(w.body)))
			}
			w.body = append(w.body, w.d.Piece()...)
		case n != len(buf):
			w.out = append(w.out, fmt.Sprintf("None after %d of %d bytes", n, len(buf)))
			return false
		}
		buf = buf[n:]
	}
	return true
}

func (w *walker) complete() {
	s := describe(w.d.Reply())
	if w.d.Bodies && w.d.Reply().Kind == BulkString && !w.d.Reply().Null {
		s += " " + string(w.body)
		w.body = w.body[:0]
	}
	if text, within := w.d.InnerError(); within {
		s += " with - " + string(text)
	}
	w.out = append(w.out, s)
}

func describe(r *Reply) string {
	switch {
	case r.Null:
		return r.Kind.String() + " null"
	case r.Kind == BulkError:
		return fmt.Sprintf("! %d %s", r.Len, r.Text)
	case r.isText():
		return fmt.Sprintf("%s %s", r.Kind, r.Text)
	case r.Kind == BulkString || r.Kind == Verbatim:
		return fmt.Sprintf("%s %d", r.Kind, r.Len)
	}
	return fmt.Sprintf("%s %d", r.Kind, r.Int)
}

var replies = []struct {
	name, wire string
	want       string // events joined by "; "
}{
	{"simple string", "+OK\r\n", "+ OK"},
	{"empty simple string", "+\r\n", "+ "},
	{"simple string of 6", "+QUEUED\r\n", "+ QUEUED"},
	{"simple string of 7", "+LOADING\r\n", "+ LOADING"},
	{"simple string of 21", "+" + strings.Repeat("a", 21) + "\r\n", "+ " + strings.Repeat("a", 21)},
	{"simple string of 22", "+" + strings.Repeat("a", 22) + "\r\n", "+ " + strings.Repeat("a", 22)},
	{"simple string cut at the limit", "+" + strings.Repeat("a", 5000) + "\r\n+OK\r\n",
		"+ " + strings.Repeat("a", MaxKeptText) + "; + OK"},
	{"error", "-ERR x\r\n", "- ERR x"},
	{"empty error", "-\r\n", "- "},
	{"long error", "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
		"- OOM command not allowed when used memory > 'maxmemory'."},
	{"error of 70000 bytes", "-ERR " + strings.Repeat("x", 70000) + "\r\n:1\r\n",
		"- ERR " + strings.Repeat("x", MaxKeptText-4) + "; : 1"},

	{"integer", ":12\r\n", ": 12"},
	{"zero", ":0\r\n", ": 0"},
	{"negative", ":-1\r\n", ": -1"},
	{"6 digits", ":123456\r\n", ": 123456"},
	{"7 digits", ":1234567\r\n", ": 1234567"},
	{"10 digits", ":1234567890\r\n", ": 1234567890"},
	{"highest integer", ":9223372036854775807\r\n", ": 9223372036854775807"},
	{"lowest integer", ":-9223372036854775808\r\n", ": -9223372036854775808"},
	{"integer too high", ":9223372036854775808\r\n", "error: Bad integer value (byte 19)"},
	{"integer too low", ":-9223372036854775809\r\n", "error: Bad integer value (byte 20)"},
	{"integer of 20 digits", ":18446744073709551616\r\n", "error: Bad integer value (byte 20)"},
	{"junk after digits", ":12x\r\n", "error: Bad integer value (byte 3)"},
	{"plus sign", ":+5\r\n", "error: Bad integer value (byte 1)"},
	{"no digits", ":\r\n", "error: Bad integer value (byte 1)"},
	{"sign alone", ":-\r\n", "error: Bad integer value (byte 2)"},
	{"two signs", ":--1\r\n", "error: Bad integer value (byte 2)"},
	{"minus zero", ":-0\r\n", "error: Bad integer value (byte 2)"},
	{"leading zero", ":05\r\n", "error: Bad integer value (byte 2)"},
	{"fraction", ":1.5\r\n", "error: Bad integer value (byte 2)"},
	{"question mark", ":?\r\n", "error: Bad integer value (byte 1)"},
	{"character after 9", "::\r\n", "error: Bad integer value (byte 1)"},
	{"character before 0", ":1/\r\n", "error: Bad integer value (byte 2)"},
	{"integer without LF", ":1\r+OK\r\n", "error: Reply line not ended by CRLF (byte 3)"},
	{"integer without CR", ":1\n", "error: Bad integer value (byte 2)"},

	{"bulk string", "$5\r\nhello\r\n", "$ 5"},
	{"bulk of one byte", "$1\r\na\r\n:7\r\n", "$ 1; : 7"},
	{"empty bulk, then a reply", "$0\r\n\r\n:7\r\n", "$ 0; : 7"},
	{"bulk with line ends and type bytes inside", "$11\r\n\r\n+OK\r\n$5\r\n\r\n+OK\r\n", "$ 11; + OK"},
	{"null bulk", "$-1\r\n:7\r\n", "$ null; : 7"},
	{"bulk of 300000", "$300000\r\n" + strings.Repeat("v", 300000) + "\r\n+OK\r\n", "$ 300000; + OK"},
	{"two spare bytes where CRLF belongs", "$3\r\nabcXX+OK\r\n", "error: Bulk string not ended by CRLF (byte 7)"},
	{"body longer than its length", "$3\r\nabcd\r\n", "error: Bulk string not ended by CRLF (byte 7)"},
	{"body ended by LF", "$3\r\nabc\n+OK\r\n", "error: Bulk string not ended by CRLF (byte 7)"},
	{"body ended by CR", "$3\r\nabc\r+OK\r\n", "error: Bulk string not ended by CRLF (byte 8)"},
	{"empty body not ended", "$0\r\n+OK\r\n", "error: Bulk string not ended by CRLF (byte 4)"},
	{"length -2", "$-2\r\n", "error: Bulk string length out of range (byte 3)"},
	{"lowest length", "$-9223372036854775808\r\n", "error: Bulk string length out of range (byte 21)"},
	{"length of 512 MB", "$536870912\r\nab", "more"},
	{"length over 512 MB", "$536870913\r\n", "error: Bulk string length out of range (byte 10)"},
	{"length 2^32, which wraps to 0", "$4294967296\r\n\r\n+INJ\r\n", "error: Bulk string length out of range (byte 11)"},
	{"length near 2^63", "$9223372036854775806\r\n", "error: Bulk string length out of range (byte 20)"},
	{"length 2^63-1", "$9223372036854775807\r\n", "error: Bulk string length out of range (byte 20)"},
	{"length 2^64+5", "$18446744073709551621\r\n", "error: Bad bulk string length (byte 20)"},
	{"colon as digit 10", "$0:\r\n", "error: Bad bulk string length (byte 2)"},
	{"length with a leading zero", "$05\r\nhello\r\n", "error: Bad bulk string length (byte 2)"},
	{"length with a plus sign", "$+5\r\nhello\r\n", "error: Bad bulk string length (byte 1)"},
	{"length -0", "$-0\r\n\r\n", "error: Bad bulk string length (byte 2)"},
	{"length -01", "$-01\r\n", "error: Bad bulk string length (byte 2)"},
	{"no length", "$\r\n", "error: Bad bulk string length (byte 1)"},
	{"space before the length", "$ 5\r\nhello\r\n", "error: Bad bulk string length (byte 1)"},
	{"length ended by LF", "$5\nhello\r\n", "error: Bad bulk string length (byte 2)"},
	{"length ended by CR", "$5\rhello\r\n", "error: Reply line not ended by CRLF (byte 3)"},

	{"array", "*2\r\n+a\r\n:1\r\n", "* 2"},
	{"empty array", "*0\r\n+OK\r\n", "* 0; + OK"},
	{"null array", "*-1\r\n+OK\r\n", "* null; + OK"},
	{"array of a null and an error is no error", "*2\r\n$-1\r\n-ERR x\r\n", "* 2 with - ERR x"},
	{"four values", "+OK\r\n$5\r\nhello\r\n:12\r\n*2\r\n$-1\r\n-ERR x\r\n", "+ OK; $ 5; : 12; * 2 with - ERR x"},
	{"the first of two inner errors", "*3\r\n-ERR a\r\n-ERR b\r\n:1\r\n+OK\r\n", "* 3 with - ERR a; + OK"},
	{"long inner error", "*2\r\n-WRONGTYPE Operation against a key\r\n!5\r\nERR x\r\n:1\r\n", "* 2 with - WRONGTYPE Operation against a key; : 1"},
	{"inner bulk error", "*2\r\n!5\r\nERR x\r\n-ERR\r\n*1\r\n:1\r\n", "* 2 with - ERR x; * 1"},
	{"inner error of more than is kept", "*1\r\n-" + strings.Repeat("x", 2*MaxKeptText) + "\r\n+OK\r\n", "* 1 with - " + strings.Repeat("x", MaxKeptText) + "; + OK"},
	{"error two levels down", "%1\r\n+a\r\n*2\r\n*1\r\n-E\r\n:1\r\n:7\r\n", "% 1 with - E; : 7"},
	{"empty inner error", "*1\r\n-\r\n*0\r\n", "* 1 with - ; * 0"},
	{"error in an attribute", "|1\r\n+a\r\n-ERR x\r\n*1\r\n:1\r\n", "* 1"},
	{"error in a push", ">1\r\n-ERR x\r\n+OK\r\n", "push > 1; + OK"},
	{"nested arrays", "*3\r\n*2\r\n:1\r\n*0\r\n*-1\r\n*1\r\n*1\r\n$3\r\nabc\r\n:9\r\n", "* 3; : 9"},
	{"equal elements", "*6\r\n$3\r\nabc\r\n$3\r\ndef\r\n$3\r\nghi\r\n$-1\r\n$3\r\njkl\r\n$3\r\nmno\r\n+OK\r\n", "* 6; + OK"},
	{"equal bulks go on after the array", "*2\r\n$3\r\nabc\r\n$3\r\ndef\r\n$3\r\nghi\r\n", "* 2; $ 3"},
	{"bad terminator of an element", "*3\r\n$3\r\nabc\r\n$3\r\nabcde", "error: Bulk string not ended by CRLF (byte 20)"},
	{"array cut", "*2\r\n+a\r\n", "more"},
	{"array count -2", "*-2\r\n", "error: Multi-bulk length out of range (byte 3)"},
	{"array count 2^32", "*4294967296\r\n", "error: Multi-bulk length out of range (byte 11)"},
	{"array count 2^31-1", "*2147483647\r\n", "error: Multi-bulk length out of range (byte 11)"},
	{"highest array count", "*134217728\r\n:1\r\n", "more"},
	{"array count over the highest", "*134217729\r\n:1\r\n", "error: Multi-bulk length out of range (byte 10)"},
	{"map count over the highest", "%134217729\r\n", "error: Multi-bulk length out of range (byte 10)"},
	{"array count 2^63", "*9223372036854775808\r\n", "error: Bad multi-bulk length (byte 19)"},
	{"array count with junk", "*1x\r\n", "error: Bad multi-bulk length (byte 2)"},
	{"no array count", "*\r\n", "error: Bad multi-bulk length (byte 1)"},
	{"unknown type inside an array", "*2\r\n:1\r\nx\r\n", "error: Protocol error, got \"x\" as reply type byte (byte 8)"},

	{"null", "_\r\n:7\r\n", "_ null; : 7"},
	{"null with text", "_x\r\n", "error: Bad nil value (byte 1)"},
	{"true", "#t\r\n", "# 1"},
	{"false", "#f\r\n", "# 0"},
	{"neither", "#x\r\n", "error: Bad bool value (byte 1)"},
	{"empty bool", "#\r\n", "error: Bad bool value (byte 1)"},
	{"long bool", "#tt\r\n", "error: Bad bool value (byte 2)"},
	{"double", ",1.5\r\n", ", 1.5"},
	{"double with exponent", ",1e3\r\n", ", 1e3"},
	{"double with everything", ",-12.75E+10\r\n", ", -12.75E+10"},
	{"double of an integer", ",+10\r\n", ", +10"},
	{"infinity", ",inf\r\n", ", inf"},
	{"minus infinity", ",-inf\r\n", ", -inf"},
	{"not a number", ",nan\r\n", ", nan"},
	{"infinity in capitals", ",-INF\r\n", ", -INF"},
	{"not a number in capitals", ",NaN\r\n", ", NaN"},
	{"not a number as C prints it", ",-nan\r\n", ", -nan"},
	{"empty double", ",\r\n", "error: Bad double value (byte 1)"},
	{"double without digits", ",.5\r\n", "error: Bad double value (byte 1)"},
	{"double cut after the point", ",1.\r\n", "error: Bad double value (byte 3)"},
	{"double cut after e", ",1e\r\n", "error: Bad double value (byte 3)"},
	{"double cut after e+", ",1e+\r\n", "error: Bad double value (byte 4)"},
	{"double with two points", ",1.2.3\r\n", "error: Bad double value (byte 4)"},
	{"double in words", ",infinity\r\n", "error: Bad double value (byte 4)"},
	{"double with plus infinity", ",+inf\r\n", "error: Bad double value (byte 2)"},
	{"double in hexadecimal", ",0x1p3\r\n", "error: Bad double value (byte 2)"},
	{"double ended by LF", ",1\n", "error: Bad double value (byte 2)"},
	{"big number", "(3492890328409238509324850943850943825024385\r\n", "( 3492890328409238509324850943850943825024385"},
	{"negative big number", "(-1\r\n", "( -1"},
	{"empty big number", "(\r\n", "error: Bad bignum value (byte 1)"},
	{"big number of a sign", "(-\r\n", "error: Bad bignum value (byte 2)"},
	{"big number with junk", "(12a\r\n", "error: Bad bignum value (byte 3)"},
	{"bulk error", "!10\r\nERR syntax\r\n+OK\r\n", "! 10 ERR syntax; + OK"},
	{"empty bulk error", "!0\r\n\r\n", "! 0 "},
	{"long bulk error", "!70000\r\n" + strings.Repeat("e", 70000) + "\r\n", "! 70000 " + strings.Repeat("e", MaxKeptText)},
	{"null bulk error", "!-1\r\n", "error: Bulk string length out of range (byte 3)"},
	{"verbatim string", "=7\r\ntxt:abc\r\n:1\r\n", "= 7; : 1"},
	{"empty verbatim string", "=4\r\ntxt:\r\n:1\r\n", "= 4; : 1"},
	{"verbatim string without format", "=3\r\nabc\r\n",
		"error: Verbatim string 4 bytes of content type are missing or incorrectly encoded (byte 2)"},
	{"verbatim string without colon", "=7\r\ntxt abc\r\n",
		"error: Verbatim string 4 bytes of content type are missing or incorrectly encoded (byte 7)"},
	{"verbatim string with a short format", "=7\r\nab:cdef\r\n",
		"error: Verbatim string 4 bytes of content type are missing or incorrectly encoded (byte 6)"},
	{"null verbatim string", "=-1\r\n", "error: Bulk string length out of range (byte 3)"},
	{"map", "%1\r\n+a\r\n:1\r\n:7\r\n", "% 1; : 7"},
	{"empty map", "%0\r\n", "% 0"},
	{"map count -1", "%-1\r\n", "error: Multi-bulk length out of range (byte 3)"},
	{"set", "~1\r\n:1\r\n:7\r\n", "~ 1; : 7"},
	{"set count -1", "~-1\r\n", "error: Multi-bulk length out of range (byte 3)"},

	{"push before the reply", ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n+OK\r\n", "push > 3; + OK"},
	{"push after the reply", "+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n", "+ OK; push > 2"},
	{"empty push", ">0\r\n+OK\r\n", "push > 0; + OK"},
	{"push count -1", ">-1\r\n", "error: Multi-bulk length out of range (byte 3)"},
	{"push inside an array", "*2\r\n:1\r\n>1\r\n:1\r\n", "error: Push message inside another reply (byte 8)"},
	{"push inside a push", ">1\r\n>0\r\n", "error: Push message inside another reply (byte 4)"},
	{"push inside an attribute", "|1\r\n+a\r\n>0\r\n+OK\r\n", "error: Push message inside another reply (byte 8)"},

	{"attribute", "|1\r\n+ttl\r\n:3600\r\n+OK\r\n", "+ OK"},
	{"attribute of a bulk string", "|1\r\n+ttl\r\n:3600\r\n$3\r\nabc\r\n:7\r\n", "$ 3; : 7"},
	{"empty attribute", "|0\r\n+OK\r\n", "+ OK"},
	{"two attributes", "|1\r\n+a\r\n:1\r\n|1\r\n+b\r\n*1\r\n:2\r\n:5\r\n", ": 5"},
	{"attribute before an element", "*2\r\n|1\r\n+a\r\n:1\r\n:5\r\n:6\r\n+OK\r\n", "* 2; + OK"},
	{"attribute before the last element", "*1\r\n|1\r\n+a\r\n:1\r\n:5\r\n+OK\r\n", "* 1; + OK"},
	{"attribute inside an attribute", "|1\r\n+a\r\n|1\r\n+b\r\n:2\r\n:1\r\n+OK\r\n", "+ OK"},
	{"attribute of a push", "|1\r\n+a\r\n:1\r\n>1\r\n:2\r\n+OK\r\n", "push > 1; + OK"},
	{"attribute without a reply", "|1\r\n+a\r\n:1\r\n", "more"},
	{"attribute count -1", "|-1\r\n", "error: Multi-bulk length out of range (byte 3)"},

	{"streamed string", "$?\r\n;3\r\nabc\r\n;0\r\n", "error: Streamed strings and aggregates are not supported (byte 1)"},
	{"streamed array", "*?\r\n:1\r\n.\r\n", "error: Streamed strings and aggregates are not supported (byte 1)"},
	{"HTTP", "HTTP/1.1 400 Bad Request\r\n\r\n", "error: Protocol error, got \"H\" as reply type byte (byte 0)"},
	{"text", "hello\r\n", "error: Protocol error, got \"h\" as reply type byte (byte 0)"},
	{"empty line", "\r\n", "error: Protocol error, got \"\\r\" as reply type byte (byte 0)"},
	{"byte over 127", "\xf0", "error: Protocol error, got \"\\xf0\" as reply type byte (byte 0)"},
	{"zero byte", "\x00", "error: Protocol error, got \"\\x00\" as reply type byte (byte 0)"},
	{"error after replies", "+OK\r\n+OK\r\n:1\r\nx", "+ OK; + OK; : 1; error: Protocol error, got \"x\" as reply type byte (byte 14)"},
	{"line ended by LF", "+OK\n+OK\r\n", "error: Reply line not ended by CRLF (byte 3)"},
	{"line ended by CR", "+OK\r+OK\r\n", "error: Reply line not ended by CRLF (byte 4)"},
	{"LF before CR", "+O\nK\r\n", "error: Reply line not ended by CRLF (byte 2)"},
	{"LF in a long line", "+a long line that ends\n+OK\r\n", "error: Reply line not ended by CRLF (byte 22)"},
	{"simple string cut before LF", "+OK\r", "more"},
	{"nothing", "", ""},
}

// TestReplies reads every row whole, cut in two at every place, and a byte at a time.
func TestReplies(t *testing.T) {
	for _, tt := range replies {
		t.Run(tt.name, func(t *testing.T) {
			wire := []byte(tt.wire)
			check := func(how string, cuts ...int) {
				t.Helper()
				if got := walk(wire, cuts...); got != tt.want {
					t.Errorf("%s of %.60q:\n got %s\nwant %s", how, tt.wire, got, tt.want)
				}
			}
			check("whole")
			check("a byte at a time", everyByte(len(wire))...)
			step := 1 + len(wire)/200
			for cut := 1; cut < len(wire); cut += step {
				check(fmt.Sprintf("cut at %d", cut), cut)
			}
		})
	}
}

// TestChunks reads all good rows as one stream in buffers of every usual size, with Run and without.
func TestChunks(t *testing.T) {
	var wire []byte
	var want []string
	for _, r := range replies {
		if r.want != "" && !strings.Contains(r.want, "error:") && !strings.HasSuffix(r.want, "more") {
			wire = append(wire, r.wire...)
			want = append(want, r.want)
		}
	}
	for _, size := range []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 4095, 4096, 4097, 65535, 65536, 262144, len(wire)} {
		var cuts []int
		for cut := size; cut < len(wire); cut += size {
			cuts = append(cuts, cut)
		}
		for _, run := range []int{0, 16} {
			w := walker{run: run}
			if got := w.walk(wire, cuts...); digitsOnly(got) != digitsOnly(strings.Join(want, "; ")) {
				t.Errorf("%d bytes at a time, run %d: %d events differ from the rows of the table", size, run, len(w.out))
			}
		}
	}
}

func everyByte(n int) []int {
	var cuts []int
	for i := 1; i < n; i++ {
		cuts = append(cuts, i)
	}
	return cuts
}

// TestEveryByteAnywhere gives each byte of short replies every value. What the decoder then says must not depend on
// whether it met the reply whole, by its fast paths, or a byte at a time.
func TestEveryByteAnywhere(t *testing.T) {
	for _, reply := range runnable {
		wire := []byte(reply + reply + "+OK\r\n")
		if len(wire) > 40 {
			continue
		}
		bytewise := everyByte(len(wire))
		for i, right := range wire {
			for c := range 256 {
				wire[i] = byte(c)
				if whole, cut := walk(wire), walk(wire, bytewise...); whole != cut {
					t.Errorf("%q: whole %s, cut %s", wire, whole, cut)
				}
			}
			wire[i] = right
		}
	}
}

func TestNesting(t *testing.T) {
	for _, tt := range []struct {
		depth int
		want  string
	}{
		{1, "* 1; + OK"},
		{4, "* 1; + OK"},
		{5, "* 1; + OK"},
		{8, "* 1; + OK"},
		{9, "* 1; + OK"},
		{1024, "* 1; + OK"},
		{1025, "error: Reply exceeds the max nesting depth of 1024 (byte 4096)"},
		{200000, "error: Reply exceeds the max nesting depth of 1024 (byte 4096)"},
	} {
		wire := []byte(strings.Repeat("*1\r\n", tt.depth) + ":1\r\n+OK\r\n")
		for how, cuts := range map[string][]int{"whole": nil, "a byte at a time": everyByte(len(wire))} {
			if got := walk(wire, cuts...); got != tt.want {
				t.Errorf("depth %d, %s: got %s, want %s", tt.depth, how, got, tt.want)
			}
		}
	}
}

// TestLineLimit makes the decoder believe that all but two bytes of what a line may have came before.
func TestLineLimit(t *testing.T) {
	for _, kind := range "+-,(" {
		for _, tt := range []struct{ rest, want string }{
			{"11\r\n", ""},
			{"11x", "Reply line too long (byte 4)"},
			{"111\r\n", "Reply line too long (byte 4)"},
		} {
			for _, cut := range []int{0, 1, 2} {
				var d Decoder
				if _, ev, err := d.Next([]byte{byte(kind), '1'}); ev != None || err != nil {
					t.Fatal(ev, err)
				}
				d.num = MaxBulkLen - 2
				_, ev, err := d.Next([]byte(tt.rest[:cut]))
				if err == nil && ev == None {
					_, ev, err = d.Next([]byte(tt.rest[cut:]))
				}
				if got := fmt.Sprint(err); tt.want != "" && got != tt.want || tt.want == "" && ev != Complete {
					t.Errorf("%c, %q cut at %d: event %d, %v; want %s", kind, tt.rest, cut, ev, err, tt.want)
				}
			}
		}
	}
}

func TestErrorsAreSticky(t *testing.T) {
	var d Decoder
	n, _, err := d.Next([]byte("+OK\r\n"))
	if n != 5 || err != nil {
		t.Fatalf("Next = %d, %v", n, err)
	}
	for _, buf := range []string{"?", "+OK\r\n", ""} {
		n, ev, err := d.Next([]byte(buf))
		var syntax *SyntaxError
		if n != 0 || ev != None || !errors.As(err, &syntax) || syntax.Offset != 5 {
			t.Errorf("Next(%q) = %d, %d, %v; want the first error, at byte 5", buf, n, ev, err)
		}
		if n, k := d.Run([]byte("+OK\r\n"), 1); n != 0 || k != 0 {
			t.Errorf("Run after an error = %d, %d", n, k)
		}
		if d.Idle() {
			t.Error("idle after an error")
		}
	}
	d.Reset()
	if n, ev, err := d.Next([]byte("+OK\r\n:x")); n != 5 || ev != Complete || err != nil {
		t.Errorf("after Reset: Next = %d, %d, %v", n, ev, err)
	}
	if _, _, err := d.Next([]byte(":x")); err == nil || err.Error() != "Bad integer value (byte 6)" {
		t.Errorf("after Reset: %v", err)
	}
}

// A stream whose replies change their meaning, as those to the set-up of a connection and to the load behind them.
func TestForget(t *testing.T) {
	var d Decoder
	for range 2 {
		if n, ev, err := d.Next([]byte("+OK\r\n")); n != 5 || ev != Complete || err != nil {
			t.Fatalf("Next = %d, %d, %v", n, ev, err)
		}
	}
	d.Forget()
	if n, k := d.Run([]byte("+OK\r\n"), 1); n != 0 || k != 0 {
		t.Errorf("Run after Forget = %d, %d", n, k)
	}
	if d.Offset() != 10 {
		t.Errorf("Offset = %d, want 10", d.Offset())
	}
	if _, _, err := d.Next([]byte("x")); err == nil || !strings.HasSuffix(err.Error(), "(byte 10)") {
		t.Errorf("after Forget: %v, want an error at byte 10", err)
	}
}
