package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"respbench/runner"
)

// The command tree. redis-benchmark takes any word after its options for a command to send to the server, so a
// subcommand counts only as the very first argument: cobra, which would find one behind options too, is given the
// subcommands only then. `respbench -- serve` sends a command called "serve".

// subcommands makes the commands that are not the benchmark itself.
func (a *app) subcommands() []*cobra.Command {
	return []*cobra.Command{a.newSweepCommand(), a.newCeilingCommand(), newSuiteCommand(), newCompareCommand(), newReportCommand(), newServeCommand()}
}

// cobraWords are the first words that cobra itself answers when there are subcommands.
var cobraWords = []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// execute parses args and carries them out.
func (a *app) execute(ctx context.Context, args []string) error {
	s := newSettings(a.program)
	rows := s.rows()
	root := a.newRoot(rows)
	if !a.dropIn {
		a.addSubcommands(root, args)
	}
	var err error
	if root.HasSubCommands() {
		root.SetArgs(slices.Concat([]string{}, args))
		err = root.ExecuteContext(ctx)
	} else {
		err = a.plain(ctx, root.Flags(), s, rows, args)
	}
	switch {
	case errors.Is(err, errHelp):
		return writeHelp(a.stdout, a.program, rows, a.subcommands())
	case errors.Is(err, errVersion):
		_, err = fmt.Fprintln(a.stdout, a.versionLine())
	}
	return err
}

// plain is the benchmark without cobra, which would take a command called "completion" for one of its own.
func (a *app) plain(ctx context.Context, flags *pflag.FlagSet, s *settings, rows []row, args []string) error {
	values, err := walkOptions(flags, args)
	if err != nil {
		return err
	}
	s.opts.CommandLine = append([]string{a.name}, withoutSecrets(args, values, rows)...)
	if err := flags.Parse(args); err != nil {
		return explain(err, rows)
	}
	return a.benchmark(ctx, s, flags.Args())
}

// asPeersDo says under a peer's name what that program says of an option that it does not know: one line and the usage,
// all of it on stdout.
func (a *app) asPeersDo(err error) error {
	var usage *usageError
	if !a.dropIn || !errors.As(err, &usage) || usage.option == "" {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n\n", invalidLine(usage.option))
	if err == nil {
		err = writeHelp(a.stdout, a.program, newSettings(a.program).rows(), nil)
	}
	return &runner.Error{Code: runner.ExitError, Err: err}
}

// addSubcommands adds them all when args begins with one of them.
func (a *app) addSubcommands(root *cobra.Command, args []string) {
	if len(args) == 0 {
		return
	}
	all := a.subcommands()
	first := func(c *cobra.Command) bool { return c.Name() == args[0] }
	if slices.ContainsFunc(all, first) || slices.Contains(cobraWords, args[0]) {
		root.AddCommand(all...)
	}
}

// newRoot holds the options and the subcommands.
func (a *app) newRoot(rows []row) *cobra.Command {
	root := &cobra.Command{
		Use:           a.name,
		Short:         "Measure a RESP server",
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	register(root.Flags(), rows)
	complete(root, rows)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return explainForeign(cmd.Name(), err)
	})
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			help(cmd, args)
			return
		}
		_ = writeHelp(a.stdout, a.program, rows, a.subcommands())
	})
	return root
}

// benchmark is what runs when the options have been parsed.
func (a *app) benchmark(ctx context.Context, s *settings, command []string) error {
	opts, err := a.options(ctx, s, command)
	if err != nil {
		return err
	}
	stop, err := a.startServer(ctx, s, &opts)
	if err != nil {
		return err
	}
	defer stop()
	return a.measure(ctx, opts, a.io(s))
}

// options are the runner's options, with what is read from stdin; the warnings have been printed.
func (a *app) options(ctx context.Context, s *settings, command []string) (runner.Options, error) {
	opts, err := s.options(ctx, command)
	if err != nil {
		return opts, err
	}
	if s.readStdin && len(command) > 0 {
		if opts.Classic.Stdin, err = lastArgument(ctx, a.stdin); err != nil {
			return opts, err
		}
		opts.Classic.HasStdin = true
	}
	s.printWarnings(a.stderr)
	return opts, nil
}

// startServer starts the server of --embedded and points opts to it; without the option it does nothing.
func (a *app) startServer(ctx context.Context, s *settings, opts *runner.Options) (stop func(), err error) {
	if !s.embedded {
		return func() {}, nil
	}
	child, err := startEmbedded(ctx, a.stderr)
	if err != nil {
		return nil, fmt.Errorf("--embedded: %w", err)
	}
	opts.Target.Host, opts.Target.Port = defaultHost, child.port
	return child.stop, nil
}

// io is where a run prints.
func (a *app) io(s *settings) runner.IO {
	return runner.IO{Stdout: a.stdout, Stderr: a.stderr, Log: newLog(a.stderr, s.logLevel),
		Terminal: isTerminal(a.stdout), Width: func() int { return columns(a.stderr) },
		Columns: func() int { return columns(a.stdout) }}
}
