package kvstore

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// journal.go writes the log's file: it knows offsets, marks, filling up in advance and the switch to a rewritten file, and
// nothing of time, clients or goroutines. One goroutine writes; another may call sync meanwhile.

// Names in the log's folder.
const (
	logName     = "kvstore.log"
	rewriteName = "kvstore.log.rewrite"
	lockName    = "kvstore.lock"
)

const (
	// fillAhead is how many zeros are written in advance with fsync always: a sync that need not record a new file size
	// costs about half.
	fillAhead = 1 << 20
	// fillBelow is the size of a batch from which that no longer pays.
	fillBelow = 64 << 10
)

type journal struct {
	fs   logFS
	file logFile
	off  int64 // where the next record goes: the end of the records written

	ahead  int64 // bytes to fill up in advance, 0 for none
	filled int64 // end of the file, at least off

	written atomic.Int64 // off for the syncing goroutine
	synced  atomic.Int64 // all below is on the disk
	marked  int64        // the offset in the last mark
	scratch []byte       // a mark and a batch

	next    logFile // the file of a rewrite under way, nil without
	nextOff int64
}

// createJournal begins or continues the log behind the last good record of its file; the rest of the file is cut off.
func createJournal(fs logFS, file logFile, end logEnd) (*journal, error) {
	j := &journal{fs: fs, file: file, off: end.good}
	if end.good < int64(len(logMagic)) {
		if err := file.Truncate(0); err != nil {
			return nil, err
		}
		if _, err := file.WriteAt([]byte(logMagic), 0); err != nil {
			return nil, err
		}
		j.off = int64(len(logMagic))
	} else if err := file.Truncate(end.good); err != nil {
		return nil, err
	}
	if end.sealed {
		j.marked = j.off
	}
	j.filled = j.off
	j.written.Store(j.off)
	if err := j.sync(); err != nil {
		return nil, err
	}
	return j, fs.SyncDir()
}

// write puts records behind the last. After an error the file is cut back to the last good record, as far as that works;
// nothing of the batch counts as written, and the call may be repeated.
func (j *journal) write(records []byte) error {
	synced := j.synced.Load()
	if synced <= j.marked {
		return j.put(records)
	}
	j.scratch = append(appendMark(j.scratch[:0], synced), records...)
	err := j.put(j.scratch)
	if err == nil {
		j.marked = synced
	}
	if cap(j.scratch) > 4<<20 {
		j.scratch = nil
	}
	return err
}

func (j *journal) put(records []byte) error {
	end := j.off + int64(len(records))
	if j.ahead > 0 && end > j.filled && len(records) < fillBelow {
		if _, err := j.file.WriteAt(make([]byte, j.ahead), j.filled); err == nil {
			j.filled += j.ahead
		} else if err := j.file.Truncate(j.filled); err != nil {
			return err
		}
	}
	if _, err := j.file.WriteAt(records, j.off); err != nil {
		if cut := j.file.Truncate(j.off); cut == nil {
			j.filled = j.off
		}
		return err
	}
	j.off = end
	j.filled = max(j.filled, end)
	j.written.Store(end)
	return nil
}

// sync makes all that was written before the call last.
func (j *journal) sync() error {
	upTo := j.written.Load()
	if err := j.file.Sync(); err != nil {
		return err
	}
	if upTo > j.synced.Load() {
		j.synced.Store(upTo)
	}
	return nil
}

// close ends the log in order: all is synced, a mark says so, and the file ends with the mark.
func (j *journal) close() error {
	j.dropRewrite()
	err := j.sync()
	if err == nil && j.synced.Load() > j.marked {
		err = j.write(nil)
	}
	if err == nil && j.filled > j.off {
		err = j.file.Truncate(j.off)
	}
	if err == nil {
		err = j.sync()
	}
	return errors.Join(err, j.file.Close())
}

// beginRewrite makes an empty file for the rewritten log.
func (j *journal) beginRewrite() error {
	if err := j.fs.Remove(rewriteName); err != nil {
		return err
	}
	file, err := j.fs.Open(rewriteName)
	if err != nil {
		return err
	}
	j.next, j.nextOff = file, 0
	return j.writeRewrite([]byte(logMagic))
}

// writeRewrite puts records into the rewritten log.
func (j *journal) writeRewrite(records []byte) error {
	if _, err := j.next.WriteAt(records, j.nextOff); err != nil {
		return err
	}
	j.nextOff += int64(len(records))
	return nil
}

// dropRewrite gives a rewrite up.
func (j *journal) dropRewrite() {
	if j.next == nil {
		return
	}
	j.next.Close()
	j.next = nil
	j.fs.Remove(rewriteName)
}

// errSwitch wraps an error after which it is not known which of the two files is the log. Both hold all that was
// acknowledged so far, but nothing more may be.
var errSwitch = errors.New("the switch to the rewritten log")

// endRewrite replaces the log by the rewritten one. No sync may run meanwhile. Until the folder is synced, a crash finds
// either file, and both hold every record up to now.
func (j *journal) endRewrite() error {
	if err := j.next.Sync(); err != nil {
		j.dropRewrite()
		return err
	}
	if err := j.fs.Rename(rewriteName, logName); err != nil {
		j.dropRewrite()
		return err
	}
	old := j.file
	j.file, j.off, j.filled = j.next, j.nextOff, j.nextOff
	j.next = nil
	j.marked = 0
	j.written.Store(j.off)
	j.synced.Store(j.off)
	old.Close()
	if err := j.fs.SyncDir(); err != nil {
		return fmt.Errorf("%w: %w", errSwitch, err)
	}
	return nil
}
