package runner

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"respbench/report"
	"respbench/workload"
)

// bench is bench.c mode: prefill when it is needed, then one measured round.
func (s *session) bench(ctx context.Context) error {
	b, err := s.prepareBench(ctx, false)
	if err != nil {
		return err
	}
	r := s.benchRound(b)
	stop := s.watchLong(r, "bench "+s.o.Bench.Op, r.load.Requests)
	res, gone := s.watched(ctx, r)
	stop()
	if res == nil {
		return gone
	}
	if err := nothingMeasured(ctx, res); err != nil {
		return err
	}
	s.describeBench(b, res)
	if err := s.printBench(res); err != nil {
		return err
	}
	s.tellRedirects(res)
	s.tellNotes(r, res)
	if out := &s.o.Output; out.CSV || out.Quiet { // the full report has the texts
		if err := report.Faults(s.io.Stderr, res); err != nil {
			return err
		}
	}
	if gone != nil && res.Mismatches == 0 {
		return gone
	}
	return benchVerdict(ctx, res)
}

// benchRun is what the rounds of bench.c mode have in common.
type benchRun struct {
	plan      *workload.Plan
	spec      workload.BenchOptions
	prefilled int64
	there     bool // every key is known to exist
}

// prepareBench builds the plan, asks the server for its configuration and writes the keyspace; bare does
// the first alone.
func (s *session) prepareBench(ctx context.Context, bare bool) (b *benchRun, err error) {
	b = &benchRun{}
	if b.spec, err = s.benchSpec(); err != nil {
		return nil, err
	}
	if b.plan, err = s.benchPlan(b.spec); err != nil {
		return nil, err
	}
	if bare {
		return b, nil
	}
	if err = s.probe(ctx); err != nil {
		return nil, err
	}
	b.prefilled, b.there, err = s.prefill(ctx, b.spec)
	return b, err
}

func (s *session) benchRound(b *benchRun) *round {
	r := s.newRound(b.plan)
	r.verify, r.missIsBad, r.conflicts = s.o.Bench.Verify, b.there, expectsConflicts(s.o.Bench.SetCmd)
	return r
}

func (s *session) describeBench(b *benchRun, res *report.Result) {
	o := &s.o.Bench
	res.Mode, res.Keyspace, res.ValueSize = o.Op, o.Keyspace, b.spec.Size.Max()
	res.Prefilled = b.prefilled
	if len(o.Mix) == 0 {
		res.SetCmd, res.GetCmd = o.SetCmd, o.GetCmd
	}
}

// benchSpec is the workload's side of the options.
func (s *session) benchSpec() (spec workload.BenchOptions, err error) {
	o := &s.o.Bench
	spec = workload.BenchOptions{Op: o.Op, Keyspace: o.Keyspace, Size: workload.ConstantSize(o.ValueSize), SetRatio: o.SetRatio,
		SetCmd: o.SetCmd, GetCmd: o.GetCmd, KeyPrefix: o.KeyPrefix, Seed: s.o.Seed, Compressible: o.Compressible}
	if o.ValueSizes != "" {
		if spec.Size, err = workload.ParseValueSize(o.ValueSizes, MaxDataSize); err != nil {
			return spec, fmt.Errorf("--value-size: %w", err)
		}
	}
	if spec.Dist, err = workload.ParseKeyDist(o.KeyDist); err != nil {
		return spec, fmt.Errorf("--key-dist: %w", err)
	}
	return spec, nil
}

// benchPlan makes the plan of the mode, or of the user's weighted commands.
func (s *session) benchPlan(spec workload.BenchOptions) (*workload.Plan, error) {
	if mix := s.o.Bench.Mix; len(mix) > 0 {
		p, err := workload.Mix(mix, workload.MixOptions{Keyspace: spec.Keyspace, Dist: spec.Dist, Size: spec.Size,
			Compressible: spec.Compressible, KeyPrefix: spec.KeyPrefix, Seed: spec.Seed, Cluster: s.o.Target.Cluster})
		if err != nil {
			return nil, err
		}
		return p, oneReplyEach(p, s.o.Target.RESP3)
	}
	return workload.Bench(spec)
}

// benchVerdict turns what the figures say into the exit code. They have been printed.
func benchVerdict(ctx context.Context, res *report.Result) error {
	switch {
	case res.Mismatches > 0:
		return &Error{Code: ExitMismatch}
	case res.ErrorTotal > 0:
		return &Error{Code: ExitError}
	}
	return context.Cause(ctx)
}

// expectsConflicts tells whether "exists" is an expected answer: RSET never overwrites.
func expectsConflicts(setCmd string) bool { return strings.EqualFold(setCmd, "RSET") }

func (s *session) watchLong(r *round, title string, total int64) (stop func()) {
	if s.isLive() || s.o.Output.CSV || !s.io.Terminal && !s.o.Output.Progress {
		return func() {}
	}
	line := &longProgress{w: s.io.Stderr, title: title, total: total, columns: s.io.Width}
	return watch(r, line.draw, line.wipe)
}

// prefill writes the keyspace when the options or a probe say so. there means that every key is
// known to be there.
func (s *session) prefill(ctx context.Context, spec workload.BenchOptions) (written int64, there bool, err error) {
	o := &s.o.Bench
	if o.Prefill == PrefillNever || o.Prefill == PrefillAuto && o.Op != "get" {
		return 0, false, nil
	}
	if o.Prefill == PrefillAuto {
		missing, err := s.probeKeys(ctx, spec)
		if err == nil {
			s.io.Log.Info().Int64("missing", missing).Int64("keyspace", o.Keyspace).Msg("keyspace probed")
		}
		if err != nil || missing == 0 {
			return 0, missing == 0, err
		}
		if o.Keyspace > PrefillAutoMax {
			return 0, false, fmt.Errorf("the keyspace of %d keys is not there (%d of the probed keys are missing) and is too large to be written unasked: use --prefill always, or never to measure misses", o.Keyspace, missing)
		}
	}
	plan, err := workload.Prefill(spec)
	if err != nil {
		return 0, false, err
	}
	r := s.unmeasured(plan)
	r.conflicts = expectsConflicts(o.SetCmd)
	r.logBegin(&s.io.Log, "prefill")
	stop := s.watchLong(r, "prefill", plan.Requests)
	res, err := r.run(ctx)
	stop()
	r.logEnd(&s.io.Log, "prefill", res, err)
	if err != nil {
		return 0, false, fmt.Errorf("prefill: %w", err)
	}
	if ctx.Err() != nil {
		fmt.Fprintf(s.io.Stderr, "prefill interrupted: %d of %d keys are written\n", res.Requests, plan.Requests)
	}
	return res.Requests, true, context.Cause(ctx)
}

// prefillPipeline is the least depth of what is not measured.
const prefillPipeline = 64

// unmeasured is a round of a plan that knows its own number of requests, as fast as it goes.
func (s *session) unmeasured(plan *workload.Plan) *round {
	r := s.newRound(plan)
	r.load.Requests, r.load.OnError = plan.Requests, StopOnError
	r.load.Pipeline, r.load.Reconnect = max(r.load.Pipeline, prefillPipeline), 0
	r.load.Warmup, r.load.Duration, r.schedule, r.interval = 0, 0, nil, 0
	return r
}

// probeKeys reads keys spread over the keyspace and counts those that are missing.
func (s *session) probeKeys(ctx context.Context, spec workload.BenchOptions) (missing int64, err error) {
	plan, err := workload.Probe(spec)
	if err != nil {
		return 0, err
	}
	if s.cluster != nil { // one connection does not reach all keys
		r := s.unmeasured(plan)
		res, err := r.run(ctx)
		if err != nil {
			return 0, err
		}
		return res.Misses, nil
	}
	c, err := s.openControl(ctx)
	if err != nil {
		return 0, err
	}
	defer c.close()
	if err := c.setUp(&s.o.Target); err != nil {
		return 0, err
	}
	c.most = math.MaxInt // what the keys hold may be as long as the protocol allows
	var args []string
	for i := range uint64(plan.Requests) {
		args = args[:0]
		for a := range plan.Args(i) {
			args = append(args, string(plan.AppendArg(nil, i, a)))
		}
		v, err := c.do(args...)
		switch {
		case err != nil:
			return missing, err
		case isError(v):
			return missing, &serverError{text: v.Str}
		case v.Null:
			missing++
		}
	}
	return missing, c.quiet()
}

// setUp says the prefix commands that openControl leaves out.
func (c *control) setUp(t *Target) error {
	rest := *t
	rest.Password, rest.User, rest.Auth, rest.Tracking, rest.RESP3 = "", "", false, false, false
	for _, args := range prefixCommands(&rest) {
		v, err := c.do(args...)
		if err != nil {
			return err
		}
		if isError(v) {
			return &serverError{text: v.Str}
		}
	}
	return nil
}

func (s *session) printBench(res *report.Result) error {
	out := &s.o.Output
	switch {
	case out.CSV:
		if err := report.BenchCSVHeader(s.io.Stdout); err != nil {
			return err
		}
		return s.printAll(res, report.BenchCSVRow)
	case out.Quiet:
		return s.printAll(res, report.BenchQuietLine)
	}
	if err := report.BenchText(s.io.Stdout, res); err != nil || !out.Additions {
		return err
	}
	return report.Additions(s.io.Stdout, res)
}

// printAll prints a line of the round, and with --mix one of each command.
func (s *session) printAll(res *report.Result, line func(io.Writer, *report.Result) error) error {
	err := line(s.io.Stdout, res)
	if len(s.o.Bench.Mix) == 0 {
		return err
	}
	for _, op := range res.PerOp() {
		if err == nil {
			err = line(s.io.Stdout, op)
		}
	}
	return err
}
