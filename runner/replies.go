package runner

import (
	"bytes"

	"respbench/netpoll"
	"respbench/protocol"
)

// class is what a reply turned out to be.
type class uint8

const (
	classOK   class = iota
	classHit        // a read that found something
	classMiss       // a read that found nothing
	classConflict
	classError
	classes
)

// replies decodes one segment. A run of replies of the shape of the last one is counted at once;
// the decoder's general path stands behind it.
func (w *worker) replies(c *client, seg []byte, now int64) error {
	for len(seg) > 0 {
		if c.inOrder == 0 {
			c.nextStamp()
		}
		owed := c.owed()
		if owed > 0 && w.ops == nil && !w.verify.on && c.class != classError {
			if n, k := c.dec.Run(seg, owed); k > 0 {
				w.count(c, int32(k), now)
				seg = seg[n:]
				continue
			}
		}
		n, ev, err := c.dec.Next(seg)
		if err != nil {
			return lostError(err)
		}
		seg = seg[n:]
		switch ev {
		case protocol.Complete:
			if owed == 0 {
				return c.unasked()
			}
			if err := w.complete(c, now); err != nil {
				return err
			}
		case protocol.Body:
			w.verify.piece(c, w.r.plan, c.dec.PieceOffset(), c.dec.Piece())
		}
	}
	return nil
}

// complete classifies one reply and accounts for it.
func (w *worker) complete(c *client, now int64) error {
	r := c.dec.Reply()
	c.class = w.classify(c, r)
	if c.class == classError {
		text := string(r.Text)
		inner, within := c.dec.InnerError()
		if within {
			text = string(inner)
		} else if w.router != nil {
			if handled, err := w.redirected(c, text); handled || err != nil {
				return err
			}
		}
		if c.first < warmupFirst {
			w.errors.add(text)
		} else {
			w.coldErrs.add(text)
		}
		if w.r.load.OnError == StopOnError {
			return &serverError{text, w.nodeName(c)}
		}
	}
	if w.verify.on && c.first < warmupFirst && !w.repeated(c) {
		w.verify.complete(c, w.r.plan, r)
	}
	w.count(c, 1, now)
	return nil
}

func (w *worker) classify(c *client, r *protocol.Reply) class {
	read := w.reads || w.ops != nil && w.r.plan.Reads(c.first)
	switch {
	case !read && w.r.conflicts && isConflict(r):
		return classConflict
	case r.IsError():
		return classError
	case w.innerError(c, r):
		return classError
	case read && r.Null:
		return classMiss
	case read:
		return classHit
	}
	return classOK
}

// innerError tells that a reply holds an error: that of a command in a transaction, or of a script.
func (w *worker) innerError(c *client, r *protocol.Reply) bool {
	if r.Kind != protocol.Array && r.Kind != protocol.Map && r.Kind != protocol.Set {
		return false
	}
	_, within := c.dec.InnerError()
	return within
}

// isConflict recognises the answer to an RSET of a key that is there: an error, or a plain
// status, that says "exist", in any case, and not that something does not. It is asked for every
// reply that differs from the one before, so it copies nothing.
func isConflict(r *protocol.Reply) bool {
	if !r.IsError() && r.Kind != protocol.SimpleString {
		return false
	}
	const word = "exist"
	for t := r.Text; len(t) >= len(word); t = t[1:] {
		if t[0]|' ' == 'e' && bytes.EqualFold(t[:len(word)], []byte(word)) {
			before := bytes.TrimRight(r.Text[:len(r.Text)-len(t)], " ")
			before = before[bytes.LastIndexByte(before, ' ')+1:]
			return !endsIn(before, "not") && !endsIn(before, "n't") && !bytes.EqualFold(before, []byte("no"))
		}
	}
	return false
}

// endsIn tells whether text ends in a suffix, in any case.
func endsIn(text []byte, suffix string) bool {
	return len(text) >= len(suffix) && bytes.EqualFold(text[len(text)-len(suffix):], []byte(suffix))
}

// count accounts for k replies of one class that one read completed. What was written in the
// warm-up is not counted.
func (w *worker) count(c *client, k int32, now int64) {
	if w.tracked {
		w.countTracked(c, k, now)
		return
	}
	if c.first < warmupFirst {
		ns := now - c.stampNs
		w.hist.RecordN(ns, int64(k))
		w.tally[c.class] += int64(k)
		if w.ops != nil {
			op := &w.ops[w.r.plan.Op(c.first)]
			op.hist.RecordN(ns, int64(k))
			op.tally[c.class] += int64(k)
		}
		w.lastNs = now
	} else if w.warming {
		w.warmed += int64(k)
	}
	c.first += uint64(k)
	c.inOrder -= k
	c.pending -= k
	c.answered += int64(k)
}

// maxGreeting is far above all replies to the prefix commands: HELLO's lists the modules.
const maxGreeting = 1 << 20

// greet reads the replies to the prefix commands; each must be a good one. The replies to the load go through the same
// decoder, so that the offset in a message counts from the first byte of the connection.
func (w *worker) greet(c *client, in *netpoll.ChainBuffer) {
	for c.greeted < w.r.prefix.replies {
		if in.Len() == 0 {
			if c.dec.Offset() > maxGreeting {
				w.r.fail(tooLong(w.endpointOf(c).Name, "to AUTH, SELECT or HELLO", maxGreeting))
			}
			return
		}
		n, ev, err := c.dec.Next(in.Segment())
		if err != nil {
			w.r.fail(lostError(err))
			return
		}
		in.Discard(n)
		if ev != protocol.Complete {
			continue
		}
		if r := c.dec.Reply(); r.IsError() {
			w.r.fail(&serverError{string(r.Text), w.nodeName(c)})
			return
		}
		c.greeted++
	}
	c.dec.Forget()
	c.skip = 0
	w.ready(c)
}
