package kvstore

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// replay.go reads a log from the start and decides what to make of a place where no record can be read:
//
//   - nothing but zeros from there on: the orderly end of a file filled up in advance;
//   - a mark anywhere says that the place had been synced, or whole records follow it: damage, no crash does that;
//   - otherwise the torn end that a crash leaves; it is cut off.

// logEnd is what a replay found.
type logEnd struct {
	good    int64 // offset behind the last good record
	size    int64 // of the file
	records int64 // applied, without marks
	synced  int64 // the highest mark
	sealed  bool  // the last record is a mark that speaks for all in front of it: the log was ended in order
	torn    bool  // bytes behind good that are not zeros, and that a crash may have left
	damaged bool  // bytes behind good that no crash leaves so
}

const replayChunk = 1 << 20

// logReader reads records one after the other.
type logReader struct {
	file logFile
	size int64
	off  int64  // file offset of buf[0]
	buf  []byte // bytes read and not used yet
	room []byte // what buf lies in
}

// fill makes at least n bytes available, or all that are left.
func (r *logReader) fill(n int) error {
	if len(r.buf) >= n {
		return nil
	}
	if cap(r.room) < n {
		r.room = make([]byte, max(n+n/4, replayChunk))
	}
	k := copy(r.room[:cap(r.room)], r.buf)
	want := min(int64(cap(r.room)-k), r.size-r.off-int64(k))
	got, err := r.file.ReadAt(r.room[k:k+int(want)], r.off+int64(k))
	r.buf = r.room[:k+got]
	if err == io.EOF {
		err = nil
	}
	return err
}

// next gives the payload of the record at the reader's place, nil when there is no good one. It does not move on.
func (r *logReader) next() (payload []byte, err error) {
	if err := r.fill(recordRoom); err != nil || len(r.buf) < recordRoom {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(r.buf))
	if n == 0 || n > maxPayload || r.off+recordRoom+n > r.size {
		return nil, nil
	}
	if err := r.fill(int(recordRoom + n)); err != nil || int64(len(r.buf)) < recordRoom+n {
		return nil, err
	}
	rec := r.buf[:recordRoom+n]
	if recordSum(rec) != binary.LittleEndian.Uint32(rec[4:]) {
		return nil, nil
	}
	return rec[recordRoom:], nil
}

// skip moves on by n bytes that are in buf.
func (r *logReader) skip(n int) {
	r.buf = r.buf[n:]
	r.off += int64(n)
}

// progressEvery is how many bytes lie between two reports of progress.
const progressEvery = 1 << 20

// replay applies every record up to the end or the first bad one. progress is called now and then with the offset; its error
// ends the replay.
func replay(file logFile, apply func(op, [][]byte) error, progress func(off, size int64) error) (end logEnd, err error) {
	size, err := file.Size()
	if err != nil {
		return end, err
	}
	r := &logReader{file: file, size: size}
	end.size = size
	if err := r.fill(len(logMagic)); err != nil {
		return end, err
	}
	if head := r.buf[:min(len(r.buf), len(logMagic))]; string(head) != logMagic {
		return end, badHead(head, r, &end)
	}
	r.skip(len(logMagic))
	var args [][]byte
	for report := int64(progressEvery); ; {
		if r.off >= report {
			report = r.off + progressEvery
			if err := progress(r.off, size); err != nil {
				return end, err
			}
		}
		payload, err := r.next()
		if err != nil {
			return end, err
		}
		if payload == nil {
			break
		}
		var code op
		if code, args, err = parsePayload(payload, args[:0]); err == nil && code != opMark {
			end.records++
			err = apply(code, args)
		}
		if err != nil {
			return end, fmt.Errorf("offset %d: %w", r.off, err)
		}
		end.sealed = false
		if code == opMark {
			mark := binary.LittleEndian.Uint64(args[0])
			end.synced = max(end.synced, int64(min(mark, math.MaxInt64)))
			end.sealed = mark == uint64(r.off)
		}
		r.skip(recordRoom + len(payload))
	}
	return end, judge(r, &end)
}

// badHead tells a new or torn file from one that is no log at all.
func badHead(head []byte, r *logReader, end *logEnd) error {
	for i, c := range head {
		if c != logMagic[i] && c != 0 {
			return fmt.Errorf("offset %d: not an operation log: it does not begin with %q", i, logMagic)
		}
	}
	return judge(r, end)
}

// judge looks at what follows the last good record: every mark in it counts, and a whole record behind a bad place is a sign
// of damage, unless a sector lies between that is zeros to its end, as a crash leaves when it wrote the later sectors first.
func judge(r *logReader, end *logEnd) error {
	const sector = 512
	zeros, hole, first := 0, false, true // zeros: bytes of 0 up to here
	end.good = r.off
	for r.off < r.size {
		if err := r.fill(recordRoom); err != nil {
			return err
		}
		payload, err := r.probe()
		switch {
		case err != nil:
			return err
		case payload == nil:
			if r.buf[0] == 0 {
				zeros++
			} else {
				zeros, end.torn = 0, true
			}
			r.skip(1)
			hole = hole || r.off%sector == 0 && int64(zeros) >= min(sector, r.off-end.good)
			continue
		case op(payload[0]) == opMark && len(payload) == 9:
			end.synced = max(end.synced, int64(min(binary.LittleEndian.Uint64(payload[1:]), math.MaxInt64)))
		}
		end.torn = true
		end.damaged = end.damaged || first && !hole
		first, zeros = false, 0
		r.skip(recordRoom + len(payload))
	}
	end.damaged = end.damaged || end.synced > end.good
	end.torn = end.torn && !end.damaged
	return nil
}

// probeLimit bounds the length of a record that is looked for at every offset, so that chance lengths cost little.
const probeLimit = 64 << 10

func (r *logReader) probe() ([]byte, error) {
	if len(r.buf) < recordRoom {
		return nil, nil
	}
	if n := binary.LittleEndian.Uint32(r.buf); n == 0 || n > probeLimit {
		return nil, nil
	}
	return r.next()
}
