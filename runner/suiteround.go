package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"respbench/netpoll"
	"respbench/report"
)

// One attempt at a round: start the server, wait until it answers, read back how it is set, measure, and see
// by its log that the strategy was in force. Only the measuring is measured.

// attempt returns a result together with an error when the error is in the result.
func (s *suite) attempt(ctx context.Context, c *suiteCell, r *report.Round) (res *report.Result, notes []string, err error) {
	dir, remove, err := s.serverDir()
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	server, err := s.servers.Start(ctx, c.sys, c.st, dir)
	if err != nil {
		return nil, nil, err
	}
	defer server.Stop()
	b, err := s.bench(ctx, c, r, server)
	if err == nil {
		defer b.close()
		res, err = b.measure(ctx)
	}
	if err == nil {
		notes, err = b.prove(ctx, dir)
	}
	return res, notes, withLastWords(err, server)
}

// withLastWords adds why the server ended, if it did.
func withLastWords(err error, server SuiteServer) error {
	if err == nil || server.Ended() == nil {
		return err
	}
	select {
	case <-server.Ended():
		return fmt.Errorf("%w; the server ended: %s", err, server.LastWords())
	case <-time.After(lastWordsAfter): // it may be about to
		return err
	}
}

const lastWordsAfter = 100 * time.Millisecond

// suiteBench is one server being measured.
type suiteBench struct {
	s       *suite
	cell    *suiteCell
	session *session
	ask     *control
	config  map[string]string // in force
	before  infoFields        // INFO persistence
}

// bench makes a server ready to be measured.
func (s *suite) bench(ctx context.Context, c *suiteCell, r *report.Round, server SuiteServer) (*suiteBench, error) {
	o := s.spec.options(c.w, c.sys)
	o.Seed, o.CommandLine = r.Seed, s.result.Command
	o.Target.Host, o.Target.Port = server.Addr()
	o.Output.Progress = s.io.Terminal
	if c.sys.Server == ServerRunning {
		o.Bench.KeyPrefix = fmt.Sprintf("bench:%d:%s:", time.Now().UnixMilli(), c.w.Name)
	}
	quiet := IO{Stdout: io.Discard, Stderr: s.io.Stderr, Log: s.io.Log}
	if !s.io.Terminal {
		quiet.Stderr = io.Discard // what is wrong with a round is in its result and in the error
	}
	b := &suiteBench{s: s, cell: c, session: &session{o: &o, io: quiet, env: s.result.Env}}
	if err := b.session.prepare(ctx); err != nil {
		return nil, err
	}
	if err := b.await(ctx, server); err != nil {
		return nil, err
	}
	var err error
	if b.ask, err = b.session.openControl(ctx); err != nil {
		return nil, err
	}
	if err := b.readBack(); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *suiteBench) close() {
	b.ask.close()
	b.session.watch.close()
}

// ReachServer waits until a running server answers as a suite would measure it, so that a wrong address or password shows
// before the first round. The error is one line and does not name the system: whoever asks knows it.
func ReachServer(ctx context.Context, spec *SuiteSpec, sys *SuiteSystem) error {
	err := reachServer(ctx, spec, sys)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return errors.New(oneLineOf(err))
	}
	return nil
}

func reachServer(ctx context.Context, spec *SuiteSpec, sys *SuiteSystem) error {
	host, port, err := sys.hostPort()
	if err != nil {
		return err
	}
	o := spec.options(&spec.Workloads[0], sys)
	o.Target.Host, o.Target.Port = host, port
	s := &session{o: &o, io: IO{Stdout: io.Discard, Stderr: io.Discard}}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	if err := s.awaitServer(ctx); err != nil {
		return notReady(err, spec.Ready)
	}
	c, err := s.openControl(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	v, err := c.do("PING")
	if err == nil {
		err = nodeError(s.ep, v)
	}
	return err
}

// notReady says how long a server was waited for, in the suite's terms and not in those of --wait.
func notReady(err error, waited time.Duration) error {
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Errorf("the server was not ready after %v: %w", waited.Round(time.Millisecond), err)
}

// await waits until the server answers PING, in vain when it ends before.
func (b *suiteBench) await(ctx context.Context, server SuiteServer) error {
	alive, cancel := context.WithCancel(ctx)
	defer cancel()
	if ended := server.Ended(); ended != nil {
		go func() {
			select {
			case <-ended:
				cancel()
			case <-alive.Done():
			}
		}()
	}
	err := b.session.awaitServer(alive)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case alive.Err() != nil:
		return errors.New("the server did not start")
	}
	return notReady(err, b.session.o.Load.Wait)
}

// readBack asks the server how it is set, and refuses to measure one that is not set as the strategy says.
func (b *suiteBench) readBack() error {
	c := b.cell
	b.config = map[string]string{}
	for _, name := range c.settingNames() {
		v, err := b.ask.do("CONFIG", "GET", name)
		if err != nil {
			return err
		}
		if !isError(v) && len(v.Elems) == 2 {
			b.config[name] = v.Elems[1].Str
		}
	}
	for name, want := range c.inForce() {
		if got, ok := b.config[name]; !ok || got != want {
			return fmt.Errorf("the strategy is not in force: CONFIG GET %s is %q, must be %q", name, got, want)
		}
	}
	b.record()
	var err error
	b.before, err = b.info("persistence")
	return err
}

// settingNames are the settings that are read back.
func (c *suiteCell) settingNames() []string {
	names := []string{"save", "appendonly", "appendfsync"}
	if c.sys.Server == ServerKVStore {
		return append(names, "allocator")
	}
	for _, k := range c.st.keys() {
		if k != "save" && k != "appendonly" && k != "appendfsync" {
			names = append(names, k)
		}
	}
	return names
}

// inForce is what CONFIG GET must give back. Of a real server only what decides over persistence: other
// values may come back in another form.
func (c *suiteCell) inForce() map[string]string {
	want := map[string]string{}
	set := c.st.Settings
	if c.sys.Server == ServerKVStore {
		want["appendonly"] = "no"
		if set["persistence"] == "incremental" {
			want["appendonly"] = "yes"
			if set["fsync"] != "" {
				want["appendfsync"] = set["fsync"]
			}
		}
		if set["allocator"] != "" {
			want["allocator"] = set["allocator"]
		}
		return want
	}
	for _, name := range []string{"save", "appendonly", "appendfsync"} {
		if v, ok := set[name]; ok {
			want[name] = v
		}
	}
	return want
}

// record keeps for the report what the server says of itself; once, since it stays the same.
func (b *suiteBench) record() {
	c := b.cell
	if c.system.Software == "" {
		if info, err := b.info("server"); err == nil {
			c.system.Software, c.system.Version = info.software()
		}
		if c.sys.Server == ServerKVStore { // part of this program
			c.system.Version = Version
		}
	}
	if c.strategy.Config == nil {
		for _, name := range c.settingNames() {
			if v, ok := b.config[name]; ok {
				c.strategy.Config = append(c.strategy.Config, report.Parameter{Name: name, Value: v})
			}
		}
	}
	if c.sys.Server == ServerRunning {
		c.strategy.Persists = b.logs() || b.config["save"] != ""
	}
}

func (b *suiteBench) info(section string) (infoFields, error) {
	v, err := b.ask.do("INFO", section)
	if err != nil || isError(v) {
		return infoFields{}, err
	}
	return parseInfo(v.Str), nil
}

// logs tells whether the server writes a log.
func (b *suiteBench) logs() bool { return b.config["appendonly"] == "yes" }

// measure runs the workload. Errors of the replies fail the round as much as a lost connection.
func (b *suiteBench) measure(ctx context.Context) (*report.Result, error) {
	err := b.session.bench(ctx)
	var res *report.Result
	if n := len(b.session.results); n > 0 {
		res = b.session.results[n-1]
	}
	var coded *Error
	switch {
	case res != nil && res.Mismatches > 0:
		return res, fmt.Errorf("%d of %d reads did not return what was written", res.Mismatches, res.Verified)
	case res != nil && res.ErrorTotal > 0:
		return res, fmt.Errorf("%d of %d replies were errors, such as: %s", res.ErrorTotal, res.Requests, example(res.Errors))
	case err == nil && res == nil, errors.As(err, &coded) && coded.Err == nil:
		return res, errors.New("the round ended without a result")
	}
	return res, err
}

// prove looks whether what the strategy promises was done while the round ran: a log grows by what is
// written, and without persistence nothing is written at all.
func (b *suiteBench) prove(ctx context.Context, dir string) (notes []string, err error) {
	c := b.cell
	if c.sys.Server == ServerRunning {
		return nil, nil
	}
	wrote := c.w.Op != "get" || c.w.Prefill
	info, err := b.info("persistence")
	if err != nil {
		return nil, err
	}
	switch size := folderSize(dir); {
	case b.logs() && wrote:
		grown, err := b.logGrows(ctx, dir)
		if err == nil && !grown {
			err = errors.New("the strategy is not in force: the log did not grow")
		}
		return nil, err
	case !b.logs() && b.config["save"] == "" && size > 0:
		return nil, fmt.Errorf("the strategy is not in force: %d bytes were written without persistence", size)
	case b.config["save"] != "" && !saved(b.before, info):
		if points := savePoints(b.config["save"]); points != "" {
			b.s.note("%s %s: rounds were too short for a save point to fire (%s)", c.sys.Name, c.st.Name, points)
			notes = append(notes, "no save point fired: the round was too short ("+points+")")
		}
	}
	return notes, nil
}

// logWait is how long the last records of a round may take to reach the file.
const logWait = 3 * time.Second

func (b *suiteBench) logGrows(ctx context.Context, dir string) (bool, error) {
	was, _ := b.before.number("aof_current_size")
	deadline := netpoll.Now() + int64(logWait)
	for tick := time.NewTicker(awaitEvery / 10); ; {
		info, err := b.info("persistence")
		now, _ := info.number("aof_current_size")
		if err != nil || now > was && folderSize(dir) > 0 || netpoll.Now() > deadline {
			tick.Stop()
			return err == nil && now > was && folderSize(dir) > 0, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// folderSize is what a server has written, in bytes.
func folderSize(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// saved tells whether a snapshot was begun between two looks.
func saved(before, after infoFields) bool {
	p := after.persistence()
	return p.saving || p.saves > before.persistence().saves || after["rdb_last_save_time"] != before["rdb_last_save_time"]
}

// savePoints is a save line in words: "after 60 s with 10000 changes, ...".
func savePoints(save string) string {
	words := strings.Fields(save)
	var points []string
	for i := 0; i+1 < len(words); i += 2 {
		if _, err := strconv.Atoi(words[i]); err == nil {
			points = append(points, fmt.Sprintf("after %s s with %s changes", words[i], words[i+1]))
		}
	}
	return strings.Join(points, ", ")
}
