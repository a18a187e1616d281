package workload

import (
	"slices"
	"strings"
	"testing"
)

// Each test of the suite as it goes to the wire: words are joined by one space, "|" separates requests.
func TestSuiteOnTheWire(t *testing.T) {
	plain := TestOptions{DataSize: 3}
	cluster := TestOptions{DataSize: 3, Cluster: true}
	ten := func(s string) string { return strings.Repeat(s, 10) }
	rows := []struct{ name, title, plain, cluster string }{
		{"ping_mbulk", "PING_MBULK", "PING", "PING"},
		{"set", "SET", "SET key:__rand_int__ VXK", "SET key:{tag}:__rand_int__ VXK"},
		{"get", "GET", "GET key:__rand_int__", "GET key:{tag}:__rand_int__"},
		{"incr", "INCR", "INCR counter:__rand_int__", "INCR counter:{tag}:__rand_int__"},
		{"lpush", "LPUSH", "LPUSH mylist VXK", "LPUSH mylist:{tag} VXK"},
		{"rpush", "RPUSH", "RPUSH mylist VXK", "RPUSH mylist:{tag} VXK"},
		{"lpop", "LPOP", "LPOP mylist", "LPOP mylist:{tag}"},
		{"rpop", "RPOP", "RPOP mylist", "RPOP mylist:{tag}"},
		{"sadd", "SADD", "SADD myset element:__rand_int__", "SADD myset:{tag} element:__rand_int__"},
		{"hset", "HSET", "HSET myhash element:__rand_int__ VXK", "HSET myhash:{tag} element:__rand_int__ VXK"},
		{"spop", "SPOP", "SPOP myset", "SPOP myset:{tag}"},
		{"zadd", "ZADD", "ZADD myzset 0 element:__rand_int__", "ZADD myzset:{tag} 0 element:__rand_int__"},
		{"zpopmin", "ZPOPMIN", "ZPOPMIN myzset", "ZPOPMIN myzset:{tag}"},
		{"mset", "MSET (10 keys)", "MSET" + ten(" key:__rand_int__ VXK"), "MSET" + ten(" key:{tag}:__rand_int__ VXK")},
		{"mget", "MGET (10 keys)", "MGET" + ten(" key:__rand_int__"), "MGET" + ten(" key:{tag}:__rand_int__")},
		{"xadd", "XADD", "XADD mystream * myfield VXK", "XADD mystream:{tag} * myfield VXK"},
		{"fcall", "FCALL", "fcall foo1 2 key1 key2", "fcall foo1 2 key1:{tag} key2:{tag}"},
	}
	for _, r := range rows {
		for _, o := range []TestOptions{plain, cluster} {
			o.NumFcallKeys = 2
			want := r.plain
			if o.Cluster {
				want = r.cluster
			}
			p := onlyTest(t, r.name, o)
			commands := parseCommands(t, wholeStream(t, p, 1<<16, 2))
			if p.Title != r.title || len(commands) != 2 || strings.Join(commands[1], " ") != want {
				t.Errorf("%s: %q sends %q, want %q sends %q", r.name, p.Title, commands, r.title, want)
			}
			if p.HasTag() != (o.Cluster && strings.Contains(r.cluster, tagPlaceholder)) {
				t.Errorf("%s: HasTag is %v", r.name, p.HasTag())
			}
		}
	}
	if got := wholeStream(t, onlyTest(t, "ping_inline", plain), 1<<16, 2); string(got) != "PING\r\nPING\r\n" {
		t.Errorf("ping_inline sends %q", got)
	}
}

func TestSuiteOrderAndNames(t *testing.T) {
	titles := func(names ...string) string {
		plans, unknown := Suite(names, TestOptions{DataSize: 3})
		var all []string
		for _, p := range plans {
			all = append(all, p.Title)
		}
		for _, name := range unknown {
			all = append(all, "?"+name)
		}
		return strings.Join(all, ", ")
	}
	const lrange = "LPUSH (needed to benchmark LRANGE), "
	tests := map[string]string{ // C95: titles and their order; C08: names that are unknown, upper case
		"": "PING_INLINE, PING_MBULK, SET, GET, INCR, LPUSH, RPUSH, LPOP, RPOP, SADD, HSET, SPOP, ZADD, ZPOPMIN, " + lrange +
			"LRANGE_100 (first 100 elements), LRANGE_300 (first 300 elements), LRANGE_500 (first 500 elements), " +
			"LRANGE_600 (first 600 elements), MSET (10 keys), XADD",
		"get,set":                 "SET, GET",
		"SET,Get":                 "SET, GET",
		"ping":                    "PING_INLINE, PING_MBULK",
		"set,set":                 "SET",
		"lrange_300":              lrange + "LRANGE_300 (first 300 elements)",
		"lrange_600,lrange_100":   lrange + "LRANGE_100 (first 100 elements), LRANGE_600 (first 600 elements)",
		"fcall,function_load":     "FUNCTION LOAD, FCALL",
		"mget,xadd":               "MGET (10 keys), XADD",
		"set,nosuch":              "SET, ?nosuch",
		"lrange_450, get,del,set": "SET, ?lrange_450, ? get, ?del",
	}
	for names, want := range tests {
		var list []string
		if names != "" {
			list = strings.Split(names, ",")
		}
		if got := titles(list...); got != want {
			t.Errorf("-t %q: %s\nwant %s", names, got, want)
		}
	}
	if names := TestNames(); len(names) != 25 || slices.Contains(names, "") {
		t.Errorf("%d names: %q", len(names), names)
	}
}

// The tests of a run, and its repetitions, draw numbers of their own; the first draws those of the seed, as a test that runs alone.
func TestEachTestHasItsOwnNumbers(t *testing.T) {
	o := TestOptions{DataSize: 3, Random: true, Keyspace: 1e12, Seed: 7}
	key := func(p *Plan) string { return parseCommands(t, wholeStream(t, p, 1<<16, 1))[0][1] }
	alone := key(onlyTest(t, "get", o))
	seen := map[string]bool{}
	for range 3 {
		plans, _ := Suite([]string{"set", "get"}, o)
		for _, p := range plans {
			seen[key(p)] = true
		}
		p, err := Command([]string{"get", "key:__rand_int__"}, nil, false, o)
		if err != nil {
			t.Fatal(err)
		}
		if k := key(p); (o.Loop == 0) != (k == alone) {
			t.Errorf("repetition %d of a command: key %q, the seed's is %q", o.Loop, k, alone)
		}
		o.Loop++
	}
	if len(seen) != 6 || !seen[alone] {
		t.Errorf("two tests run three times begin with %d different keys, want 6 and %q among them: %v", len(seen), alone, seen)
	}
}

// The elements and scores of ZADD are random numbers with -r, and each element has its turn with --sequential.
func TestZadd(t *testing.T) {
	p := onlyTest(t, "zadd", TestOptions{Random: true, Keyspace: 10, Sequential: true})
	seen := map[string]bool{}
	for _, c := range parseCommands(t, wholeStream(t, p, 1<<16, 10)) {
		seen[c[3]] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d elements in sequence, want 10: %v", len(seen), seen)
	}
	p = onlyTest(t, "zadd", TestOptions{Random: true, Keyspace: 1000000, Seed: 3})
	c := parseCommands(t, wholeStream(t, p, 1<<16, 1))[0]
	if len(c[2]) != 12 || c[3] == "element:"+c[2] {
		t.Errorf("score %q and element %q", c[2], c[3])
	}
}

func TestFunctions(t *testing.T) {
	c := parseCommands(t, wholeStream(t, onlyTest(t, "function_load", TestOptions{NumFunctions: 3}), 1<<16, 1))[0]
	if len(c) != 4 || strings.Join(c[:3], " ") != "function load replace" || !strings.HasPrefix(c[3], "#!lua name=benchlib\n") ||
		strings.Count(c[3], "redis.register_function") != 3 || !strings.Contains(c[3], "'foo3'") {
		t.Errorf("function_load sends %q", c)
	}
	c = parseCommands(t, wholeStream(t, onlyTest(t, "function_load", TestOptions{}), 1<<16, 1))[0]
	if n := strings.Count(c[3], "redis.register_function"); n != 10 {
		t.Errorf("%d functions by default, want 10", n)
	}
	p := onlyTest(t, "fcall", TestOptions{})
	if len(p.Setup) != 1 || p.Setup[0][0] != "FUNCTION" {
		t.Errorf("fcall's setup is %q", p.Setup)
	}
	if c := parseCommands(t, wholeStream(t, p, 1<<16, 1))[0]; strings.Join(c, " ") != "fcall foo1 0" {
		t.Errorf("fcall without keys sends %q", c)
	}
}

// A null reply is a miss for commands that read or take one element, and for no other.
func TestSuiteMisses(t *testing.T) {
	for name, want := range map[string]bool{"get": true, "lpop": true, "rpop": true, "spop": true, "set": false, "incr": false,
		"mget": false} {
		if p := onlyTest(t, name, TestOptions{DataSize: 3}); p.Reads(5) != want || p.Verifies(5) || p.Writes(5) {
			t.Errorf("%s: Reads %v, Verifies %v, Writes %v", name, p.Reads(5), p.Verifies(5), p.Writes(5))
		}
	}
}
