package report

import (
	"io"
	"slices"
	"time"
)

// SuiteResult is one finished or interrupted run of a suite: systems × strategies × modes × rounds.
// Nothing in it is computed: means, trimmed means and conclusions follow from the rounds, each time anew.
type SuiteResult struct {
	Title       string        `json:"title"`
	Started     time.Time     `json:"started"`
	Elapsed     time.Duration `json:"elapsed_ns"`
	Interrupted bool          `json:"interrupted"`
	Rounds      int           `json:"rounds"` // asked for in each cell
	Command     []string      `json:"command,omitempty"`
	Parameters  []Parameter   `json:"parameters,omitempty"` // REQ, KEYSPACE, … as they were in force
	Env         Environment   `json:"env"`
	Systems     []System      `json:"systems"`
	Notes       []string      `json:"notes,omitempty"`
}

// Parameter is a named setting.
type Parameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// System is one server under test.
type System struct {
	Name       string     `json:"name"` // "kvstore", "redis", or the name given to --target
	Software   string     `json:"software,omitempty"`
	Version    string     `json:"version,omitempty"`
	SetCmd     string     `json:"set_cmd,omitempty"`
	GetCmd     string     `json:"get_cmd,omitempty"`
	Baseline   string     `json:"baseline,omitempty"` // strategy that overheads refer to; empty: none
	Strategies []Strategy `json:"strategies"`
}

// Strategy is one way to persist.
type Strategy struct {
	Name     string       `json:"name"`
	Detail   string       `json:"detail,omitempty"` // "incremental, fsync everysec"
	Persists bool         `json:"persists"`
	Config   []Parameter  `json:"config,omitempty"` // as the server gave it back before the first round
	Modes    []ModeRounds `json:"modes"`
}

// ModeRounds are the rounds of one cell, in order.
type ModeRounds struct {
	Mode   string  `json:"mode"` // "set", "get" or "mixed"
	Rounds []Round `json:"rounds"`
}

// Round is one round with what came before it succeeded.
type Round struct {
	Number   int      `json:"number"` // from 1; warm-up rounds are numbered apart
	Warmup   bool     `json:"warmup,omitempty"`
	Seed     uint64   `json:"seed"`
	Failures []string `json:"failures,omitempty"` // why each failed attempt failed
	Notes    []string `json:"notes,omitempty"`
	Result   *Result  `json:"result,omitempty"` // nil: every attempt failed
}

// counts reports whether the round enters the means.
func (r *Round) counts() bool { return !r.Warmup && r.Result != nil && !r.Result.Interrupted }

// status is "ok", "failed" or "interrupted"; of a warm-up round "warm-up", "warm-up failed" or "warm-up interrupted".
func (r *Round) status() string {
	end := "ok"
	switch {
	case r.Result == nil:
		end = "failed"
	case r.Result.Interrupted:
		end = "interrupted"
	}
	switch {
	case !r.Warmup:
		return end
	case end == "ok":
		return "warm-up"
	}
	return "warm-up " + end
}

// cell is a strategy's mode with everything the reports say of it.
type cell struct {
	system   *System
	strategy *Strategy
	mode     string
	rounds   []Round // all, with failed and warm-up ones
	numbers  []int   // of the rounds that count
	qps      Stats
	values   []float64 // QPS of the rounds that count
	micros   float64   // mean us/op of the rounds' values as printed
	elapsed  float64   // mean elapsed seconds
	overall  float64   // all requests by all seconds: not the mean of the rounds' rates
	trim     Trimmed
	latency  *Histogram // of all rounds that count
	failed   int
}

// roundValues are the figures of the rounds that count, as they are printed: QPS, us/op and seconds.
func (m *ModeRounds) roundValues() (numbers []int, qps, micros, elapsed []float64) {
	for i := range m.Rounds {
		r := &m.Rounds[i]
		if r.counts() {
			numbers = append(numbers, r.Number)
			qps = append(qps, printed(r.Result.QPS()))
			micros = append(micros, printed(r.Result.MicrosPerOp()))
			elapsed = append(elapsed, printed(r.Result.Elapsed.Seconds()))
		}
	}
	return numbers, qps, micros, elapsed
}

func newCell(s *System, st *Strategy, m *ModeRounds) cell {
	c := cell{system: s, strategy: st, mode: m.Mode, rounds: m.Rounds, latency: NewHistogram()}
	var micros, elapsed []float64
	c.numbers, c.values, micros, elapsed = m.roundValues()
	c.qps = Describe(c.values)
	c.micros, c.elapsed = mean(micros), mean(elapsed)
	c.trim = Trim(c.values, micros)
	var requests, seconds float64
	for i := range m.Rounds {
		r := &m.Rounds[i]
		if r.counts() {
			c.latency.Merge(r.Result.Latency)
			requests += float64(r.Result.Requests)
			seconds += r.Result.Elapsed.Seconds()
		} else if !r.Warmup {
			c.failed++
		}
	}
	c.overall = ratio(requests, seconds)
	return c
}

// complete reports whether the cell has a mean.
func (c *cell) complete() bool { return c.qps.N > 0 }

// cells are all cells of a system, strategy by strategy.
func (s *System) cells() []cell {
	var all []cell
	for i := range s.Strategies {
		st := &s.Strategies[i]
		for j := range st.Modes {
			all = append(all, newCell(s, st, &st.Modes[j]))
		}
	}
	return all
}

// modes are the modes of a system in the order of their first appearance.
func (s *System) modes() []string {
	var names []string
	for i := range s.Strategies {
		for _, m := range s.Strategies[i].Modes {
			if !slices.Contains(names, m.Mode) {
				names = append(names, m.Mode)
			}
		}
	}
	return names
}

// find returns the cell of a strategy and mode; nil when there is none with a mean.
func find(cells []cell, strategy, mode string) *cell {
	for i := range cells {
		if c := &cells[i]; c.strategy.Name == strategy && c.mode == mode && c.complete() {
			return c
		}
	}
	return nil
}

// FailedRounds is the number of rounds that failed all their attempts.
func (s *SuiteResult) FailedRounds() int {
	n := 0
	for i := range s.Systems {
		for j := range s.Systems[i].Strategies {
			for _, m := range s.Systems[i].Strategies[j].Modes {
				for k := range m.Rounds {
					if m.Rounds[k].Result == nil && !m.Rounds[k].Warmup {
						n++
					}
				}
			}
		}
	}
	return n
}

const (
	// SuiteSchemaName is the "schema" field of a suite's result file.
	SuiteSchemaName = "respbench/suite"
	// SuiteSchemaVersion is the "version" field of the files that WriteSuiteJSON writes.
	SuiteSchemaVersion = 1
)

type suiteFile struct {
	Schema  string `json:"schema"`
	Version int    `json:"version"`
	*SuiteResult
}

// WriteSuiteJSON writes a suite's result file; its schema is docs/suite.schema.json.
func WriteSuiteJSON(w io.Writer, s *SuiteResult) error {
	return writeFile(w, "suite", suiteFile{SuiteSchemaName, SuiteSchemaVersion, s})
}

// ReadSuiteJSON reads a suite's result file back.
func ReadSuiteJSON(r io.Reader) (*SuiteResult, error) {
	f := suiteFile{SuiteResult: &SuiteResult{}}
	if err := readFile(r, "suite", SuiteSchemaName, SuiteSchemaVersion, &f); err != nil {
		return nil, err
	}
	return f.SuiteResult, nil
}
