package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"respbench/report"
	"respbench/runner"
)

// sweep.go is the subcommand that measures the curve of latency over throughput.

const (
	sweepWindow = 4 * time.Second
	sweepWarmup = 500 * time.Millisecond
)

const sweepAbout = `Measures one window after the other, each with a higher rate (or more clients, or a deeper pipeline), and prints
the curve of latency over throughput with its knee. Without a list of its own it measures twelve rates up to a little
more than a closed loop reaches. With --find-max it searches the highest rate that holds an objective: it climbs, then
bisects, and measures a window that fails again before it believes it. Exit code 5 when no rate holds.

--duration is the length of a window (default 4s) and --warmup what is sent before it (default 0.5s). Without -t and
without a command the test is set.

Examples:
  respbench sweep -t get -c 50 --json curve.json --svg curve.svg
  respbench sweep --find-max 'p99<2ms' --embedded
  respbench sweep --clients 1,2,4,8,16 -t set`

// sweepSettings is what sweep's own options said.
type sweepSettings struct {
	runner.SweepOptions
	lists []string // the options that named a ladder
}

func (a *app) newSweepCommand() *cobra.Command {
	var own *sweepSettings
	return a.newMeasuring(measuring{
		name: "sweep", short: "Measure the curve of latency over throughput", about: sweepAbout,
		own: func(*settings) []row {
			own = &sweepSettings{}
			own.Variable = "rate"
			return own.rows()
		},
		run: func(ctx context.Context, s *settings, flags *pflag.FlagSet, command []string) error {
			return a.sweep(ctx, own, s, flags, command)
		},
	})
}

func (o *sweepSettings) rows() []row {
	return []row{
		{long: "rates", arg: "rate,rate", set: o.ladder("rate", "rates", parseLadderRate), noun: "list", text: "Measure these rates (1k,2k,5k)"},
		{long: "clients", arg: "n,n", set: o.ladder("clients", "clients", parseCount(runner.MaxClients)), noun: "list",
			text: "Measure these numbers of connections, or `auto`"},
		{long: "pipelines", arg: "n,n", set: o.ladder("pipeline", "pipelines", parseCount(maxPipeline)), noun: "list",
			text: "Measure these pipeline depths, or `auto`"},
		{long: "find-max", arg: "condition", set: o.setObjective, noun: "condition",
			text: "Search the highest rate that holds this: 'p99<2ms'"},
		{long: "svg", arg: "file", set: text(&o.SVG), noun: "file", text: "The curve as a picture"},
		{long: "html", arg: "file", set: text(&o.HTML), noun: "file", text: "Picture and table as a page"},
	}
}

// maxPipeline of a sweep; more is a typing error.
const maxPipeline = 1 << 16

// ladder takes a list of ascending values, or "auto".
func (o *sweepSettings) ladder(variable, option string, parse func(string) (float64, error)) func(string) error {
	return func(list string) error {
		o.Variable, o.Ladder = variable, nil
		o.lists = append(o.lists, "--"+option)
		if list == "auto" {
			return nil
		}
		for part := range strings.SplitSeq(list, ",") {
			v, err := parse(part)
			if err != nil {
				return err
			}
			o.Ladder = append(o.Ladder, v)
		}
		slices.Sort(o.Ladder)
		o.Ladder = slices.Compact(o.Ladder)
		return nil
	}
}

func parseLadderRate(text string) (float64, error) {
	v, err := parseRate(text)
	if err != nil {
		return 0, errors.New("must be rates joined by commas (1k,2k,5k), or `auto`")
	}
	return v, nil
}

func parseCount(most int64) func(string) (float64, error) {
	return func(text string) (float64, error) {
		v, err := digits(text)
		if err != nil || v < 1 || v > most {
			return 0, fmt.Errorf("must be whole numbers from 1 to %d, joined by commas", most)
		}
		return float64(v), nil
	}
}

func (o *sweepSettings) setObjective(v string) error {
	_, err := report.ParseAssertion(v)
	var syntax *report.AssertionError
	if errors.As(err, &syntax) {
		return fmt.Errorf("column %d: %s", syntax.Column, syntax.Msg)
	}
	o.Objective = v
	return err
}

func (a *app) sweep(ctx context.Context, o *sweepSettings, s *settings, flags *pflag.FlagSet, command []string) error {
	if err := o.check(flags); err != nil {
		return err
	}
	oneTest(s, command)
	opts, err := a.options(ctx, s, command)
	if err != nil {
		return err
	}
	o.Window, o.Warmup = opts.Load.Duration, opts.Load.Warmup
	if o.Window == 0 {
		o.Window = sweepWindow
	}
	if changed(flags, "warmup") == "" {
		o.Warmup = sweepWarmup
	}
	stop, err := a.startServer(ctx, s, &opts)
	if err != nil {
		return err
	}
	defer stop()
	return runner.Sweep(ctx, opts, o.SweepOptions, a.io(s))
}

// check refuses what a sweep decides itself.
func (o *sweepSettings) check(flags *pflag.FlagSet) error {
	if len(o.lists) > 1 {
		return usagef("%s does not go with %s: a sweep changes one of them", o.lists[1], o.lists[0])
	}
	if given := changed(flags, "n", "requests", "l", "I", "assert", "csv", "hdr"); given != "" {
		return usagef("%s does not go with sweep", given)
	}
	decided := map[string][]string{"rate": {"rps"}, "clients": {"c"}, "pipeline": {"P", "pipeline"}}[o.Variable]
	if given := changed(flags, decided...); given != "" {
		return usagef("%s does not go with sweep, which changes it from window to window", given)
	}
	return nil
}

// oneTest chooses the test of a command that measures one, when the user has not.
func oneTest(s *settings, command []string) {
	if s.chooser == "" && len(command) == 0 && !s.testsGiven {
		s.tests, s.testsGiven = "set", true
	}
}
