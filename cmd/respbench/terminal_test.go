package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onTerminal runs the program with a terminal for stdin, stdout and stderr, through util-linux's script(1).
func onTerminal(t *testing.T, typed string, args ...string) (screen string, code int) {
	t.Helper()
	path, err := exec.LookPath("script")
	if err != nil {
		t.Skip("script(1) is not installed")
	}
	if help, _ := exec.Command(path, "--help").CombinedOutput(); !bytes.Contains(help, []byte("--return")) {
		t.Skip("script(1) is not util-linux's")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), ownName)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "-qec", link+" "+strings.Join(args, " "), "/dev/null")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { stdin.Write([]byte(typed)) }) // when the question is on the screen
	kill := time.AfterFunc(hang, func() { cmd.Process.Kill() })
	defer kill.Stop()
	cmd.Wait()
	stdin.Close()
	return out.String(), cmd.ProcessState.ExitCode()
}

func TestAskpass(t *testing.T) {
	r := withPassword(t)
	screen, code := onTerminal(t, "sekret\n", "-p", r.port, "--askpass", "-n", "100", "-q", "ping")
	if code != 0 || !strings.HasPrefix(screen, "Please input password: ") || strings.Contains(screen, "sekret") || !strings.Contains(screen, qRow) {
		t.Errorf("exit code %d, screen %q", code, screen)
	}
}

// C93: progress is drawn on a terminal, in the real tool's form, and is wiped before the result.
func TestProgressOnTerminal(t *testing.T) {
	s := useFake(t, "slow:0.01")
	screen, code := onTerminal(t, "", "-p", s.port(), "-c", "1", "-n", "60", "-q", "-t", "set")
	form := regexp.MustCompile(`\rSET: rps=[0-9.]+ \(overall: [0-9.]+\) avg_msec=[0-9.]+ \(overall: [0-9.]+\)\r +\r`)
	last := screen[strings.LastIndex(strings.TrimRight(screen, "\r\n"), "\r")+1:]
	if code != 0 || !form.MatchString(screen) || strings.Contains(screen, "nan") || !strings.HasPrefix(last, "SET: ") {
		t.Errorf("exit code %d, screen %q", code, screen)
	}
	// --progress forces it where there is no terminal; --csv never has it.
	o := respbench(t, "-p", s.port(), "-c", "1", "-n", "60", "-q", "--progress", "-t", "set")
	if !strings.Contains(o.stdout, "\rSET: rps=") {
		t.Errorf("--progress: stdout %q", o.stdout)
	}
	screen, _ = onTerminal(t, "", "-p", s.port(), "-c", "1", "-n", "60", "--csv", "-t", "set")
	if strings.Contains(screen, "rps=") {
		t.Errorf("--csv: screen %q", screen)
	}
}

// C27: -l goes on, with one header.
func TestLoop(t *testing.T) {
	s := useFake(t, "ok")
	p := start(t, hang, nil, "-p", s.port(), "-l", "--csv", "-n", "100", "-c", "50", "-t", "ping_mbulk")
	for end := time.Now().Add(hang); s.count() < 1000; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no second pass")
		}
	}
	p.Process.Signal(syscall.SIGINT)
	o := p.end()
	if rows := strings.Count(o.stdout, `"PING_MBULK","`); o.code != 130 || rows < 2 || strings.Count(o.stdout, `"test","rps"`) != 1 {
		t.Errorf("exit code %d, stdout %q", o.code, cut(o.stdout))
	}
}

// C75: a reply that comes after the time-out is nobody's: the connection is given up, and nothing is mistaken.
func TestLateReply(t *testing.T) {
	for _, engine := range engines() {
		s := useFake(t, "slow:1")
		o := respbench(t, "-p", s.port(), "--engine", engine, "--timeout", "300ms", "--mode", "set", "--requests", "10", "-P", "1")
		o.check(t, bad(`(?i)timed out|no reply`))
		if o.took > 3*time.Second {
			t.Errorf("%s: took %v", engine, o.took)
		}
	}
}
