package kvstore

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// openlog.go is the start of a server with a log: replay, the decision about a bad end, and the copy of what is cut off.

// ErrStopped says that Options.Stop was closed before the log was replayed.
var ErrStopped = errors.New("stopped in the middle of the replay")

// openLog opens, replays and repairs the log of a folder.
func (s *Server) openLog(fs logFS) error {
	if err := fs.Remove(rewriteName); err != nil {
		return err
	}
	file, err := fs.Open(logName)
	if err != nil {
		return err
	}
	end, err := s.replayLog(file)
	if err == nil {
		err = s.settleEnd(fs, file, &end)
	}
	if err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", logName, err)
	}
	j, err := createJournal(fs, file, end)
	if err != nil {
		file.Close()
		return fmt.Errorf("%s: %w", logName, err)
	}
	s.log = newOplog(s.opts.Fsync, j, s.opts.Log)
	s.rewrite.base = j.off
	return nil
}

func (s *Server) replayLog(file logFile) (logEnd, error) {
	start := time.Now()
	said := start
	end, err := replay(file, s.apply, func(off, size int64) error {
		select {
		case <-s.opts.Stop:
			return ErrStopped
		default:
		}
		if time.Since(said) > time.Second {
			said = time.Now()
			s.opts.Log.Info().Int64("bytes", off).Int64("of", size).Msg("replaying the operation log")
		}
		return nil
	})
	s.args, s.out = s.args[:0], nil
	if err != nil {
		return end, err
	}
	took := time.Since(start)
	s.opts.Log.Info().Int64("records", end.records).Int("keys", s.store.keys()).Dur("ms", took).
		Float64("records_per_second", float64(end.records)/max(took.Seconds(), 1e-9)).Msg("operation log replayed")
	return end, nil
}

// settleEnd decides whether the server may start with what was found, and keeps a copy of what is cut for --repair.
func (s *Server) settleEnd(fs logFS, file logFile, end *logEnd) error {
	switch {
	case end.damaged && !s.opts.Repair:
		return fmt.Errorf("damaged at offset %d of %d: the last good record ends there; --repair cuts the log there and keeps a copy of the rest", end.good, end.size)
	case end.torn && s.opts.Strict:
		return fmt.Errorf("the last record is cut short at offset %d of %d; without --strict it is cut off", end.good, end.size)
	case end.torn && !s.opts.Repair:
		s.opts.Log.Warn().Int64("offset", end.good).Int64("bytes", end.size-end.good).Msg("operation log: torn end of a crash cut off")
	case end.damaged || end.torn:
		name, err := copyRest(fs, file, end)
		if err == nil {
			s.opts.Log.Warn().Int64("offset", end.good).Int64("bytes", end.size-end.good).Str("copy", name).Msg("operation log: cut")
		}
		return err
	}
	return nil
}

// copyRest saves what follows the last good record in a file of its own.
func copyRest(fs logFS, file logFile, end *logEnd) (name string, err error) {
	name, to, err := newCopy(fs, fmt.Sprintf("%s.cut-%d", logName, end.good))
	if err != nil {
		return name, err
	}
	return name, errors.Join(copyTo(to, file, end), to.Close(), fs.SyncDir())
}

// newCopy opens an empty file; the name gets a number when an earlier copy has it.
func newCopy(fs logFS, base string) (name string, to logFile, err error) {
	name = base
	for n := 2; ; n++ {
		if to, err = fs.Open(name); err != nil {
			return name, nil, err
		}
		size, err := to.Size()
		if err == nil && size == 0 {
			return name, to, nil
		}
		to.Close()
		if err != nil {
			return name, nil, err
		}
		name = fmt.Sprintf("%s-%d", base, n)
	}
}

func copyTo(to, file logFile, end *logEnd) error {
	buf := make([]byte, replayChunk)
	for off := end.good; off < end.size; {
		n, err := file.ReadAt(buf[:min(int64(len(buf)), end.size-off)], off)
		if n == 0 {
			return err
		}
		if _, err := to.WriteAt(buf[:n], off-end.good); err != nil {
			return err
		}
		off += int64(n)
	}
	return to.Sync()
}

// checkDir refuses a folder that is not one, before anything is opened.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("--dir: %w", err)
	case !info.IsDir():
		return fmt.Errorf("--dir %s: not a folder", dir)
	}
	return nil
}
