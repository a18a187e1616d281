package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"respbench/runner"
)

// The servers of a suite are child processes, each in a process group of its own: Ctrl-C must reach us first,
// and a server is killed together with what it forked. None outlives us: kvstore ends when its stdin closes,
// and the others are bound to our own end (startBound).

// suiteServers is runner.SuiteServers.
type suiteServers struct {
	file string // the suite file that names the programs; empty: --redis-server does
}

// Check looks for what would fail in the same way in every round.
func (s suiteServers) Check(sys *runner.SuiteSystem) error {
	if sys.Server == runner.ServerRedis {
		name := "--redis-server " + sys.Program
		if s.file != "" {
			name = fmt.Sprintf("%s: system %q: program %s", s.file, sys.Name, sys.Program)
		}
		return checkRedis(name, sys.Program)
	}
	if sys.Server == runner.ServerKVStore && sys.Port > 0 {
		ln, err := net.Listen("tcp", net.JoinHostPort(defaultHost, strconv.Itoa(sys.Port)))
		if err != nil {
			return fmt.Errorf("port %d for %s: %w (--kv-port chooses another, 0 a free one)", sys.Port, sys.Name, plainCause(err))
		}
		return ln.Close()
	}
	return nil
}

// plainCause is a system error without the names of Go's layers.
func plainCause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}

// redisVersionLine is what redis-server and valkey-server print for --version.
var redisVersionLine = regexp.MustCompile(`(?i)^(redis|valkey) server v=`)

const versionLimit = 5 * time.Second

// Reach asks a server that runs already.
func (suiteServers) Reach(ctx context.Context, spec *runner.SuiteSpec, sys *runner.SuiteSystem) error {
	if err := runner.ReachServer(ctx, spec, sys); err != nil {
		return fmt.Errorf("%s at %s: %w", sys.Name, sys.Address, err)
	}
	return nil
}

// checkRedis refuses a program that is not there or is none of the servers that we know how to start. name is what it is
// called in messages.
func checkRedis(name, program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("%s: %w", name, errors.Unwrap(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), versionLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = versionLimit // of a child that keeps the pipe
	out, err := cmd.Output()
	if !redisVersionLine.Match(out) {
		said := strings.TrimSpace(firstLine(string(out)))
		if said == "" && err != nil {
			said = err.Error()
		}
		return fmt.Errorf("%s is neither redis-server nor valkey-server: to --version it said %q", name, said)
	}
	return nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Describe is the command line of a child.
func (suiteServers) Describe(sys *runner.SuiteSystem, st *runner.SuiteStrategy) string {
	switch sys.Server {
	case runner.ServerKVStore:
		return strings.Join(append([]string{ownName}, serveArgs(sys, st, "DIR")...), " ")
	case runner.ServerRedis:
		args := append([]string{sys.Program}, redisArgs(st, "PORT", "DIR")...)
		for i, a := range args {
			if a == "" || strings.Contains(a, " ") {
				args[i] = strconv.Quote(a)
			}
		}
		return strings.Join(args, " ")
	}
	return "runs at " + sys.Address + "; its keys bench:TIME:... stay there"
}

func serveArgs(sys *runner.SuiteSystem, st *runner.SuiteStrategy, dir string) []string {
	args := []string{"serve", "--host", defaultHost, "--port", strconv.Itoa(sys.Port), "--dir", dir}
	return append(append(args, st.Args()...), "--until-stdin-closes")
}

func redisArgs(st *runner.SuiteStrategy, port, dir string) []string {
	return append([]string{"--bind", defaultHost, "--port", port, "--dir", dir, "--daemonize", "no"}, st.Args()...)
}

// Start starts a child, or takes the server that runs already.
func (suiteServers) Start(ctx context.Context, sys *runner.SuiteSystem, st *runner.SuiteStrategy, dir string) (runner.SuiteServer, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	switch sys.Server {
	case runner.ServerKVStore:
		return startKVStore(ctx, serveArgs(sys, st, dir))
	case runner.ServerRedis:
		return startRedis(sys.Program, st, dir)
	}
	host, port, err := net.SplitHostPort(sys.Address)
	if err != nil {
		return nil, err
	}
	number, err := strconv.Atoi(port)
	return runningServer{host, number}, err
}

// runningServer is somebody else's.
type runningServer struct {
	host string
	port int
}

func (r runningServer) Addr() (string, int)    { return r.host, r.port }
func (r runningServer) Ended() <-chan struct{} { return nil }
func (r runningServer) LastWords() string      { return "" }
func (r runningServer) Stop()                  {}

// childServer is a server of ours.
type childServer struct {
	cmd   *exec.Cmd
	stdin io.Closer // closing it ends the server; nil: it is killed
	port  int
	log   *tail
	ended chan struct{}
}

func (c *childServer) Addr() (string, int)    { return defaultHost, c.port }
func (c *childServer) Ended() <-chan struct{} { return c.ended }

// LastWords is how the process ended and the last line of its log.
func (c *childServer) LastWords() string {
	words := c.cmd.ProcessState.String()
	if line := c.log.lastLine(); line != "" {
		words += ": " + line
	}
	return words
}

// Stop ends the child. What it has written goes with its folder, so nothing is lost by a kill.
func (c *childServer) Stop() {
	kill := func() { _ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) } // the group: a saving child too
	if c.stdin == nil {
		kill()
		<-c.ended
		return
	}
	c.stdin.Close()
	select {
	case <-c.ended:
	case <-time.After(embeddedStop):
		kill()
		<-c.ended
	}
}

func startKVStore(ctx context.Context, args []string) (*childServer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &childServer{log: &tail{}, ended: make(chan struct{})}
	c.cmd = &exec.Cmd{Path: self, Args: append([]string{ownName}, args...), Stderr: c.log}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startBound(c.cmd); err != nil {
		return nil, err
	}
	c.port, err = waitReady(ctx, stdout)
	go c.wait()
	if err != nil {
		c.Stop()
		if line := c.log.lastLine(); line != "" {
			err = fmt.Errorf("kvstore did not start: %s", line)
		}
		return nil, err
	}
	return c, nil
}

// startRedis starts a server on a port that is free now; should somebody else take it meanwhile, the round
// fails and is tried again.
func startRedis(program string, st *runner.SuiteStrategy, dir string) (*childServer, error) {
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path) // the child starts in another folder
	}
	if err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", net.JoinHostPort(defaultHost, "0"))
	if err != nil {
		return nil, err
	}
	port := ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	c := &childServer{log: &tail{}, ended: make(chan struct{}), port: port}
	c.cmd = &exec.Cmd{Path: path, Args: append([]string{path}, redisArgs(st, strconv.Itoa(port), dir)...), Dir: dir, Stdout: c.log, Stderr: c.log}
	if err := startBound(c.cmd); err != nil {
		return nil, err
	}
	go c.wait()
	return c, nil
}

func (c *childServer) wait() {
	_ = c.cmd.Wait() // LastWords has it
	close(c.ended)
}

// tail keeps the end of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = slices.Delete(t.text, 0, extra)
	}
	return len(p), nil
}

func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
