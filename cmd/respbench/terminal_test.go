package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

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
		timed(t, func() string {
			s := useFake(t, "slow:1")
			o := respbench(t, "-p", s.port(), "--engine", engine, "--timeout", "300ms", "--mode", "set", "--requests", "10", "-P", "1")
			o.check(t, bad(`(?i)timed out|no reply`))
			return o.longerThan(3 * time.Second)
		})
	}
}
