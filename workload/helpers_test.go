package workload

import (
	"bytes"
	"strconv"
	"testing"
)

// stream makes all bytes of requests 0 … n-1 with one Fill after another, as if every write took everything.
func wholeStream(t *testing.T, p *Plan, ahead int, n int) []byte {
	t.Helper()
	return cutStream(t, p, ahead, n, func(size int) int { return size })
}

// cutStream does the same, but each write takes only as many of the bytes as take says (at least one).
func cutStream(t *testing.T, p *Plan, ahead, n int, take func(size int) int) []byte {
	t.Helper()
	g := p.Gen(ahead)
	var all []byte
	next, skip := uint64(0), 0
	for next < uint64(n) {
		made := bytes.Join(g.Fill(next, n-int(next), skip), nil)
		if len(made) == 0 {
			t.Fatalf("Fill(%d, %d, %d) makes nothing", next, n-int(next), skip)
		}
		took := max(1, min(take(len(made)), len(made)))
		all = append(all, made[:took]...)
		whole, rest := g.Sent(took)
		next, skip = next+uint64(whole), rest
	}
	if next != uint64(n) || skip != 0 {
		t.Fatalf("after request %d comes request %d, offset %d", n-1, next, skip)
	}
	return all
}

// requestBytes is the same stream from the plain definition of a request.
func requestBytes(p *Plan, n int) []byte {
	var all []byte
	for i := range uint64(n) {
		all = p.AppendRequest(all, i)
	}
	return all
}

// parseCommands reads arrays of bulk strings, in a way that shares nothing with the code under test.
func parseCommands(t *testing.T, b []byte) [][]string {
	t.Helper()
	number := func(prefix byte) int {
		line, rest, ok := bytes.Cut(b, []byte("\r\n"))
		if !ok || len(line) < 2 || line[0] != prefix {
			t.Fatalf("want %q and a number, got %q", prefix, b[:min(len(b), 40)])
		}
		n, err := strconv.Atoi(string(line[1:]))
		if err != nil {
			t.Fatal(err)
		}
		b = rest
		return n
	}
	var commands [][]string
	for len(b) > 0 {
		command := make([]string, number('*'))
		for i := range command {
			n := number('$')
			if len(b) < n+2 || string(b[n:n+2]) != "\r\n" {
				t.Fatalf("bulk string of %d bytes has no end: %q", n, b[:min(len(b), 40)])
			}
			command[i], b = string(b[:n]), b[n+2:]
		}
		commands = append(commands, command)
	}
	return commands
}

func mustCommand(t testing.TB, o TestOptions, args ...string) *Plan {
	t.Helper()
	p, err := Command(args, nil, false, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustBench(t testing.TB, o BenchOptions) *Plan {
	t.Helper()
	p, err := Bench(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// benchDefaults are bench.c's.
func benchDefaults(op string) BenchOptions {
	return BenchOptions{Op: op, Keyspace: 100000, Size: ConstantSize(32), SetRatio: 50, SetCmd: "SET", GetCmd: "GET",
		KeyPrefix: "bench:key:", Seed: 12345}
}

func onlyTest(t testing.TB, name string, o TestOptions) *Plan {
	t.Helper()
	plans, unknown := Suite([]string{name}, o)
	if len(plans) != 1 || len(unknown) != 0 {
		t.Fatalf("test %q: %d plans, unknown %q", name, len(plans), unknown)
	}
	return plans[0]
}
