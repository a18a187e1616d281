// Package runner runs one round, then many: here the requests (workload), the connections
// (netpoll), the replies (protocol) and the figures (report) meet, and nowhere else.
package runner

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"respbench/netpoll"
	"respbench/report"
)

// Exit codes of the program.
const (
	ExitOK          = 0
	ExitError       = 1 // usage, connection or server error
	ExitMismatch    = 4 // a reply was not what the key must hold
	ExitAssertion   = 5
	ExitInterrupted = 130 // SIGINT; SIGTERM is 143
	ExitTerminated  = 143
)

// IO is where a run prints. Data goes to Stdout, everything else to Stderr or the log.
type IO struct {
	Stdout, Stderr io.Writer
	Log            zerolog.Logger
	Terminal       bool // Stdout is a terminal

	// Width is the number of columns of the terminal that Stderr is, at the moment; 0: it is none. It may
	// be nil.
	Width func() int
	// Columns is the same of Stdout.
	Columns func() int
}

// besides is where the report goes when files have been asked for: to Stderr when one of them is standard output, which
// must then hold nothing else for its reader.
func (o IO) besides(files ...string) IO {
	for _, path := range files {
		if fd, ok := openAlready(path); ok && fd == unix.Stdout {
			o.Stdout, o.Columns = o.Stderr, o.Width
			o.Terminal = o.Width != nil && o.Width() > 0
		}
	}
	return o
}

// Error is an error with the exit code it means.
type Error struct {
	Code int
	Err  error // nil: everything has been said already
}

func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// ExitCode is what the process should end with.
func (e *Error) ExitCode() int { return e.Code }

// Interrupt is the cause a context is cancelled with when a signal arrived.
type Interrupt struct{ Signal os.Signal }

func (i Interrupt) Error() string { return "interrupted by " + i.Signal.String() }

// ExitCode is 130 for SIGINT and 143 for SIGTERM.
func (i Interrupt) ExitCode() int {
	if i.Signal == syscall.SIGTERM {
		return ExitTerminated
	}
	return ExitInterrupted
}

// session is one invocation: what stays the same from round to round.
type session struct {
	o       *Options
	io      IO
	ep      *netpoll.Endpoint
	tls     *tls.Config // nil: plain TCP
	cluster *cluster    // nil without --cluster
	server  report.Server
	mute    bool // it closed the connection without a word when it was asked for its configuration
	spoken  bool // it has answered something: a connection that it ends later is no matter of TLS
	env     report.Environment
	watch   *serverWatch // nil when nothing shows what it sees
	judged  bool         // a verdict is wanted whatever is printed

	watching bool // watch has been opened, or was not to be
	figures  *figures

	results []*report.Result // of the rounds that have ended; with -l of the last pass alone
}

// Main carries out o, which has been validated. An error of type *Error or Interrupt knows its
// exit code; any other means 1.
func Main(ctx context.Context, o Options, out IO) error {
	out = out.besides(o.Output.JSON, o.Output.HDR)
	s := &session{o: &o, io: out, env: environment(o.Load.Engine)}
	defer func() { s.watch.close() }()
	outs, err := s.openOutputs(ctx)
	if err != nil {
		err = interruptedOr(ctx, err)
		tellNothing(err, out, "anything was measured")
		return err
	}
	closeMetrics, err := s.openMetrics()
	if err != nil {
		outs.drop()
		return err
	}
	defer closeMetrics()
	err = interruptedOr(ctx, outs.finish(s.measure(ctx)))
	if len(s.results) == 0 && !o.Output.Loop && !o.Classic.Idle {
		tellNothing(err, out, "anything was measured")
	}
	return err
}

// tellNothing says that a signal ended the run before there was a partial result to show.
func tellNothing(err error, out IO, what string) {
	var by Interrupt
	if errors.As(err, &by) {
		fmt.Fprintln(out.Stderr, "interrupted before "+what)
	}
}

// measure does the rounds.
func (s *session) measure(ctx context.Context) error {
	o := s.o
	err := s.prepare(ctx)
	if err == nil && o.Load.Wait > 0 {
		err = s.awaitServer(ctx)
	}
	switch {
	case err != nil:
		return err
	case o.Mode == Bench:
		return s.bench(ctx)
	case o.Classic.Idle:
		return s.idle(ctx)
	}
	return s.classic(ctx)
}

// interruptedOr prefers the signal to the errors that it caused.
func interruptedOr(ctx context.Context, err error) error {
	var by Interrupt
	if errors.As(context.Cause(ctx), &by) {
		return by
	}
	return err
}

// prepare does what must be right before the first connection.
func (s *session) prepare(ctx context.Context) (err error) {
	o := s.o
	if err = checkCPUs(o.Load.CPUs); err != nil {
		return err
	}
	if s.tls, err = o.Target.TLS.Config(); err != nil {
		return err
	}
	if o.Target.Socket != "" {
		s.ep, err = netpoll.UnixEndpoint(o.Target.Socket)
	} else {
		s.ep, err = s.resolve(ctx, o.Target.Host, o.Target.Port)
	}
	if err != nil {
		return fmt.Errorf("Could not connect to Redis at %w", err)
	}
	s.logServer()
	if err := raiseFileLimit(&o.Load, s.ep.Name); err != nil {
		return err
	}
	s.reserveProcessors()
	return nil
}

// reserveProcessors sees to it that signals, timers and progress have one: a loop in a raw system
// call keeps its own.
func (s *session) reserveProcessors() {
	if want := s.o.Load.Threads + 2; runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
}

// addressGiven adds to an error of the way to a node that its address is the cluster's word. Behind a port forwarding, as of a
// container, that is one which only the nodes reach.
func addressGiven(err error, ep, seed *netpoll.Endpoint) error {
	var refused *tlsError
	if ep.Name == seed.Name || errors.As(err, &refused) {
		return err
	}
	return fmt.Errorf("%w (the cluster gives this address for one of its nodes, and it must be reachable from here)", err)
}

// connectError words a failed connection as redis-benchmark does.
func connectError(ep *netpoll.Endpoint, err error) error {
	var hs *netpoll.HandshakeError
	if errors.As(err, &hs) {
		return &tlsError{cause: hs.Err}
	}
	text := plainError(err)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		text += ": no local port is free (use keep-alive, fewer reconnects, or --source with more addresses)"
	}
	return fmt.Errorf("Could not connect to Redis at %s: %s", ep.Name, text)
}
