package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"

	"respbench/runner"
)

// What a run takes from outside the command line: passwords and the last argument on stdin.

// passwordVariable is redis-cli's.
const passwordVariable = "REDISCLI_AUTH"

// lastArgument reads the -x argument, every byte of it. A signal ends the wait for a stdin that does not end.
func lastArgument(ctx context.Context, stdin io.Reader) ([]byte, error) {
	if isClosed(stdin) {
		return nil, usagef("-x: stdin is closed; it must hold the last argument")
	}
	arg, err := runner.Interruptible(ctx, func() ([]byte, error) { return io.ReadAll(stdin) })
	if err != nil && ctx.Err() == nil {
		return nil, usagef("-x: cannot read the last argument from stdin: %s", err)
	}
	return arg, err
}

// takePassword finds the password: the command line, then the terminal, then the environment.
func (s *settings) takePassword(ctx context.Context) error {
	t := &s.opts.Target
	if s.askpass {
		password, err := askPassword(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return usagef("--askpass: %s", err)
		}
		t.Password = password
	}
	if t.Password == "" && !t.Auth {
		t.Password, t.PasswordFrom = os.Getenv(passwordVariable), passwordVariable
	}
	return nil
}

// askPassword reads a line from the terminal without showing it, even when stdin is a file.
func askPassword(ctx context.Context) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("there is no terminal to ask on (use REDISCLI_AUTH)")
	}
	defer tty.Close()
	fmt.Fprint(tty, "Please input password: ")
	fd := int(tty.Fd())
	shown, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	password, err := runner.Interruptible(ctx, func() ([]byte, error) { return term.ReadPassword(fd) })
	_ = term.Restore(fd, shown) // a signal leaves it as ReadPassword had made it
	fmt.Fprintln(tty)
	return string(password), err
}

// isClosed tells a closed stdin from an empty one. The Go runtime opens /dev/null on a standard descriptor that was
// closed (runtime.checkfds), for reading and writing, which a shell's </dev/null does not: that is the trace.
func isClosed(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return false
	}
	here, err := f.Stat()
	if err != nil {
		return true
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(here, null) {
		return false
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}
