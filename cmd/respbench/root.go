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
func subcommands() []*cobra.Command {
	return nil
}

// cobraWords are the first words that cobra itself answers when there are subcommands.
var cobraWords = []string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// execute parses args and carries them out.
func execute(ctx context.Context, p program, args []string, std streams) error {
	s := newSettings(p)
	rows := s.rows()
	root := newRoot(s, rows, std)
	if !p.dropIn {
		addSubcommands(root, args)
	}
	if !root.HasSubCommands() {
		values, err := walkOptions(root.Flags(), args)
		if err != nil {
			return err
		}
		s.opts.CommandLine = append([]string{p.name}, withoutSecrets(args, values, rows)...)
	}
	root.SetArgs(slices.Concat([]string{}, args))
	err := root.ExecuteContext(ctx)
	switch {
	case errors.Is(err, errHelp):
		return writeHelp(std.out, p, rows, subcommands())
	case errors.Is(err, errVersion):
		_, err = fmt.Fprintln(std.out, p.versionLine())
	}
	return err
}

// addSubcommands adds them all when args begins with one of them.
func addSubcommands(root *cobra.Command, args []string) {
	if len(args) == 0 {
		return
	}
	all := subcommands()
	first := func(c *cobra.Command) bool { return c.Name() == args[0] }
	if slices.ContainsFunc(all, first) || slices.Contains(cobraWords, args[0]) {
		root.AddCommand(all...)
	}
}

// newRoot is the benchmark itself.
func newRoot(s *settings, rows []row, std streams) *cobra.Command {
	root := &cobra.Command{
		Use:           s.program.name,
		Short:         "Measure a RESP server",
		Args:          cobra.ArbitraryArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return s.benchmark(cmd.Context(), cmd.Flags(), rows, args, std)
		},
	}
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	register(root.Flags(), rows)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd != root {
			return explainForeign(cmd, err)
		}
		return explain(err, rows)
	})
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			help(cmd, args)
			return
		}
		_ = writeHelp(std.out, s.program, rows, subcommands())
	})
	return root
}

// explainForeign words the errors of a subcommand's own flags. --help there is cobra's.
func explainForeign(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return err
	}
	return explain(err, nil)
}

// benchmark is what runs when the options have been parsed.
func (s *settings) benchmark(ctx context.Context, fs *pflag.FlagSet, rows []row, command []string, std streams) error {
	opts, err := s.options(command)
	if err != nil {
		return err
	}
	if err := s.readOutside(&opts, std); err != nil {
		return err
	}
	s.printWarnings(std.err)
	log := newLog(std.err, s.logLevel)
	if s.embedded {
		child, err := startEmbedded(ctx, std.err)
		if err != nil {
			return err
		}
		defer child.stop()
		opts.Target.Host, opts.Target.Port = defaultHost, child.port
	}
	return runner.Main(ctx, opts, runner.IO{
		Stdout: std.out, Stderr: std.err, Log: log, Terminal: isTerminal(std.out),
	})
}
