package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTerminal makes a pseudo terminal: what a person sits at, and what a program has.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo terminals here: ", err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// onTerminal runs the program with a terminal for stdin, stdout and stderr. What is to be typed is typed once the program
// has turned the echo off.
func onTerminal(t *testing.T, typed string, args ...string) (screen string, code int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	person, program := newTerminal(t)
	cmd := exec.Command(self)
	cmd.Args = append([]string{ownName}, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // of stdin
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	shown := make(chan string)
	go func() {
		var out bytes.Buffer
		_, _ = out.ReadFrom(person) // until the last program has closed it, which is EIO
		shown <- out.String()
	}()
	kill := time.AfterFunc(hang, func() { cmd.Process.Kill() })
	defer kill.Stop()
	for end := time.Now().Add(hang); typed != ""; time.Sleep(time.Millisecond) {
		mode, err := unix.IoctlGetTermios(int(person.Fd()), unix.TCGETS)
		if err != nil || time.Now().After(end) {
			cmd.Process.Kill()
			t.Fatalf("the echo was never turned off: %v", err)
		}
		if mode.Lflag&unix.ECHO == 0 {
			_, _ = person.WriteString(typed)
			break
		}
	}
	_ = cmd.Wait()
	return <-shown, cmd.ProcessState.ExitCode()
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
