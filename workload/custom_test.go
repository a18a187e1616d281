package workload

import (
	"bytes"
	"strings"
	"testing"
)

func TestCommandOnTheWire(t *testing.T) {
	rows := []struct {
		args []string
		want string // words joined by "·", requests by "|"; digits of numbers as #
	}{
		{[]string{"ping"}, "ping"},
		{[]string{"set", "k", "-1"}, "set·k·-1"},                   // C14
		{[]string{"set", "a b", ""}, "set·a b·"},                   // C14
		{[]string{"set", `x\r\ny`, "%d"}, `set·x\r\ny·%d`},         // nothing is unescaped
		{[]string{"lpush", "l", "ü", "\xff"}, "lpush·l·ü·\xff"},    // any bytes
		{[]string{"set", "{tag}", "__key__"}, "set·{tag}·__key__"}, // no placeholders here
		{[]string{"__rand_int__", "k"}, "__rand_int__·k"},          // C15, without -r
		{[]string{"2", "get", "a", ";", "get", "b"}, "get·a|get·a|get·b"},
		{[]string{"multi", ";", "incr", "c", ";", "exec"}, "multi|incr·c|exec"},
		{[]string{"get", "a", ";"}, "get·a"},
		{[]string{";", "get", "a", ";", ";", "get", "b"}, "get·a|get·b"},
		{[]string{"0get", "a"}, "0get·a"},
		{[]string{"1x", "a"}, "1x·a"},
		{[]string{"set", "k", "__data__"}, "set·k·VXK"},
		{[]string{"set", "k", "<__data__,__data__>"}, "set·k·<VXK,VXK>"},
	}
	for _, r := range rows {
		p := mustCommand(t, TestOptions{DataSize: 3}, r.args...)
		var got []string
		for _, c := range parseCommands(t, wholeStream(t, p, 1<<16, p.Unit())) {
			got = append(got, strings.Join(c, "·"))
		}
		if strings.Join(got, "|") != r.want {
			t.Errorf("%q sends %q, want %q", r.args, strings.Join(got, "|"), r.want)
		}
		if p.Title != strings.Join(r.args, " ") {
			t.Errorf("%q has the title %q", r.args, p.Title)
		}
		if size := len(wholeStream(t, p, 1<<16, p.Unit())); p.PayloadSize != size {
			t.Errorf("%q: payload %d, want the size on the wire %d", r.args, p.PayloadSize, size)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	for _, args := range [][]string{nil, {}, {""}, {"  "}, {";"}, {"3"}, {"get", "a", ";", "2"}, {"100001", "ping"},
		{"99999999999999999999", "ping"}, {"60000", "ping", ";", "60000", "ping"}} {
		if p, err := Command(args, nil, false, TestOptions{}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: plan %v, error %v", args, p != nil, err)
		}
	}
}

// C13: -x is the last argument, whatever its bytes, and not part of the title.
func TestCommandStdin(t *testing.T) {
	for _, last := range []string{"a\x00b\n", "", strings.Repeat("\r\n", 100000)} {
		p, err := Command([]string{"set", "kx"}, []byte(last), true, TestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		c := parseCommands(t, wholeStream(t, p, 1<<16, 1))[0]
		if len(c) != 3 || c[2] != last || p.Title != "set kx" {
			t.Errorf("title %q, last argument of %d bytes, want %d", p.Title, len(c[2]), len(last))
		}
	}
	p, err := Command([]string{"set"}, []byte("key:__rand_int__"), true, TestOptions{Random: true, Keyspace: 5})
	if err != nil || bytes.Contains(wholeStream(t, p, 1<<16, 1), []byte("rand")) {
		t.Errorf("a placeholder from stdin is not replaced (error %v)", err)
	}
}

// C84: each place has a number of its own, drawn anew for each request; __rand_1st__ is one number for all places of a request.
func TestPlaceholders(t *testing.T) {
	o := TestOptions{Random: true, Keyspace: 1000000000, Seed: 9}
	p := mustCommand(t, o, "set", "__rand_int__x__rand_int__", "v:__rand_int__", "__RAND_INT__", "___rand_1st__:__rand_1st__:__rand_2nd__")
	seen := map[string]bool{}
	for _, c := range parseCommands(t, wholeStream(t, p, 1<<18, 1000)) {
		a, b, both := strings.Cut(c[1], "x")
		shared := strings.Split(strings.TrimPrefix(c[4], "_"), ":")
		if !both || len(a) != 12 || len(b) != 12 || len(c[2]) != 14 || c[3] != "__RAND_INT__" || len(shared) != 3 ||
			shared[0] != shared[1] || shared[1] == shared[2] {
			t.Fatalf("request %q", c)
		}
		for _, n := range []string{a, b, c[2][2:], shared[0], shared[2]} {
			seen[n] = true
		}
	}
	if len(seen) < 4950 {
		t.Errorf("5000 numbers below 10^9, but only %d distinct", len(seen))
	}
}

// In a sequence a shared number is the same in all commands; a request belongs to one unit.
func TestSequenceShares(t *testing.T) {
	o := TestOptions{Random: true, Keyspace: 1000000, Seed: 5}
	p := mustCommand(t, o, "2", "set", "__rand_1st__", "__rand_int__", ";", "get", "__rand_1st__")
	if p.Unit() != 3 || strings.Join(p.Ops(), " ") != "SET GET" || p.Op(0) != 0 || p.Op(2) != 1 || !p.Reads(5) || p.Reads(3) {
		t.Errorf("unit %d, ops %q, Op %d %d", p.Unit(), p.Ops(), p.Op(0), p.Op(2))
	}
	commands := parseCommands(t, wholeStream(t, p, 1<<16, 300))
	for u := 0; u < 300; u += 3 {
		a, b, c := commands[u], commands[u+1], commands[u+2]
		if a[1] != b[1] || b[1] != c[1] || a[2] == b[2] || u > 0 && a[1] == commands[u-1][1] {
			t.Fatalf("unit %q %q %q", a, b, c)
		}
	}
}

// --sequential counts each kind of placeholder up, and begins again at the end of the range.
func TestSequential(t *testing.T) {
	o := TestOptions{Random: true, Keyspace: 5, Sequential: true}
	p := mustCommand(t, o, "mset", "__rand_int__", "__rand_1st__", "__rand_int__", "__rand_1st__")
	want := []string{"0 0 1 0", "2 1 3 1", "4 2 0 2", "1 3 2 3", "3 4 4 4", "0 0 1 0"}
	for i, c := range parseCommands(t, wholeStream(t, p, 1<<16, len(want))) {
		for k := range c[1:] {
			c[k+1] = strings.TrimLeft(c[k+1][:11], "0") + c[k+1][11:]
		}
		if got := strings.Join(c[1:], " "); got != want[i] {
			t.Errorf("request %d has %s, want %s", i, got, want[i])
		}
	}
}

func TestAppendArg(t *testing.T) {
	p := mustCommand(t, TestOptions{Random: true, Keyspace: 50, Seed: 1, Cluster: true}, "set", "k:{tag}:__rand_int__", "v", ";", "ping")
	commands := parseCommands(t, wholeStream(t, p, 1<<16, 10))
	for i, c := range commands {
		at := uint64(i)
		if p.Args(at) != len(c) {
			t.Errorf("request %d has %d arguments, want %d", i, p.Args(at), len(c))
		}
		for k, want := range append(c, "", "") {
			if got := string(p.AppendArg(nil, at, k)); got != want {
				t.Errorf("argument %d of request %d is %q, want %q", k, i, got, want)
			}
		}
		if got := p.AppendArg([]byte("x"), at, -1); string(got) != "x" {
			t.Errorf("argument -1 is %q", got)
		}
	}
}
