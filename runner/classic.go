package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"respbench/report"
	"respbench/workload"
)

// classic is redis-benchmark mode: every test in turn, or one command of the user's.
func (s *session) classic(ctx context.Context) error {
	opt, err := s.testOptions(ctx)
	if err != nil {
		return err
	}
	plans, err := s.plans(opt)
	if err != nil {
		return err
	}
	if err := s.probe(ctx); err != nil {
		return err
	}
	out := &s.o.Output
	if out.CSV {
		if err := report.CSVHeader(s.io.Stdout); err != nil {
			return err
		}
	}
	var failed error
	for {
		switch err := s.classicPass(ctx, plans); err {
		case nil:
		case errCounted:
			failed = err
		default:
			return err
		}
		if !out.Loop {
			return failed
		}
		opt.Loop++
		if plans, err = s.plans(opt); err != nil {
			return err
		}
	}
}

// classicPass measures each test once. A blank line follows the tests, but not a command of the user's.
func (s *session) classicPass(ctx context.Context, plans []*workload.Plan) error {
	var failed error
	s.results = nil
	for _, p := range plans {
		switch err := s.classicRound(ctx, p); err {
		case nil:
		case errCounted:
			failed = err
		default:
			return err
		}
	}
	if len(s.o.Classic.Command) == 0 && !s.o.Output.CSV {
		if _, err := fmt.Fprintln(s.io.Stdout); err != nil {
			return err
		}
	}
	return failed
}

// testOptions is the workload's side of the options.
func (s *session) testOptions(ctx context.Context) (opt workload.TestOptions, err error) {
	c := &s.o.Classic
	opt = workload.TestOptions{Random: c.Random, Keyspace: c.Keyspace, DataSize: c.DataSize, Seed: s.o.Seed,
		Cluster: s.o.Target.Cluster, Sequential: c.Sequential, NumFunctions: c.NumFunctions, NumFcallKeys: c.NumFcallKeys}
	if c.Dataset != "" && len(c.Command) > 0 {
		if opt.Dataset, err = Interruptible(ctx, func() (*workload.Dataset, error) { return readDataset(c.Dataset, c.MaxDocs) }); err != nil {
			return opt, fmt.Errorf("--dataset %s: %w", report.OneLine(c.Dataset), err)
		}
	}
	return opt, nil
}

// plans builds the tests asked for, or the user's command.
func (s *session) plans(opt workload.TestOptions) ([]*workload.Plan, error) {
	c := &s.o.Classic
	if len(c.Command) > 0 {
		p, err := workload.Command(c.Command, c.Stdin, c.HasStdin, opt)
		if err != nil {
			return nil, err
		}
		return []*workload.Plan{p}, oneReplyEach(p, s.o.Target.RESP3)
	}
	plans, unknown := workload.Suite(c.Tests, opt)
	if len(unknown) > 0 { // those of -t have been taken out with a warning
		return nil, fmt.Errorf("there is no test %q", unknown[0])
	}
	return plans, nil
}

// readDataset reads a file of comma-separated fields, or of tab-separated ones when its name ends in .tsv.
func readDataset(path string, maxRows int64) (*workload.Dataset, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, errors.Unwrap(err) // without the path, which the caller names
	}
	defer f.Close()
	comma := ','
	if strings.HasSuffix(strings.ToLower(path), ".tsv") {
		comma = '\t'
	}
	return workload.ReadDataset(f, comma, maxRows)
}

// errCounted ends a run that has counted error replies, all of which have been printed.
var errCounted = &Error{Code: ExitError}

// classicRound measures one test and prints it. With errCounted the test is over, and others may follow.
func (s *session) classicRound(ctx context.Context, p *workload.Plan) error {
	if err := s.setUp(ctx, p); err != nil {
		return err
	}
	r := s.newRound(p)
	out := &s.o.Output
	stop := func() {}
	if !s.isLive() && !out.CSV && (s.io.Terminal || out.Progress) {
		line := &classicProgress{w: s.io.Stdout, title: p.Title, columns: s.io.Columns}
		stop = watch(r, line.draw, line.wipe)
	}
	res, gone := s.watched(ctx, r)
	stop()
	if res == nil {
		return gone
	}
	if err := nothingMeasured(ctx, res); err != nil {
		return err
	}
	if err := s.printClassic(res); err != nil {
		return err
	}
	s.tellRedirects(res)
	s.tellNotes(r, res)
	if res.ErrorTotal > 0 {
		if err := report.ErrorTable(s.io.Stderr, res); err != nil {
			return err
		}
		if ctx.Err() == nil && gone == nil {
			return errCounted
		}
	}
	if gone != nil {
		return gone
	}
	return context.Cause(ctx)
}

// describe adds to a result what the session knows, and keeps it for what is made of all rounds together.
func (s *session) describe(res *report.Result) {
	res.Server, res.Env = s.server, s.env
	res.Seed, res.Precision, res.Command = s.o.Seed, s.o.Output.Precision, s.o.CommandLine
	s.results = append(s.results, res)
}

func (s *session) printClassic(res *report.Result) error {
	out := &s.o.Output
	switch {
	case out.CSV:
		return report.CSVRow(s.io.Stdout, res)
	case out.Quiet:
		return report.QuietLine(s.io.Stdout, res)
	}
	if err := report.Text(s.io.Stdout, res); err != nil || !out.Additions {
		return err
	}
	return report.Additions(s.io.Stdout, res)
}
