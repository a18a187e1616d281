package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"respbench/runner"
)

// The first signal cancels the run, which then prints what it has; the second ends the process at once, whatever
// hangs. A signal that was ignored when we started stays ignored: a script's background job relies on that for
// SIGINT, and nohup for SIGHUP.

// withSignals is a context that a signal cancels with runner.Interrupt as its cause.
func withSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(ch, sig)
		}
	}
	done := make(chan struct{})
	go func() {
		select {
		case sig := <-ch:
			cancel(runner.Interrupt{Signal: sig})
		case <-done:
			return
		}
		select {
		case sig := <-ch:
			os.Exit(signalCode(runner.Interrupt{Signal: sig}))
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(done)
		cancel(context.Canceled)
	}
}

// signalCode is the shell's 128 + n.
func signalCode(by runner.Interrupt) int {
	if sig, ok := by.Signal.(syscall.Signal); ok {
		return 128 + int(sig)
	}
	return by.ExitCode()
}
