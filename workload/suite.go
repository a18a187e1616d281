package workload

import (
	"slices"
	"strconv"
	"strings"
)

// The tests of redis-benchmark, in its order, and valkey-benchmark's additions.

// TestOptions are what the tests and a command of one's own depend on.
type TestOptions struct {
	Random       bool  // -r was given: __rand_int__ is replaced
	Keyspace     int64 // -r: numbers are 0 to Keyspace-1; below 1 counts as 1, above 10^12 as 10^12
	Dist         KeyDist
	DataSize     int // -d: bytes of a value
	Seed         uint64
	Cluster      bool // keys carry :{tag}
	Sequential   bool // --sequential: numbers count up instead of being random
	NumFunctions int  // --num-functions: functions in the library of function_load; 0 = 10
	NumFcallKeys int  // --num-keys-in-fcall
	Dataset      *Dataset
	Loop         int // -l: how often all of it has run before; random numbers and the tests' payload go on
}

// test is one row of the suite. In the command <tag> stands for ":{tag}" in a cluster and for nothing otherwise, __data__ for the
// payload of -d bytes; words are separated by one space.
type test struct {
	names   string // of -t, separated by spaces
	title   string
	command string
	extra   bool // valkey's: runs only when it is named
	build   func(t *test, o TestOptions) *Plan
}

var tests = []test{
	{names: "ping_inline ping", title: "PING_INLINE", command: "PING", build: buildInline},
	{names: "ping_mbulk ping", title: "PING_MBULK", command: "PING"},
	{names: "set", title: "SET", command: "SET key<tag>:__rand_int__ __data__"},
	{names: "get", title: "GET", command: "GET key<tag>:__rand_int__"},
	{names: "incr", title: "INCR", command: "INCR counter<tag>:__rand_int__"},
	{names: "lpush", title: "LPUSH", command: "LPUSH mylist<tag> __data__"},
	{names: "rpush", title: "RPUSH", command: "RPUSH mylist<tag> __data__"},
	{names: "lpop", title: "LPOP", command: "LPOP mylist<tag>"},
	{names: "rpop", title: "RPOP", command: "RPOP mylist<tag>"},
	{names: "sadd", title: "SADD", command: "SADD myset<tag> element:__rand_int__"},
	{names: "hset", title: "HSET", command: "HSET myhash<tag> element:__rand_int__ __data__"},
	{names: "spop", title: "SPOP", command: "SPOP myset<tag>"},
	{names: "zadd", title: "ZADD", command: "ZADD myzset<tag> 0 element:__rand_int__", build: buildZadd},
	{names: "zpopmin", title: "ZPOPMIN", command: "ZPOPMIN myzset<tag>"},
	{names: "lrange lrange_100 lrange_300 lrange_500 lrange_600", title: "LPUSH (needed to benchmark LRANGE)",
		command: "LPUSH mylist<tag> __data__"},
	{names: "lrange lrange_100", title: "LRANGE_100 (first 100 elements)", command: "LRANGE mylist<tag> 0 99"},
	{names: "lrange lrange_300", title: "LRANGE_300 (first 300 elements)", command: "LRANGE mylist<tag> 0 299"},
	{names: "lrange lrange_500", title: "LRANGE_500 (first 500 elements)", command: "LRANGE mylist<tag> 0 499"},
	{names: "lrange lrange_600", title: "LRANGE_600 (first 600 elements)", command: "LRANGE mylist<tag> 0 599"},
	{names: "mset", title: "MSET (10 keys)", command: "MSET" + strings.Repeat(" key<tag>:__rand_int__ __data__", 10)},
	{names: "mget", title: "MGET (10 keys)", command: "MGET" + strings.Repeat(" key<tag>:__rand_int__", 10), extra: true},
	{names: "xadd", title: "XADD", command: "XADD mystream<tag> * myfield __data__"},
	{names: "function_load", title: "FUNCTION LOAD", extra: true, build: buildFunctionLoad},
	{names: "fcall", title: "FCALL", extra: true, build: buildFcall},
}

// TestNames are the names that -t knows, in the order of the tests.
func TestNames() []string {
	var names []string
	for _, t := range tests {
		for name := range strings.FieldsSeq(t.names) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Suite returns the plans of the named tests in redis-benchmark's order, whatever the order of the names; all but valkey's additions
// when names is empty. Upper and lower case are the same. Names that no test has are returned as unknown.
func Suite(names []string, o TestOptions) (plans []*Plan, unknown []string) {
	wanted := map[string]bool{}
	var selected []*test
	known := TestNames()
	for _, name := range names {
		lower := strings.ToLower(name)
		wanted[lower] = true
		if !slices.Contains(known, lower) {
			unknown = append(unknown, name)
		}
	}
	for i := range tests {
		t := &tests[i]
		runs := len(names) == 0 && !t.extra
		for name := range strings.FieldsSeq(t.names) {
			runs = runs || wanted[name]
		}
		if runs {
			selected = append(selected, t)
		}
	}
	seed := o.Seed
	for i, t := range selected {
		o.Seed = testSeed(seed, o.Loop*len(selected)+i)
		plans = append(plans, t.plan(o))
	}
	return plans, unknown
}

// testSeed is the seed of test n of a run. The first test has the run's own, so that two runs of one test each draw the same
// numbers from the same seed, as redis-benchmark's do. Each other test has its own: GET must not read just the keys that SET wrote,
// and what -l repeats must not write the same keys for ever.
func testSeed(seed uint64, n int) uint64 {
	if n == 0 {
		return seed
	}
	return scramble(seed + uint64(n)*streamStep)
}

func (t *test) plan(o TestOptions) *Plan {
	if t.build != nil {
		return t.build(t, o)
	}
	return planOf(t.title, strings.Split(t.command, " "), o)
}

// planOf makes the plan of one command. Its words are ours, so that scanning them cannot fail.
func planOf(title string, words []string, o TestOptions) *Plan {
	s := newScanner()
	s.random, s.cluster = o.Random, o.Cluster
	s.data = payload(o.Loop*o.DataSize, o.DataSize)
	tag := ""
	if o.Cluster {
		tag = ":" + tagPlaceholder
	}
	args := make([][]piece, len(words))
	for i, word := range words {
		args[i], _ = s.scan([]byte(strings.ReplaceAll(word, "<tag>", tag)))
	}
	c := newCommand(0, args)
	c.miss = missingIsNull(words[0])
	return classicPlan(title, o.DataSize, []command{c}, s, o)
}

// classicPlan completes a plan of one entry with redis-benchmark's keys.
func classicPlan(title string, payloadSize int, commands []command, s *scanner, o TestOptions) *Plan {
	p := &Plan{Title: title, PayloadSize: payloadSize, unit: len(commands)}
	for i := range commands {
		commands[i].op = p.opIndex(commands[i].name())
	}
	p.entries = []entry{{commands: commands, numbers: s.numbers}}
	p.data = o.Dataset
	p.keys = o.Dist.over(o.Keyspace)
	if o.Sequential {
		p.keys = Sequential.over(o.Keyspace)
	}
	return p.finish(o.Seed, s.streams)
}

// payload is redis-benchmark's value of n bytes, from byte skip of its generator on.
func payload(skip, n int) []piece {
	if n >= refMin {
		return []piece{{kind: pieceRing, ring: payloadPool(), off: skip % payloadPeriod, n: n}}
	}
	b := make([]byte, n)
	fillPayload(b, skip)
	return []piece{{kind: pieceLiteral, literal: b}}
}

func buildInline(t *test, o TestOptions) *Plan {
	return classicPlan(t.title, o.DataSize, []command{newInlineCommand(0, t.command)}, newScanner(), o)
}

// buildZadd gives a random score where there are random numbers at all, and counts the elements on their own when in sequence, so
// that each gets its turn.
func buildZadd(t *test, o TestOptions) *Plan {
	words := strings.Split(t.command, " ")
	if o.Random {
		words[2] = randomPlaceholder
	}
	if o.Random && o.Sequential {
		words[3] = "element:" + sharedPlaceholders[0]
	}
	return planOf(t.title, words, o)
}

func buildFunctionLoad(t *test, o TestOptions) *Plan {
	functions := o.NumFunctions
	if functions < 1 {
		functions = 10
	}
	return planOf(t.title, []string{"function", "load", "replace", functionLibrary(functions)}, o)
}

// buildFcall tags the keys in a cluster (valkey-benchmark does not, and is redirected).
func buildFcall(t *test, o TestOptions) *Plan {
	n := max(o.NumFcallKeys, 0)
	words := []string{"fcall", "foo1", strconv.Itoa(n)}
	for i := range n {
		words = append(words, "key"+strconv.Itoa(i+1)+"<tag>")
	}
	p := planOf(t.title, words, o)
	p.Setup = [][]string{{"FUNCTION", "LOAD", "REPLACE", functionLibrary(1)}}
	return p
}

// functionLibrary is the source of a library with functions foo1 … fooN that return 0.
func functionLibrary(functions int) string {
	var b strings.Builder
	b.WriteString("#!lua name=benchlib\n")
	for i := range functions {
		name := "foo" + strconv.Itoa(i+1)
		b.WriteString("redis.register_function('" + name + "', function(keys, args) return 0 end)\n")
	}
	return b.String()
}
