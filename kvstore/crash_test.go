package kvstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// rig is a server without network and goroutines: commands are executed by dispatch, and the committer's turns are taken by
// hand, so that a seed decides everything. Its shadow is what a replay of all records makes of them.
type rig struct {
	*Server
	fs     *crashFS
	me     client
	shadow *Server
}

func openRig(t *testing.T, fs *crashFS, fsync string) (*rig, error) {
	t.Helper()
	o := Options{Persistence: PersistIncremental, Fsync: fsync, rewriteMin: 1 << 62, stepBytes: 64, Allocator: Malloc} // a pool begins with 1 MiB
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	r := &rig{Server: newServer(o), fs: fs, shadow: newServer(o)}
	if err := r.openLog(fs); err != nil {
		return r, err
	}
	if r.log.journal.ahead > 0 {
		r.log.journal.ahead = 4 * crashSector // a full-size one would be copied at each sync
	}
	f, err := fs.Open(logName)
	if err == nil {
		_, err = replay(f, r.shadow.apply, func(_, _ int64) error { return nil })
	}
	return r, err
}

// run executes a command and returns its reply. It is not committed.
func (r *rig) run(args ...string) (reply string) {
	words := make([][]byte, len(args))
	for i, a := range args {
		words[i] = []byte(a)
	}
	r.out = r.out[:0]
	if len(words) > 1 {
		r.key = r.store.plain.hash(words[1])
	}
	r.dispatch(&r.me, lookup(words[0]), words)
	return string(r.out)
}

// do is run that also returns the fingerprints of the states between and after the records of the command.
func (r *rig) do(t *testing.T, args ...string) (reply string, states []uint64) {
	t.Helper()
	before := r.log.seq
	reply = r.run(args...)
	rest := r.log.tail[len(r.log.tail)-int(r.log.seq-before):]
	for len(rest) > 0 {
		n := recordRoom + int(binary.LittleEndian.Uint32(rest))
		code, words, err := parsePayload(rest[recordRoom:n], nil)
		if err == nil {
			err = r.shadow.apply(code, words)
		}
		if err != nil {
			t.Fatalf("%q logged a record that does not replay: %v", args, err)
		}
		states = append(states, fingerprint(r.shadow))
		rest = rest[n:]
	}
	return reply, states
}

// commit takes a turn of the committer; it reports whether all that was executed is on the disk.
func (r *rig) commit() bool {
	l := r.log
	l.hand()
	l.mu.Lock()
	l.commit, l.syncAsked = true, true
	l.mu.Unlock()
	l.turn()
	r.settleRewrite()
	return l.failure() == nil && l.committed.Load() == l.seq
}

// fingerprint is a number that is equal for stores with the same contents.
func fingerprint(s *Server) (sum uint64) {
	for name, d := range map[string]*dict{"plain": s.store.plain, "tree": s.store.tree.dict, "table": s.store.table} {
		d.each(func(block ref) {
			rec := d.mem.at(block)
			value, object := recordValue(rec)
			h := fnv.New64a()
			fmt.Fprintf(h, "%s %q %v ", name, recordKey(rec), object)
			if object {
				describeObject(s, h, s.store.objects.all[objectNumber(value)])
			} else {
				h.Write(value)
			}
			sum += h.Sum64()
		})
	}
	return sum
}

func describeObject(s *Server, w io.Writer, x object) {
	var records []string
	for rest := s.dumpObject([]byte("k"), x); len(rest) > 0; {
		n := recordRoom + int(binary.LittleEndian.Uint32(rest))
		records = append(records, string(rest[:n]))
		rest = rest[n:]
	}
	if _, ordered := x.(*list); !ordered {
		slices.Sort(records)
	}
	fmt.Fprint(w, typeName(x), records)
}

// dumpObject is the records that make an object anew, as a rewrite of the log writes them.
func (s *Server) dumpObject(key []byte, x object) []byte {
	w := newWalk(key, x)
	dump, _ := s.dumpSome(appendRecord(nil, opDel, key), &w, math.MaxInt)
	return dump
}

// randomCommand is a change, most of the time.
func randomCommand(rng *rand.Rand) []string {
	key := fmt.Sprint("k", rng.IntN(6))
	value := strings.Repeat(string(rune('a'+rng.IntN(26))), rng.IntN(1<<rng.IntN(11)))
	score := fmt.Sprint(rng.IntN(100))
	all := [][]string{
		{"SET", key, value}, {"SET", key, score}, {"DEL", key}, {"DEL", key, "k0", "k1"}, {"INCR", key}, {"APPEND", key, value}, {"MSET", key, value, "k0", score},
		{"RSET", key, value}, {"RMOD", key, value}, {"RDEL", key},
		{"HSET", "t" + key, value}, {"HMOD", "t" + key, value}, {"HDEL", "t" + key},
		{"HSET", "h" + key, "f" + score, value}, {"HDEL", "h" + key, "f" + score, "f1", "f2"}, {"DEL", "h" + key},
		{"LPUSH", "l" + key, value, score}, {"RPUSH", "l" + key, value}, {"LPOP", "l" + key}, {"RPOP", "l" + key, "2"}, {"DEL", "l" + key}, {"SET", "l" + key, value},
		{"SADD", "s" + key, score, value}, {"SREM", "s" + key, score}, {"SPOP", "s" + key, "2"},
		{"ZADD", "z" + key, score, value}, {"ZPOPMIN", "z" + key, "2"}, {"XADD", "x" + key, "*", "f", value},
	}
	if rng.IntN(300) == 0 {
		return []string{"FLUSHALL"}
	}
	return all[rng.IntN(len(all))]
}

// maybeRewrite begins a rewrite now and then and takes its steps.
func (r *rig) maybeRewrite(rng *rand.Rand) {
	switch {
	case !r.log.doubling && rng.IntN(10) == 0:
		r.beginRewrite()
	case r.log.doubling:
		for range rng.IntN(4) {
			r.rewriteStep()
		}
	}
}

// writeUnsynced writes what was executed without a sync, as the committer may have done when the power goes.
func (r *rig) writeUnsynced() {
	l := r.log
	if l.failure() != nil {
		return
	}
	l.hand()
	l.journal.write(l.queue)
	if l.doubling && l.rewritten.Load() == rewriteGoing && l.journal.next != nil {
		l.journal.writeRewrite(l.next)
	}
}

// After a crash at any moment the store is what it was at the last commit or after some change behind it; so every
// acknowledged change is there and no value is ever wrong. Also at each step of a rewrite, and over several crashes in a row.
func TestCrashKeepsWhatWasCommitted(t *testing.T) {
	seeds := uint64(1000)
	if testing.Short() {
		seeds = 200
	}
	rewrites := 0
	for _, fsync := range []string{FsyncAlways, FsyncEverySec} {
		for seed := range seeds {
			rewrites += crashRun(t, seed, fsync)
			if t.Failed() {
				return
			}
		}
	}
	if rewrites < int(seeds)/10 {
		t.Errorf("only %d rewrites came to their end: the test does not test them", rewrites)
	}
}

func crashRun(t *testing.T, seed uint64, fsync string) (rewrites int) {
	fs := newCrashFS(seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	var allowed []uint64 // the state at the last commit, and after each change behind it
	for life := range 1 + rng.IntN(4) {
		r, err := openRig(t, fs, fsync)
		if err != nil {
			t.Fatalf("seed %d %s, life %d: open: %v", seed, fsync, life, err)
		}
		now := fingerprint(r.Server)
		if life > 0 && !slices.Contains(allowed, now) {
			t.Fatalf("seed %d %s, life %d: the state is not the committed one, nor one of %d behind it", seed, fsync, life, len(allowed)-1)
		}
		allowed = []uint64{now}
		if rng.IntN(2) == 0 {
			fs.failAt, fs.failWith = fs.calls+rng.IntN(60), errCrash
		}
		for range rng.IntN(40) {
			for range 1 + rng.IntN(8) {
				_, states := r.do(t, randomCommand(rng)...)
				allowed = append(allowed, states...)
			}
			if live := fingerprint(r.Server); live != allowed[len(allowed)-1] {
				t.Fatalf("seed %d %s: the records do not give the state of the server", seed, fsync)
			}
			r.maybeRewrite(rng)
			if rng.IntN(3) > 0 && r.commit() {
				allowed = allowed[len(allowed)-1:]
			}
		}
		if rng.IntN(2) == 0 {
			r.writeUnsynced()
		}
		rewrites += int(r.rewrite.sum.done)
		fs.crash()
	}
	return rewrites
}

// A call that fails stops the changes and nothing else: what was acknowledged stays, also over the next start, what
// failed was never acknowledged, and reads go on.
func TestFailedCallRefusesChanges(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	refused := 0
	for seed := range seeds {
		fs := newCrashFS(seed)
		rng := rand.New(rand.NewPCG(seed, 2))
		r, err := openRig(t, fs, FsyncAlways)
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(2) == 0 {
			fs.room = int64(rng.IntN(20000))
		} else {
			fs.failAt, fs.failOnce, fs.failWith = fs.calls+1+rng.IntN(40), true, syscall.EIO
		}
		allowed := []uint64{fingerprint(r.Server)}
		for range 60 {
			failed := r.log.failure() != nil
			cmd := randomCommand(rng)
			reply, states := r.do(t, cmd...)
			allowed = append(allowed, states...)
			if failed {
				refused++
				if len(states) > 0 || !strings.HasPrefix(reply, "-MISCONF ") {
					t.Fatalf("seed %d: after a failure %q was answered %q", seed, cmd, reply)
				}
				if reply, _ := r.do(t, "EXISTS", "k1"); reply[0] != ':' {
					t.Fatalf("seed %d: after a failure a read was answered %q", seed, reply)
				}
			}
			if r.commit() {
				allowed = allowed[len(allowed)-1:]
			}
			r.maybeRewrite(rng)
		}
		fs.crash()
		after, err := openRig(t, fs, FsyncAlways)
		if err != nil {
			t.Fatalf("seed %d: open after a failure: %v", seed, err)
		}
		if !slices.Contains(allowed, fingerprint(after.Server)) {
			t.Fatalf("seed %d: an acknowledged change is lost", seed)
		}
	}
	if refused == 0 {
		t.Error("no change was ever refused")
	}
}

// While a rewrite goes through large objects and values step by step, they are changed, replaced and removed: the rewritten log
// gives exactly what the server has.
func TestRewriteInSmallSteps(t *testing.T) {
	seeds := uint64(500)
	if testing.Short() {
		seeds = 100
	}
	walked := 0
	for seed := range seeds {
		fs := newCrashFS(seed)
		rng := rand.New(rand.NewPCG(seed, 3))
		r, err := openRig(t, fs, FsyncAlways)
		if err != nil {
			t.Fatal(err)
		}
		r.opts.stepBytes = 1 + rng.IntN(300)
		for range 100 + rng.IntN(200) {
			r.run(randomCommand(rng)...)
		}
		for i := range 100 {
			r.run("RPUSH", "lk1", fmt.Sprint("element ", i))
		}
		r.commit()
		r.beginRewrite()
		for r.rewrite.sum.done == 0 {
			for range rng.IntN(4) {
				r.run(randomCommand(rng)...)
				r.run([]string{"LPUSH", "RPUSH", "LPOP", "RPOP"}[rng.IntN(4)], "lk1", "2")
			}
			r.rewriteStep()
			walked += len(r.rewrite.walks) + len(r.rewrite.large)
			if rng.IntN(4) == 0 || r.rewrite.finished {
				r.commit()
			}
		}
		r.run(randomCommand(rng)...)
		r.commit()
		want := fingerprint(r.Server)
		after, err := openRig(t, fs, FsyncAlways)
		if err != nil {
			t.Fatalf("seed %d: the rewritten log does not replay: %v", seed, err)
		}
		if fingerprint(after.Server) != want {
			t.Fatalf("seed %d: the rewritten log gives another state", seed)
		}
	}
	if walked < int(seeds) {
		t.Errorf("large objects and values were under way %d times in %d rewrites: the test does not test them", walked, seeds)
	}
}

// A rewrite that succeeds puts everything in memory on the disk, so it ends a failure.
func TestRewriteEndsAFailure(t *testing.T) {
	fs := newCrashFS(1)
	r, err := openRig(t, fs, FsyncAlways)
	if err != nil {
		t.Fatal(err)
	}
	r.do(t, "SET", "a", "1")
	fs.failAt, fs.failOnce, fs.failWith = fs.calls+2, true, syscall.EIO // the sync
	if r.commit() || r.log.failure() == nil {
		t.Fatal("the failed sync was not noticed")
	}
	if reply, _ := r.do(t, "SET", "a", "2"); !strings.HasPrefix(reply, "-MISCONF") {
		t.Fatalf("got %q", reply)
	}
	r.beginRewrite()
	for range 10 {
		r.rewriteStep()
		r.commit()
	}
	if err := r.log.failure(); err != nil || r.rewrite.sum.done != 1 {
		t.Fatalf("%d rewrites, failure %v", r.rewrite.sum.done, err)
	}
	if reply, _ := r.do(t, "SET", "b", "2"); reply != "+OK\r\n" || !r.commit() {
		t.Fatalf("got %q", reply)
	}
	want := fingerprint(r.Server)
	fs.crash()
	if r, err = openRig(t, fs, FsyncAlways); err != nil || fingerprint(r.Server) != want {
		t.Errorf("after a crash: %v", err)
	}
}

// A rewrite that has filled the disk gives way to the log.
func TestRewriteGivesItsRoomBack(t *testing.T) {
	for _, fsync := range []string{FsyncAlways, FsyncEverySec} {
		fs := newCrashFS(1)
		r, err := openRig(t, fs, fsync)
		if err != nil {
			t.Fatal(err)
		}
		r.do(t, "SET", "a", strings.Repeat("x", 2000))
		r.commit()
		r.beginRewrite()
		for range 2 { // the segment, and the large value in it
			r.rewriteStep()
			r.commit()
		}
		if r.log.journal.nextOff < 2000 || r.log.rewritten.Load() != rewriteGoing {
			t.Fatalf("the rewrite has %d bytes and is in state %d", r.log.journal.nextOff, r.log.rewritten.Load())
		}
		fs.room = 10
		reply, _ := r.do(t, "SET", "b", "a value that does not fit")
		r.log.nextTail = nil // the log's own part of the batch meets the full disk first
		if ok := r.commit(); !ok || reply != "+OK\r\n" || r.log.failure() != nil || r.rewrite.sum.failed != 1 {
			t.Errorf("%s: committed %v, reply %q, failure %v, %d rewrites given up", fsync, ok, reply, r.log.failure(), r.rewrite.sum.failed)
		}
		want := fingerprint(r.Server)
		if err := r.log.close(); err != nil {
			t.Error(err)
		}
		if r, err = openRig(t, fs, fsync); err != nil || fingerprint(r.Server) != want {
			t.Errorf("%s: after the next start: %v", fsync, err)
		}
	}
}

// With everysec, changes that were acknowledged before the disk was full are written when the server ends and there is room.
func TestEverySecKeepsWhatCouldNotBeWritten(t *testing.T) {
	fs := newCrashFS(1)
	r, err := openRig(t, fs, FsyncEverySec)
	if err != nil {
		t.Fatal(err)
	}
	fs.room = 10
	r.do(t, "SET", "a", "a value that does not fit")
	if r.commit() {
		t.Fatal("written to a full disk")
	}
	fs.room = -1
	want := fingerprint(r.Server)
	if err := r.log.close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v, want the first failure", err)
	}
	fs.crash()
	if r, err = openRig(t, fs, FsyncEverySec); err != nil || fingerprint(r.Server) != want {
		t.Errorf("after the next start: %v", err)
	}
}
