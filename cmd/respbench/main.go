// Command respbench measures RESP servers. It is a drop-in for redis-benchmark and valkey-benchmark, has the set/get
// workload of bench.c, and brings along a server of its own to measure.
//
// This package turns argv into runner.Options and errors into exit codes; everything else is elsewhere.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"respbench/runner"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program: argv with the program's name in front, the three streams, and the exit code.
func run(argv []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := withSignals(context.Background())
	defer stop()
	a := app{programOf(argv), stdin, stdout, stderr, runner.Main}
	err := a.execute(ctx, argv[min(len(argv), 1):])
	return finish(a.asPeersDo(err), a.program, stderr)
}

// app is one invocation: who we are, the standard streams, and what carries out the options.
type app struct {
	program
	stdin          io.Reader
	stdout, stderr io.Writer
	measure        func(context.Context, runner.Options, runner.IO) error
}

// exitCoder is an error that knows the exit code it means.
type exitCoder interface{ ExitCode() int }

// finish prints what went wrong, if that has not been said, and finds the exit code.
func finish(err error, p program, stderr io.Writer) int {
	var by runner.Interrupt
	var usage *usageError
	switch {
	case err == nil:
		return runner.ExitOK
	case errors.As(err, &by):
		return signalCode(by) // the partial result has been printed
	case errors.As(err, &usage) && usage == errScheme:
		fmt.Fprintln(stderr, err)
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "%s: %s (see %s%s --help)\n", p.name, err, p.name, usage.help)
	case errors.Is(err, syscall.EPIPE):
		// The reader of our output has gone: there is nobody to tell.
	case err.Error() != "":
		fmt.Fprintln(stderr, err)
	}
	var coded exitCoder
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return runner.ExitError
}
