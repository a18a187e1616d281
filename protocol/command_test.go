package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// parseAll feeds input in pieces of the given size and returns the commands, as quoted words, and the error.
func parseAll(input string, piece int) (commands []string, err error) {
	var p CommandParser
	var buf []byte
	for len(input) > 0 && err == nil {
		k := min(piece, len(input))
		buf = append(bytes.Clone(buf), input[:k]...) // the bytes move each time
		input = input[k:]
		for {
			n, args, e := p.Next(buf, nil)
			if e != nil {
				return commands, e
			}
			if n == 0 {
				break
			}
			if len(args) > 0 {
				commands = append(commands, fmt.Sprintf("%q", args))
			}
			buf = buf[n:]
		}
	}
	return commands, err
}

func TestCommandParser(t *testing.T) {
	const set, getk = `["SET" "k" "v"]`, `["GET" "k"]`
	big := strings.Repeat("x", 60000)
	for _, c := range []struct {
		name  string
		input string
		want  []string
		err   string
	}{
		{"array", "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n", []string{set}, ""},
		{"pipeline", "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n", []string{getk, `["PING"]`}, ""},
		{"empty and binary", "*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n\x00\n\r\n", []string{`["SET" "" "\r\n\x00\n"]`}, ""},
		{"12 arguments", "*12\r\n" + strings.Repeat("$1\r\na\r\n", 12), []string{`[` + strings.Repeat(`"a" `, 11) + `"a"]`}, ""},
		{"4-digit length", "*1\r\n$1000\r\n" + strings.Repeat("a", 1000) + "\r\n", []string{`["` + strings.Repeat("a", 1000) + `"]`}, ""},
		{"3-digit length", "*1\r\n$100\r\n" + strings.Repeat("a", 100) + "\r\n", []string{`["` + strings.Repeat("a", 100) + `"]`}, ""},
		{"inline", "PING\r\n", []string{`["PING"]`}, ""},
		{"inline LF", "PING\nGET k\n", []string{`["PING"]`, getk}, ""},
		{"blank lines", "\r\n\r\n  \r\nPING\r\n", []string{`["PING"]`}, ""},
		{"single quotes", "SET k 'a b'\r\n", []string{`["SET" "k" "a b"]`}, ""},
		{"escapes", `SET k "a\x41\n\"\q" 'it\'s' "\xZZ"` + "\n", []string{`["SET" "k" "aA\n\"q" "it's" "xZZ"]`}, ""},
		{"empty word", "SET k \"\"\n", []string{`["SET" "k" ""]`}, ""},
		{"a vertical tab separates, but ends no word", "\vSET\f k \va\vb\n", []string{`["SET\f" "k" "a\vb"]`}, ""},
		{"a blank of any kind behind a quote", "SET k 'a'\f\n", []string{`["SET" "k" "a"]`}, ""},
		{"unbalanced", "SET k \"a\n", nil, "unbalanced quotes in request"},
		{"text behind a quote", "SET k \"a\"b\n", nil, "unbalanced quotes in request"},
		{"NUL in a line", "ECHO a\x00b\nPING\n", nil, ""},
		{"TLS", "\x16\x03\x01\x02\x00\x01\n\nPING\n", nil, ""},
		{"long line with a NUL", "\x00\n" + strings.Repeat("x", 70000), nil, "too big inline request"},
		{"zero count", "*0\r\n*1\r\n$4\r\nPING\r\n", []string{`["PING"]`}, ""},
		{"count -1", "*-1\r\n*1\r\n$4\r\nPING\r\n", []string{`["PING"]`}, ""},
		{"count -10", "*-10\r\n*1\r\n$4\r\nPING\r\n", []string{`["PING"]`}, ""},
		{"count not a number", "*abc\r\n", nil, "invalid multibulk length"},
		{"count with a letter", "*3x\r\n$3\r\nfoo\r\n", nil, "invalid multibulk length"},
		{"count missing", "*\r\n", nil, "invalid multibulk length"},
		{"count 2^31", "*2147483648\r\n", nil, "invalid multibulk length"},
		{"count 2^20", "*1048576\r\n", nil, ""},
		{"count above 2^20", "*1048577\r\n", nil, "invalid multibulk length"},
		{"length -1", "*1\r\n$-1\r\n", nil, "invalid bulk length"},
		{"length -5", "*2\r\n$3\r\nGET\r\n$-5\r\n", nil, "invalid bulk length"},
		{"length 512 MB", "*1\r\n$536870912\r\n", nil, ""},
		{"length above", "*1\r\n$536870913\r\n", nil, "invalid bulk length"},
		{"length 2e9", "*1\r\n$2000000000\r\n", nil, "invalid bulk length"},
		{"length max int64", "*1\r\n$9223372036854775807\r\n", nil, "invalid bulk length"},
		{"length 2^64+5", "*1\r\n$18446744073709551621\r\n", nil, "invalid bulk length"},
		{"length 0:", "*1\r\n$0:\r\n", nil, "invalid bulk length"},
		{"length +4", "*1\r\n$+4\r\nPING\r\n", nil, "invalid bulk length"},
		{"length 04", "*1\r\n$04\r\nPING\r\n", nil, "invalid bulk length"},
		{"length -0", "*1\r\n$-0\r\n\r\n", nil, "invalid bulk length"},
		{"length not a number", "*1\r\n$blabla\r\n", nil, "invalid bulk length"},
		{"no dollar", "*1\r\n+PING\r\n", nil, "expected '$', got '+'"},
		{"no dollar, no ASCII", "*1\r\n\xff1\r\n", nil, "expected '$', got '\xff'"},
		{"LF only waits", "*1\n$4\nPING\n", nil, ""},
		{"long inline", strings.Repeat("x", 70000), nil, "too big inline request"},
		{"long count", "*" + strings.Repeat("1", 70000), nil, "too big mbulk count string"},
		{"long length", "*1\r\n$" + strings.Repeat("1", 70000), nil, "too big bulk count string"},
		{"60 KB and the next head", "*1\r\n$60000\r\n" + big + "\r\n*2\r\n$6000", []string{`["` + big + `"]`}, ""},
	} {
		for _, piece := range []int{len(c.input), 1, 2, 7, 4096} {
			if piece == 1 && len(c.input) > 65000 {
				continue // moving 64 KiB for each byte is the test's cost, not the parser's
			}
			got, err := parseAll(c.input, piece)
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("%s, pieces of %d: got %.200v, want %.200v", c.name, piece, got, c.want)
			}
			if text := fmt.Sprint(err); err == nil && c.err != "" || err != nil && text != c.err {
				t.Errorf("%s, pieces of %d: error %v, want %q", c.name, piece, err, c.err)
			}
		}
	}
}

// An inline line above the limit is fine when it arrives with its end.
func TestCommandParserLongInlineLine(t *testing.T) {
	var p CommandParser
	n, args, err := p.Next([]byte("PING "+strings.Repeat("x", 70000)+"\n"), nil)
	if err != nil || n != 70006 || len(args) != 2 || len(args[1]) != 70000 {
		t.Errorf("got %d bytes, %d arguments, %v", n, len(args), err)
	}
}

// A count line that was cut behind its \r leaves nothing behind that hides the end of a short line after it.
func TestCommandParserForgetsACutLine(t *testing.T) {
	var p CommandParser
	buf := []byte("*1\r\n$4\r\nPING\r\nx\n")
	if n, _, err := p.Next(buf[:3], nil); n != 0 || err != nil {
		t.Fatalf("cut: n=%d, %v", n, err)
	}
	n, _, err := p.Next(buf, nil)
	if n != 14 || err != nil {
		t.Fatalf("whole: n=%d, %v", n, err)
	}
	if n, args, err := p.Next(buf[n:], nil); n != 2 || len(args) != 1 || err != nil {
		t.Errorf("the line behind: n=%d, %q, %v", n, args, err)
	}
}

// A parser leaves the bytes as they are, so that a caller may give them again.
func TestInlineLineCanBeParsedAgain(t *testing.T) {
	line := []byte("SET 'k 1' \"a\\x41\"\r\n")
	for range 2 {
		var p CommandParser
		if _, args, err := p.Next(line, nil); err != nil || fmt.Sprintf("%q", args) != `["SET" "k 1" "aA"]` {
			t.Errorf("got %q, %v", args, err)
		}
	}
}

func TestCommandParserUnauthenticated(t *testing.T) {
	for input, want := range map[string]error{
		"*11\r\n":              ErrUnauthCount,
		"*1\r\n$16385\r\n":     ErrUnauthLength,
		"*10\r\n$16384\r\n":    nil,
		"*2\r\n$4\r\nAUTH\r\n": nil,
	} {
		p := CommandParser{Unauthenticated: true}
		if _, _, err := p.Next([]byte(input), nil); !errors.Is(err, want) {
			t.Errorf("%q: error %v, want %v", input, err, want)
		}
	}
}

// A bulk that arrives in small pieces is not looked at again and again: the work is linear in the number of pieces.
func TestCommandParserDoesNotRescan(t *testing.T) {
	var p CommandParser
	buf := AppendCommand(nil, "SET", "k", strings.Repeat("\n", 1<<20))
	for i := 1; i < 100; i++ {
		if n, _, err := p.Next(buf[:i], nil); n != 0 || err != nil {
			t.Fatalf("at %d bytes: n=%d, %v", i, n, err)
		}
	}
	if got := p.Pending(); got != len(buf) {
		t.Errorf("Pending: got %d, want %d", got, len(buf))
	}
	if n := testing.AllocsPerRun(100, func() { p.Next(buf[:len(buf)-1], nil) }); n != 0 {
		t.Errorf("%v allocations while waiting, want 0", n)
	}
	if n, args, err := p.Next(buf, nil); n != len(buf) || len(args) != 3 || err != nil {
		t.Errorf("whole: n=%d, %d arguments, %v", n, len(args), err)
	}
}

func TestCommandParserDoesNotAllocate(t *testing.T) {
	var p CommandParser
	buf := AppendCommand(AppendCommand(nil, "SET", "key:000000000001", strings.Repeat("v", 1000)), "GET", "k")
	args := make([][]byte, 0, 8)
	cut := len(buf) - 3
	if n := testing.AllocsPerRun(100, func() {
		n, _, _ := p.Next(buf, args)
		p.Next(buf[n:cut], args)
		p.Next(buf[n:], args)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestParseInt(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"-7", -7, true}, {"1234567890", 1234567890, true},
		{"9223372036854775807", 9223372036854775807, true}, {"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"18446744073709551616", 0, false},
		{"", 0, false}, {"-", 0, false}, {"-0", 0, false}, {"00", 0, false}, {"01", 0, false}, {"+1", 0, false}, {" 1", 0, false}, {"1 ", 0, false},
	} {
		n, ok := ParseInt([]byte(c.text))
		if ok != c.ok || ok && n != c.want {
			t.Errorf("%q: got %d, %v", c.text, n, ok)
		}
	}
}

// FuzzCommandParser: pieces of any size give what the whole gives, what was encoded comes back, and counting finds as many.
func FuzzCommandParser(f *testing.F) {
	f.Add([]byte("*2\r\n$3\r\nGET\r\n$1\r\nk\r\nPING 'a b'\r\n"), uint8(1))
	f.Add([]byte("*1\r\n$100\r\nabc"), uint8(3))
	f.Add([]byte("*1\n$4\nPING\n"), uint8(2))
	f.Add([]byte("\r\n\"a\\x41\"\n*-1\r\n*0\r\n*11\r\n$1\r\na\r\n"), uint8(5))
	f.Fuzz(func(t *testing.T, input []byte, piece uint8) {
		whole, err1 := parseAll(string(input), len(input))
		pieces, err2 := parseAll(string(input), int(piece)+1)
		if fmt.Sprint(whole) != fmt.Sprint(pieces) {
			t.Fatalf("whole %q, pieces %q", whole, pieces)
		}
		if fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("whole: %v, pieces: %v", err1, err2)
		}
		thrice := strings.Repeat(string(input), 3)
		all, err1 := parseAll(thrice, len(thrice))
		if n, err := countAll(thrice, int(piece)+1); n != len(all) || fmt.Sprint(err) != fmt.Sprint(err1) {
			t.Fatalf("counted %d, %v; want %d, %v", n, err, len(all), err1)
		}
		words := bytes.Fields(input)
		if len(words) == 0 {
			return
		}
		got, err := parseAll(string(AppendCommandBytes(nil, words...)), int(piece)+1)
		if err != nil || len(got) != 1 || got[0] != fmt.Sprintf("%q", words) {
			t.Fatalf("%q came back as %q, %v", words, got, err)
		}
	})
}

func BenchmarkCommandParser(b *testing.B) {
	var buf []byte
	for range 128 {
		buf = AppendCommand(buf, "SET", "key:000000000001", strings.Repeat("v", 32))
	}
	var p CommandParser
	args := make([][]byte, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		for rest := buf; len(rest) > 0; {
			n, _, _ := p.Next(rest, args)
			rest = rest[n:]
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/128, "ns/command")
}
