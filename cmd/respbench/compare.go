package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"respbench/report"
	"respbench/runner"
)

// The subcommand that answers "is B really faster than A?", for saved results or for two ways to run.

// compareFlags is what was typed.
type compareFlags struct {
	runs   int
	rest   time.Duration
	slower string
}

func newCompareCommand() *cobra.Command {
	f := compareFlags{runs: 10}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Tell whether B is faster than A",
		Long: "A and B are files that --json or suite wrote, or the options of two ways to run, each behind its own --. These are run\n" +
			"in turn, A B B A A B B A, each in a process of its own, after one run of each that does not count.\n" +
			"Medians with 95% intervals and the Mann-Whitney U test; ~ stands where there is no difference.",
		Example: "  respbench compare results/result_20260306_090030.json results/result_20260307_062549.json\n" +
			"  respbench compare --runs 10 -- '-t set -P 16' -- '-t set -P 16 --engine gnet'\n" +
			"  respbench compare --fail-if-slower 3% before.json after.json",
		RunE: func(cmd *cobra.Command, args []string) error { return helped(cmd, f.run(cmd, args)) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	intVar(fs, &f.runs, "runs", "", "runs of each, when A and B are options")
	fs.Var(strictTime{&f.rest}, "rest", "pause between two runs")
	fs.Var(filled{&f.slower}, "fail-if-slower", "exit code 5 when B's throughput is lower by more than this, beyond chance (3%)")
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, args []string) error {
	limit, err := percentage(f.slower)
	if err != nil {
		return err
	}
	if cmd.ArgsLenAtDash() >= 0 {
		return f.runBoth(cmd, args, limit)
	}
	if len(args) != 2 {
		return usagef("compare needs two files, A and B, or two lists of options: -- 'A options' -- 'B options'")
	}
	a, err := readSaved(args[0])
	if err != nil {
		return err
	}
	b, err := readSaved(args[1])
	if err != nil {
		return err
	}
	nameA, nameB := shortNames(args[0], args[1])
	c := report.Compare(nameA, nameB, a.all(), b.all())
	if len(c.Rows) == 0 {
		return fmt.Errorf("%s and %s have no test in common", args[0], args[1])
	}
	return f.judge(cmd, c, limit)
}

// shortNames are the names of two files without what they share.
func shortNames(a, b string) (string, string) {
	if filepath.Base(a) != filepath.Base(b) {
		return filepath.Base(a), filepath.Base(b)
	}
	return a, b
}

// percentage parses "3%" or "3"; -1 when empty.
func percentage(text string) (float64, error) {
	if text == "" {
		return -1, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(v >= 0 && v < 100) {
		return 0, usagef("invalid value %q for --fail-if-slower: must be a percentage, such as 3%%", text)
	}
	return v, nil
}

// judge prints the table and decides over the exit code: throughput alone counts.
func (f *compareFlags) judge(cmd *cobra.Command, c *report.Comparison, limit float64) error {
	if err := report.CompareTable(cmd.OutOrStdout(), c); err != nil || limit < 0 {
		return err
	}
	slower := c.Slower(limit)
	if len(slower) == 0 {
		if few := c.TooFew(); len(few) > 0 { // a gate that cannot close must not pass for one that is open
			return fmt.Errorf("--fail-if-slower cannot be judged with so few runs of %s: %d of each are needed", strings.Join(few, ", "), report.CompareMin)
		}
		return nil
	}
	var names []string
	for i := range slower {
		names = append(names, fmt.Sprintf("%s (%s)", slower[i].Test, slower[i].Change))
	}
	return &runner.Error{Code: runner.ExitAssertion, Err: fmt.Errorf("%s is slower than %s by more than %g%%: %s", c.NameB, c.NameA, limit, strings.Join(names, ", "))}
}

// runBoth runs both lists of options in turn and compares.
func (f *compareFlags) runBoth(cmd *cobra.Command, args []string, limit float64) error {
	if n := cmd.ArgsLenAtDash(); n > 0 {
		return usagef("%q stands before --: options of A and B go behind it, files go without it", args[0])
	}
	split := slices.Index(args, "--")
	if split < 0 {
		return usagef("compare needs two lists of options: -- 'A options' -- 'B options'")
	}
	if f.runs < 1 {
		return usagef("invalid value %d for --runs: must be at least 1", f.runs)
	}
	if limit >= 0 && f.runs < report.CompareMin {
		return usagef("invalid value %d for --runs: --fail-if-slower needs at least %d", f.runs, report.CompareMin)
	}
	var sides [2]side
	for i, words := range [][]string{args[:split], args[split+1:]} {
		var err error
		if sides[i], err = newSide("AB"[i:i+1], words); err != nil {
			return err
		}
	}
	stderr := cmd.ErrOrStderr()
	runs := pairedRuns{sides: &sides, runs: f.runs, rest: f.rest, stderr: stderr}
	err := runs.all(cmd.Context())
	interrupted := context.Cause(cmd.Context())
	if err != nil && interrupted == nil {
		return err
	}
	for _, s := range sides {
		fmt.Fprintf(cmd.OutOrStdout(), "%s: respbench %s\n", s.name, strings.Join(s.args, " "))
	}
	a, b := sides[0].results, sides[1].results
	if len(a) == 0 || len(b) == 0 {
		return errors.Join(interrupted, errors.New("no run was complete"))
	}
	c := report.Compare("A", "B", a, b)
	if interrupted != nil {
		c.Warnings = append(c.Warnings, fmt.Sprintf("interrupted: %d runs of A and %d of B are complete", sides[0].complete, sides[1].complete))
		if err := report.CompareTable(cmd.OutOrStdout(), c); err != nil {
			return err
		}
		return interrupted
	}
	if len(c.Rows) == 0 {
		return errors.New("A and B have no test in common")
	}
	return f.judge(cmd, c, limit)
}
