package protocol

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// TestBodies cuts a stream at every place and puts the bodies together again; the walker checks each PieceOffset.
func TestBodies(t *testing.T) {
	wire := []byte("$5\r\nhello\r\n$0\r\n\r\n$-1\r\n+OK\r\n*1\r\n$3\r\nabc\r\n=7\r\ntxt:abc\r\n!3\r\nERR\r\n|1\r\n+a\r\n$1\r\nx\r\n$2\r\nyz\r\n" +
		"$26\r\nabcdefghijklmnopqrstuvwxyz\r\n")
	const want = "$ 5 hello; $ 0 ; $ null; + OK; * 1; = 7; ! 3 ERR; $ 2 yz; $ 26 abcdefghijklmnopqrstuvwxyz"
	check := func(how string, cuts ...int) {
		t.Helper()
		w := walker{d: Decoder{Bodies: true}}
		if got := w.walk(wire, cuts...); got != want {
			t.Errorf("%s:\n got %s\nwant %s", how, got, want)
		}
	}
	check("whole")
	check("a byte at a time", everyByte(len(wire))...)
	for a := 1; a < len(wire); a++ {
		for b := a; b < len(wire); b += 7 {
			check(fmt.Sprintf("cut at %d and %d", a, b), a, b)
		}
	}
}

// TestBodiesProveTheEnd has wrong bytes behind a body that was handed out already.
func TestBodiesProveTheEnd(t *testing.T) {
	for wire, want := range map[string]string{
		"$3\r\nabcXX":       "error: Bulk string not ended by CRLF (byte 7)",
		"$3\r\nabc\rX":      "error: Bulk string not ended by CRLF (byte 8)",
		"+OK\r\n$3\r\nabc+": "+ OK; error: Bulk string not ended by CRLF (byte 12)",
	} {
		for _, cuts := range [][]int{nil, everyByte(len(wire)), {len(wire) - 1}, {len(wire) - 2}} {
			w := walker{d: Decoder{Bodies: true}}
			if got := w.walk([]byte(wire), cuts...); got != want {
				t.Errorf("%q cut at %v: got %s, want %s", wire, cuts, got, want)
			}
		}
	}
}

// TestPieceIsTheBuffer proves that a body is never copied: a piece has the address of the bytes it came in, and the
// decoder lets go of them when the reply ends.
func TestPieceIsTheBuffer(t *testing.T) {
	const size, line = 1 << 20, len("$1048576\r\n")
	for _, chunk := range []int{16 << 10, line, line + size, line + size + 1, line + size + 2} {
		checkPieces(t, size, chunk)
	}
}

func checkPieces(t *testing.T, size, chunk int) {
	t.Helper()
	d := Decoder{Bodies: true}
	stream := []byte(fmt.Sprintf("$%d\r\n%s\r\n", size, strings.Repeat("v", size)))
	var seen int64
	for len(stream) > 0 {
		buf := stream[:min(chunk, len(stream))]
		stream = stream[len(buf):]
		for len(buf) > 0 {
			n, ev, err := d.Next(buf)
			if err != nil {
				t.Fatal(err)
			}
			if ev == Body {
				p := d.Piece()
				if end := unsafe.Pointer(&p[len(p)-1]); end != unsafe.Pointer(&buf[n-1]) {
					t.Fatal("the piece is not in the buffer")
				}
				if d.PieceOffset() != seen {
					t.Fatalf("piece at %d, want %d", d.PieceOffset(), seen)
				}
				seen += int64(len(p))
			}
			buf = buf[n:]
		}
	}
	if seen != int64(size) || !d.Idle() || d.Piece() != nil {
		t.Errorf("%d of %d bytes, idle %v, %d bytes still referred to", seen, size, d.Idle(), len(d.Piece()))
	}
}

// TestNoAllocation reads every valid row, whole and cut, with a decoder that has met it once.
func TestNoAllocation(t *testing.T) {
	var stream []byte
	for _, r := range replies {
		if !strings.Contains(r.want, "error:") && !strings.HasSuffix(r.want, "more") {
			stream = append(stream, r.wire...)
		}
	}
	stream = append(stream, strings.Repeat("*1\r\n", MaxDepth)+":1\r\n"...)
	for _, bodies := range []bool{false, true} {
		for _, chunk := range []int{1, 7, 4096, len(stream)} {
			d := Decoder{Bodies: bodies}
			pass := func() {
				for rest := stream; len(rest) > 0; {
					buf := rest[:min(chunk, len(rest))]
					rest = rest[len(buf):]
					for len(buf) > 0 {
						n, k := d.Run(buf, 16)
						if k == 0 {
							n, _, _ = d.Next(buf)
							d.Reply()
						}
						buf = buf[n:]
					}
				}
			}
			pass()
			if !d.Idle() {
				t.Fatal("the stream does not end with a whole reply")
			}
			if n := testing.AllocsPerRun(5, pass); n != 0 {
				t.Errorf("bodies %v, %d bytes at a time: %v allocations", bodies, chunk, n)
			}
		}
	}
}

// TestFreshDecoderDoesNotAllocate has what a run really brings: nothing of it may cost a connection memory.
func TestFreshDecoderDoesNotAllocate(t *testing.T) {
	stream := []byte("+OK\r\n:1\r\n:9223372036854775807\r\n$-1\r\n$3\r\nabc\r\n*2\r\n*1\r\n*1\r\n*1\r\n:1\r\n_\r\n%1\r\n+a\r\n#t\r\n-ERR syntax error\r\n")
	n := testing.AllocsPerRun(100, func() {
		var d Decoder
		for i := range stream {
			if _, _, err := d.Next(stream[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEndlessRepliesCostNoMemory feeds what a broken server could send for ever.
func TestEndlessRepliesCostNoMemory(t *testing.T) {
	for name, s := range map[string][2]string{
		"a line without end":    {"-", strings.Repeat("x", 64<<10)},
		"a huge body":           {"$536870912\r\n", strings.Repeat("x", 64<<10)},
		"a huge bulk error":     {"!536870912\r\n", strings.Repeat("x", 64<<10)},
		"a huge array":          {"*134217728\r\n", strings.Repeat("*0\r\n", 16<<10)},
		"a huge big number":     {"(", strings.Repeat("1", 64<<10)},
		"attributes only":       {"|1\r\n+a\r\n:1\r\n", strings.Repeat("|1\r\n+a\r\n:1\r\n", 4<<10)},
		"deep, again and again": {"", strings.Repeat(strings.Repeat("*1\r\n", MaxDepth)+":1\r\n", 16)},
	} {
		var d Decoder
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		feed := func(b []byte) {
			for len(b) > 0 {
				n, _, err := d.Next(b)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				b = b[n:]
			}
		}
		feed([]byte(s[0]))
		more := []byte(s[1])
		for range 64 {
			feed(more)
		}
		runtime.ReadMemStats(&after)
		if got := int64(after.TotalAlloc-before.TotalAlloc) - int64(len(s[0])+len(s[1])); got > 64<<10 {
			t.Errorf("%s: %d bytes allocated", name, got)
		}
	}
}

// TestDecoderIsSmall: ten thousand connections have a decoder each, and Run should touch one cache line of it.
func TestDecoderIsSmall(t *testing.T) {
	var d Decoder
	if n := unsafe.Sizeof(d); n > 256 {
		t.Errorf("a decoder has %d bytes", n)
	}
	if end := unsafe.Offsetof(d.reply) + unsafe.Offsetof(d.reply.Len) + unsafe.Sizeof(d.reply.Len); end > 64 {
		t.Errorf("the fields of Run end at byte %d", end)
	}
}
