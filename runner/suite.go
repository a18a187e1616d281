package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"respbench/report"
)

// A suite's run: round by round, in each round every strategy of every system with every workload, each on a
// fresh server. So what drifts while hours pass (a warm machine, a neighbour) meets all strategies alike; and
// every round begins with another strategy, so that none always has the first place. Files are written again
// after each measurement: whatever happens, what is complete is on the disk.

// SuiteServers starts the servers of a suite.
type SuiteServers interface {
	// Check finds out before the first round whether the system's server can be started at all.
	Check(sys *SuiteSystem) error
	// Reach waits until a server that is not ours answers, for as long as spec says.
	Reach(ctx context.Context, spec *SuiteSpec, sys *SuiteSystem) error
	// Start begins a fresh server with the strategy's settings, its files in dir. It need not be ready yet.
	Start(ctx context.Context, sys *SuiteSystem, st *SuiteStrategy, dir string) (SuiteServer, error)
	// Describe is what Start does, as a command line or a sentence, for a dry run.
	Describe(sys *SuiteSystem, st *SuiteStrategy) string
}

// SuiteServer is one running server.
type SuiteServer interface {
	Addr() (host string, port int)
	Ended() <-chan struct{} // closed when it has ended by itself; nil when nobody would know
	LastWords() string      // why it ended, on one line
	Stop()                  // ends it, if it is ours, and waits for that
}

// suite is a run in progress.
type suite struct {
	spec    *SuiteSpec
	servers SuiteServers
	io      IO
	files   *SuiteFiles
	result  *report.SuiteResult
	cells   []*suiteCell
	began   time.Time
	earlier time.Duration // of the runs that this one goes on from
	clock   *suiteClock
}

// suiteCell is a strategy with a workload. rounds points into the result.
type suiteCell struct {
	sys      *SuiteSystem
	st       *SuiteStrategy
	w        *SuiteWorkload
	system   *report.System
	strategy *report.Strategy
	rounds   *report.ModeRounds
}

func (c *suiteCell) String() string { return c.sys.Name + " " + c.st.Name + " " + c.w.Name }

// RunSuite measures spec, which has been validated, and keeps the files up to date. command is what repeats
// the run. The result is there as far as it went, whatever the error: an Interrupt, a file that cannot be
// written, or an *Error when rounds failed.
func RunSuite(ctx context.Context, spec *SuiteSpec, servers SuiteServers, files *SuiteFiles, command []string, io IO) (*report.SuiteResult, error) {
	s := &suite{spec: spec, servers: servers, io: io, files: files, began: time.Now()}
	for i := range spec.Systems {
		sys := &spec.Systems[i]
		err := servers.Check(sys)
		if err == nil && sys.Server == ServerRunning {
			err = servers.Reach(ctx, spec, sys)
		}
		if err != nil {
			return nil, err
		}
	}
	s.result = files.earlier
	if s.result == nil {
		s.result = &report.SuiteResult{Title: spec.Title, Started: s.began, Command: command, Env: environment(spec.Engine)}
	}
	s.result.Rounds, s.result.Parameters = spec.Rounds, spec.parameters() // the suite file may ask for more rounds than it did
	s.earlier = s.result.Elapsed
	s.layOut()
	s.clock = newSuiteClock(s)
	if err := s.files.begin(spec); err != nil {
		return nil, err
	}
	err := s.allRounds(ctx)
	var by Interrupt
	if errors.As(context.Cause(ctx), &by) {
		s.result.Interrupted, err = true, by
		s.clock.say("interrupted; %s goes on", s.files.resuming())
	}
	if saved := s.save(); saved != nil {
		return s.result, saved
	}
	if n := s.result.FailedRounds(); err == nil && n > 0 {
		rounds := "rounds"
		if n == 1 {
			rounds = "round"
		}
		err = &Error{Code: ExitError, Err: fmt.Errorf("%d %s failed: see %s (%s tries again)", n, rounds, s.files.Path(fileReportMD), s.files.resuming())}
	}
	return s.result, err
}

// parameters are the settings as run_bench.hash.sh names them. A figure that differs between workloads
// is given for each.
func (s *SuiteSpec) parameters() []report.Parameter {
	each := func(of func(w *SuiteWorkload) string) string {
		first, parts := of(&s.Workloads[0]), []string{}
		same := true
		for i := range s.Workloads {
			v := of(&s.Workloads[i])
			same = same && v == first
			parts = append(parts, s.Workloads[i].Name+"="+v)
		}
		if same {
			return first
		}
		return strings.Join(parts, ",")
	}
	return []report.Parameter{
		{Name: "ROUNDS", Value: fmt.Sprint(s.Rounds)},
		{Name: "REQ", Value: each(func(w *SuiteWorkload) string { return fmt.Sprint(w.Requests) })},
		{Name: "KEYSPACE", Value: each(func(w *SuiteWorkload) string { return fmt.Sprint(w.Keyspace) })},
		{Name: "PIPE", Value: fmt.Sprint(s.Pipeline)},
		{Name: "VSIZE", Value: each(func(w *SuiteWorkload) string { return fmt.Sprint(w.ValueSize) })},
		{Name: "RETRIES", Value: fmt.Sprint(s.Retries)},
		{Name: "SEED", Value: fmt.Sprint(s.Seed)},
		{Name: "CLIENTS", Value: fmt.Sprint(s.Clients)},
		{Name: "THREADS", Value: fmt.Sprint(s.Threads)},
	}
}

// layOut makes the cells, and the places for their rounds where a resumed result has none.
func (s *suite) layOut() {
	r := s.result
	for i := range s.spec.Systems {
		sys := &s.spec.Systems[i]
		if len(r.Systems) <= i {
			r.Systems = append(r.Systems, report.System{Name: sys.Name, SetCmd: sys.SetCmd, GetCmd: sys.GetCmd, Baseline: sys.Baseline})
		}
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			if rs := &r.Systems[i]; len(rs.Strategies) <= j {
				rs.Strategies = append(rs.Strategies, report.Strategy{Name: st.Name, Detail: st.Detail, Persists: st.Persists})
			}
			for k := range s.spec.Workloads {
				if rs := &r.Systems[i].Strategies[j]; len(rs.Modes) <= k {
					rs.Modes = append(rs.Modes, report.ModeRounds{Mode: s.spec.Workloads[k].Name})
				}
			}
		}
	}
	for i := range s.spec.Systems { // nothing grows any more: pointers hold
		for j := range s.spec.Systems[i].Strategies {
			for k := range s.spec.Workloads {
				rs := &r.Systems[i].Strategies[j]
				s.cells = append(s.cells, &suiteCell{sys: &s.spec.Systems[i], st: &s.spec.Systems[i].Strategies[j], w: &s.spec.Workloads[k],
					system: &r.Systems[i], strategy: rs, rounds: &rs.Modes[k]})
			}
		}
	}
}

// turn is the cells in the order of a round: workloads stay together, and every round begins with the next
// strategy.
func (s *suite) turn(pass int) []*suiteCell {
	modes := len(s.spec.Workloads)
	from := pass % (len(s.cells) / modes) * modes
	return slices.Concat(s.cells[from:], s.cells[:from])
}

// allRounds does the warm-up rounds and then the counted ones, as far as they are not there yet.
func (s *suite) allRounds(ctx context.Context) error {
	for pass := range s.spec.Warmup + s.spec.Rounds {
		warmup, number := pass < s.spec.Warmup, pass+1
		if !warmup {
			number = pass - s.spec.Warmup + 1
		}
		for _, c := range s.turn(pass) {
			if c.has(number, warmup) {
				continue
			}
			if err := s.round(ctx, c, number, warmup); err != nil {
				return err
			}
			if err := s.rest(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// has tells whether a round is there already, from the run that this one goes on from.
func (c *suiteCell) has(number int, warmup bool) bool {
	return slices.ContainsFunc(c.rounds.Rounds, func(r report.Round) bool { return r.Number == number && r.Warmup == warmup })
}

// add keeps a round in its place: one that is measured again after a resumption comes late.
func (c *suiteCell) add(r report.Round) {
	c.rounds.Rounds = append(c.rounds.Rounds, r)
	slices.SortStableFunc(c.rounds.Rounds, func(a, b report.Round) int {
		if a.Warmup != b.Warmup {
			return cmp.Compare(btoi(b.Warmup), btoi(a.Warmup))
		}
		return cmp.Compare(a.Number, b.Number)
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *suite) rest(ctx context.Context) error {
	if s.clock.left == 0 || s.spec.Rest == 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(s.spec.Rest)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// round measures a cell once, with as many attempts as it may have. Its error ends the suite.
func (s *suite) round(ctx context.Context, c *suiteCell, number int, warmup bool) error {
	r := report.Round{Number: number, Warmup: warmup, Seed: s.seed(number, warmup), Failures: s.files.failures(c.String(), number, warmup)}
	s.clock.start(c, number, warmup)
	for attempt := 0; ; attempt++ {
		res, notes, err := s.attempt(ctx, c, &r)
		if ctx.Err() != nil {
			if res != nil && res.Requests > 0 {
				res.Interrupted = true
				r.Result = res
				c.add(r)
			}
			s.clock.broken()
			return context.Cause(ctx)
		}
		if err == nil {
			r.Result, r.Notes = res, notes
			break
		}
		why := oneLineOf(err)
		r.Failures = append(r.Failures, why)
		s.clock.failed(attempt, why)
		if attempt >= s.spec.Retries {
			break
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
	}
	c.add(r)
	s.clock.done(c, &r)
	return s.save()
}

// seed is what a round's requests are made from: the same for every strategy, another for every round.
func (s *suite) seed(number int, warmup bool) uint64 {
	if warmup {
		return s.spec.Seed + 1<<32 + uint64(number)
	}
	return s.spec.Seed + uint64(number)
}

func (s *suite) save() error {
	s.result.Elapsed = s.earlier + time.Since(s.began)
	return s.files.write(s.result, s.spec.Lang)
}

// note adds a note to the suite once.
func (s *suite) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(s.result.Notes, n) {
		s.result.Notes = append(s.result.Notes, n)
	}
}

func oneLineOf(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// serverDir makes an empty folder for a server's files, and says how it is taken away.
func (s *suite) serverDir() (dir string, remove func(), err error) {
	base := s.spec.Dir
	if base == "" {
		base = s.spec.Out
	}
	dir, err = os.MkdirTemp(base, "server-*")
	return dir, func() { os.RemoveAll(dir) }, err
}
