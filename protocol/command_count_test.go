package protocol

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// countAll feeds input in pieces and returns the number of commands and the error.
func countAll(input string, piece int) (commands int, err error) {
	var p CommandParser
	var c CommandCounter
	var buf []byte
	for len(input) > 0 && err == nil {
		k := min(piece, len(input))
		buf = append(bytes.Clone(buf), input[:k]...)
		input = input[k:]
		var used, n int
		used, n, err = c.Count(&p, buf)
		commands += n
		buf = buf[used:]
	}
	return commands, err
}

// What is counted is what Next finds, whatever framings came before.
func TestCount(t *testing.T) {
	set := func(key, value string) string { return string(AppendCommand(nil, "SET", key, value)) }
	for _, input := range []string{
		set("k", "v"),
		set("key:1", "v") + set("key:2", "w") + set("key:3", "\r\n") + set("key:44", "x"),
		set("key:1", "v") + "*3\r\n$3\r\nSET\r\n$5\r\nkey:1\r\n$2\r\nv\r\n\r\n", // same size but for the last length
		set("k", strings.Repeat("v", 300)) + set("l", strings.Repeat("w", 300)) + set("k", "v"),
		set("a", "") + set("b", "") + "PING\r\n\r\n*0\r\n*-1\r\nPING\n" + set("c", ""),
		set("a", "bcdefg") + strings.Replace(set("a", "bcdefg"), "$3", "$x", 1),
		set("a", "bcdefg") + strings.Replace(set("a", "bcdefg"), "*3", "*2", 1),
		set("a", "bcdefg") + strings.Replace(set("a", "bcdefg"), "\r\n$6", "xy$6", 1), // the parser does not look at these two
		string(AppendCommand(nil, strings.Fields(strings.Repeat("x ", 40))...)),
		strings.Repeat("*1\r\n$0\r\n\r\n", 3),
	} {
		input = strings.Repeat(input, 3)
		for piece := 1; piece <= len(input); piece += 1 + piece/4 {
			want, wantErr := parseAll(input, len(input))
			n, err := countAll(input, piece)
			if n != len(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("pieces of %d: %d commands, %v; want %d, %v: %.60q", piece, n, err, len(want), wantErr, input)
			}
		}
	}
}

func TestCountDoesNotAllocate(t *testing.T) {
	var p CommandParser
	var c CommandCounter
	var buf []byte
	for i := range 50 {
		buf = AppendCommand(buf, "SET", fmt.Sprint("key:", i), "value")
	}
	c.Count(&p, buf)
	if n := testing.AllocsPerRun(100, func() { c.Count(&p, buf) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func BenchmarkCount(b *testing.B) {
	var buf []byte
	for i := range 128 {
		buf = AppendCommand(buf, "SET", fmt.Sprintf("key:%012d", i), strings.Repeat("v", 32))
	}
	var p CommandParser
	var c CommandCounter
	for b.Loop() {
		if _, n, _ := c.Count(&p, buf); n != 128 {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/128, "ns/command")
}
