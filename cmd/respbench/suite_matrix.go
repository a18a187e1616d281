package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"respbench/runner"
	"respbench/workload"
)

// The matrix that a suite's flags describe: modes, and the systems with their strategies.

// fromFlags makes the matrix.
func (f *suiteFlags) fromFlags(fs *pflag.FlagSet) error {
	if err := f.takeWorkloads(); err != nil {
		return err
	}
	if f.allocator != "mypool" && f.allocator != "malloc" {
		return usagef("invalid value %q for --allocator: must be mypool or malloc", f.allocator)
	}
	if err := f.takeKVStore(fs); err != nil {
		return err
	}
	if err := f.takeRedis(); err != nil {
		return err
	}
	set, get := "SET", "GET"
	if fs.Changed("set-cmd") {
		set = f.setCmd
	}
	if fs.Changed("get-cmd") {
		get = f.getCmd
	}
	for _, text := range f.targets {
		sys, err := runner.RunningSystem(text, set, get)
		if err != nil {
			return usagef("invalid value %q for --target: %s", text, err)
		}
		f.spec.Systems = append(f.spec.Systems, sys)
	}
	return nil
}

func (f *suiteFlags) takeWorkloads() error {
	if f.keyDist != "" {
		if _, err := workload.ParseKeyDist(f.keyDist); err != nil {
			return usagef("invalid value %q for --key-dist: %s", f.keyDist, err)
		}
	}
	f.spec.Workloads = nil
	for _, mode := range f.modes {
		w := runner.SuiteWorkload{Name: mode, Op: mode, Requests: f.requests.of(mode, benchRequests), Keyspace: f.keyspace.of(mode, suiteKeyspace),
			ValueSize: int(f.valueSize.of(mode, benchValueSize)), KeyDist: f.keyDist}
		if mode == "mixed" {
			w.SetRatio = f.setRatio
		}
		w.Prefill = mode != "set"
		w.Verify = f.verify && mode != "set"
		f.spec.Workloads = append(f.spec.Workloads, w)
	}
	for name, p := range map[string]perMode{"requests": f.requests, "keyspace": f.keyspace, "value-size": f.valueSize} {
		for mode := range p.named {
			if !slices.Contains(f.modes, mode) {
				return usagef("--%s names the mode %q, which is not measured: the modes are %s", name, mode, strings.Join(f.modes, ", "))
			}
		}
	}
	return nil
}

// suiteKeyspace is run_bench.hash.sh's KEYSPACE.
const suiteKeyspace = 1_000_000

func (f *suiteFlags) takeKVStore(fs *pflag.FlagSet) error {
	switch strings.ReplaceAll(f.matrix, "×", "x") {
	case "":
	case "persistencexallocator":
		if fs.Changed("strategies") {
			return usagef("--strategies does not go with --matrix, which has its own")
		}
		if !f.kvstore {
			return usagef("--kvstore=false does not go with --matrix, which is kvstore's")
		}
		all := []string{"mypool", "malloc"}
		if f.allocator == "malloc" {
			slices.Reverse(all)
		}
		f.spec.Systems = append(f.spec.Systems, runner.KVMatrix(all, f.setCmd, f.getCmd, f.kvPort))
		return nil
	default:
		return usagef("invalid value %q for --matrix: must be persistence×allocator, or persistencexallocator", f.matrix)
	}
	if !f.kvstore {
		return nil
	}
	sys, err := runner.KVSystem(f.strategies, f.allocator, f.setCmd, f.getCmd, f.kvPort)
	if err != nil {
		return usagef("--strategies: %s", err)
	}
	f.spec.Systems = append(f.spec.Systems, sys)
	return nil
}

// takeRedis finds the real servers.
func (f *suiteFlags) takeRedis() error {
	programs := f.redisServers
	if f.redis && len(programs) == 0 {
		for _, name := range []string{"redis-server", "valkey-server"} {
			if _, err := exec.LookPath(name); err == nil {
				programs = append(programs, name)
			}
		}
		if len(programs) == 0 {
			return usagef("--redis: neither redis-server nor valkey-server is in PATH (--redis-server PATH names one)")
		}
	}
	count := map[string]int{}
	for _, p := range programs {
		if p == "" {
			return usagef(`invalid value "" for --redis-server: must not be empty`)
		}
		name := "redis"
		if strings.Contains(p[strings.LastIndexByte(p, '/')+1:], "valkey") {
			name = "valkey"
		}
		if count[name]++; count[name] > 1 {
			name = fmt.Sprintf("%s%d", name, count[name])
		}
		sys, err := runner.RedisSystem(name, p, f.redisStrategies)
		if err != nil {
			return usagef("--redis-strategies: %s", err)
		}
		f.spec.Systems = append(f.spec.Systems, sys)
	}
	return nil
}

// perMode is a count, or one for each mode: "1000000" or "set=1000000000,get=100000".
type perMode struct {
	all   number
	named map[string]int64
	text  string
}

func (p *perMode) String() string { return p.text }
func (p *perMode) Type() string   { return "count" }

func (p *perMode) Set(text string) error {
	all, of := number{}, map[string]int64{}
	for part := range strings.SplitSeq(text, ",") {
		mode, count, named := strings.Cut(part, "=")
		if !named {
			mode, count = "", part
		}
		v, err := digits(count)
		if err != nil || v < 0 || named && mode == "" || !named && all.given {
			return errors.New("must be a whole number, or one for each mode: set=N,get=N")
		}
		if _, twice := of[mode]; twice {
			return fmt.Errorf("the mode %q is there twice", mode)
		}
		if named {
			of[mode] = v
		} else {
			all = number{v, true}
		}
	}
	*p = perMode{all, of, text}
	return nil
}

// of is the count for a mode.
func (p *perMode) of(mode string, def int64) int64 {
	if v, ok := p.named[mode]; ok {
		return v
	}
	return p.all.or(def)
}
