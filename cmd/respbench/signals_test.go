package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitForLoad waits until the fake has seen some load.
func waitForLoad(t *testing.T, s *fakeServer) {
	t.Helper()
	for end := time.Now().Add(hang); s.count() < 100; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no load arrived")
		}
	}
}

// C06, C178, C179: a signal ends the run within a second, with the partial result marked, and the exit code names it.
func TestSignalsEndTheRun(t *testing.T) {
	for _, engine := range engines() {
		for _, c := range []struct {
			args   string
			signal syscall.Signal
			code   int
		}{
			{"-n 4294967297 -q -t ping_mbulk", syscall.SIGINT, 130},
			{"-n 100000000 -q -t ping_mbulk", syscall.SIGTERM, 143},
			{"-n 100000000 -q -t ping_mbulk --threads 2", syscall.SIGINT, 130},
			{"-n 100000000 --csv -t ping_mbulk", syscall.SIGINT, 130},
			{"-n 100000000 -t ping_mbulk", syscall.SIGINT, 130},
			{"--mode set --requests 100000000", syscall.SIGINT, 130},
			{"--mode set --requests 100000000", syscall.SIGHUP, 129},
			{"--mode set --requests 100000000", syscall.SIGQUIT, 131},
			{"--mode get --prefill always --keyspace 100000000 --requests 10", syscall.SIGINT, 130},
			{"-n 10 --warmup 100 -q -t ping_mbulk", syscall.SIGINT, 130},
			{"-l -n 100 -q -t ping_mbulk", syscall.SIGINT, 130},
		} {
			t.Run(engine+" "+c.args, func(t *testing.T) {
				if signal.Ignored(c.signal) {
					t.Skipf("%v is ignored here, by nohup perhaps, and so by what is started from here", c.signal)
				}
				timed(t, func() string {
					s := useFake(t, "ok")
					p := start(t, hang, nil, append(strings.Fields(c.args), "-p", s.port(), "--engine", engine)...)
					waitForLoad(t, s)
					asked := time.Now()
					p.Process.Signal(c.signal)
					o := p.end()
					took := time.Since(asked)
					if o.code != c.code {
						t.Errorf("exit code %d, want %d", o.code, c.code)
					}
					// With -l the signal may come between two rounds, and then there is nothing partial.
					if !strings.Contains(o.stdout+o.stderr, "interrupted") && !strings.HasPrefix(c.args, "-l") {
						t.Errorf("the partial result is not marked:\n%s%s", o.stdout, o.stderr)
					}
					if took > time.Second {
						return "it took " + took.String()
					}
					return ""
				})
			})
		}
	}
}

// C179: the first signal works while connections hang, and the second ends the process whatever it does.
func TestSignalWhileConnecting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ fake, args string }{
		{"silent", "-I -c 10"},
		{"silent", "-n 10 -q --timeout 0 -t set"},
		{"silent", "--tls -n 10 -q --connect-timeout 0 -t set"},
		{"cfgsilent", "-n 10 -q --connect-timeout 0 -t set"},
		{"loading:60000", "-n 10 -q --wait 60 -t set"},
	} {
		for _, times := range []int{1, 2} {
			timed(t, func() string {
				s := useFake(t, c.fake)
				p := start(t, hang, nil, append(strings.Fields(c.args), "-p", s.port())...)
				s.awaitConnection(t)
				time.Sleep(100 * time.Millisecond) // until it hangs: nothing shows from outside that it does
				asked := time.Now()
				for range times {
					p.Process.Signal(syscall.SIGINT)
					time.Sleep(20 * time.Millisecond)
				}
				o := p.end()
				took := time.Since(asked)
				if o.code != 130 {
					t.Errorf("%s, %d signals: exit code %d\n%s", c.args, times, o.code, o.stderr)
				}
				if took > time.Second {
					return fmt.Sprintf("%s, %d signals: it took %v", c.args, times, took)
				}
				return ""
			})
		}
	}
}

// A process that was stopped and goes on reads first what came meanwhile: the server was not silent, we were deaf.
func TestStoppedAndContinued(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second // --timeout
	for _, engine := range engines() {
		reply := make(chan struct{})
		f, err := newFake("ok")
		if err != nil {
			t.Fatal(err)
		}
		f.load = each(func(c *fakeConn, _ []string, n int) error {
			<-reply
			return c.send(okReply)
		})
		s, err := runFake(f)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		p := start(t, hang, nil, "-p", s.port(), "--engine", engine, "-q", "-c", "1", "-n", "1", "--timeout", limit.String(), "-t", "set")
		for end := time.Now().Add(hang); s.count() == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
		p.Process.Signal(syscall.SIGSTOP)
		time.Sleep(limit + limit/4) // stopped for longer than its time-out, by definition
		close(reply)
		p.Process.Signal(syscall.SIGCONT)
		p.end().check(t, good("SET"))
	}
}

// C29: idle connections with threads are open, and end with a signal.
func TestIdleMode(t *testing.T) {
	r := useRedis(t)
	p := start(t, hang, nil, "-p", r.port, "-I", "--threads", "4", "-c", "10")
	for end := time.Now().Add(hang); !strings.Contains(r.ask("INFO clients"), "connected_clients:11\r\n"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not 10 idle connections: %s", r.ask("INFO clients"))
		}
	}
	p.Process.Signal(syscall.SIGINT)
	if o := p.end(); o.code != 130 || !strings.HasPrefix(o.stdout, "Creating 10 idle connections and waiting forever (Ctrl+C when done)\n") {
		t.Errorf("exit code %d, stdout %q", o.code, o.stdout)
	}
}

// C180: the reader of our output may go away.
func TestReaderGoesAway(t *testing.T) {
	s := useFake(t, "ok")
	p := start(t, hang, nil, "--version")
	p.end()
	for _, args := range []string{"--csv -n 1000 -t ping_mbulk,set,get", "-l -n 100 -q -t ping_mbulk", "-n 1000 -t set,get"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		self, _ := os.Executable()
		cmd := exec.Command(self)
		cmd.Args = append([]string{ownName, "-p", s.port()}, strings.Fields(args)...)
		cmd.Stdout = w
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		bufio.NewReaderSize(r, 16).ReadByte()
		r.Close()
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(hang):
			cmd.Process.Kill()
			t.Fatalf("%s: hung", args)
		}
		if stderr.Len() > 0 {
			t.Errorf("%s: stderr %q", args, stderr.String())
		}
	}
}

// C182: SIGINT that was ignored when we started stays ignored; SIGTERM works.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to ignore a signal in")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := t.TempDir() + "/respbench"
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	s := useFake(t, "ok")
	cmd := exec.Command(sh, "-c", "trap '' INT; exec "+link+" -n 100000000 -q -t ping_mbulk -p "+s.port())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForLoad(t, s)
	cmd.Process.Signal(syscall.SIGINT)
	before := s.count()
	for end := time.Now().Add(hang); s.count() < before+10000; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the load stopped after an ignored SIGINT")
		}
	}
	cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(hang):
		cmd.Process.Kill()
		t.Fatal("SIGTERM did not end it")
	}
	if code := cmd.ProcessState.ExitCode(); code != 143 {
		t.Errorf("exit code %d, want 143", code)
	}
}

// The first signal ends the wait for a last argument that does not come.
func TestSignalWhileReadingStdin(t *testing.T) {
	held, sent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer sent.Close()
	p := start(t, hang, held, "-x", "set", "k")
	held.Close()
	if _, err := sent.Write(make([]byte, 1<<20)); err != nil { // more than a pipe holds: it is being read
		t.Fatal(err)
	}
	p.Process.Signal(syscall.SIGINT)
	p.end().check(t, want{130, `!.`, `!.`})
}

// The first signal ends the wait for somebody at the other end of a named pipe.
func TestSignalWhileOpeningPipe(t *testing.T) {
	t.Parallel()
	s := useFake(t, "ok")
	for _, args := range []string{"--json PIPE ping", "--hdr PIPE ping", "--dataset PIPE set k __field:f__"} {
		pipe := t.TempDir() + "/pipe"
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Skipf("no named pipes here: %v", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), hang)
		defer cancel()
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(ctx, self)
		cmd.Args = append([]string{ownName, "-e", "-p", s.port()}, strings.Fields(strings.Replace(args, "PIPE", pipe, 1))...)
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewReader(stderr)
		if _, err := said.ReadString('\n'); err != nil { // of -e: the signals are caught by now
			t.Fatal(err)
		}
		cmd.Process.Signal(syscall.SIGINT)
		rest, _ := io.ReadAll(said)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || string(rest) != "interrupted before anything was measured\n" {
			t.Errorf("%s: exit code %d, stderr %q", args, code, rest)
		}
	}
}
