package kvstore

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// fs.go is all that the operation log asks of a file system: small enough that a test can put one in its place that loses
// what was not synced, tears writes, and fails when told to.

// logFS is the folder of a log. Names are relative to it.
type logFS interface {
	// Open opens a file for reading and writing and creates it if need be.
	Open(name string) (logFile, error)
	// Rename replaces newName by oldName. It is lasting only after SyncDir.
	Rename(oldName, newName string) error
	// Remove deletes a file; it is no error when there is none.
	Remove(name string) error
	// SyncDir makes creations, renames and removals last.
	SyncDir() error
}

// logFile is one open file. Sync may be called while others write.
type logFile interface {
	io.ReaderAt
	io.WriterAt
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
	Close() error
}

// osFS is the folder of the real file system.
type osFS string

func (dir osFS) path(name string) string { return filepath.Join(string(dir), name) }

func (dir osFS) Open(name string) (logFile, error) {
	f, err := os.OpenFile(dir.path(name), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (dir osFS) Rename(oldName, newName string) error {
	return os.Rename(dir.path(oldName), dir.path(newName))
}

func (dir osFS) Remove(name string) error {
	if err := os.Remove(dir.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (dir osFS) SyncDir() error {
	d, err := os.Open(string(dir))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Sync writes the data, and of the metadata what is needed to read it.
func (f osFile) Sync() error { return syncData(f.File) }

// dirLock is what keeps other processes out of a folder: a lock on a file that shows in it, and one on the folder
// itself, for the case that somebody deletes the file.
type dirLock struct{ file, dir *os.File }

// lockDir takes the folder for this process until the lock is closed or the process ends.
func lockDir(dir string) (*dirLock, error) {
	file, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	l := &dirLock{file: file}
	err = lock(file)
	if err == nil {
		err = l.lockFolder(dir)
	}
	if err != nil {
		l.Close()
	}
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.New("another process uses the folder " + dir + " (lock file " + lockName + ")")
	}
	return l, err
}

// lockFolder fails when another process has the lock. On a file system that locks files only, the file has to do.
func (l *dirLock) lockFolder(dir string) (err error) {
	if l.dir, err = os.Open(dir); err != nil {
		return err
	}
	if err = lock(l.dir); errors.Is(err, unix.EWOULDBLOCK) {
		return err
	}
	return nil
}

func lock(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB))
}

func (l *dirLock) Close() {
	l.file.Close()
	if l.dir != nil {
		l.dir.Close()
	}
}
