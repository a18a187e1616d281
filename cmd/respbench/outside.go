package main

import (
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

// readOutside completes opts with the password and the -x argument.
func (s *settings) readOutside(opts *runner.Options, std streams) error {
	if s.readStdin && len(opts.Classic.Command) > 0 {
		if err := stdinClosed(std.in); err != nil {
			return err
		}
		arg, err := io.ReadAll(std.in)
		if err != nil {
			return usagef("-x: cannot read the last argument from stdin: %s", err)
		}
		opts.Classic.Stdin, opts.Classic.HasStdin = arg, true
	}
	return nil
}

// takePassword finds the password: the command line, then the terminal, then the environment.
func (s *settings) takePassword() error {
	t := &s.opts.Target
	if s.askpass {
		password, err := askPassword()
		if err != nil {
			return usagef("--askpass: %s", err)
		}
		t.Password = password
	}
	if t.Password == "" {
		t.Password = os.Getenv(passwordVariable)
	}
	return nil
}

// askPassword reads a line from the terminal without showing it, even when stdin is a file.
func askPassword() (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("there is no terminal to ask on (use REDISCLI_AUTH)")
	}
	defer tty.Close()
	fmt.Fprint(tty, "Please input password: ")
	password, err := term.ReadPassword(int(tty.Fd()))
	fmt.Fprintln(tty)
	return string(password), err
}

// stdinClosed tells a closed stdin from an empty one. The Go runtime opens /dev/null on a standard descriptor that
// was closed (runtime.checkfds), for reading and writing, which a shell's </dev/null does not: that is the trace.
func stdinClosed(in io.Reader) error {
	f, ok := in.(*os.File)
	if !ok {
		return nil
	}
	closed := usagef("-x: stdin is closed; it must hold the last argument")
	here, err := f.Stat()
	if err != nil {
		return closed
	}
	null, err := os.Stat(os.DevNull)
	if err != nil || !os.SameFile(here, null) {
		return nil
	}
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFL, 0)
	if errno == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR {
		return closed
	}
	return nil
}
