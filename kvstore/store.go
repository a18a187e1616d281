package kvstore

import "hash/maphash"

// store.go holds what the server stores: the keys of the three engines, which are separate name spaces as in the
// server that bench.c was written for, and the objects that a plain key may stand for.

type store struct {
	mem     memory
	plain   *dict   // strings, and objects by number
	tree    *tree   // R… commands
	table   *dict   // HSET key value
	objects objects // lists, sets, hashes, sorted sets, streams
}

// newStore makes an empty store whose hashes are made with seed.
func newStore(allocator string, seed maphash.Seed) *store {
	mem := newMemory(allocator)
	return &store{
		mem:   mem,
		plain: newDict(mem, seed),
		tree:  newTree(newDict(mem, seed)),
		table: newDict(mem, seed),
	}
}

// keys counts the keys of all engines.
func (s *store) keys() int { return s.plain.count + s.tree.count + s.table.count }

// objects numbers the objects that records of plain stand for.
type objects struct {
	all    []object
	free   []uint64
	hashes int // how many are hashes
}

func (o *objects) add(x object) uint64 {
	if _, ok := x.(*hash); ok {
		o.hashes++
	}
	if k := len(o.free); k > 0 {
		n := o.free[k-1]
		o.free = o.free[:k-1]
		o.all[n] = x
		return n
	}
	o.all = append(o.all, x)
	return uint64(len(o.all) - 1)
}

func (o *objects) drop(n uint64) {
	if _, ok := o.all[n].(*hash); ok {
		o.hashes--
	}
	o.all[n] = nil
	o.free = append(o.free, n)
}
