package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The figures are per reply ("ns/reply"), as a load generator pays them; a buffer holds P replies, what a pipeline of
// depth P brings at once.

var benchReplies = []struct{ name, wire string }{
	{"ok", "+OK\r\n"},
	{"pong", "+PONG\r\n"},
	{"int1", ":1\r\n"},
	{"int6", ":123456\r\n"},
	{"null", "$-1\r\n"},
	{"bulk3", "$3\r\nVXK\r\n"},
	{"bulk32", "$32\r\n" + strings.Repeat("v", 32) + "\r\n"},
	{"bulk1024", "$1024\r\n" + strings.Repeat("v", 1024) + "\r\n"},
}

// perReply reports the cost of one of n replies an iteration handled.
func perReply(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/reply")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRun repeats the last reply: a test that sends one kind of request.
func BenchmarkRun(b *testing.B) {
	for _, reply := range benchReplies {
		for _, p := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("reply=%s/P=%d", reply.name, p), func(b *testing.B) {
				buf := []byte(strings.Repeat(reply.wire, p))
				var d Decoder
				if _, ev, err := d.Next(buf); ev != Complete || err != nil {
					b.Fatal(ev, err)
				}
				for b.Loop() {
					if n, k := d.Run(buf, p); n != len(buf) || k != p {
						b.Fatal(n, k)
					}
				}
				perReply(b, p)
			})
		}
	}
}

// BenchmarkRunIncr has another integer in each reply, as INCR, LPUSH and SADD bring them.
func BenchmarkRunIncr(b *testing.B) {
	const p = 128
	for _, first := range []int{100, 10000, 100000, 10000000} {
		var buf []byte
		for i := range p {
			buf = AppendInt(buf, int64(first+i))
		}
		b.Run(fmt.Sprintf("reply=int%d/P=%d", len(fmt.Sprint(first)), p), func(b *testing.B) {
			var d Decoder
			if _, ev, err := d.Next(buf); ev != Complete || err != nil {
				b.Fatal(ev, err)
			}
			for b.Loop() {
				if n, k := d.Run(buf, p); n != len(buf) || k != p {
					b.Fatal(n, k)
				}
			}
			perReply(b, p)
		})
	}
}

// BenchmarkNext takes every reply on its own: replies that Run cannot predict.
func BenchmarkNext(b *testing.B) {
	for _, reply := range benchReplies {
		b.Run(fmt.Sprintf("reply=%s/P=%d", reply.name, 128), func(b *testing.B) {
			benchNext(b, []byte(strings.Repeat(reply.wire, 128)), 128, false)
		})
	}
	array := "*100\r\n" + strings.Repeat("$3\r\nVXK\r\n", 100)
	b.Run("reply=lrange100/P=16", func(b *testing.B) {
		benchNext(b, []byte(strings.Repeat(array, 16)), 16, false)
	})
	b.Run("reply=bulk32/P=128/bodies=true", func(b *testing.B) {
		benchNext(b, []byte(strings.Repeat(benchReplies[6].wire, 128)), 128, true)
	})
	b.Run("reply=error/P=16", func(b *testing.B) {
		benchNext(b, []byte(strings.Repeat("-OOM command not allowed when used memory > 'maxmemory'.\r\n", 16)), 16, false)
	})
}

func benchNext(b *testing.B, wire []byte, replies int, bodies bool) {
	d := Decoder{Bodies: bodies}
	for b.Loop() {
		got := 0
		for buf := wire; len(buf) > 0; {
			n, ev, err := d.Next(buf)
			if err != nil {
				b.Fatal(err)
			}
			if ev == Complete {
				got++
			}
			buf = buf[n:]
		}
		if got != replies {
			b.Fatal(got)
		}
	}
	perReply(b, replies)
}

// BenchmarkMixed is the loop of a load generator over replies to a random half of SETs and half of GETs: Run first,
// Next where it finds nothing.
func BenchmarkMixed(b *testing.B) {
	const p = 128
	var wire []byte
	seed := uint32(1)
	for range p {
		seed = seed*1664525 + 1013904223
		wire = append(wire, benchReplies[int(seed>>31)*6].wire...)
	}
	b.Run("replies=ok+bulk32/P=128", func(b *testing.B) {
		var d Decoder
		for b.Loop() {
			got := 0
			for buf := wire; len(buf) > 0; {
				n, k := d.Run(buf, p)
				if k == 0 {
					k = 1
					n, _, _ = d.Next(buf)
				}
				got += k
				buf = buf[n:]
			}
			if got != p {
				b.Fatal(got)
			}
		}
		perReply(b, p)
	})
}

// BenchmarkFloor is what nothing can beat: the whole expected batch is compared at once.
func BenchmarkFloor(b *testing.B) {
	buf := []byte(strings.Repeat("+OK\r\n", 128))
	want := bytes.Clone(buf)
	for b.Loop() {
		if !bytes.Equal(buf, want) {
			b.Fatal("differs")
		}
	}
	perReply(b, 128)
}
