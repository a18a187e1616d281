package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// --embedded starts this same binary as a server of its own process: measuring a server inside the measuring
// process would have the two share a heap, a scheduler and a collector. The child holds our end of its stdin pipe
// open and ends when that closes, so that no server survives a killed benchmark. It is in a process group of its own,
// because Ctrl-C must reach us first: we stop it after the partial result is printed.

const (
	embeddedStart = 10 * time.Second // for the ready line
	embeddedStop  = 5 * time.Second  // before the child is killed
)

var embeddedArgs = []string{"serve", "--port", "0", "--until-stdin-closes"}

// embedded is a running child.
type embedded struct {
	cmd   *exec.Cmd
	stdin io.Closer
	port  int
}

// readyLine is what serve prints when it accepts connections; the port is its last number.
var readyLine = regexp.MustCompile(`:(\d+)\s*$`)

// startEmbedded starts the server on a free port and waits until it is ready. more are options of serve.
func startEmbedded(ctx context.Context, stderr io.Writer, more ...string) (*embedded, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// The name decides whether there are subcommands, so it is ours even behind a link called redis-benchmark.
	cmd := &exec.Cmd{Path: self, Args: slices.Concat([]string{ownName}, embeddedArgs, more), Stderr: stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	e := &embedded{cmd: cmd, stdin: stdin}
	if e.port, err = waitReady(ctx, stdout); err != nil {
		e.stop()
		return nil, err
	}
	go io.Copy(io.Discard, stdout) // ends with the child
	return e, nil
}

// waitReady reads the child's first line, and gives up when it is not there in time or the run is cancelled.
func waitReady(ctx context.Context, stdout io.Reader) (port int, err error) {
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		m := readyLine.FindStringSubmatch(text)
		if m == nil {
			return 0, fmt.Errorf("the server did not start (it said %q)", text)
		}
		return strconv.Atoi(m[1])
	case <-time.After(embeddedStart):
		return 0, errors.New("the server did not start in time")
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// stop closes the child's stdin, which ends it, and waits for it.
func (e *embedded) stop() {
	e.stdin.Close()
	kill := time.AfterFunc(embeddedStop, func() { e.cmd.Process.Kill() })
	defer kill.Stop()
	_ = e.cmd.Wait() // its exit code says nothing about the measurement
}
