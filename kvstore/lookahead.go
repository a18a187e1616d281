package kvstore

// lookahead.go hides the latency of memory. In a store that no cache holds, a look-up waits for a table segment and then for
// a record, a hundred nanoseconds each. The commands of a pipeline are known before they are executed, and processors
// overlap accesses that do not depend on each other: so a few commands are parsed, the segments of all their keys are
// touched, then the records, and only then is the first command executed.

// lookAheadMost is how many commands are prepared together. More gains little: the processor overlaps about ten accesses.
const lookAheadMost = 16

// request is a command that is parsed and not executed yet.
type request struct {
	from, to int    // its arguments in Server.args; none for an empty line
	bytes    int    // of the input
	command  int    // id, -1 when there is none of that name
	hash     uint64 // of its key, which is its second argument
	touched  uint64 // result of the accesses, kept so that they are not left out
}

// lookAhead parses up to len(s.batch) commands from the start of buf; more tells that it stopped at that number. A
// protocol error counts only after the commands in front of it.
func (s *Server) lookAhead(c *client, buf []byte) (n int, more bool, err error) {
	most := len(s.batch)
	if c.parser.Unauthenticated {
		most = 1 // the first command may be the AUTH that widens the limits of the second
	}
	args := s.args[:0]
	for used := 0; n < most; n++ {
		var k int
		from := len(args)
		k, args, err = c.parser.Next(buf[used:], args)
		if k == 0 {
			break
		}
		q := &s.batch[n]
		q.from, q.to, q.bytes, q.command = from, len(args), k, -1
		if q.to > q.from {
			q.command = lookup(args[from])
		}
		used += k
	}
	s.args = args
	for i := range s.batch[:n] {
		if q := &s.batch[i]; q.to-q.from > 1 {
			q.hash = s.store.plain.hash(args[q.from+1])
		}
	}
	if n > 1 {
		s.touch(s.batch[:n])
	}
	return n, n == most, err
}

// touch accesses what the commands will need.
func (s *Server) touch(batch []request) {
	for i := range batch {
		q := &batch[i]
		if d := s.dictOf(q); d != nil {
			q.touched = d.segmentOf(q.hash).slots[q.hash&(segmentSlots-1)]
		}
	}
	for i := range batch {
		q := &batch[i]
		if d := s.dictOf(q); d != nil {
			q.touched = d.touch(q.hash)
		}
	}
}

// dictOf says where the key of a command will be looked up; nil when it has none.
func (s *Server) dictOf(q *request) *dict {
	if q.command < 0 || q.to-q.from < 2 {
		return nil
	}
	switch commands[q.command].engine {
	case plainEngine:
		return s.store.plain
	case treeEngine:
		return s.store.tree.dict
	case tableEngine:
		return s.store.table
	}
	return nil
}

// touch reads a byte of the first record that may be that of a key with hash h.
func (d *dict) touch(h uint64) uint64 {
	seg := d.segmentOf(h)
	frag := fragment(h)
	for i := h & (segmentSlots - 1); ; i = (i + 1) & (segmentSlots - 1) {
		slot := seg.slots[i]
		if slot == 0 {
			return 0
		}
		if slot>>refBits == frag && slot != deleted {
			return uint64(d.mem.at(ref(slot & refMask))[0])
		}
	}
}
