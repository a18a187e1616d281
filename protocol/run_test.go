package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The slow twin of Run. It takes replies apart with the state machine alone (a byte at a time leaves the fast paths no
// chance) and compares what Run promises by its documentation: the bytes of lines, the digits of integers, the length of
// bulk strings.

// slowReply is the length of the whole reply at the start of buf; 0 if there is none, or the decoder stops there.
func slowReply(buf []byte) int {
	var d Decoder
	for i := range buf {
		_, ev, err := d.Next(buf[i : i+1])
		if err != nil {
			return 0
		}
		if ev == Complete {
			return i + 1
		}
	}
	return 0
}

// shape is what two replies have in common if Run may take one after the other; "" if it may take none.
func shape(reply []byte) string {
	line := reply[:bytes.IndexByte(reply, '\n')+1]
	switch kind := Kind(reply[0]); {
	case kind == BulkString && len(line) < len(reply):
		return string(line)
	case len(line) < len(reply) || len(line) > lineSize:
		return ""
	case kind == Integer && line[1] != '-' && len(line) <= maxRunInt:
		return fmt.Sprintf("integer of %d digits", len(line)-3)
	}
	return string(line)
}

func slowRun(last, buf []byte, max int) (n, k int) {
	want := shape(last)
	for want != "" && k < max {
		size := slowReply(buf[n:])
		if size == 0 || shape(buf[n:n+size]) != want {
			break
		}
		n += size
		k++
	}
	return n, k
}

// checkRun compares Run with its twin on one buffer and also the state that it leaves behind.
func checkRun(t *testing.T, last, buf []byte, max int) {
	t.Helper()
	var d Decoder
	if n, ev, err := d.Next(last); n != len(last) || ev != Complete || err != nil {
		t.Fatalf("Next(%q) = %d, %d, %v", last, n, ev, err)
	}
	buf = buf[:len(buf):len(buf)]
	wantN, wantK := slowRun(last, buf, max)
	n, k := d.Run(buf, max)
	if n != wantN || k != wantK {
		t.Fatalf("after %.40q Run(%.200q, %d) = %d, %d; want %d, %d", last, buf, max, n, k, wantN, wantK)
	}
	all := append(bytes.Clone(last), buf[:n]...)
	var slow Decoder
	for i := range all {
		slow.Next(all[i : i+1])
	}
	if got, want := describe(d.Reply()), describe(slow.Reply()); got != want || !d.Idle() || d.base != slow.base {
		t.Fatalf("after %.40q Run(%.200q, %d) leaves %s at %d, idle %v; want %s at %d",
			last, buf, max, got, d.base, d.Idle(), want, slow.base)
	}
}

var runnable = []string{
	"+OK\r\n", "+\r\n", "+PONG\r\n", "+QUEUED\r\n", "+" + strings.Repeat("x", 21) + "\r\n", "+" + strings.Repeat("x", 22) + "\r\n",
	"-ERR x\r\n", "-MOVED 3999 h:7001\r\n",
	":1\r\n", ":0\r\n", ":12\r\n", ":99999\r\n", ":123456\r\n", ":1234567\r\n", ":12345678\r\n", ":1234567890123\r\n", ":12345678901234\r\n",
	":-1\r\n", ":-123456\r\n", ":9223372036854775807\r\n",
	"$-1\r\n", "*-1\r\n", "*0\r\n", "%0\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(12\r\n",
	"$0\r\n\r\n", "$1\r\na\r\n", "$3\r\nabc\r\n", "$32\r\n" + strings.Repeat("v", 32) + "\r\n",
	"$100\r\n" + strings.Repeat("\r\n", 50) + "\r\n", "$10000\r\n" + strings.Repeat("v", 10000) + "\r\n",
	"$100000\r\n" + strings.Repeat("v", 100000) + "\r\n",
	"*1\r\n:1\r\n", "=7\r\ntxt:abc\r\n", "!5\r\nERR x\r\n",
}

// TestRunAtEveryCut repeats each kind of reply and cuts the buffer everywhere.
func TestRunAtEveryCut(t *testing.T) {
	for _, last := range runnable {
		counts := []int{1, 2, 3, 9, 17}
		if len(last) > 1000 {
			counts = counts[1:2] // the twin is slow
		}
		for _, count := range counts {
			buf := []byte(strings.Repeat(last, count) + "+OK\r\n:5\r\n")
			step := 1 + len(buf)*min(len(last), 1000)/20000
			for cut := 0; cut <= len(buf); cut += step {
				checkRun(t, []byte(last), buf[:cut], 1000)
			}
			for edge := len(last); edge <= len(buf); edge += len(last) {
				for cut := edge - 3; cut < edge+3; cut++ {
					checkRun(t, []byte(last), buf[:min(cut, len(buf))], 1000)
				}
			}
			for _, max := range []int{-1, 0, 1, 2, 8, 9, 16, 17} {
				checkRun(t, []byte(last), buf, max)
			}
		}
	}
}

// TestRunLong crosses the pieces in which runLines compares, also with one wrong byte anywhere.
func TestRunLong(t *testing.T) {
	for _, last := range []string{"+OK\r\n", ":1\r\n", "+PONG\r\n", "$-1\r\n"} {
		buf := []byte(strings.Repeat(last, 1500/len(last)))
		for cut := range buf {
			checkRun(t, []byte(last), buf[:cut], 1000)
		}
		for i := range buf {
			buf[i] ^= 1
			checkRun(t, []byte(last), buf, 1000)
			buf[i] ^= 1
		}
	}
}

// TestRunSeesEveryWrongByte gives each byte of the third and the last of five replies every value.
func TestRunSeesEveryWrongByte(t *testing.T) {
	for _, last := range runnable {
		if len(last) > 60 {
			continue
		}
		buf := []byte(strings.Repeat(last, 5))
		for i := range buf {
			if at := i / len(last); at != 2 && at != 4 {
				continue
			}
			right := buf[i]
			for c := range 256 {
				buf[i] = byte(c)
				checkRun(t, []byte(last), buf, 5)
			}
			buf[i] = right
		}
	}
}

// TestRunOfOtherBulks has bulk strings of other lengths and other replies with as many bytes.
func TestRunOfOtherBulks(t *testing.T) {
	for last, next := range map[string]string{
		"$0\r\n\r\n":  "+abc\r\n",
		"$1\r\na\r\n": "+abcd\r\n",
		"$10\r\n" + strings.Repeat("v", 10) + "\r\n":         "$9\r\n" + strings.Repeat("v", 9) + "\r\n",
		"$100000\r\n" + strings.Repeat("v", 100000) + "\r\n": "$100001\r\n" + strings.Repeat("v", 100001) + "\r\n",
		"$100001\r\n" + strings.Repeat("v", 100001) + "\r\n": "$100000\r\n" + strings.Repeat("v", 99999) + "\r\n\r\n",
	} {
		checkRun(t, []byte(last), []byte(next+next), 2)
		checkRun(t, []byte(last), []byte(last+next), 2)
	}
}

// TestRunOfIntegers has other values of as many digits, which only integers may have.
func TestRunOfIntegers(t *testing.T) {
	for _, values := range []string{
		":1\r\n:0\r\n:9\r\n:10\r\n",
		":10\r\n:11\r\n:99\r\n:01\r\n",
		":99998\r\n:99999\r\n:100000\r\n:100001\r\n",
		":999999\r\n:100000\r\n:00000\r\n",
		":1000000000000\r\n:9999999999999\r\n:0999999999999\r\n",
		":10000000000000\r\n:10000000000000\r\n:10000000000001\r\n",
		":12345:\r\n", ":12:45\r\n", ":-2345\r\n", ":1234\r\n\r", ":12\r\n:1\r\n",
	} {
		first := values[:strings.Index(values, "\n")+1]
		if slowReply([]byte(first)) == 0 {
			first = ":12345\r\n"
		}
		for cut := range len(values) + 1 {
			checkRun(t, []byte(first), []byte(values[:cut]), 1000)
		}
	}
}

// TestRunOnlyBetweenReplies asks Run where it must find nothing, with bytes that repeat the last reply.
func TestRunOnlyBetweenReplies(t *testing.T) {
	ok := []byte("+OK\r\n+OK\r\n")
	for name, before := range map[string]string{
		"no reply yet":                "",
		"inside a line":               "+OK\r\n+O",
		"before LF":                   "+OK\r\n+OK\r",
		"inside a body":               "+OK\r\n$100\r\n",
		"inside an array":             "+OK\r\n*2\r\n",
		"between attribute and reply": "+OK\r\n|1\r\n+a\r\n+OK\r\n",
		"after a push":                "+OK\r\n>1\r\n+OK\r\n",
		"after an array":              "*1\r\n+OK\r\n",
	} {
		var w walker
		w.walk([]byte(before))
		if n, k := w.d.Run(ok, 2); n != 0 || k != 0 {
			t.Errorf("%s: Run = %d, %d", name, n, k)
		}
	}
	var w walker
	w.walk([]byte("|1\r\n+a\r\n:1\r\n+OK\r\n"))
	if n, k := w.d.Run(ok, 2); n != len(ok) || k != 2 {
		t.Errorf("after a reply with an attribute: Run = %d, %d", n, k)
	}
	d := Decoder{Bodies: true}
	bulk := []byte("$1\r\na\r\n")
	d.Next(bulk)
	d.Next(bulk[5:])
	if n, k := d.Run(bulk, 1); n != 0 || k != 0 || !d.Idle() {
		t.Errorf("bulk string with Bodies: Run = %d, %d, idle %v", n, k, d.Idle())
	}
}

func FuzzRun(f *testing.F) {
	for _, last := range runnable {
		if len(last) < 200 {
			f.Add([]byte(last), []byte(strings.Repeat(last, 9)), 8)
		}
	}
	f.Add([]byte(":12\r\n"), []byte(":13\r\n:99\r\n:100\r\n"), 3)
	f.Fuzz(func(t *testing.T, last, buf []byte, max int) {
		if len(buf) > 4096 || len(last) == 0 || last[0] == byte(Attribute) || slowReply(last) != len(last) {
			return
		}
		checkRun(t, last, buf, max)
	})
}
