package runner

import (
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A suite is a matrix: systems × strategies × workloads, so many rounds of each. Flags, environment and
// file all end here, and Validate is the only judge of what makes sense.

// SuiteSpec is what to measure. The keys of a suite file have the same names as the yaml tags.
type SuiteSpec struct {
	Title     string          `yaml:"title,omitempty"`
	Rounds    int             `yaml:"rounds"`
	Warmup    int             `yaml:"warmup"`  // rounds of each cell that count nowhere
	Rest      time.Duration   `yaml:"rest"`    // between two rounds
	Retries   int             `yaml:"retries"` // of a failed round
	Ready     time.Duration   `yaml:"ready"`   // how long a server may take to answer PING; not measured
	Seed      uint64          `yaml:"seed"`    // a base: round n has seed + n
	Clients   int             `yaml:"clients"`
	Threads   int             `yaml:"threads"`
	Pipeline  int             `yaml:"pipeline"`
	Engine    string          `yaml:"engine,omitempty"`
	Out       string          `yaml:"out"`           // folder of the files
	Dir       string          `yaml:"dir,omitempty"` // folder in which servers get their folders; empty = Out
	Lang      string          `yaml:"lang,omitempty"`
	Workloads []SuiteWorkload `yaml:"workloads"`
	Systems   []SuiteSystem   `yaml:"systems"`

	Password string `yaml:"-"` // of running servers; never written anywhere
}

// SuiteWorkload is one mode: a column of the reports' tables.
type SuiteWorkload struct {
	Name      string `yaml:"name"`
	Op        string `yaml:"op"` // set, get or mixed
	Requests  int64  `yaml:"requests"`
	Keyspace  int64  `yaml:"keyspace"`
	ValueSize int    `yaml:"value-size"`
	SetRatio  int    `yaml:"set-ratio,omitempty"` // percent of writes in mixed
	KeyDist   string `yaml:"key-dist,omitempty"`
	Prefill   bool   `yaml:"prefill"` // the keyspace is written before the measured part
	Verify    bool   `yaml:"verify"`  // every byte read is compared
}

// SuiteSystem is one server under test.
type SuiteSystem struct {
	Name       string          `yaml:"name"`
	Server     string          `yaml:"server"`            // one of the Server… kinds
	Program    string          `yaml:"program,omitempty"` // of ServerRedis: a path, or a name in PATH
	Address    string          `yaml:"address,omitempty"` // of ServerRunning: HOST:PORT
	Port       int             `yaml:"port,omitempty"`    // 0 = a free one
	SetCmd     string          `yaml:"set-cmd"`
	GetCmd     string          `yaml:"get-cmd"`
	Baseline   string          `yaml:"baseline,omitempty"`
	Strategies []SuiteStrategy `yaml:"strategies"`
}

// Kinds of servers.
const (
	ServerKVStore = "kvstore" // this program's own, as a child process
	ServerRedis   = "redis"   // redis-server or valkey-server, as a child process
	ServerRunning = "running" // not ours: it runs already, and keeps running
)

// SuiteStrategy is one way to run a system.
type SuiteStrategy struct {
	Name     string            `yaml:"name"`
	Detail   string            `yaml:"detail,omitempty"`
	Persists bool              `yaml:"persists"`
	Settings map[string]string `yaml:"settings,omitempty"` // kvstore: flags of serve; redis: its configuration
}

// specError is a mistake in a spec, with its place for whoever has lines to show. -1: not in a list.
type specError struct {
	workload, system, strategy int
	text                       string
}

func (e *specError) Error() string { return e.text }

// Validate refuses what cannot be measured.
func (s *SuiteSpec) Validate() error {
	wrong := func(format string, args ...any) error {
		return &specError{workload: -1, system: -1, strategy: -1, text: fmt.Sprintf(format, args...)}
	}
	for _, c := range []struct {
		bad  bool
		text string
	}{
		{s.Rounds < 1 || s.Rounds > math.MaxInt32, fmt.Sprintf("rounds %d: must be 1 to %d", s.Rounds, math.MaxInt32)},
		{s.Warmup < 0 || s.Warmup > math.MaxInt32, fmt.Sprintf("warmup %d: must be 0 to %d", s.Warmup, math.MaxInt32)},
		{s.Retries < 0 || s.Retries > maxRetries, fmt.Sprintf("retries %d: must be 0 to %d", s.Retries, maxRetries)},
		{s.Rest < 0, fmt.Sprintf("rest %v: must be at least 0", s.Rest)},
		{s.Ready <= 0, fmt.Sprintf("ready %v: must be above 0", s.Ready)},
		{s.Out == "", "out must name a folder"},
		{len(s.Workloads) == 0, "there is no workload: name at least one"},
		{len(s.Systems) == 0, "there is no system to measure: name at least one"},
		{s.Engine != "" && s.Engine != "epoll" && s.Engine != "gnet", fmt.Sprintf("engine %q: must be epoll or gnet", s.Engine)},
		{s.Lang != "" && s.Lang != "en" && s.Lang != "zh", fmt.Sprintf("lang %q: must be en or zh", s.Lang)},
	} {
		if c.bad {
			return wrong("%s", c.text)
		}
	}
	if err := s.validateWorkloads(); err != nil {
		return err
	}
	return s.validateSystems()
}

const maxRetries = 1000

func (s *SuiteSpec) validateWorkloads() error {
	for i := range s.Workloads {
		w := &s.Workloads[i]
		o := s.options(w, &SuiteSystem{SetCmd: "SET", GetCmd: "GET"})
		o.Target.Port = 1
		text := ""
		if err := o.Validate(); err != nil {
			text = fmt.Sprintf("workload %q: %s", w.Name, err)
		}
		switch {
		case w.Name == "":
			text = "a workload needs a name"
		case slices.IndexFunc(s.Workloads, func(x SuiteWorkload) bool { return x.Name == w.Name }) < i:
			text = fmt.Sprintf("workload %q is there twice", w.Name)
		case w.Prefill && w.Keyspace > prefillMost:
			text = fmt.Sprintf("workload %q: a keyspace of %d is too large to be written before each round: at most %d", w.Name, w.Keyspace, int64(prefillMost))
		}
		if text != "" {
			return &specError{workload: i, system: -1, strategy: -1, text: text}
		}
	}
	return nil
}

// prefillMost is a day of writing at 100 000 keys a second and more keys than any test machine's memory holds.
const prefillMost = 8_640_000_000

func (s *SuiteSpec) validateSystems() error {
	for i := range s.Systems {
		sys := &s.Systems[i]
		text := sys.fault()
		if slices.IndexFunc(s.Systems, func(x SuiteSystem) bool { return x.Name == sys.Name }) < i {
			text = fmt.Sprintf("system %q is there twice", sys.Name)
		}
		if text != "" {
			return &specError{workload: -1, system: i, strategy: -1, text: text}
		}
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			text := sys.strategyFault(st)
			if slices.IndexFunc(sys.Strategies, func(x SuiteStrategy) bool { return x.Name == st.Name }) < j {
				text = fmt.Sprintf("strategy %q is there twice", st.Name)
			}
			if text != "" {
				return &specError{workload: -1, system: i, strategy: j, text: text}
			}
		}
	}
	return nil
}

// fault is what is wrong with a system; empty when nothing is.
func (s *SuiteSystem) fault() string {
	_, _, err := s.hostPort()
	switch {
	case s.Name == "":
		return "a system needs a name"
	case s.Server != ServerKVStore && s.Server != ServerRedis && s.Server != ServerRunning:
		return fmt.Sprintf("system %q: server %q: must be %s, %s or %s", s.Name, s.Server, ServerKVStore, ServerRedis, ServerRunning)
	case s.Server == ServerRunning && err != nil:
		return fmt.Sprintf("system %q: address %q: must be HOST:PORT", s.Name, s.Address)
	case s.Server != ServerRunning && s.Address != "":
		return fmt.Sprintf("system %q: only a running server has an address", s.Name)
	case s.Server != ServerRedis && s.Program != "":
		return fmt.Sprintf("system %q: only server: redis has a program", s.Name)
	case s.Server != ServerKVStore && s.Port != 0:
		return fmt.Sprintf("system %q: only server: kvstore has a port; a redis gets a free one, a running server has an address", s.Name)
	case s.Port < 0 || s.Port > 65535:
		return fmt.Sprintf("system %q: port %d: must be 0 (a free one) to 65535", s.Name, s.Port)
	case !oneWord(s.SetCmd) || !oneWord(s.GetCmd):
		return fmt.Sprintf("system %q: set-cmd and get-cmd must be one word each, such as SET and GET", s.Name)
	case len(s.Strategies) == 0:
		return fmt.Sprintf("system %q has no strategy: name at least one", s.Name)
	case s.Baseline != "" && !slices.ContainsFunc(s.Strategies, func(x SuiteStrategy) bool { return x.Name == s.Baseline }):
		return fmt.Sprintf("system %q: its baseline %q is none of its strategies", s.Name, s.Baseline)
	}
	return ""
}

func oneWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// suiteOwn are settings that the suite itself decides.
var suiteOwn = []string{"port", "dir", "bind", "daemonize", "unixsocket", "requirepass", "pidfile", "supervised", "tls-port", "host"}

// serveSettings are those of kvstore, and what they may be.
var serveSettings = []struct {
	name   string
	values []string
}{
	{"persistence", []string{"none", "incremental"}}, {"fsync", []string{"no", "everysec", "always"}}, {"allocator", []string{"mypool", "malloc"}},
}

var settingForm = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

func (s *SuiteSystem) strategyFault(st *SuiteStrategy) string {
	if st.Name == "" {
		return fmt.Sprintf("system %q: a strategy needs a name", s.Name)
	}
	for _, key := range st.keys() {
		switch {
		case s.Server == ServerRunning:
			return fmt.Sprintf("strategy %q: a running server keeps its settings", st.Name)
		case s.Server == ServerKVStore:
			if fault := serveFault(key, st.Settings[key]); fault != "" {
				return fmt.Sprintf("strategy %q: %s", st.Name, fault)
			}
		case slices.Contains(suiteOwn, key):
			return fmt.Sprintf("strategy %q: setting %q is the suite's own", st.Name, key)
		case !settingForm.MatchString(key):
			return fmt.Sprintf("strategy %q: setting %q is no name of a setting", st.Name, key)
		}
	}
	return ""
}

// serveFault is what is wrong with a setting of kvstore.
func serveFault(key, value string) string {
	var names []string
	for _, s := range serveSettings {
		if s.name == key && slices.Contains(s.values, value) {
			return ""
		}
		if s.name == key {
			return fmt.Sprintf("%s %q: must be one of %s", key, value, strings.Join(s.values, ", "))
		}
		names = append(names, s.name)
	}
	return fmt.Sprintf("kvstore has no setting %q: there are %s", key, strings.Join(names, ", "))
}

// keys are the names of the settings in a fixed order.
func (st *SuiteStrategy) keys() []string {
	var keys []string
	for k := range st.Settings {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Args are the settings as a program's arguments: --name value.
func (st *SuiteStrategy) Args() (args []string) {
	for _, k := range st.keys() {
		args = append(args, "--"+k, st.Settings[k])
	}
	return args
}

// hostPort splits the address of a running server.
func (s *SuiteSystem) hostPort() (host string, port int, err error) {
	host, text, err := net.SplitHostPort(s.Address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err == nil && (host == "" || port < 1 || port > 65535) {
		err = strconv.ErrRange
	}
	return host, port, err
}

// options are the benchmark's options of a workload, without a server.
func (s *SuiteSpec) options(w *SuiteWorkload, sys *SuiteSystem) Options {
	o := Options{Mode: Bench, Seed: s.Seed,
		Load: Load{Clients: s.Clients, Threads: s.Threads, Threaded: s.Threads > 1, Pipeline: s.Pipeline, Requests: w.Requests,
			Engine: s.Engine, OnError: CountErrors, ConnectTimeout: suiteConnect, Timeout: suiteSilence, Wait: s.Ready},
		Output: Output{Quiet: true, Precision: 3, Interval: suiteInterval, ServerInfo: true},
		Bench: BenchOptions{Op: w.Op, Keyspace: w.Keyspace, ValueSize: w.ValueSize, SetRatio: w.SetRatio, SetCmd: sys.SetCmd, GetCmd: sys.GetCmd,
			KeyPrefix: "bench:" + w.Name + ":", Verify: w.Verify, KeyDist: w.KeyDist, Prefill: PrefillNever},
	}
	if sys.Server == ServerRunning {
		o.Target.Password = s.Password
	}
	if w.Prefill {
		o.Bench.Prefill = PrefillAlways
	}
	return o
}

const (
	suiteConnect  = 5 * time.Second
	suiteSilence  = 30 * time.Second
	suiteInterval = 100 * time.Millisecond // step of the rate over time
)
