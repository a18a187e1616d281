package runner

import (
	"errors"
	"fmt"
	"time"
)

// Mode says whose flags and whose report a run follows.
type Mode uint8

const (
	// Classic is redis-benchmark's mode: tests by name or a command of one's own.
	Classic Mode = iota
	// Bench is bench.c's mode: set, get or mixed over a numbered keyspace.
	Bench
)

// Limits of the options, with their origin.
const (
	MaxThreads  = 500     // redis-benchmark: "Too many threads, limiting threads to 500."
	MaxTracked  = 1 << 16 // requests in flight on a connection that remembers each: with --rps and --cluster. The kernel holds fewer.
	MaxDataSize = 1 << 30 // redis-benchmark: 1 GiB
	MaxClients  = 1 << 20 // more sockets than one address pair has ports; a typing error, not a load
	MaxKeyspace = 1e12    // twelve digits of __rand_int__
)

// ErrorPolicy says what an error reply does to the run.
type ErrorPolicy uint8

const (
	// StopOnError ends the run at the first error reply, as redis-benchmark does.
	StopOnError ErrorPolicy = iota
	// CountErrors goes on, counts by text and ends with exit code 1.
	CountErrors
)

// ReadFrom says which nodes of a cluster get the load (valkey-benchmark --rfr).
type ReadFrom uint8

const (
	ReadFromPrimaries ReadFrom = iota // "no"
	ReadFromReplicas                  // "yes"
	ReadFromAll                       // "all"
)

// TLSOptions are the client side of TLS. The zero value is plain TCP.
type TLSOptions struct {
	Enabled    bool
	ServerName string // --sni; also the name the certificate must hold; empty = chain only
	CACert     string // file of trusted certificates; empty = the system's
	CACertDir  string
	Cert, Key  string // client certificate
	Insecure   bool   // no verification at all
	Ciphers    string // OpenSSL names, colon-separated; TLS 1.2 suites
}

// Target is the server and what a new connection says before the load.
type Target struct {
	Host     string
	Port     int
	Socket   string // path; when set Host and Port are not used
	User     string
	Password string
	Auth     bool // AUTH although the password is empty: -a ''

	// PasswordFrom is what an error of AUTH names as the password's origin, where the user did not type it.
	PasswordFrom string

	DB       int
	RESP3    bool // HELLO 3
	Tracking bool // CLIENT TRACKING on
	TLS      TLSOptions
	Cluster  bool
	ReadFrom ReadFrom
	MPTCP    bool
	Sources  []string // local addresses to connect from, in turn; empty = the kernel's choice
}

// Load is how a round drives the server.
type Load struct {
	Clients        int    // connections in all
	Threads        int    // loops; at least 1
	Threaded       bool   // --threads was given: "multi-thread: yes" in the report
	Pipeline       int    // requests a connection has in flight at most
	Requests       int64  // answered requests in all
	Reconnect      int64  // requests after which a connection is opened anew; 0 = keep alive
	PerBatch       bool   // -k 0: it is opened anew after each pipeline full, sequences and all
	Engine         string // "epoll" or "gnet"; empty = the platform's default
	OnError        ErrorPolicy
	ConnectTimeout time.Duration // TCP, TLS and the prefix commands together; 0 = wait for ever
	Timeout        time.Duration // silence on a connection with requests in flight; 0 = wait for ever
	Wait           time.Duration // how long to wait for a server that refuses or is loading
	Spin           time.Duration // busy polling before a blocking wait
	CPUs           []int         // loop i is pinned to CPUs[i % len]; empty = not pinned

	Rate     Rate          // zero value = closed loop
	Schedule []RateStep    // --rps with steps or ramps; empty = Rate alone
	Poisson  bool          // --arrival poisson: exponential gaps instead of equal ones
	Duration time.Duration // 0 = Requests decide
	Warmup   time.Duration // sent but not counted

	Ceiling float64 // requests per second that this client can do, for the verdict; 0 = not known
}

// RateStep is one leg of a --rps schedule. From and To are requests per second: equal for a step, different for a ramp.
type RateStep struct {
	From, To float64
	For      time.Duration // 0 only in a schedule of one leg: to the end of the run
}

// Output is what is printed, and where else results go.
type Output struct {
	Quiet     bool
	CSV       bool
	Precision int    // significant figures of the histogram rows, 0..4
	JSON      string // file; empty = none
	HDR       string // .hgrm file; empty = none
	Progress  bool   // print progress although stdout is no terminal
	Loop      bool   // -l: run the tests for ever
	Additions bool   // lines that redis-benchmark does not print are allowed

	Interval   time.Duration // step of the time series
	Live       bool          // draw the running figures in place on a terminal
	Metrics    string        // host:port of the Prometheus endpoint; empty = none
	ServerInfo bool          // INFO before and after each round
	Assert     []string      // conditions the result must meet, as typed
}

// ClassicOptions are the workload of redis-benchmark mode.
type ClassicOptions struct {
	Tests        []string // lower case, as given to -t; empty = all
	Command      []string // a command of one's own; empty = Tests
	Stdin        []byte   // -x: the last argument of Command
	HasStdin     bool
	Keyspace     int64 // -r; meaningful when Random
	Random       bool  // -r was given: placeholders are replaced
	DataSize     int   // -d
	Sequential   bool  // valkey --sequential
	NumFunctions int   // valkey --num-functions
	NumFcallKeys int   // valkey --num-keys-in-fcall
	Dataset      string
	MaxDocs      int64
	Idle         bool // -I
}

// Prefill says when get mode writes the keyspace before it measures.
type Prefill uint8

const (
	PrefillAuto Prefill = iota // get mode: when a probe of 1000 keys finds one missing
	PrefillAlways
	PrefillNever
)

// PrefillAutoMax is the keyspace above which auto prefill asks for an explicit --prefill always.
const PrefillAutoMax = 20_000_000

// BenchOptions are the workload of bench.c mode.
type BenchOptions struct {
	Op        string // "set", "get" or "mixed"
	Keyspace  int64
	ValueSize int
	SetRatio  int // percent of SETs in mixed mode
	SetCmd    string
	GetCmd    string
	KeyPrefix string
	Verify    bool
	Prefill   Prefill

	ValueSizes   string   // --value-size as a range or weighted list; empty = ValueSize alone
	KeyDist      string   // --key-dist as typed; empty = uniform
	Compressible float64  // share of a value that repeats, 0..1
	Mix          []string // --mix "WEIGHT:COMMAND ARGS", in the order given
}

// Options is everything that one invocation of the benchmark needs to know.
type Options struct {
	Mode    Mode
	Seed    uint64
	Target  Target
	Load    Load
	Output  Output
	Classic ClassicOptions
	Bench   BenchOptions

	CommandLine []string // argv, with passwords replaced by ***
}

// Validate refuses nonsense before a socket or file is opened.
// The error names the option and says what would be right.
func (o *Options) Validate() error {
	l, t := &o.Load, &o.Target
	checks := []struct {
		bad  bool
		text string
	}{
		{t.Socket == "" && (t.Port < 1 || t.Port > 65535), fmt.Sprintf("invalid port %d: must be 1 to 65535", t.Port)},
		{t.User != "" && t.Password == "" && !t.Auth, "--user needs -a PASSWORD (or REDISCLI_AUTH)"},
		{l.Clients < 1 || l.Clients > MaxClients, fmt.Sprintf("invalid -c %d: must be 1 to %d", l.Clients, MaxClients)},
		{l.Threads < 1 || l.Threads > MaxThreads, fmt.Sprintf("invalid --threads %d: must be 1 to %d", l.Threads, MaxThreads)},
		{l.Pipeline < 1, fmt.Sprintf("invalid -P %d: must be at least 1", l.Pipeline)},
		{l.Requests < 1 && l.Duration == 0, fmt.Sprintf("invalid -n %d: must be at least 1", l.Requests)},
		{t.MPTCP && t.Socket != "", "--mptcp is for TCP: it does not go with -s"},
		{len(t.Sources) > 0 && t.Socket != "", "--source is for TCP: it does not go with -s"},
		{t.TLS.Cert != "" && t.TLS.Key == "", "--cert needs --key"},
		{t.TLS.Key != "" && t.TLS.Cert == "", "--key needs --cert"},
		{o.Output.Quiet && o.Output.CSV && o.Mode == Bench, "-q and --csv do not go together"},
	}
	for _, c := range checks {
		if c.bad {
			return errors.New(c.text)
		}
	}
	if o.Mode == Bench {
		return o.Bench.validate()
	}
	return nil
}

func (b *BenchOptions) validate() error {
	switch {
	case b.Op != "set" && b.Op != "get" && b.Op != "mixed":
		return fmt.Errorf("invalid --mode %q: must be set, get or mixed", b.Op)
	case b.Keyspace < 1 || b.Keyspace > MaxKeyspace:
		return fmt.Errorf("invalid -r/--keyspace %d: must be 1 to %d", b.Keyspace, int64(MaxKeyspace))
	case b.ValueSize < 0 || b.ValueSize > MaxDataSize:
		return fmt.Errorf("invalid --value-size %d: must be 0 to %d", b.ValueSize, MaxDataSize)
	case b.SetRatio < 0 || b.SetRatio > 100:
		return fmt.Errorf("invalid --set-ratio %d: must be 0 to 100", b.SetRatio)
	}
	return nil
}
