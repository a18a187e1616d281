package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The built-in suites: that of run_bench.hash.sh, the shell script that suite replaces, its matrix of
// strategies and allocators, and the real servers.

// KVStrategies are the names of kvstore's built-in strategies. The last one runs on demand only.
var KVStrategies = []string{"persist_no", "persist_everysec", "nopersist", "persist_always"}

// DefaultKVStrategies are those of the script.
var DefaultKVStrategies = KVStrategies[:3]

// RedisStrategies are the names of the built-in strategies of redis-server and valkey-server.
var RedisStrategies = []string{"none", "rdb_default", "aof_no", "aof_everysec", "aof_always"}

// DefaultSuite is the script without its systems: its counts, its two modes.
func DefaultSuite() SuiteSpec {
	return SuiteSpec{Rounds: 5, Warmup: 1, Rest: time.Second, Retries: 3, Ready: 30 * time.Second, Seed: 12345,
		Clients: 1, Threads: 1, Pipeline: 128, Out: "results",
		Workloads: []SuiteWorkload{
			{Name: "set", Op: "set", Requests: 1_000_000, Keyspace: 1_000_000, ValueSize: 32},
			{Name: "get", Op: "get", Requests: 1_000_000, Keyspace: 1_000_000, ValueSize: 32, Prefill: true, Verify: true},
		}}
}

// kvStrategy makes one of kvstore's strategies; ok is false for an unknown name.
func kvStrategy(name, allocator string) (st SuiteStrategy, ok bool) {
	st = SuiteStrategy{Name: name, Persists: true, Settings: map[string]string{"persistence": "incremental", "allocator": allocator}}
	switch name {
	case "persist_no", "persist_everysec", "persist_always":
		fsync := strings.TrimPrefix(name, "persist_")
		st.Settings["fsync"] = fsync
		st.Detail = "incremental, fsync " + fsync
	case "nopersist":
		st.Persists, st.Settings["persistence"] = false, "none"
		st.Detail = "none"
	default:
		return st, false
	}
	return st, true
}

// KVSystem is kvstore with some of its strategies; nil names are the default ones.
func KVSystem(names []string, allocator, setCmd, getCmd string, port int) (SuiteSystem, error) {
	sys := SuiteSystem{Name: "kvstore", Server: ServerKVStore, Port: port, SetCmd: setCmd, GetCmd: getCmd}
	if names == nil {
		names = DefaultKVStrategies
	}
	for _, name := range names {
		st, ok := kvStrategy(name, allocator)
		if !ok {
			return sys, fmt.Errorf("there is no strategy %q of kvstore: there are %s", name, strings.Join(KVStrategies, ", "))
		}
		sys.Strategies = append(sys.Strategies, st)
	}
	if slices.Contains(names, "nopersist") {
		sys.Baseline = "nopersist"
	}
	return sys, nil
}

// KVMatrix is kvstore with each of its older strategies under each allocator, the first one's first.
func KVMatrix(allocators []string, setCmd, getCmd string, port int) SuiteSystem {
	sys := SuiteSystem{Name: "kvstore", Server: ServerKVStore, Port: port, SetCmd: setCmd, GetCmd: getCmd, Baseline: "nopersist_" + allocators[0]}
	for _, allocator := range allocators {
		for _, row := range []struct{ name, of string }{
			{"persist", "persist_no"}, {"everysec", "persist_everysec"}, {"nopersist", "nopersist"},
		} {
			st, _ := kvStrategy(row.of, allocator)
			st.Name = row.name + "_" + allocator
			st.Detail += ", " + allocator
			sys.Strategies = append(sys.Strategies, st)
		}
	}
	return sys
}

// redisProgram is the real server when none is named.
const redisProgram = "redis-server"

// redisSave is the save line that redis-server has when nobody sets one.
const redisSave = "3600 1 300 100 60 10000"

// RedisSystem is a real server with some of its strategies; nil names are all of them.
func RedisSystem(name, program string, names []string) (SuiteSystem, error) {
	sys := SuiteSystem{Name: name, Server: ServerRedis, Program: program, SetCmd: "SET", GetCmd: "GET"}
	if names == nil {
		names = RedisStrategies
	}
	for _, n := range names {
		st := SuiteStrategy{Name: n, Persists: true, Settings: map[string]string{"save": "", "appendonly": "yes"}}
		switch n {
		case "none":
			st.Persists, st.Settings["appendonly"] = false, "no"
			st.Detail, sys.Baseline = `save "", appendonly no`, n
		case "rdb_default":
			st.Settings["appendonly"], st.Settings["save"] = "no", redisSave
			st.Detail = "save " + redisSave
		case "aof_no", "aof_everysec", "aof_always":
			st.Settings["appendfsync"] = strings.TrimPrefix(n, "aof_")
			st.Detail = "appendfsync " + st.Settings["appendfsync"]
		default:
			return sys, fmt.Errorf("there is no strategy %q of redis: there are %s", n, strings.Join(RedisStrategies, ", "))
		}
		sys.Strategies = append(sys.Strategies, st)
	}
	return sys, nil
}

// RunningSystem is a server that somebody else started: NAME=HOST:PORT.
func RunningSystem(text, setCmd, getCmd string) (SuiteSystem, error) {
	name, address, ok := strings.Cut(text, "=")
	sys := SuiteSystem{Name: name, Server: ServerRunning, Address: address, SetCmd: setCmd, GetCmd: getCmd,
		Strategies: []SuiteStrategy{{Name: "as_it_runs"}}}
	if _, _, err := sys.hostPort(); !ok || name == "" || err != nil {
		return sys, fmt.Errorf("must be NAME=HOST:PORT, such as prod=10.0.0.7:6379")
	}
	return sys, nil
}
