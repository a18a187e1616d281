package report

import "time"

// Result is one finished round: everything any output may show. Nothing in it is computed from a clock
// after the round, and no secret (password, URI) is ever put into it.
type Result struct {
	Title   string    `json:"title"`          // "SET", "MSET (10 keys)", or the words of a command joined by a space
	Mode    string    `json:"mode,omitempty"` // "set", "get" or "mixed" in bench.c mode; empty in redis-benchmark mode
	Started time.Time `json:"started"`

	// What was asked for.
	Clients     int      `json:"clients"`
	Threads     int      `json:"threads"`
	Threaded    bool     `json:"threaded"` // --threads was given
	Pipeline    int      `json:"pipeline"`
	PayloadSize int      `json:"payload_size"` // bytes; the "bytes payload" line
	KeepAlive   bool     `json:"keep_alive"`
	Keyspace    int64    `json:"keyspace"`
	ValueSize   int      `json:"value_size"`
	Seed        uint64   `json:"seed"`
	SetCmd      string   `json:"set_cmd,omitempty"`
	GetCmd      string   `json:"get_cmd,omitempty"`
	Precision   int      `json:"precision"`         // significant figures of the distribution tables
	Command     []string `json:"command,omitempty"` // the command line that repeats the run, without secrets

	// What happened. Every figure is of the measured part of the round only.
	Requests    int64         `json:"requests"`           // answered
	Asked       int64         `json:"asked"`              // -n; 0 when a duration decided
	Elapsed     time.Duration `json:"elapsed_ns"`         // first send to last reply, wall time on the monotonic clock
	Latency     *Histogram    `json:"latency,omitempty"`  // service time: write of the batch to the read that completed the reply, ns
	Response    *Histogram    `json:"response,omitempty"` // response time: due to reply, ns; nil in a closed loop
	Connect     *Histogram    `json:"connect,omitempty"`  // TCP, TLS and prefix commands of each connection, ns; may be nil
	Ops         []OpResult    `json:"ops,omitempty"`      // one per kind of request when there is more than one
	Errors      []Count       `json:"errors,omitempty"`   // error replies by text or code, most frequent first
	ErrorTotal  int64         `json:"error_total"`        // all error replies; conflicts are not among them
	Conflicts   int64         `json:"conflicts"`          // RSET on a key that exists
	Hits        int64         `json:"hits"`
	Misses      int64         `json:"misses"`
	Mismatches  int64         `json:"mismatches"`
	Samples     []Mismatch    `json:"samples,omitempty"` // the first few
	Verified    int64         `json:"verified"`          // replies whose every byte was compared
	BytesIn     int64         `json:"bytes_in"`
	BytesOut    int64         `json:"bytes_out"`
	Interrupted bool          `json:"interrupted"`
	Prefilled   int64         `json:"prefilled"`           // keys written before the round, not measured
	Redirects   []Count       `json:"redirects,omitempty"` // MOVED, ASK, TRYAGAIN, CLUSTERDOWN that were retried
	OverRange   int64         `json:"over_range"`          // latencies clamped to the histogram's highest value

	CPU     CPU         `json:"cpu"`
	Server  Server      `json:"server"`
	Pacing  *Pacing     `json:"pacing,omitempty"`  // nil in a closed loop
	Verdict *Verdict    `json:"verdict,omitempty"` // nil when not judged
	Series  []Interval  `json:"series,omitempty"`
	Env     Environment `json:"env"`
	Notes   []string    `json:"notes,omitempty"` // what a reader must know: one line each
}

// OpResult is one kind of request of a mixed run; Latency holds only its own samples.
type OpResult struct {
	Name     string     `json:"name"`
	Requests int64      `json:"requests"`
	Errors   int64      `json:"errors"`
	Hits     int64      `json:"hits"`
	Misses   int64      `json:"misses"`
	Latency  *Histogram `json:"latency,omitempty"`
}

// Count is a text and how often it was seen.
type Count struct {
	Text string `json:"text"`
	N    int64  `json:"n"`
}

// Mismatch is a GET reply that was not what the key must hold.
type Mismatch struct {
	Key      string `json:"key"`
	Offset   int    `json:"offset"` // of the first wrong byte; -1: wrong length; -2: a miss; -3: no bulk string
	Expected string `json:"expected"`
	Got      string `json:"got"`
}

// CPU is what the client itself used in the measured part.
type CPU struct {
	User   time.Duration `json:"user_ns"`
	System time.Duration `json:"system_ns"`
	Loops  []LoopCPU     `json:"loops,omitempty"`
}

// LoopCPU is one event loop's share.
type LoopCPU struct {
	Busy      time.Duration `json:"busy_ns"`      // CPU time of the loop's thread
	RunQueue  time.Duration `json:"run_queue_ns"` // ready to run, but waiting for a processor
	Turns     int64         `json:"turns"`        // returns of the poller
	WorkTurns int64         `json:"work_turns"`   // of these, with an event
}

// Server is what is known of the other end.
type Server struct {
	Software   string        `json:"software,omitempty"` // "redis", "valkey", "kvstore"; empty when unknown
	Version    string        `json:"version,omitempty"`
	HasConfig  bool          `json:"has_config"` // CONFIG GET was answered
	Save       string        `json:"save,omitempty"`
	AppendOnly string        `json:"append_only,omitempty"`
	Nodes      []ClusterNode `json:"nodes,omitempty"`  // empty without --cluster
	CPU        time.Duration `json:"cpu_ns"`           // used in the measured part; 0 when unknown
	Deltas     []Delta       `json:"deltas,omitempty"` // INFO fields after minus before
}

// ClusterNode is a node's line of the report.
type ClusterNode struct {
	ID         string `json:"id,omitempty"`
	Addr       string `json:"addr,omitempty"`
	Role       string `json:"role,omitempty"` // "primary" or "replica"
	HasConfig  bool   `json:"has_config"`
	Save       string `json:"save,omitempty"`
	AppendOnly string `json:"append_only,omitempty"`
}

// Delta is one INFO figure of the measured part.
type Delta struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Pacing is the open loop's account.
type Pacing struct {
	Offered    float64       `json:"offered_per_s"` // requests per second the schedule asked for
	Achieved   float64       `json:"achieved_per_s"`
	Due        int64         `json:"due"`  // requests that came due in the measured part
	Late       int64         `json:"late"` // started more than 1 ms after they were due
	MaxLate    time.Duration `json:"max_late_ns"`
	QueueMax   int64         `json:"queue_max"`  // most requests waiting for a connection at once
	Unstarted  int64         `json:"unstarted"`  // requests that were due but not begun when the time was up
	Lag        int64         `json:"lag"`        // requests that the client itself noticed more than 1 ms late
	MaxLag     time.Duration `json:"max_lag_ns"` // the latest of these
	Arrival    string        `json:"arrival"`
	Schedule   string        `json:"schedule"`
	Resolution string        `json:"resolution"` // empty, or why the engine's timing is coarse
}

// Verdict says what limited the round.
type Verdict struct {
	Word    string   `json:"word,omitempty"`   // "server-bound", "client-bound", "latency-bound", "paced", "cannot tell"
	Advice  string   `json:"advice,omitempty"` // "try --threads 2"; may be empty
	Reasons []string `json:"reasons,omitempty"`
}

// Interval is one step of the time series. Its latencies are response times in an open loop, service times
// in a closed one.
type Interval struct {
	At       time.Duration `json:"at_ns"` // end of the step, from the start of the measured part
	Requests int64         `json:"requests"`
	Errors   int64         `json:"errors"`
	BytesIn  int64         `json:"bytes_in"`
	BytesOut int64         `json:"bytes_out"`
	P50      time.Duration `json:"p50_ns"`
	P99      time.Duration `json:"p99_ns"`
	P999     time.Duration `json:"p99.9_ns"`
	Max      time.Duration `json:"max_ns"`
	Events   []string      `json:"events,omitempty"` // saves and rewrites that began in this step
}

// Environment is where the figures were taken.
type Environment struct {
	Tool        string   `json:"tool,omitempty"`
	Go          string   `json:"go,omitempty"`
	OS          string   `json:"os,omitempty"`
	Kernel      string   `json:"kernel,omitempty"`
	CPU         string   `json:"cpu,omitempty"`
	Cores       int      `json:"cores"`
	Governor    string   `json:"governor,omitempty"`
	Congestion  string   `json:"congestion,omitempty"`
	Mitigations []string `json:"mitigations,omitempty"`
	Engine      string   `json:"engine,omitempty"`
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
