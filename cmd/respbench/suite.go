package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"respbench/report"
	"respbench/runner"
)

// The subcommand that replaces the shell script run_bench.hash.sh: flags, or the variables of the script, or a file become a
// runner.SuiteSpec.

// suiteFlags is what was typed.
type suiteFlags struct {
	spec runner.SuiteSpec

	requests, keyspace, valueSize perMode
	modes                         []string
	verify                        bool
	setRatio                      int
	keyDist                       string

	kvstore         bool
	strategies      []string
	matrix          string
	allocator       string
	kvPort          int
	setCmd, getCmd  string
	redis           bool
	redisServers    []string
	redisStrategies []string
	targets         []string

	file, resume      string
	dryRun, printFile bool
}

// scriptVariables are the variables of that script, and their flags.
var scriptVariables = []struct{ variable, flag string }{
	{"ROUNDS", "rounds"}, {"REQ", "requests"}, {"KEYSPACE", "keyspace"}, {"PIPE", "pipeline"}, {"VSIZE", "value-size"},
	{"RETRIES", "retries"}, {"SEED", "seed"}, {"ALLOC", "allocator"}, {"KV_PORT", "kv-port"}, {"SET_CMD", "set-cmd"}, {"GET_CMD", "get-cmd"},
}

// besideFile are the flags that may change a suite file's or a resumed suite's own values.
var besideFile = []string{"file", "dry-run", "print-file", "rounds", "warmup", "rest", "retries", "ready", "seed", "clients", "threads", "pipeline", "engine", "out", "dir", "lang", "title"}

func newSuiteCommand() *cobra.Command {
	f := &suiteFlags{spec: runner.DefaultSuite(), setRatio: benchSetRatio, kvPort: 8888}
	cmd := &cobra.Command{
		Use:   "suite",
		Short: "Measure servers by strategy, in rounds",
		Long: "Measures kvstore, and real servers on demand, with every persistence strategy: rounds interleaved, each on a fresh server.\n" +
			"Writes every figure and a report into --out after each measurement. Each of the variables\n" +
			"ROUNDS REQ KEYSPACE PIPE VSIZE RETRIES SEED ALLOC KV_PORT SET_CMD GET_CMD is a flag too; the flag wins.",
		Example: "  respbench suite\n" +
			"  ROUNDS=5 VSIZE=256 respbench suite --redis\n" +
			"  respbench suite --keyspace set=1000000000,get=100000 --requests set=10000,get=300000\n" +
			"  respbench suite --matrix persistence×allocator\n" +
			"  respbench suite --kvstore=false --target prod=10.0.0.7:6379\n" +
			"  respbench suite --resume results/hash_bench_detail_20260307_062549.csv",
		Args: noWords,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.register(cmd.Flags())
	return cmd
}

func (f *suiteFlags) register(fs *pflag.FlagSet) {
	s := &f.spec
	fs.SortFlags = false
	intVar(fs, &s.Rounds, "rounds", "", "rounds of each strategy and mode (ROUNDS)")
	fs.VarP(&f.requests, "requests", "n", "requests of a round (REQ, default 1000000); also set=N,get=N")
	fs.VarP(&f.keyspace, "keyspace", "r", "keys of a round (KEYSPACE, default 1000000); also set=N,get=N")
	intVar(fs, &s.Pipeline, "pipeline", "P", "requests in flight on a connection (PIPE)")
	fs.VarP(&f.valueSize, "value-size", "d", "bytes of a value (VSIZE, default 32); also set=N,get=N")
	intVar(fs, &s.Retries, "retries", "", "further attempts at a round that failed (RETRIES)")
	fs.Var(strictSeed{&s.Seed}, "seed", "a base: round n has seed + n (SEED)")
	intVar(fs, &s.Clients, "clients", "c", "parallel connections")
	intVar(fs, &s.Threads, "threads", "", "event loops of the client")
	fs.StringSliceVar(&f.modes, "modes", []string{"set", "get"}, "set, get (the keyspace is written before), mixed")
	intVar(fs, &f.setRatio, "set-ratio", "", "percent of writes in mode mixed")
	fs.Var(filled{&f.keyDist}, "key-dist", "uniform, zipf:S, gaussian:SD, sequential or hotspot:K%:O%")
	fs.BoolVar(&f.verify, "verify-get", true, "compare every byte read with what the key must hold")
	intVar(fs, &s.Warmup, "warmup", "", "rounds before the first that count nowhere")
	fs.Var(strictTime{&s.Rest}, "rest", "pause between two measurements")
	fs.Var(strictTime{&s.Ready}, "ready", "how long a server may take until it answers; not measured")
	fs.BoolVar(&f.kvstore, "kvstore", true, "measure kvstore")
	fs.StringSliceVar(&f.strategies, "strategies", runner.DefaultKVStrategies, "of kvstore; there is persist_always as well")
	fs.Var(filled{&f.matrix}, "matrix", "persistence×allocator (or persistencexallocator): kvstore with both allocators instead of one")
	fs.StringVar(&f.allocator, "allocator", "mypool", "of kvstore: mypool or malloc (ALLOC)")
	intVar(fs, &f.kvPort, "kv-port", "", "port for kvstore, 0 for a free one (KV_PORT)")
	fs.StringVar(&f.setCmd, "set-cmd", "RSET", "kvstore's write (SET_CMD); when given, of --target too")
	fs.StringVar(&f.getCmd, "get-cmd", "RGET", "kvstore's read (GET_CMD); when given, of --target too")
	fs.BoolVar(&f.redis, "redis", false, "measure redis-server and valkey-server, those that are in PATH")
	fs.StringArrayVar(&f.redisServers, "redis-server", nil, "measure this redis-server or valkey-server; repeatable")
	fs.StringSliceVar(&f.redisStrategies, "redis-strategies", runner.RedisStrategies, "of the real servers")
	fs.StringArrayVar(&f.targets, "target", nil, "measure a server that runs already, NAME=HOST:PORT; repeatable; password in "+passwordVariable)
	fs.Var(filled{&s.Engine}, "engine", "epoll or gnet")
	fs.StringVar(&s.Out, "out", s.Out, "folder for the files")
	fs.Var(filled{&s.Dir}, "dir", "folder in which servers get theirs, emptied after each round (default: --out)")
	fs.Var(filled{&s.Lang}, "lang", "language of the reports: en or zh")
	fs.StringVar(&s.Title, "title", "", "title of the reports")
	fs.Var(filled{&f.file}, "file", "suite file instead of these flags")
	fs.BoolVar(&f.printFile, "print-file", false, "print the suite as a file, and end")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print what would be done, and end")
	fs.Var(filled{&f.resume}, "resume", "go on with a run, given one of its files")
}

func (f *suiteFlags) run(cmd *cobra.Command) error {
	files, spec, err := f.suite(cmd.Flags())
	if err != nil {
		var usage *usageError
		if errors.As(err, &usage) {
			usage.help = " suite"
		}
		return err
	}
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	switch {
	case f.printFile:
		return runner.WriteSuite(stdout, spec)
	case f.dryRun:
		return runner.PlanSuite(stdout, spec, suiteServers{f.file}, files)
	}
	// A reader of our output that goes away must not take hours of rounds with it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	spec.Password = os.Getenv(passwordVariable)
	io := runner.IO{Stdout: stdout, Stderr: stderr, Log: newLog(stderr, "warn"), Terminal: isTerminal(stderr)}
	result, err := runner.RunSuite(cmd.Context(), spec, suiteServers{f.file}, files, commandOf(cmd), io)
	if result == nil {
		return err
	}
	if printed := report.SuiteText(stdout, result, report.ReportOptions{Lang: spec.Lang}); err == nil && !errors.Is(printed, syscall.EPIPE) {
		err = printed
	}
	fmt.Fprintf(stdout, "\n%s\n", strings.Join(files.Paths(), "\n"))
	return err
}

// commandOf is the command line that repeats the run: variables have become flags.
func commandOf(cmd *cobra.Command) []string {
	args := []string{ownName, cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch v, isList := f.Value.(pflag.SliceValue); {
		case f.Value.Type() == "bool" && f.Value.String() == "true":
			args = append(args, "--"+f.Name)
		case f.Value.Type() == "bool":
			args = append(args, "--"+f.Name+"=false")
		case f.Value.Type() == "stringArray":
			for _, s := range v.GetSlice() {
				args = append(args, "--"+f.Name, s)
			}
		case isList:
			args = append(args, "--"+f.Name, strings.Join(v.GetSlice(), ","))
		default:
			args = append(args, "--"+f.Name, f.Value.String())
		}
	})
	return args
}

// suite decides what to measure and which files it goes to.
func (f *suiteFlags) suite(fs *pflag.FlagSet) (*runner.SuiteFiles, *runner.SuiteSpec, error) {
	if f.resume != "" {
		return f.resumed(fs)
	}
	spec := &f.spec
	var err error
	if f.file != "" {
		if spec, err = f.fromFile(fs); err == nil {
			err = spec.Validate()
		}
	} else {
		if err = fromVariables(fs); err == nil {
			err = f.fromFlags(fs)
		}
		if err == nil {
			if err = spec.Validate(); err != nil {
				err = usagef("%s", err)
			}
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return runner.NewSuiteFiles(spec.Out, time.Now()), spec, nil
}

func (f *suiteFlags) resumed(fs *pflag.FlagSet) (*runner.SuiteFiles, *runner.SuiteSpec, error) {
	var other string
	fs.Visit(func(x *pflag.Flag) {
		if x.Name != "resume" && x.Name != "dry-run" && x.Name != "dir" && x.Name != "lang" {
			other = x.Name
		}
	})
	if other != "" {
		return nil, nil, usagef("--%s does not go with --resume, which goes on with what was begun", other)
	}
	files, spec, err := runner.ResumeSuite(f.resume)
	if err != nil {
		return nil, nil, err
	}
	if fs.Changed("dir") {
		spec.Dir = f.spec.Dir
	}
	if fs.Changed("lang") {
		spec.Lang = f.spec.Lang
	}
	return files, spec, spec.Validate()
}

// fromFile reads the suite file; flags that were typed change its single values, and may not change its lists.
func (f *suiteFlags) fromFile(fs *pflag.FlagSet) (*runner.SuiteSpec, error) {
	var wrong string
	fs.Visit(func(x *pflag.Flag) {
		if !slices.Contains(besideFile, x.Name) {
			wrong = x.Name
		}
	})
	if wrong != "" {
		return nil, usagef("--%s does not go with --file, which names the systems and workloads", wrong)
	}
	s, err := runner.ReadSuiteFile(f.file, runner.DefaultSuite())
	if err != nil {
		return nil, err
	}
	typed := f.spec
	for name, take := range map[string]func(){
		"rounds": func() { s.Rounds = typed.Rounds }, "warmup": func() { s.Warmup = typed.Warmup }, "rest": func() { s.Rest = typed.Rest },
		"retries": func() { s.Retries = typed.Retries }, "ready": func() { s.Ready = typed.Ready }, "seed": func() { s.Seed = typed.Seed },
		"clients": func() { s.Clients = typed.Clients }, "threads": func() { s.Threads = typed.Threads },
		"pipeline": func() { s.Pipeline = typed.Pipeline }, "engine": func() { s.Engine = typed.Engine }, "out": func() { s.Out = typed.Out },
		"dir": func() { s.Dir = typed.Dir }, "lang": func() { s.Lang = typed.Lang }, "title": func() { s.Title = typed.Title },
	} {
		if fs.Changed(name) {
			take()
		}
	}
	return s, nil
}

// fromVariables gives flags that were not typed the values of the script's variables. An empty one is as good as none,
// as in a script that says ${ROUNDS:-5}.
func fromVariables(fs *pflag.FlagSet) error {
	for _, v := range scriptVariables {
		value := os.Getenv(v.variable)
		if value == "" || fs.Changed(v.flag) {
			continue
		}
		if err := fs.Set(v.flag, value); err != nil {
			return usagef("the variable %s=%q stands for --%s: %s", v.variable, value, v.flag, innermost(err))
		}
	}
	return nil
}

func innermost(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		var usage *usageError
		if errors.As(explainInvalid(invalid, nil), &usage) {
			_, text, _ := strings.Cut(usage.text, ": ")
			return errors.New(text)
		}
	}
	return err
}
