package runner

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// builtInSuite is everything that the flags can describe.
func builtInSuite(t *testing.T) SuiteSpec {
	t.Helper()
	s := DefaultSuite()
	kv, err := KVSystem(KVStrategies, "malloc", "RSET", "RGET", 0)
	if err != nil {
		t.Fatal(err)
	}
	redis, err := RedisSystem("redis", "redis-server", nil)
	if err != nil {
		t.Fatal(err)
	}
	running, err := RunningSystem("prod=10.0.0.7:6379", "SET", "GET")
	if err != nil {
		t.Fatal(err)
	}
	matrix := KVMatrix([]string{"mypool", "malloc"}, "RSET", "RGET", 8888)
	matrix.Name = "older"
	s.Systems = []SuiteSystem{kv, matrix, redis, running}
	return s
}

// What --print-file prints is read back the same, and is valid.
func TestSuiteFileRoundTrip(t *testing.T) {
	s := builtInSuite(t)
	s.Title, s.Lang, s.Dir, s.Engine, s.Rest, s.Seed = "a: title, with #", "zh", "/var/lib/x y", "gnet", 1500*time.Millisecond, 1<<64-1
	var b bytes.Buffer
	if err := WriteSuite(&b, &s); err != nil {
		t.Fatal(err)
	}
	got, err := ReadSuite(strings.NewReader(b.String()), "suite.yaml", SuiteSpec{})
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if !reflect.DeepEqual(*got, s) {
		t.Errorf("read back\n%+v\nwritten\n%+v", *got, s)
	}
}

// Every mistake is told with its place, and in the file's own words.
func TestSuiteFileMistakes(t *testing.T) {
	const system = "systems:\n- name: a\n  server: kvstore\n  strategies:\n"
	for _, c := range []struct{ text, want string }{
		{"", `^f.yaml: the file is empty`},
		{"# only a comment\n", `^f.yaml: the file is empty`},
		{"rounds: 3\nrunds: 4", "^f.yaml:2:1: unknown key \"runds\": the suite has title, rounds, .*\n    2 \\| runds: 4\n      \\| \\^$"},
		{"rounds: 0", `^f.yaml:1:9: "0" must be a whole number from 1 to 2147483647`},
		{"rounds: -1", `^f.yaml:1:9: "-1" must be`},
		{"rounds: 3.5", `^f.yaml:1:9: "3.5" must be a whole number`},
		{"rounds: [1]", `^f.yaml:1:9: "" must be a whole number`},
		{"rounds: 2\nrounds: 3", `^f.yaml:2:1: key "rounds" is there twice`},
		{"rest: 10 parsecs", `^f.yaml:1:7: "10 parsecs" must be a time`},
		{"a:\n\tb: 1", "^f.yaml:2:1: .*\n    2 \\| \tb: 1\n"},
		{"rounds: 3\n---\nrounds: 4", `^f.yaml: must be a single document: there is a second one behind a line ---$`},
		{"ready: 0", `^f.yaml:1:8: "0" must be a time above 0`},
		{"seed: 18446744073709551616", `^f.yaml:1:7: "18446744073709551616" must be a whole number from 0 to`},
		{system + "  - name: x\n    settings: {fsync: maybe}", `^f.yaml:5:5: strategy "x": fsync "maybe": must be one of no, everysec, always`},
		{"systems:\n- name: a\n  server: redis\n  port: 7000\n  strategies: [{name: x}]", `^f.yaml:2:3: system "a": only server: kvstore has a port; a redis gets a free one`},
		{"- a", `^f.yaml:1:1: the suite must be lines of key: value`},
		{"workloads: 3", `^f.yaml:1:12: workloads must be a list`},
		{"workloads:\n- name: a\n  op: delete", `^f.yaml:3:7: "delete" must be one of set, get, mixed`},
		{"workloads:\n- name: a\n", `^f.yaml:2:3: a workload needs an op`},
		{"workloads:\n- {name: a, op: set}\n- {name: a, op: set}\n" + system + "  - name: x", `^f.yaml:3:3: workload "a" is there twice`},
		{system + "  - name: x\n    settings: {port: 3}", `^f.yaml:5:5: strategy "x": kvstore has no setting "port": there are persistence, fsync, allocator`},
		{system + "  - name: x\n    settings:\n      fsync:", `^f.yaml:7:13: setting "fsync" needs a value`},
		{system + "  - name: x\n  - name: x", `^f.yaml:6:5: strategy "x" is there twice`},
		{system + "  - name: x\n  baseline: y", `^f.yaml:2:3: system "a": its baseline "y" is none of its strategies`},
		{"systems:\n- name: a\n  server: running\n  address: nowhere\n  strategies: [{name: x}]", `^f.yaml:2:3: system "a": address "nowhere": must be HOST:PORT`},
		{"systems:\n- name: a\n  server: redis\n  strategies: [{name: x, settings: {dir: /}}]", `^f.yaml:4:16: strategy "x": setting "dir" is the suite's own`},
		{"systems: []", `^f.yaml: there is no system to measure`},
	} {
		_, err := ReadSuite(strings.NewReader(c.text), "f.yaml", DefaultSuite())
		if err == nil {
			t.Errorf("%q: no error", c.text)
			continue
		}
		if !regexp.MustCompile(c.want).MatchString(err.Error()) {
			t.Errorf("%q:\ngot  %s\nwant %s", c.text, err, c.want)
		}
		if regexp.MustCompile(`runner\.|\*?Suite[A-Z]|!!|go-yaml`).MatchString(err.Error()) {
			t.Errorf("%q: the message shows the program's inside: %s", c.text, err)
		}
	}
}

// Values are kept as they are written, and numbers may be written as people write them.
func TestSuiteFileValues(t *testing.T) {
	const text = `
rounds: 1_000
seed: 1e6
workloads:
- &w {name: set, op: set, requests: 10, verify: no}
systems:
- name: r
  server: redis
  strategies:
  - name: no
    settings: {save: "", appendonly: no, maxmemory: 010, hz: 1.10, "loglevel": notice}
`
	s, err := ReadSuite(strings.NewReader(text), "f.yaml", DefaultSuite())
	if err != nil {
		t.Fatal(err)
	}
	st := s.Systems[0].Strategies[0]
	want := map[string]string{"save": "", "appendonly": "no", "maxmemory": "010", "hz": "1.10", "loglevel": "notice"}
	if p := s.Systems[0].Program; p != "redis-server" {
		t.Errorf("program %q, where none is named", p)
	}
	if s.Rounds != 1000 || s.Seed != 1e6 || st.Name != "no" || !reflect.DeepEqual(st.Settings, want) {
		t.Errorf("rounds %d, seed %d, strategy %q, settings %q", s.Rounds, s.Seed, st.Name, st.Settings)
	}
	if got := strings.Join(st.Args(), "|"); got != "--appendonly|no|--hz|1.10|--loglevel|notice|--maxmemory|010|--save|" {
		t.Errorf("arguments %s", got)
	}
}

// FuzzSuiteFile: whatever is read without an error is valid, and is written and read back the same.
func FuzzSuiteFile(f *testing.F) {
	f.Add("rounds: 3\nsystems: [{name: a, server: kvstore, strategies: [{name: b}]}]")
	f.Add("a: &x [*x]")
	f.Add("x: &a [1]\nsystems: *a")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ReadSuite(strings.NewReader(text), "f.yaml", DefaultSuite())
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("read without an error, but %v", err)
		}
		var b bytes.Buffer
		if err := WriteSuite(&b, s); err != nil {
			t.Fatal(err)
		}
		again, err := ReadSuite(&b, "f.yaml", SuiteSpec{})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		var c bytes.Buffer
		if err := WriteSuite(&c, again); err != nil {
			t.Fatal(err)
		}
		var d bytes.Buffer
		if err := WriteSuite(&d, s); err != nil || c.String() != d.String() {
			t.Fatalf("written again\n%s\nfirst\n%s", c.String(), d.String())
		}
	})
}
