package report

import "time"

// Result is one finished round: everything any output may show. Nothing in it is computed from a clock
// after the round, and no secret (password, URI) is ever put into it.
type Result struct {
	Title   string // "SET", "MSET (10 keys)", or the words of a command joined by a space
	Mode    string // "set", "get" or "mixed" in bench.c mode; empty in redis-benchmark mode
	Started time.Time

	// What was asked for.
	Clients     int
	Threads     int
	Threaded    bool // --threads was given
	Pipeline    int
	PayloadSize int // bytes; the "bytes payload" line
	KeepAlive   bool
	Keyspace    int64
	ValueSize   int
	Seed        uint64
	SetCmd      string
	GetCmd      string
	Precision   int      // significant figures of the distribution tables
	Command     []string // the command line that repeats the run, without secrets

	// What happened. Every figure is of the measured part of the round only.
	Requests    int64         // answered
	Asked       int64         // -n; 0 when a duration decided
	Elapsed     time.Duration // first send to last reply, wall time on the monotonic clock
	Latency     *Histogram    // service time: write of the batch to the read that completed the reply, ns
	Response    *Histogram    // response time: due to reply, ns; nil in a closed loop
	Connect     *Histogram    // TCP, TLS and prefix commands of each connection, ns; may be nil
	Ops         []OpResult    // one per kind of request when there is more than one
	Errors      []Count       // error replies by text or code, most frequent first
	ErrorTotal  int64         // all error replies; conflicts are not among them
	Conflicts   int64         // RSET on a key that exists
	Hits        int64
	Misses      int64
	Mismatches  int64
	Samples     []Mismatch // the first few
	Verified    int64      // replies whose every byte was compared
	BytesIn     int64
	BytesOut    int64
	Interrupted bool
	Prefilled   int64   // keys written before the round, not measured
	Redirects   []Count // MOVED, ASK, TRYAGAIN, CLUSTERDOWN that were retried
	OverRange   int64   // latencies clamped to the histogram's highest value

	CPU     CPU
	Server  Server
	Pacing  *Pacing  // nil in a closed loop
	Verdict *Verdict // nil when not judged
	Series  []Interval
	Env     Environment
	Notes   []string // what a reader must know: one line each
}

// OpResult is one kind of request of a mixed run; Latency holds only its own samples.
type OpResult struct {
	Name     string
	Requests int64
	Errors   int64
	Hits     int64
	Misses   int64
	Latency  *Histogram
}

// Count is a text and how often it was seen.
type Count struct {
	Text string `json:"text"`
	N    int64  `json:"n"`
}

// Mismatch is a GET reply that was not what the key must hold.
type Mismatch struct {
	Key      string
	Offset   int // of the first wrong byte; -1: wrong length; -2: a miss
	Expected string
	Got      string
}

// CPU is what the client itself used in the measured part.
type CPU struct {
	User, System time.Duration
	Loops        []LoopCPU
}

// LoopCPU is one event loop's share.
type LoopCPU struct {
	Busy      time.Duration // CPU time of the loop's thread
	RunQueue  time.Duration // ready to run, but waiting for a processor
	Turns     int64         // returns of the poller
	WorkTurns int64         // of these, with an event
}

// Server is what is known of the other end.
type Server struct {
	Software   string // "redis", "valkey", "kvstore"; empty when unknown
	Version    string
	HasConfig  bool // CONFIG GET was answered
	Save       string
	AppendOnly string
	Nodes      []ClusterNode // empty without --cluster
	CPU        time.Duration // used in the measured part; 0 when unknown
	Deltas     []Delta       // INFO fields after minus before
}

// ClusterNode is a node's line of the report.
type ClusterNode struct {
	ID, Addr   string
	Role       string // "primary" or "replica"
	HasConfig  bool
	Save       string
	AppendOnly string
}

// Delta is one INFO figure of the measured part.
type Delta struct {
	Name  string
	Value float64
}

// Pacing is the open loop's account.
type Pacing struct {
	Offered    float64 // requests per second the schedule asked for
	Achieved   float64
	Due        int64 // requests that came due in the measured part
	Late       int64 // started more than 1 ms after they were due
	MaxLate    time.Duration
	QueueMax   int64 // most requests waiting for a connection at once
	Arrival    string
	Schedule   string
	Resolution string // empty, or why the engine's timing is coarse
}

// Verdict says what limited the round.
type Verdict struct {
	Word    string // "server-bound", "client-bound", "latency-bound", "paced", "cannot tell"
	Advice  string // "try --threads 2"; may be empty
	Reasons []string
}

// Interval is one step of the time series.
type Interval struct {
	At                  time.Duration // end of the step, from the start of the measured part
	Requests            int64
	Errors              int64
	BytesIn             int64
	BytesOut            int64
	P50, P99, P999, Max time.Duration
	Events              []string // saves and rewrites that began in this step
}

// Environment is where the figures were taken.
type Environment struct {
	Tool, Go, OS, Kernel, CPU string
	Cores                     int
	Governor, Congestion      string
	Mitigations               []string
	Engine                    string
}

// QPS is answered requests per second; 0 for an empty round.
func (r *Result) QPS() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Requests) / r.Elapsed.Seconds()
}

// MicrosPerOp is elapsed time divided by requests, in microseconds. It is not a latency:
// with many requests in flight it is far below one.
func (r *Result) MicrosPerOp() float64 {
	if r.Requests == 0 {
		return 0
	}
	return float64(r.Elapsed.Nanoseconds()) / 1e3 / float64(r.Requests)
}
