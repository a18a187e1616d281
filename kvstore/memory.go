package kvstore

// memory.go is the seam between the engines and the two allocators. An engine never holds a pointer into stored data: it
// holds a ref, a number, and asks the allocator for the bytes. So the tables of ten million keys contain no pointer, and
// the garbage collector has nothing to follow there.

// ref names a block given out by an allocator; 0 is none. refBits bits are used, so that a table slot can keep part of a
// hash in the same word.
type ref uint64

const (
	refBits = 38
	refMask = 1<<refBits - 1
)

// memory gives out blocks. Not safe for concurrent use: the server's event loop owns it.
type memory interface {
	// alloc gives a block of at least n bytes, n ≥ 8. Its contents are undefined.
	alloc(n int) ref
	// at gives the bytes of a block: at least size(r), perhaps more behind them that belong to others.
	at(r ref) []byte
	// size gives the usable bytes of a block.
	size(r ref) int
	// free takes a block back.
	free(r ref)
	// segment gives an empty segment for an index. There is no way to give one back but release.
	segment() *segment
	// release gives everything back to the system or the collector. The memory must not be used afterwards.
	release()
	// stats says what is held.
	stats() memoryStats
}

// memoryStats is what INFO memory shows of an allocator, in bytes.
type memoryStats struct {
	blocks   int64 // blocks in use
	used     int64 // bytes of blocks in use, rounded up to what the allocator gave
	reserved int64 // bytes taken from the system or the Go heap for blocks and segments, in use or not
	mapped   int64 // the part of reserved that lies outside the Go heap
}

func newMemory(allocator string) memory {
	if allocator == Malloc {
		return newGoMemory()
	}
	return newPoolMemory()
}
