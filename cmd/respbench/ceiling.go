package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"respbench/report"
	"respbench/runner"
)

// ceiling.go is the subcommand that measures what the client can do, and the option that makes use of it.

// ceilingTime is how long the ceiling is measured unless -n or --duration says otherwise.
const ceilingTime = 3 * time.Second

const ceilingAbout = `Measures what this machine's client can do at the same -c, -P and -d, against a server in a process of its own that
answers everything with +OK and stores nothing. A measurement that comes near it was limited by the client: give the
rate, or the --json file, to --ceiling of the measurement, and its verdict says so. Without -t and without a command
the test is set.

Examples:
  respbench ceiling -c 50 -P 16 --json ceiling.json
  respbench -t get -c 50 -P 16 --ceiling ceiling.json`

func (a *app) newCeilingCommand() *cobra.Command {
	return a.newMeasuring(measuring{
		name: "ceiling", short: "Measure what the client itself can do", about: ceilingAbout,
		own: func(*settings) []row { return nil },
		run: a.ceiling,
	})
}

func (a *app) ceiling(ctx context.Context, s *settings, flags *pflag.FlagSet, command []string) error {
	if s.target != "" || s.embedded {
		return usagef("ceiling measures against a server of its own: leave out %s", changed(flags, "host", "port", "s", "u", "embedded"))
	}
	if given := changed(flags, "tls", "cluster", "rps", "l", "I", "csv", "verify-get"); given != "" {
		return usagef("%s does not go with ceiling", given)
	}
	oneTest(s, command)
	opts, err := a.options(ctx, s, command)
	if err != nil {
		return err
	}
	if !s.requests.given && opts.Load.Duration == 0 {
		opts.Load.Duration, opts.Load.Requests = ceilingTime, 0
	}
	child, err := startEmbedded(ctx, a.stderr, "--null")
	if err != nil {
		return fmt.Errorf("the server of the ceiling: %w", err)
	}
	defer child.stop()
	opts.Target = runner.Target{Host: defaultHost, Port: child.port}
	return runner.Ceiling(ctx, opts, a.io(s))
}

// setCeiling takes a rate, or reads the result file of `respbench ceiling`.
func (s *settings) setCeiling(v string) error {
	if rate, err := parseRate(v); err == nil {
		s.opts.Load.Ceiling, s.ceiling = rate, nil
		return nil
	}
	f, err := os.Open(v)
	if err != nil {
		return errors.New("must be requests per second (250k) or the --json file of `respbench ceiling`")
	}
	defer f.Close()
	results, err := report.ReadJSON(f)
	if err != nil {
		return err
	}
	if len(results) == 0 || results[0].QPS() <= 0 {
		return errors.New("the file has no result")
	}
	if command := results[0].Command; len(command) < 2 || command[1] != "ceiling" {
		return errors.New("the file is of a measurement, must be of `respbench ceiling`")
	}
	s.ceiling = results[0]
	s.opts.Load.Ceiling = results[0].QPS()
	return nil
}

// checkCeiling warns when the ceiling was measured under another load than this one's.
func (s *settings) checkCeiling() {
	c, l := s.ceiling, &s.opts.Load
	if c == nil {
		return
	}
	if c.Clients != l.Clients || c.Pipeline != l.Pipeline || c.Threads != min(l.Threads, l.Clients) {
		s.warn("The ceiling was measured with -c %d -P %d --threads %d, not with those of this run.", c.Clients, c.Pipeline, c.Threads)
	}
	if d := &s.opts.Classic; s.opts.Mode == runner.Classic && len(d.Command) == 0 && c.PayloadSize != d.DataSize {
		s.warn("The ceiling was measured with a payload of %d bytes, not with the %d of this run.", c.PayloadSize, d.DataSize)
	}
}
