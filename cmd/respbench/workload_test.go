package main

import (
	"strconv"
	"strings"
	"testing"
)

// What was written with sizes, contents and keys from a distribution verifies, whatever the seed of the reader.
func TestDistributionsVerify(t *testing.T) {
	r := useRedis(t)
	for _, shape := range []string{
		"--value-size 64-4096", "--value-size 64:90,4096:10", "--value-size 0-3", "--compressible 0.5 --value-size 500",
		"--key-dist zipf:0.99", "--key-dist gaussian:50", "--key-dist sequential", "--key-dist hotspot:10%:90%",
	} {
		r.ask("FLUSHALL")
		args := append(strings.Fields(shape), "-p", r.port, "--mode", "get", "--keyspace", "500", "--requests", "5000", "--verify-get")
		for _, seed := range []string{"1", "2"} {
			respbench(t, append(args, "--seed", seed)...).check(t, want{0, `ok=5000 errors=0 conflicts=0 misses=0 mismatches=0 verified=5000`, ""})
		}
		if n := integer(t, r.ask("DBSIZE")); n != 500 {
			t.Errorf("%s: %d keys, want 500", shape, n)
		}
	}
}

// A sequential run over as many requests as keys writes each key once, on any number of connections.
func TestSequentialWritesEachKeyOnce(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "--mode", "set", "--key-dist", "sequential", "--keyspace", "5000", "--requests", "5000", "-c", "7", "--threads", "2", "-q").
		check(t, want{0, "", ""})
	if n := integer(t, r.ask("DBSIZE")); n != 5000 {
		t.Errorf("%d keys, want 5000", n)
	}
	r.ask("FLUSHALL")
	respbench(t, "-p", r.port, "--sequential", "-r", "3000", "-n", "3000", "-c", "7", "-t", "set", "-q").check(t, good("SET"))
	if n := integer(t, r.ask("DBSIZE")); n != 3000 {
		t.Errorf("--sequential -r 3000 -n 3000 wrote %d keys", n)
	}
}

// A mix sends its commands in their shares, exactly -n in all, and shows a line for each.
func TestMix(t *testing.T) {
	r := useRedis(t)
	o := respbench(t, "-p", r.port, "--mix", "8:GET __key__", "--mix", "1:SET __key__ __data__", "--mix", "1:INCR c:__rand_int__", "--requests", "20000", "--keyspace", "100")
	o.check(t, want{0, `^ +INCR c:__rand_int__ +\d+ `, ""})
	get, set, incr := r.calls("get"), r.calls("set"), r.calls("incr")
	if get+set+incr != 20000 || get < 15600 || get > 16400 || set < 1750 || set > 2250 {
		t.Errorf("%d GET, %d SET, %d INCR", get, set, incr)
	}
	for _, mix := range []string{"0:GET x", "1:", "1:GET 'x"} {
		respbench(t, "-p", r.port, "--mix", mix, "--requests", "10").check(t, want{1, "!QPS=[1-9]", "."})
	}
}

// The rows of a data set go to the requests in turn.
func TestDataset(t *testing.T) {
	r := useRedis(t)
	file := t.TempDir() + "/d.csv"
	var rows strings.Builder
	rows.WriteString("id,name\n")
	for i := range 10 {
		rows.WriteString(strconv.Itoa(i) + ",n" + strconv.Itoa(i) + "\n")
	}
	writeFile(t, file, rows.String())
	respbench(t, "-p", r.port, "--dataset", file, "--maxdocs", "5", "-n", "5", "-q", "set", "k:__field:id__", "__field:name__").check(t, want{0, "", ""})
	if n, got := integer(t, r.ask("DBSIZE")), r.ask("GET k:4"); n != 5 || got != "$2\r\nn4\r\n" {
		t.Errorf("%d keys, k:4 is %q", n, got)
	}
	respbench(t, "-p", r.port, "--dataset", "/no/such/file", "-n", "5", "set", "k:__field:id__", "v").
		check(t, want{1, "", `^--dataset /no/such/file: no such file or directory$`})
	respbench(t, "-p", r.port, "--dataset", "/no/such/file", "-n", "5", "-t", "set", "-q").check(t, want{0, qRow, `^WARNING: Option --dataset is ignored without a command\.$`})
}

// valkey-benchmark's sequences: every command counts as a request, and -n is exact.
func TestSequence(t *testing.T) {
	r := useRedis(t)
	respbench(t, "-p", r.port, "-n", "300", "-c", "3", "-P", "2", "-q", "--", "2", "incr", "a", ";", "set", "b", "__data__").check(t, want{0, "", ""})
	if incr, set := r.calls("incr"), r.calls("set"); incr != 200 || set != 100 {
		t.Errorf("%d INCR and %d SET, want 200 and 100", incr, set)
	}
	if got := r.ask("GET b"); got != "$3\r\nVXK\r\n" {
		t.Errorf("__data__ was %q", got)
	}
}
