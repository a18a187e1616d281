package kvstore

import (
	"bytes"
	"math"

	"respbench/protocol"
)

// snapshot.go writes the snapshot of a rewrite in steps of about stepBytes, so that no client waits long for one. A segment of a
// table is one step, but for what is large in it: large values follow in steps of their own, and a large object is walked, a
// part in each step, while clients go on changing it.
//
// A change of an object that is being walked goes into the stream as it is when that gives the right object in the
// end: what has an order of its own (members, fields, scores) may be written twice or removed before it is there. At the
// far end of a list or stream, which the walk has yet to reach, it must not: the walk will find the change made.

const (
	stepBytes  = 64 << 10
	largeShare = 16 // a value of more than this part of a step is large
)

// walk is an object of which the snapshot has a part.
type walk struct {
	key   []byte
	x     object
	at    int   // list, stream: elements written, from the start; set, hash: elements to be written, from the start
	last  zitem // zset: the last one written
	begun bool  // zset: there is a last one
}

// largeKey is a key whose large value has yet to be written.
type largeKey struct {
	table int
	key   string
}

func newWalk(key []byte, x object) walk {
	w := walk{key: key, x: x, last: zitem{score: math.Inf(-1)}}
	switch x := x.(type) {
	case *set:
		w.at = len(x.members)
	case *hash:
		w.at = len(x.fields)
	}
	return w
}

// snapshotStep adds a step to the snapshot.
func (s *Server) snapshotStep() {
	r := &s.rewrite
	switch {
	case len(r.walks) > 0:
		s.walkStep()
	case len(r.large) > 0:
		s.dumpLarge()
	default:
		s.dumpSegment()
	}
}

// snapshotDone reports that the snapshot is complete.
func (r *rewrite) snapshotDone() bool { return r.table > 2 && len(r.walks) == 0 && len(r.large) == 0 }

// forget drops what is being written and not complete.
func (r *rewrite) forget() { r.walks, r.large = nil, nil }

// snapshotTable gives a table by its number, and how its records are written.
func (s *Server) snapshotTable(n int) (*dict, op) {
	switch n {
	case 0:
		return s.store.plain, opSet
	case 1:
		return s.store.tree.dict, opRSet
	}
	return s.store.table, opHSet
}

// dumpSegment writes the records of the segment at the cursor and moves on.
func (s *Server) dumpSegment() {
	l, r := s.log, &s.rewrite
	d, code := s.snapshotTable(r.table)
	next, last := d.walk(r.cursor, func(block ref) {
		rec := d.mem.at(block)
		key := recordKey(rec)
		value, object := recordValue(rec)
		switch {
		case object:
			s.dumpOnce(key, s.store.objects.all[objectNumber(value)])
		case len(value) > s.opts.stepBytes/largeShare:
			if r.large == nil {
				r.large = map[largeKey]struct{}{}
			}
			r.large[largeKey{r.table, string(key)}] = struct{}{}
		default:
			l.nextTail = appendRecord(l.nextTail, code, key, value)
		}
	})
	r.cursor = next
	if last {
		r.table++
	}
}

// dumpLarge writes large values that are still there.
func (s *Server) dumpLarge() {
	l, r := s.log, &s.rewrite
	start := len(l.nextTail)
	for k := range r.large {
		delete(r.large, k)
		d, code := s.snapshotTable(k.table)
		rec := d.get([]byte(k.key))
		if rec == nil {
			continue
		}
		value, object := recordValue(rec)
		if object { // it has come meanwhile
			s.dumpOnce(recordKey(rec), s.store.objects.all[objectNumber(value)])
		} else {
			l.nextTail = appendRecord(l.nextTail, code, recordKey(rec), value)
		}
		if len(l.nextTail)-start >= s.opts.stepBytes {
			return
		}
	}
}

// dumpOnce begins to write an object unless this rewrite has begun already; it reports whether it did. It is called when the
// snapshot reaches the object, and for one that comes to be behind it. A small object is complete at once; one that comes to be after the snapshot is complete must be.
func (s *Server) dumpOnce(key []byte, x object) bool {
	h, l, r := x.header(), s.log, &s.rewrite
	if h.epoch == r.epoch {
		return false
	}
	h.epoch, h.walk = r.epoch, nil
	most := s.opts.stepBytes
	if r.finished {
		most = math.MaxInt
	}
	w := newWalk(key, x)
	l.nextTail = appendRecord(l.nextTail, opDel, key)
	var more bool
	if l.nextTail, more = s.dumpSome(l.nextTail, &w, most); more {
		w.key = bytes.Clone(key)
		h.walk = &w
		r.walks = append(r.walks, h.walk)
	}
	return true
}

// walkStep writes a part of an object, unless the object is gone.
func (s *Server) walkStep() {
	l, r := s.log, &s.rewrite
	w := r.walks[len(r.walks)-1]
	more := false
	if h := w.x.header(); h.walk == w {
		if l.nextTail, more = s.dumpSome(l.nextTail, w, s.opts.stepBytes); !more {
			h.walk = nil
		}
	}
	if !more {
		r.walks = r.walks[:len(r.walks)-1]
	}
}

// covers reports that a change, which has been made, is one that the walk will find. Otherwise it is to be written, and what
// has been written of the object has changed with it.
func (w *walk) covers(code op, args [][]byte) bool {
	if w == nil {
		return false
	}
	switch x := w.x.(type) {
	case *stream:
		return true
	case *list:
		switch code {
		case opRPush:
			return true
		case opLPush:
			w.at += len(args) - 1
		case opLPop:
			if w.at == 0 {
				return true
			}
			w.at--
		case opRPop:
			if x.n >= w.at {
				return true
			}
			w.at = x.n
		}
	}
	return false
}

// dumpSome appends records of an object until they have so many bytes; more tells that some are left.
func (s *Server) dumpSome(dst []byte, w *walk, most int) (out []byte, more bool) {
	start := len(dst)
	full := func() bool { return len(dst)-start >= most }
	switch x := w.x.(type) {
	case *list:
		for w.at < x.n && !full() {
			dst = s.dumpElements(dst, w, x, min(most, 16<<10))
		}
		more = w.at < x.n
	case *set:
		w.at = min(w.at, len(x.members))
		for ; w.at > 0 && !full(); w.at-- {
			dst = appendRecord(dst, opSAdd, w.key, []byte(x.members[w.at-1]))
		}
		more = w.at > 0
	case *hash:
		w.at = min(w.at, len(x.fields))
		for ; w.at > 0 && !full(); w.at-- {
			f := &x.fields[w.at-1]
			dst = appendRecord(dst, opHSetFields, w.key, []byte(f.name), f.value)
		}
		more = w.at > 0
	case *zset:
		var text [32]byte
		x.order.Ascend(w.last, func(i zitem) bool {
			if w.begun && i == w.last {
				return true
			}
			if more = full(); more {
				return false
			}
			w.last, w.begun = i, true
			dst = appendRecord(dst, opZAdd, w.key, protocol.AppendFloat(text[:0], i.score), []byte(i.member))
			return true
		})
	case *stream:
		for ; w.at < len(x.entries) && !full(); w.at++ {
			dst = s.dumpEntry(dst, w.key, x.entries[w.at])
		}
		more = w.at < len(x.entries)
	}
	return dst, more
}

// dumpElements appends a record of some elements of a list, about most bytes.
func (s *Server) dumpElements(dst []byte, w *walk, x *list, most int) []byte {
	const mostElements = 256
	args := [][]byte{w.key}
	for size := 0; w.at < x.n && len(args) <= mostElements && size < most; w.at++ {
		b := recordKey(s.store.mem.at(*x.at(w.at)))
		size += len(b)
		args = append(args, b)
	}
	return appendRecord(dst, opRPush, args...)
}

func (s *Server) dumpEntry(dst, key []byte, entry ref) []byte {
	var parser protocol.CommandParser
	rec := s.store.mem.at(entry)
	body, _ := recordValue(rec)
	args := [][]byte{key, recordKey(rec)}
	_, args, _ = parser.Next(body, args)
	return appendRecord(dst, opXAdd, args...)
}
