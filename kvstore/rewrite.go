package kvstore

import "errors"

// rewrite.go makes the log short again while the server serves. The rewritten log is one stream in which the event loop
// interleaves two kinds of records: a snapshot, a segment of a table at a time in the order of the hashes, and every change
// that happens meanwhile. A change goes to the old log as well, which stays the log until the switch.
//
// A change that depends on what was there before (APPEND, or one of an object) and concerns a key that the snapshot has not
// reached is not written: the snapshot will find it made. Every other one is. So the whole stream, replayed, gives
// the state at its end; nobody replays a part of it, since it becomes the log when it is complete.

// rewrite is the event loop's side of a rewrite.
type rewrite struct {
	base   int64  // size of the log after the last rewrite or start
	epoch  uint64 // number of the present or last rewrite; objects remember in which they were written
	table  int    // which table the snapshot is in: 0 plain, 1 tree, 2 table, 3 done
	cursor uint64 // hashes below are in the snapshot
	asked  bool   // a step has been queued on the loop

	walks    []*walk               // objects of which the snapshot has a part
	large    map[largeKey]struct{} // keys below the cursor whose values the snapshot has yet to get
	finished bool                  // the snapshot is complete

	sum rewriteSum
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
	s.rewrite.table, s.rewrite.cursor, s.rewrite.finished = 0, 0, false
	s.rewrite.forget()
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

// rewriteStep adds to the snapshot and asks for the next step, unless the disk has to catch up first.
func (s *Server) rewriteStep() {
	l := s.log
	if !l.doubling || l.rewritten.Load() != rewriteGoing || s.rewrite.finished {
		return
	}
	l.mu.Lock()
	behind := len(l.next) > maxBacklog/4
	l.mu.Unlock()
	if behind {
		return // onCommit asks again
	}
	s.snapshotStep()
	l.hand()
	if s.rewrite.snapshotDone() {
		s.rewrite.finished = true
		l.mu.Lock()
		l.dumped = true
		l.work.Signal()
		l.mu.Unlock()
		return
	}
	s.askRewriteStep()
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
	case code != opAppend && code < opHSetFields || code > opXAdd:
	case !s.inSnapshot(args[0]):
		return
	case code != opAppend:
		x, _ := s.object(args[0])
		if x == nil || s.dumpOnce(args[0], x) || x.header().walk.covers(code, args) {
			return
		}
	}
	l.nextTail = appendRecord(l.nextTail, code, args...)
}

// inSnapshot reports whether the snapshot has reached a plain key.
func (s *Server) inSnapshot(key []byte) bool {
	r := &s.rewrite
	if _, later := r.large[largeKey{0, string(key)}]; later {
		return false
	}
	return r.table > 0 || s.store.plain.hash(key) < r.cursor
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
	s.rewrite.forget()
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
