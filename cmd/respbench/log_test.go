package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// Diagnostics tell a run's course at the levels that ask for it, as JSON where stderr is no terminal, and never on stdout.
func TestLogLevels(t *testing.T) {
	_, port := ownServer(t)
	bench := []string{"-p", port, "-q", "--mode", "get", "--keyspace", "20", "-n", "30", "--seed", "1"}
	for _, c := range []struct {
		level  string
		events []string // of the first run, which finds no key
	}{
		{"debug", []string{"server resolved", "keyspace probed", "round begins", "round ended", "round begins", "round ended"}},
		{"info", []string{"keyspace probed", "round begins", "round ended", "round begins", "round ended"}},
		{"warn", nil},
		{"off", nil},
	} {
		o := respbench(t, append(bench, "--log-level", c.level, "--key-prefix", c.level+":")...)
		o.check(t, want{0, "^get .* misses=0", ""})
		var events []string
		for line := range strings.Lines(o.stderr) {
			var event struct{ Level, Message string }
			if err := json.Unmarshal([]byte(line), &event); err != nil || event.Level == "" {
				t.Fatalf("--log-level %s: the line %q is no event: %v", c.level, line, err)
			}
			events = append(events, event.Message)
		}
		if got, want := strings.Join(events, ", "), strings.Join(c.events, ", "); got != want {
			t.Errorf("--log-level %s: %s\nwant %s", c.level, got, want)
		}
	}
}

// A server that is waited for is told of.
func TestLogOfWaiting(t *testing.T) {
	o := respbench(t, "-p", freePort(t), "--wait", "0.3", "-t", "ping", "-q", "--log-level", "debug")
	o.check(t, want{1, "!.", `"the server is not ready"`})
}
