package kvstore

import (
	"respbench/protocol"
)

// hold.go keeps replies back with fsync always: a reply leaves only when every change made before it is on the disk, so that
// no reply, of a read either, ever shows what a crash could take back. A client's replies wait in two lots: the older leaves
// with the sync that is awaited, and what comes meanwhile gathers in the younger; so a client that never pauses is
// answered all the same. When the sync fails, the replies to the changes among them are replaced by errors.

// lot is a client's replies that wait for the same sync.
type lot struct {
	bytes  []byte
	writes []span // which of the bytes answer a change
	seq    uint64 // leaves when the log is committed up to here
}

// span is a part of a byte slice.
type span struct{ from, to int }

func (x *lot) add(b []byte, writes []span, seq uint64) {
	base := len(x.bytes)
	x.bytes = append(x.bytes, b...)
	for _, w := range writes {
		x.writes = append(x.writes, span{base + w.from, base + w.to})
	}
	x.seq = seq
}

// mustHold reports whether replies have to wait.
func (s *Server) mustHold(c *client) bool {
	return c.holding || s.log != nil && s.log.fsync == FsyncAlways && s.log.seq > s.log.committed.Load() && s.log.failure() == nil
}

// hold keeps the replies in s.out back.
func (s *Server) hold(c *client) {
	into := &c.held[0]
	if len(into.bytes) > 0 && into.seq != s.log.seq {
		into = &c.held[1]
	}
	into.add(s.out, s.writes, s.log.seq)
	if !c.holding {
		c.holding = true
		s.holders = append(s.holders, c)
	}
}

// heldBytes counts what is kept back for a client.
func (c *client) heldBytes() int { return len(c.held[0].bytes) + len(c.held[1].bytes) }

// onCommit is called on the event loop when the committer has news.
func (s *Server) onCommit() {
	s.settleRewrite()
	failed := s.log.failure()
	committed := s.log.committed.Load()
	holders := s.holders
	s.holders = s.spareHolders[:0]
	for _, c := range holders {
		s.release(c, committed, failed)
	}
	clear(holders)
	s.spareHolders = holders[:0]
	if s.log.doubling {
		s.askRewriteStep()
	}
}

// release sends what need not wait any longer.
func (s *Server) release(c *client, committed uint64, failed error) {
	for c.holding && (failed != nil || c.held[0].seq <= committed) {
		x := &c.held[0]
		if failed != nil && x.seq > committed {
			s.deliver(c, s.refusal(x, failed))
		} else {
			s.deliver(c, x.bytes)
		}
		const keepCap = 1 << 20
		if cap(x.bytes) > keepCap {
			x.bytes = nil
		}
		c.held[0], c.held[1] = c.held[1], lot{bytes: x.bytes[:0], writes: x.writes[:0]}
		c.holding = len(c.held[0].bytes) > 0
	}
	if c.holding {
		s.holders = append(s.holders, c)
		return
	}
	s.afterHold(c)
}

// afterHold goes on with what waited for the replies: a client that is being closed, or whose commands were too many.
func (s *Server) afterHold(c *client) {
	switch {
	case c.conn == nil && c.sender != nil && !c.stalled:
		c.closing = true
		c.sender.finish()
	case c.stalled && !c.closing && (c.lost() || !s.mustWait(c)):
		s.resume(c)
	case c.conn != nil && c.gone:
		c.conn.Close()
	}
}

// refusal gives the bytes of a lot with errors in place of the replies to changes.
func (s *Server) refusal(x *lot, failed error) []byte {
	var b []byte
	at := 0
	for _, w := range x.writes {
		b = append(b, x.bytes[at:w.from]...)
		b = protocol.AppendError(b, misconf(failed))
		at = w.to
	}
	return append(b, x.bytes[at:]...)
}

// misconf is the reply to a change that cannot be made lasting.
func misconf(err error) string {
	return "MISCONF Errors writing to the operation log: " + err.Error()
}
