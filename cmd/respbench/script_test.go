package main

import (
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script are what a user types, with what must appear. `fake NAME` starts a fake server and
// sets $PORT; `fails CODE ARGS...` runs respbench and wants that exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv(passwordVariable, "")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fake":  scriptFake,
			"fails": scriptFails,
		},
	})
}

func scriptFake(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: fake NAME")
	}
	s, err := startFake(args[0])
	ts.Check(err)
	ts.Defer(s.close)
	ts.Setenv("PORT", s.port())
}

func scriptFails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE ARGS...")
	}
	code, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(ownName, args[1:]...)
	got, ok := exitCodeOf(err)
	if !ok || got != code {
		ts.Fatalf("exit code %d (%v), want %d", got, err, code)
	}
}
