package kvstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// oplog.go carries records from the event loop to the disk.
//
// The loop appends records to its own buffers and hands them over after each batch of commands. A committer goroutine
// writes what was handed over: with fsync always it syncs at once (or the loop does, where that is quick), and all clients
// whose commands were in the same turn of the loop share that sync; otherwise it gathers for gatherTime first, and a syncing goroutine follows every second.
//
// A rewrite under way gives its room back to a log that has none left. After a failed write or sync nothing more is written and
// writes are refused. Records that were handed over stay in memory. A rewrite that succeeds puts all that is in memory on the
// disk and ends the failure.

const (
	gatherTime = 10 * time.Millisecond
	syncEvery  = 900 * time.Millisecond // with gatherTime and a write, less than a second
	// quickSync is how long a sync may take on average to be done by the event loop itself.
	quickSync = 500 * time.Microsecond
	// maxBacklog is how many bytes of records may wait for the disk before the event loop waits as well.
	maxBacklog = 64 << 20
)

type oplog struct {
	fsync   string
	journal *journal
	log     zerolog.Logger
	wake    func() // called from the committer when commits, failure or rewrite have news for the event loop

	// event loop
	tail     []byte // records not handed over
	nextTail []byte // the same and a snapshot, for the rewritten log
	doubling bool   // a rewrite is under way
	seq      uint64 // bytes of tail ever appended

	mu        sync.Mutex
	work      sync.Cond // for the committer
	room      sync.Cond // for the event loop
	queue     []byte    // handed over
	next      []byte    // handed over for the rewritten log
	handed    uint64    // seq when queue was handed over
	commit    bool      // fsync always: the turn of the loop is over
	dumped    bool      // the snapshot is complete: switch after this batch
	begin     bool      // a rewrite is to be begun
	syncAsked bool      // the event loop waits for a sync
	closing   bool

	rewriteErr error // why the last rewrite was given up

	committed atomic.Uint64 // seq that is as safe as fsync says
	failed    atomic.Pointer[error]
	rewritten atomic.Int32 // state of the rewrite, set by the committer
	turning   sync.Mutex   // held while a batch is processed
	syncing   sync.Mutex   // held while a sync runs
	syncTime  atomic.Int64 // moving average of a sync with fsync always, in ns
	size      atomic.Int64 // of the log's records
	stuck     []byte       // committer: records of acknowledged changes that could not be written
	goroutine sync.WaitGroup
	stop      chan struct{} // ends the syncing goroutine
	period    time.Duration // syncEvery, shorter in tests
}

// States of a rewrite as the committer sees it.
const (
	rewriteNone = iota
	rewriteGoing
	rewriteDone
	rewriteFailed
)

func newOplog(fsync string, j *journal, log zerolog.Logger) *oplog {
	l := &oplog{fsync: fsync, journal: j, log: log, stop: make(chan struct{}), period: syncEvery, wake: func() {}}
	l.work.L, l.room.L = &l.mu, &l.mu
	l.size.Store(j.off)
	if fsync == FsyncAlways {
		j.ahead = fillAhead
	}
	return l
}

// start starts the goroutines.
func (l *oplog) start() {
	l.goroutine.Add(1)
	go func() {
		defer l.goroutine.Done()
		for l.turn() {
		}
	}()
	if l.fsync == FsyncEverySec {
		l.goroutine.Add(1)
		go func() {
			defer l.goroutine.Done()
			l.syncNowAndThen()
		}()
	}
}

// add appends the record of a change. Event loop.
func (l *oplog) add(code op, args ...[]byte) {
	start := len(l.tail)
	l.tail = appendRecord(l.tail, code, args...)
	l.seq += uint64(len(l.tail) - start)
}

// hand passes the records on. It waits while the disk is too far behind. Event loop.
func (l *oplog) hand() {
	if len(l.tail) == 0 && len(l.nextTail) == 0 {
		return
	}
	l.mu.Lock()
	idle := len(l.queue) == 0 && len(l.next) == 0
	l.queue, l.tail = pass(l.queue, l.tail)
	l.next, l.nextTail = pass(l.next, l.nextTail)
	l.handed = l.seq
	if idle && l.fsync != FsyncAlways {
		l.work.Signal()
	}
	for len(l.queue) > maxBacklog && l.failed.Load() == nil {
		l.commit = true
		l.work.Signal()
		l.room.Wait()
	}
	l.mu.Unlock()
}

// pass moves the bytes of from behind those of to, or swaps the buffers when that is enough.
func pass(to, from []byte) (newTo, newFrom []byte) {
	if len(to) == 0 {
		return from, to
	}
	return append(to, from...), from[:0]
}

// endTurn tells the committer that this turn of the loop is over. Event loop.
func (l *oplog) endTurn() {
	l.mu.Lock()
	l.commit = true
	l.work.Signal()
	l.mu.Unlock()
}

// backlog is how many bytes have been handed over and not taken.
func (l *oplog) backlog() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}

// failure gives the error that stopped the log, nil while it runs.
func (l *oplog) failure() error {
	if err := l.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// batch is what the committer takes at a time.
type batch struct {
	queue, next []byte
	seq         uint64
	begin, last bool
	sync        bool
	closing     bool
}

// turn waits for work and does it; false ends the committer.
func (l *oplog) turn() bool {
	l.mu.Lock()
	for !l.ready() {
		l.work.Wait()
	}
	l.mu.Unlock()
	if l.gathers() {
		time.Sleep(gatherTime)
	}
	l.turning.Lock()
	b := l.take()
	l.process(&b)
	l.turning.Unlock()
	if l.fsync == FsyncAlways || l.rewritten.Load() != rewriteNone || l.failure() != nil {
		l.wake()
	}
	return !b.closing
}

// commitHere commits on the event loop's own thread and reports whether it did. Where a sync is quick, handing it to
// another thread and being woken again would cost as much as the sync; where it is slow, the loop has better things to do.
func (l *oplog) commitHere() bool {
	if l.syncTime.Load() > int64(quickSync) || !l.turning.TryLock() {
		return false
	}
	defer l.turning.Unlock()
	l.mu.Lock()
	more := l.begin || l.dumped || l.closing
	l.mu.Unlock()
	if more {
		return false // a rewrite has long steps
	}
	b := l.take()
	l.process(&b)
	return true
}

// process writes one batch.
func (l *oplog) process(b *batch) {
	if b.begin {
		l.beginRewrite()
	}
	l.save(b)
	if b.last {
		l.endRewrite()
	}
	const keepCap = 4 << 20
	l.mu.Lock()
	if cap(b.queue) <= keepCap && cap(l.queue) == 0 {
		l.queue = b.queue[:0]
	}
	if b.sync {
		l.syncAsked = false
	}
	l.room.Broadcast()
	l.mu.Unlock()
}

// gathers tells that the committer may let more records come.
func (l *oplog) gathers() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fsync != FsyncAlways && !l.closing && !l.dumped && !l.begin && !l.syncAsked && len(l.queue)+len(l.next) < maxBacklog/64
}

// take takes what was handed over.
func (l *oplog) take() batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := batch{queue: l.queue, next: l.next, seq: l.handed, begin: l.begin, last: l.dumped, sync: l.syncAsked, closing: l.closing}
	l.queue, l.next = nil, nil
	l.commit, l.begin, l.dumped = false, false, false
	return b
}

func (l *oplog) ready() bool {
	if l.closing || l.begin || l.dumped || l.syncAsked {
		return true
	}
	if l.fsync == FsyncAlways {
		return l.commit
	}
	return len(l.queue) > 0 || len(l.next) > 0
}

// save writes a batch, and with fsync always syncs it.
func (l *oplog) save(b *batch) {
	switch state := l.rewritten.Load(); {
	case state == rewriteDone && len(b.next) > 0:
		b.queue, b.next = b.next, nil // the loop has not heard yet that the rewritten log is the log
	case state == rewriteGoing && len(b.next) > 0:
		if err := l.journal.writeRewrite(b.next); err != nil {
			l.giveUpRewrite(err)
		}
	}
	if l.failure() != nil {
		l.keep(b.queue)
		return
	}
	err := l.write(b.queue)
	if noRoom(err) && l.rewritten.Load() == rewriteGoing {
		l.giveUpRewrite(err) // it has taken the room, and can be begun again
		err = l.write(b.queue)
	}
	if err != nil && l.fsync != FsyncAlways {
		l.keep(l.writeMost(b.queue))
	} else if err == nil && (l.fsync == FsyncAlways || b.sync) {
		err = l.syncFile()
	}
	if err != nil {
		l.fail(err)
		return
	}
	l.committed.Store(b.seq)
	l.size.Store(l.journal.off)
}

// noRoom tells that the disk, or what its owner may have of it, is full.
func noRoom(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

func (l *oplog) syncFile() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	start := time.Now()
	err := l.journal.sync()
	l.syncTime.Store((3*l.syncTime.Load() + int64(time.Since(start))) / 4)
	return err
}

// keep remembers records that could not be written although their changes have been acknowledged: close tries again.
func (l *oplog) keep(records []byte) {
	if l.fsync != FsyncAlways {
		l.stuck = append(l.stuck, records...)
	}
}

// writeMost writes as many of the records as there is room for, after they could not all be written, and returns the rest. Their
// changes have been acknowledged.
func (l *oplog) writeMost(records []byte) (rest []byte) {
	rest = records
	for most := len(rest) / 2; most > 0; most /= 2 {
		part := wholeRecords(rest, most)
		if len(part) > 0 && l.journal.write(part) == nil {
			rest = rest[len(part):]
		}
	}
	if err := l.syncFile(); err != nil {
		l.log.Error().Err(err).Msg("operation log")
	}
	l.size.Store(l.journal.off)
	return rest
}

func (l *oplog) write(records []byte) error {
	if len(records) == 0 {
		return nil
	}
	return l.journal.write(records)
}

func (l *oplog) fail(err error) {
	l.log.Error().Err(err).Msg("operation log: writes are refused from now on")
	l.failed.Store(&err)
}

// syncNowAndThen syncs every period what has been written meanwhile.
func (l *oplog) syncNowAndThen() {
	ticker := time.NewTicker(l.period)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		l.syncing.Lock()
		if l.journal.written.Load() > l.journal.synced.Load() && l.failure() == nil {
			if err := l.journal.sync(); err != nil {
				l.fail(err)
				l.wake()
			}
		}
		l.syncing.Unlock()
	}
}

// syncNow writes and syncs what has been added and waits for that. Event loop.
func (l *oplog) syncNow() error {
	l.hand()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncAsked, l.commit = true, true
	l.work.Signal()
	for l.syncAsked {
		l.room.Wait()
	}
	return l.failure()
}

// close writes and syncs what was handed over and ends the goroutines.
func (l *oplog) close() error {
	l.hand()
	l.mu.Lock()
	l.closing = true
	l.work.Signal()
	l.mu.Unlock()
	close(l.stop)
	l.goroutine.Wait()
	if len(l.stuck) > 0 && l.write(l.stuck) == nil {
		l.stuck = nil
	}
	err := l.journal.close()
	if failed := l.failure(); failed != nil {
		err = failed // it has most likely caused the other one, too
	}
	if err != nil {
		return fmt.Errorf("operation log: %w", err)
	}
	return nil
}
