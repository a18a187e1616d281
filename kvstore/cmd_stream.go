package kvstore

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"respbench/protocol"
)

// cmd_stream.go: streams, as far as XADD and XLEN need them: a list of blocks, each with an id and its fields. The options of
// XADD are not known and refused.

var streamCommands = []command{
	{"xadd", -5, write, (*Server).xadd, 0},
	{"xlen", 2, 0, (*Server).xlen, 0},
}

type stream struct {
	objectHeader
	last    streamID
	entries []ref // records: the key is the id, the value the fields as an array of bulk strings
}

type streamID struct{ ms, seq uint64 }

// lastStreamID is the largest there is.
var lastStreamID = streamID{math.MaxUint64, math.MaxUint64}

func (i streamID) append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, i.ms, 10)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, i.seq, 10)
}

func (i streamID) less(j streamID) bool { return i.ms < j.ms || i.ms == j.ms && i.seq < j.seq }

// next gives the smallest id above i; ok is false at the end of the range.
func (i streamID) next() (streamID, bool) {
	switch {
	case i.seq < math.MaxUint64:
		return streamID{i.ms, i.seq + 1}, true
	case i.ms < math.MaxUint64:
		return streamID{i.ms + 1, 0}, true
	}
	return i, false
}

func (s *Server) xadd(c *client, args [][]byte) {
	if is(args[2], "nomkstream") || is(args[2], "maxlen") || is(args[2], "minid") || is(args[2], "limit") {
		s.fail(errSyntax)
		return
	}
	id, auto, autoSeq, ok := parseStreamID(args[2])
	switch {
	case !ok:
		s.fail("ERR Invalid stream ID specified as stream command argument")
		return
	case len(args)%2 == 0:
		s.wrongArity("xadd")
		return
	case !auto && !autoSeq && id == streamID{}:
		s.fail("ERR The ID specified in XADD must be greater than 0-0")
		return
	}
	x, found := readObject[*stream](s, args[1])
	if !found {
		return
	}
	var last streamID
	if x != nil {
		last = x.last
	}
	switch id, ok = chooseID(id, last, auto, autoSeq); {
	case last == lastStreamID:
		s.fail("ERR The stream has exhausted the last possible ID, unable to add more items")
		return
	case !ok:
		s.fail("ERR The ID specified in XADD is equal or smaller than the target stream top item")
		return
	}
	x, _ = objectOf(s, args[1], func() *stream { return &stream{} })
	var text [48]byte
	name := id.append(text[:0])
	s.appendEntry(x, id, name, args[3:])
	logged := append([][]byte{args[1], name}, args[3:]...)
	s.logOp(opXAdd, logged...)
	s.bulk(name)
}

func (s *Server) appendEntry(x *stream, id streamID, name []byte, fields [][]byte) {
	body := protocol.AppendCommandBytes(nil, fields...)
	r := s.store.mem.alloc(recordHead + len(name) + len(body))
	fillRecord(s.store.mem.at(r), name, body, false)
	x.entries = append(x.entries, r)
	x.last = id
}

// chooseID completes an id and refuses one that is not above the last.
func chooseID(id, last streamID, auto, autoSeq bool) (streamID, bool) {
	switch {
	case auto:
		now := streamID{uint64(time.Now().UnixMilli()), 0}
		if last.less(now) {
			return now, true
		}
		return last.next()
	case autoSeq && id.ms == last.ms:
		n, ok := last.next()
		return n, ok && n.ms == id.ms
	case autoSeq:
		if id.ms == 0 {
			id.seq = 1
		}
		return id, last.less(id)
	}
	return id, last.less(id)
}

// parseStreamID reads "*", "ms", "ms-seq" or "ms-*".
func parseStreamID(b []byte) (id streamID, auto, autoSeq, ok bool) {
	if string(b) == "*" {
		return id, true, false, true
	}
	msText, seqText, cut := bytes.Cut(b, []byte("-"))
	var err error
	if id.ms, err = strconv.ParseUint(string(msText), 10, 64); err != nil {
		return id, false, false, false
	}
	if !cut {
		return id, false, false, true
	}
	if string(seqText) == "*" {
		return id, false, true, true
	}
	id.seq, err = strconv.ParseUint(string(seqText), 10, 64)
	return id, false, false, err == nil
}

func (s *Server) xlen(c *client, args [][]byte) {
	x, ok := readObject[*stream](s, args[1])
	switch {
	case !ok:
	case x == nil:
		s.int(0)
	default:
		s.int(int64(len(x.entries)))
	}
}
