package kvstore

import "errors"

// rewrite.go makes the log short again while the server serves. The rewritten log is one stream in which the event loop
// interleaves two kinds of records: a snapshot, a segment of a table at a time in the order of the hashes, and every change
// that happens meanwhile. A change goes to the old log as well, which stays the log until the switch.
//
// A change that depends on what was there before (APPEND, or one of an object) may concern a key that the snapshot has not
// reached. It is written as the whole new value then. So at each place of the stream, replaying it gives the true
// value of every key that it mentions; the snapshot sees to it that in the end all are mentioned.

// rewrite is the event loop's side of a rewrite.
type rewrite struct {
	base   int64  // size of the log after the last rewrite or start
	epoch  uint64 // number of the present or last rewrite; objects remember in which they were written
	table  int    // which table the snapshot is in: 0 plain, 1 tree, 2 table, 3 done
	cursor uint64 // hashes below are in the snapshot
	asked  bool   // a step has been queued on the loop
	sum    rewriteSum
}

// rewriteSum is what INFO persistence shows.
type rewriteSum struct {
	done, failed int64
	lastErr      error
}

// minRewrite is the size below which a log is not rewritten by itself (auto-aof-rewrite-min-size of Redis).
const minRewrite = 64 << 20

// growthWantsRewrite reports whether the log has doubled.
func (s *Server) growthWantsRewrite() bool {
	size := s.log.size.Load()
	return size >= s.opts.rewriteMin && size >= 2*s.rewrite.base
}

// beginRewrite starts a rewrite; false when one is under way.
func (s *Server) beginRewrite() bool {
	l := s.log
	if l.doubling {
		return false
	}
	l.hand()
	l.doubling = true
	s.rewrite.epoch++
	s.rewrite.table, s.rewrite.cursor = 0, 0
	l.mu.Lock()
	l.begin = true
	l.rewritten.Store(rewriteGoing)
	l.work.Signal()
	l.mu.Unlock()
	s.askRewriteStep()
	return true
}

func (s *Server) askRewriteStep() {
	if s.rewrite.asked || s.loop == nil {
		return
	}
	s.rewrite.asked = true
	s.onLoop(s.loop, func() {
		s.rewrite.asked = false
		s.rewriteStep()
	})
}

// rewriteStep adds one segment to the snapshot and asks for the next step, unless the disk has to catch up first.
func (s *Server) rewriteStep() {
	l := s.log
	if !l.doubling || l.rewritten.Load() != rewriteGoing || s.rewrite.table > 2 {
		return
	}
	l.mu.Lock()
	behind := len(l.next) > maxBacklog/4
	l.mu.Unlock()
	if behind {
		return // onCommit asks again
	}
	s.dumpSegment()
	l.hand()
	if s.rewrite.table > 2 {
		l.mu.Lock()
		l.dumped = true
		l.work.Signal()
		l.mu.Unlock()
		return
	}
	s.askRewriteStep()
}

// dumpSegment writes the records of the segment at the cursor and moves on.
func (s *Server) dumpSegment() {
	l, r := s.log, &s.rewrite
	var d *dict
	code := opSet
	switch r.table {
	case 0:
		d = s.store.plain
	case 1:
		d, code = s.store.tree.dict, opRSet
	default:
		d, code = s.store.table, opHSet
	}
	next, last := d.walk(r.cursor, func(block ref) {
		rec := d.mem.at(block)
		value, object := recordValue(rec)
		if object {
			s.dumpOnce(recordKey(rec), s.store.objects.all[objectNumber(value)])
			return
		}
		l.nextTail = appendRecord(l.nextTail, code, recordKey(rec), value)
	})
	r.cursor = next
	if last {
		r.table++
	}
}

// dumpOnce writes an object unless this rewrite has it; it reports whether it wrote.
func (s *Server) dumpOnce(key []byte, x object) bool {
	h := x.header()
	if h.epoch == s.rewrite.epoch {
		return false
	}
	h.epoch = s.rewrite.epoch
	s.log.nextTail = s.dumpObject(s.log.nextTail, key, x)
	return true
}

// logOp records a change that has been made.
func (s *Server) logOp(code op, args ...[]byte) {
	if s.log == nil {
		return
	}
	s.log.add(code, args...)
	if s.log.doubling {
		s.logTwice(code, args)
	}
}

// logTwice records a change in the rewritten log.
func (s *Server) logTwice(code op, args [][]byte) {
	l := s.log
	switch {
	case code == opAppend && !s.inSnapshot(args[0]):
		value, _ := recordValue(s.store.plain.get(args[0]))
		l.nextTail = appendRecord(l.nextTail, opSet, args[0], value)
		return
	case code >= opHSetFields && code <= opXAdd:
		x, _ := s.object(args[0])
		if x == nil || s.dumpOnce(args[0], x) {
			return
		}
	}
	l.nextTail = appendRecord(l.nextTail, code, args...)
}

// inSnapshot reports whether the snapshot has passed a plain key.
func (s *Server) inSnapshot(key []byte) bool {
	return s.rewrite.table > 0 || s.store.plain.hash(key) < s.rewrite.cursor
}

// settleRewrite takes note that the committer has ended a rewrite.
func (s *Server) settleRewrite() {
	l := s.log
	state := l.rewritten.Load()
	if !l.doubling || state == rewriteGoing {
		return
	}
	l.hand()
	l.mu.Lock()
	l.doubling = false
	if state == rewriteDone {
		if len(l.next) > 0 || len(l.queue) > 0 {
			l.queue = append(l.queue[:0], l.next...)
		}
		s.rewrite.sum.done++
		s.rewrite.sum.lastErr = nil
		s.rewrite.base = l.size.Load()
	} else {
		s.rewrite.sum.failed++
		s.rewrite.sum.lastErr = l.rewriteErr
		s.rewrite.base = l.size.Load() // try again when it has doubled again
	}
	l.next = nil
	l.rewritten.Store(rewriteNone)
	l.mu.Unlock()
}

// beginRewrite opens the file. Committer.
func (l *oplog) beginRewrite() {
	if err := l.journal.beginRewrite(); err != nil {
		l.giveUpRewrite(err)
	}
}

func (l *oplog) giveUpRewrite(err error) {
	l.log.Error().Err(err).Msg("rewrite of the operation log given up")
	l.journal.dropRewrite()
	l.mu.Lock()
	l.rewriteErr = err
	l.mu.Unlock()
	l.rewritten.Store(rewriteFailed)
}

// endRewrite makes the rewritten log the log. Committer.
func (l *oplog) endRewrite() {
	if l.rewritten.Load() != rewriteGoing {
		return
	}
	before := l.journal.off
	l.syncing.Lock()
	err := l.journal.endRewrite()
	l.syncing.Unlock()
	switch {
	case errors.Is(err, errSwitch):
		l.fail(err)
	case err != nil:
		l.giveUpRewrite(err)
		return
	default:
		l.failed.Store(nil)
		l.stuck = nil
	}
	l.size.Store(l.journal.off)
	l.rewritten.Store(rewriteDone)
	l.log.Info().Int64("before", before).Int64("after", l.journal.off).Msg("operation log rewritten")
}
