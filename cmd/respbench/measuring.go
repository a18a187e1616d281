package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A subcommand that measures takes all options of the benchmark and a few of its own. It parses them itself, by the
// benchmark's rules: an option after the first other word belongs to the command that is sent to the server.

// measuring is such a subcommand.
type measuring struct {
	name, short, about string
	own                func(s *settings) []row
	run                func(ctx context.Context, s *settings, flags *pflag.FlagSet, command []string) error
}

// ownGroup is the heading of a subcommand's own options.
const ownGroup = "Options of this command"

func (a *app) newMeasuring(m measuring) *cobra.Command {
	cmd := &cobra.Command{
		Use: m.name, Short: m.short, DisableFlagParsing: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.runMeasuring(cmd.Context(), m, args)
			var usage *usageError
			if errors.As(err, &usage) && usage.help == "" {
				return &usageError{text: usage.text, help: " " + m.name}
			}
			return err
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { // of "help sweep"; "sweep --help" is an option, parsed with the others
		_ = a.runMeasuring(cmd.Context(), m, []string{"--help"})
	})
	return cmd
}

func (a *app) runMeasuring(ctx context.Context, m measuring, args []string) error {
	s := newSettings(a.program)
	s.serverInfoGiven = true // off unless it is asked for: a window is short
	var rows []row
	for _, r := range m.own(s) {
		r.group = ownGroup
		rows = append(rows, r)
	}
	rows = append(rows, s.rows()...)
	flags := pflag.NewFlagSet(m.name, pflag.ContinueOnError)
	flags.Usage = func() {}
	register(flags, rows)
	values, err := walkOptions(flags, args)
	if err != nil {
		return err
	}
	s.opts.CommandLine = append([]string{a.name, m.name}, withoutSecrets(args, values, rows)...)
	if err := flags.Parse(args); err != nil {
		err = explain(err, rows)
		if errors.Is(err, errHelp) {
			return writeMeasuringHelp(a.stdout, a.program, m, rows)
		}
		return err
	}
	return m.run(ctx, s, flags, flags.Args())
}

func writeMeasuringHelp(w io.Writer, p program, m measuring, rows []row) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "Usage: %s %s [OPTIONS] [COMMAND ARGS...]\n\n%s\n", p.name, m.name, m.about)
	writeRows(b, rows)
	return b.Flush()
}

// changed finds the first of the options that was given, as it is typed; empty when none was.
func changed(flags *pflag.FlagSet, names ...string) string {
	for _, name := range names {
		if f := flags.Lookup(name); f != nil && f.Changed {
			return dashed(name)
		}
	}
	return ""
}
