package kvstore

import (
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"syscall"
)

// crashFS is a folder in memory that can lose power. What a crash leaves of a file is its state at the last Sync, and of what
// was written since, any mixture of sectors; of the names, those of the last SyncDir, and any later ones. It can fail
// a call, run out of space, and hold Sync back.
type crashFS struct {
	mu      sync.Mutex
	rng     *rand.Rand
	names   map[string]*crashFile // as the process sees them
	durable map[string]*crashFile
	epoch   int // files opened before a crash are dead

	calls    int
	failAt   int // the call that fails, 0: none
	failOnce bool
	failWith error
	room     int64         // bytes that may still be written, negative: any number
	gate     chan struct{} // when not nil, Sync waits until it can receive
	dead     bool          // every call fails: the process is gone
}

const crashSector = 512

type crashFile struct {
	fs      *crashFS
	data    []byte // as the process sees it
	durable []byte // at the last sync
	epoch   int
}

var errCrash = errors.New("crashed")

func newCrashFS(seed uint64) *crashFS {
	return &crashFS{rng: rand.New(rand.NewPCG(seed, 0)), names: map[string]*crashFile{}, durable: map[string]*crashFile{}, room: -1}
}

// call counts a call and decides whether it fails.
func (fs *crashFS) call() error {
	fs.calls++
	if fs.dead {
		return errCrash
	}
	if fs.failAt > 0 && (fs.calls == fs.failAt || fs.calls > fs.failAt && !fs.failOnce) {
		return fs.failWith
	}
	return nil
}

func (fs *crashFS) Open(name string) (logFile, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.call(); err != nil {
		return nil, err
	}
	f := fs.names[name]
	if f == nil {
		f = &crashFile{fs: fs, epoch: fs.epoch}
		fs.names[name] = f
	}
	return f, nil
}

func (fs *crashFS) Rename(oldName, newName string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.call(); err != nil {
		return err
	}
	fs.names[newName] = fs.names[oldName]
	delete(fs.names, oldName)
	return nil
}

func (fs *crashFS) Remove(name string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.call(); err != nil {
		return err
	}
	if f := fs.names[name]; f != nil && fs.room >= 0 {
		fs.room += int64(len(f.data))
	}
	delete(fs.names, name)
	return nil
}

func (fs *crashFS) SyncDir() error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if err := fs.call(); err != nil {
		return err
	}
	fs.durable = map[string]*crashFile{}
	for name, f := range fs.names {
		fs.durable[name] = f
	}
	return nil
}

func (f *crashFile) check() error {
	if err := f.fs.call(); err != nil {
		return err
	}
	if f.epoch != f.fs.epoch {
		return errCrash
	}
	return nil
}

func (f *crashFile) ReadAt(b []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.data[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) WriteAt(b []byte, off int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n, err := len(b), f.check()
	if err != nil {
		if errors.Is(err, errCrash) {
			return 0, err
		}
		n = f.fs.rng.IntN(len(b) + 1) // a short write
	}
	if room := f.fs.room; room >= 0 && err == nil {
		if grows := off + int64(n) - int64(len(f.data)); grows > room {
			n, err = max(0, n-int(grows-room)), syscall.ENOSPC
		}
	}
	if end := off + int64(n); end > int64(len(f.data)) {
		if f.fs.room >= 0 {
			f.fs.room -= end - int64(len(f.data))
		}
		f.data = append(f.data, make([]byte, end-int64(len(f.data)))...)
	}
	copy(f.data[off:], b[:n])
	return n, err
}

func (f *crashFile) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return int64(len(f.data)), nil
}

func (f *crashFile) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(); err != nil {
		return err
	}
	for int64(len(f.data)) < size {
		f.data = append(f.data, 0)
	}
	if f.fs.room >= 0 {
		f.fs.room += int64(len(f.data)) - size
	}
	f.data = f.data[:size:size]
	return nil
}

func (f *crashFile) Sync() error {
	f.fs.mu.Lock()
	gate := f.fs.gate
	f.fs.mu.Unlock()
	if gate != nil {
		<-gate
	}
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.check(); err != nil {
		return err
	}
	f.durable = append([]byte(nil), f.data...)
	return nil
}

func (f *crashFile) Close() error { return nil }

// crash loses power: of every file a mixture of the durable and the present sectors stays.
func (fs *crashFS) crash() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	after := map[string]*crashFile{}
	all := map[string]bool{}
	for name := range fs.names {
		all[name] = true
	}
	for name := range fs.durable {
		all[name] = true
	}
	for name := range all {
		f := fs.durable[name]
		if fs.rng.IntN(2) == 0 {
			f = fs.names[name] // the folder reached the disk by itself
		}
		if f != nil {
			after[name] = f.afterCrash()
		}
	}
	fs.epoch++
	fs.names, fs.durable = map[string]*crashFile{}, map[string]*crashFile{}
	for name, f := range after {
		f.epoch = fs.epoch
		fs.names[name], fs.durable[name] = f, f
	}
	fs.failAt, fs.calls, fs.room, fs.dead, fs.gate = 0, 0, -1, false, nil
}

func (f *crashFile) afterCrash() *crashFile {
	rng := f.fs.rng
	size := len(f.durable)
	switch grown := len(f.data) - size; {
	case grown > 0 && rng.IntN(3) > 0:
		size += rng.IntN(grown + 1)
	case grown < 0 && rng.IntN(2) == 0:
		size += grown
	}
	data := make([]byte, size)
	copy(data, f.durable)
	keep := rng.IntN(4) // how likely a written sector has reached the disk
	for at := 0; at < size; at += crashSector {
		if rng.IntN(4) < keep && at < len(f.data) {
			copy(data[at:min(at+crashSector, size)], f.data[at:])
		}
	}
	return &crashFile{fs: f.fs, data: data, durable: append([]byte(nil), data...)}
}
