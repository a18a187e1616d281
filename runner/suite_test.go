package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"respbench/report"
)

// stage is the servers of a suite whose every start a test decides over. What it starts speaks just enough
// to be measured: every request of the load is "set" and answered with +OK.
type stage struct {
	starts []string // system and strategy, in order
	refuse func(start int) error
}

func (g *stage) Check(*SuiteSystem) error                              { return nil }
func (g *stage) Reach(context.Context, *SuiteSpec, *SuiteSystem) error { return nil }
func (g *stage) Describe(sys *SuiteSystem, st *SuiteStrategy) string   { return sys.Name + " " + st.Name }

func (g *stage) Start(_ context.Context, sys *SuiteSystem, st *SuiteStrategy, _ string) (SuiteServer, error) {
	g.starts = append(g.starts, sys.Name+" "+st.Name)
	if g.refuse != nil {
		if err := g.refuse(len(g.starts)); err != nil {
			return nil, err
		}
	}
	return newActor()
}

// actor is one server.
type actor struct{ ln net.Listener }

func newActor() (*actor, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	a := &actor{ln}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go a.serve(conn)
		}
	}()
	return a, nil
}

// serve answers the commands beside the load in their own form, one to a read, and counts those of the load
// by their first line.
func (a *actor) serve(conn net.Conn) {
	defer conn.Close()
	buf := make([]byte, 64<<10)
	held := ""
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		held += string(buf[:n])
		reply := ""
		switch {
		case strings.Contains(held, "CONFIG"):
			reply, held = "*0\r\n", ""
		case strings.Contains(held, "INFO"):
			reply, held = "$0\r\n\r\n", ""
		case strings.Contains(held, "PING"):
			reply, held = "+PONG\r\n", ""
		default:
			whole := strings.Count(held, "*3\r\n$3\r\nSET\r\n")
			if last := strings.LastIndex(held, "*3\r\n"); last >= 0 && strings.Count(held[last:], "\r\n") < 7 {
				whole--
				held = held[last:]
			} else {
				held = ""
			}
			reply = strings.Repeat("+OK\r\n", whole)
		}
		if _, err := conn.Write([]byte(reply)); err != nil {
			return
		}
	}
}

func (a *actor) Addr() (string, int)    { return "127.0.0.1", a.ln.Addr().(*net.TCPAddr).Port }
func (a *actor) Ended() <-chan struct{} { return nil }
func (a *actor) LastWords() string      { return "" }
func (a *actor) Stop()                  { a.ln.Close() }

// smallSuite has two systems with three strategies in all, which are not set in any way.
func smallSuite(t *testing.T, rounds int) *SuiteSpec {
	s := DefaultSuite()
	s.Rounds, s.Warmup, s.Rest, s.Retries, s.Pipeline, s.Out, s.Ready = rounds, 0, 0, 0, 16, filepath.Join(t.TempDir(), "out"), 10*time.Second
	s.Workloads = []SuiteWorkload{{Name: "set", Op: "set", Requests: 500, Keyspace: 100, ValueSize: 8}}
	s.Systems = []SuiteSystem{
		{Name: "a", Server: ServerRunning, Address: "x:1", SetCmd: "SET", GetCmd: "GET", Strategies: []SuiteStrategy{{Name: "one"}, {Name: "two"}}},
		{Name: "b", Server: ServerRunning, Address: "x:1", SetCmd: "SET", GetCmd: "GET", Strategies: []SuiteStrategy{{Name: "one"}}},
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return &s
}

func runSuite(t *testing.T, ctx context.Context, spec *SuiteSpec, files *SuiteFiles, servers SuiteServers) (*report.SuiteResult, *SuiteFiles, string, error) {
	t.Helper()
	if files == nil {
		files = NewSuiteFiles(spec.Out, time.Now())
	}
	var said bytes.Buffer
	r, err := RunSuite(ctx, spec, servers, files, []string{"respbench", "suite"}, IO{Stdout: &said, Stderr: &said})
	return r, files, said.String(), err
}

// Rounds are interleaved, and every round begins with the next strategy.
func TestSuiteOrder(t *testing.T) {
	g := &stage{}
	spec := smallSuite(t, 3)
	spec.Warmup = 1
	r, _, said, err := runSuite(t, context.Background(), spec, nil, g)
	if err != nil {
		t.Fatal(err, said)
	}
	want := "a one, a two, b one, a two, b one, a one, b one, a one, a two, a one, a two, b one"
	if got := strings.Join(g.starts, ", "); got != want {
		t.Errorf("order\n%s\nwant\n%s", got, want)
	}
	seeds := map[uint64]bool{}
	for _, m := range r.Systems[0].Strategies[0].Modes {
		for _, round := range m.Rounds {
			seeds[round.Seed] = true
			if round.Result == nil || round.Result.Requests != 500 || round.Result.Seed != round.Seed {
				t.Errorf("round %d: %+v", round.Number, round.Result)
			}
		}
	}
	if len(seeds) != 4 || !seeds[12346] {
		t.Errorf("seeds %v, want one a round, from 12346 on", seeds)
	}
	if !strings.Contains(said, "[12/12] round 3/3, b one set: ") || !strings.Contains(said, " left\n") {
		t.Errorf("progress\n%s", said)
	}
}

// C167: a round that fails all its attempts is failed, not zero; one that fails some is measured, and its
// failures are listed.
func TestSuiteRetries(t *testing.T) {
	spec := smallSuite(t, 2)
	spec.Retries = 1
	g := &stage{refuse: func(start int) error {
		if start == 2 || start == 4 || start == 5 { // the first attempt at a two; both at b one
			return errors.New("no server today")
		}
		return nil
	}}
	r, files, said, err := runSuite(t, context.Background(), spec, nil, g)
	var coded *Error
	if !errors.As(err, &coded) || coded.Code != ExitError {
		t.Errorf("error %v, want exit code 1", err)
	}
	var failed, retried int
	for _, sys := range r.Systems {
		for _, st := range sys.Strategies {
			for _, round := range st.Modes[0].Rounds {
				switch {
				case round.Result == nil:
					failed++
				case len(round.Failures) > 0:
					retried++
				}
			}
		}
	}
	if failed != 1 || retried != 1 || r.FailedRounds() != 1 {
		t.Errorf("%d rounds failed, %d were retried\n%s", failed, retried, said)
	}
	summary := readFile(t, files.Path(fileSummary))
	if strings.Contains(summary, ",0.00,0.00,0.00,") || !strings.Contains(readFile(t, files.Path(fileReportMD)), "no server today") {
		t.Errorf("a failed round is a zero, or its failure is not listed\n%s", summary)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// C178: what is complete is written and marked; a resumed run does the rest and nothing twice.
func TestSuiteInterruptAndResume(t *testing.T) {
	spec := smallSuite(t, 3)
	ctx, cancel := context.WithCancelCause(context.Background())
	g := &stage{refuse: func(start int) error {
		if start == 5 {
			cancel(Interrupt{syscall.SIGINT})
			return errors.New("interrupted in mid-start")
		}
		return nil
	}}
	r, files, said, err := runSuite(t, ctx, spec, nil, g)
	var by Interrupt
	if !errors.As(err, &by) || !r.Interrupted || by.ExitCode() != ExitInterrupted {
		t.Fatalf("error %v, interrupted %v", err, r.Interrupted)
	}
	if n := len(r.Results()); n != 4 {
		t.Errorf("%d rounds are there, want 4\n%s", n, said)
	}
	if md := readFile(t, files.Path(fileReportMD)); !strings.Contains(md, "interrupted") {
		t.Errorf("the report is not marked:\n%s", md)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(spec.Out, moved); err != nil {
		t.Fatal(err)
	}
	back, again, err := ResumeSuite(filepath.Join(moved, filepath.Base(files.Path(fileDetail))))
	if err != nil {
		t.Fatal(err)
	}
	more := &stage{}
	r, _, said, err = runSuite(t, context.Background(), again, back, more)
	if err != nil || len(more.starts) != 5 || len(r.Results()) != 9 || r.Interrupted {
		t.Errorf("error %v, %d starts, %d rounds, interrupted %v\n%s", err, len(more.starts), len(r.Results()), r.Interrupted, said)
	}
	for _, sys := range r.Systems {
		for _, st := range sys.Strategies {
			for i, round := range st.Modes[0].Rounds {
				if round.Number != i+1 {
					t.Errorf("%s %s: round %d at place %d", sys.Name, st.Name, round.Number, i+1)
				}
			}
		}
	}
	suiteFile := back.Path(fileSuite)
	fewer := strings.Replace(readFile(t, suiteFile), "rounds: 3", "rounds: 2", 1)
	if err := os.WriteFile(suiteFile, []byte(fewer), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ResumeSuite(suiteFile); err == nil || !strings.Contains(err.Error(), "has 3 rounds, and rounds in") {
		t.Errorf("fewer rounds than there are: error %v", err)
	}
}

// Resuming needs the files of one run.
func TestResumeMistakes(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	detail := write("hash_bench_detail_20260101_000000.csv", "x")
	for _, c := range []struct{ path, want string }{
		{write("notes.txt", ""), "must be that of a suite's file"},
		{filepath.Join(dir, "report_20260101_000001.md"), "no such file"},
		{detail, "suite_20260101_000000.yaml: no such file"},
	} {
		if _, _, err := ResumeSuite(c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
	var b bytes.Buffer
	if err := WriteSuite(&b, smallSuite(t, 1)); err != nil {
		t.Fatal(err)
	}
	write("suite_20260101_000000.yaml", b.String())
	write("result_20260101_000000.json", `{"schema":"respbench/suite","version":1,"systems":[{"name":"other","strategies":[]}]}`)
	if _, _, err := ResumeSuite(detail); err == nil || !strings.Contains(err.Error(), "is not a result of") {
		t.Errorf("another suite's result: %v", err)
	}
	write("result_20260101_000000.json", `{"schema":"respbench/suite","version":1,"systems":[],"parameters":[{"name":"ROUNDS","value":"9"},{"name":"REQ","value":"7"}]}`)
	if _, _, err := ResumeSuite(detail); err == nil || !strings.HasSuffix(err.Error(), ": REQ is 7 there and 500 here") {
		t.Errorf("a suite file that was changed: %v", err)
	}
}

// C170: what cannot be written shows before the first round; no file is ever half.
func TestSuiteFilesUnwritable(t *testing.T) {
	spec := smallSuite(t, 1)
	block := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(block, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	spec.Out = filepath.Join(block, "out")
	g := &stage{}
	if _, _, _, err := runSuite(t, context.Background(), spec, nil, g); err == nil || !strings.HasPrefix(err.Error(), "--out: ") || len(g.starts) > 0 {
		t.Errorf("error %v after %d starts", err, len(g.starts))
	}
	// The folder goes away in mid-run: the suite ends and says how to go on.
	spec = smallSuite(t, 2)
	g = &stage{refuse: func(start int) error {
		if start == 2 {
			return os.Rename(spec.Out, spec.Out+".gone")
		}
		return nil
	}}
	spec.Dir = t.TempDir()
	_, files, _, err := runSuite(t, context.Background(), spec, nil, g)
	if err == nil || !strings.Contains(err.Error(), "--resume "+files.Path(fileDetail)) || len(g.starts) != 2 {
		t.Errorf("error %v after %d starts", err, len(g.starts))
	}
}

// Two runs that begin in the same second have files of their own.
func TestSuiteFilesOfOneSecond(t *testing.T) {
	spec := smallSuite(t, 1)
	at := time.Now()
	var names []string
	for range 3 {
		f := NewSuiteFiles(spec.Out, at)
		if err := f.begin(spec); err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Path(fileResult))
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != 3 {
		t.Errorf("files %v", names)
	}
}

// The save line of the default strategy in words.
func TestSavePoints(t *testing.T) {
	for save, want := range map[string]string{
		"": "", "3600 1 300 100 60 10000": "after 3600 s with 1 changes, after 300 s with 100 changes, after 60 s with 10000 changes", "odd": "",
	} {
		if got := savePoints(save); got != want {
			t.Errorf("savePoints(%q) = %q, want %q", save, got, want)
		}
	}
}

// C11: a suite of two thousand million rounds is planned, and its clock kept, without memory for them.
func TestHugeSuiteIsSmall(t *testing.T) {
	spec := smallSuite(t, 1<<31-1)
	var b bytes.Buffer
	allocated := testing.AllocsPerRun(1, func() {
		b.Reset()
		if err := PlanSuite(&b, spec, &stage{}, NewSuiteFiles(spec.Out, time.Now())); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 1000 || !strings.Contains(b.String(), fmt.Sprintf("%d in all", 3*int64(1<<31-1))) {
		t.Errorf("%.0f allocations\n%s", allocated, b.String())
	}
	if got := roughly(time.Hour, 1<<40); got != "45812984491 days" {
		t.Errorf("time left %q", got)
	}
}
