package kvstore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/tidwall/btree"
)

// tree.go is the ordered engine: a dict that finds a key in one step, and a B-tree of blocks, each with the keys of a range
// of its own. Reading and changing a value goes through the dict alone; the blocks are touched when a key comes, goes, or
// its record moves.
//
// A new key is only appended to its block. A block is put in order when it is read in order, and halved when it is full:
// a load that never asks for the order hardly pays for it, and no step costs more than a block, but for the one below.
//
// Comparing keys through their records would cost a cache miss each. So an item carries the eight bytes of its key that
// follow the prefix common to all keys; they nearly always decide. When a new key shortens the common prefix, the words are
// made anew; that happens at most once for each byte of the first key.

// blockItems is the most items of a block: 32 KiB, the unit of every step. The ends of all blocks, which inserting touches,
// should fit into a processor's own cache: with a quarter of this RSET had 0.64 of the rate at a million keys and P=128.
const (
	blockItems = 2048
	blockBytes = blockItems * int(unsafe.Sizeof(treeItem{}))
)

type tree struct {
	*dict
	order  *btree.BTreeG[leaf]
	prefix []byte          // common to all keys
	pivot  block           // what a search compares with
	found  leaf            // what it found
	catch  func(leaf) bool // sets found; made once, so that a search allocates nothing
	spare  []treeItem      // to merge in
}

// leaf is a block and the word of its least key.
type leaf struct {
	word uint64
	*block
}

// block has the keys from least to that of the next block.
type block struct {
	least  []byte     // a copy: the record of that key may go
	room   ref        // of the items: the allocator's memory, like that of the records
	items  []treeItem // of capacity blockItems
	sorted int        // that many items at the start are in order
}

type treeItem struct {
	word uint64 // the eight bytes behind the prefix, big endian, padded with zeros
	ref  ref
}

func newTree(d *dict) *tree {
	t := &tree{dict: d}
	t.catch = func(s leaf) bool {
		t.found = s
		return false
	}
	t.order = newOrder()
	t.order.Set(leaf{0, t.newBlock(nil)})
	d.onMove = func(old, now ref) {
		b := t.search(recordKey(d.mem.at(now))).block
		b.items[b.position(old)].ref = now
	}
	return t
}

func (t *tree) newBlock(least []byte) *block {
	room := t.mem.alloc(blockBytes)
	items := unsafe.Slice((*treeItem)(unsafe.Pointer(unsafe.SliceData(t.mem.at(room)))), blockItems)
	return &block{least: bytes.Clone(least), room: room, items: items[:0]}
}

func newOrder() *btree.BTreeG[leaf] {
	less := func(a, b leaf) bool {
		return a.word < b.word || a.word == b.word && bytes.Compare(a.least, b.least) < 0
	}
	return btree.NewBTreeGOptions(less, btree.Options{NoLocks: true})
}

// word gives the eight bytes behind the common prefix of a key that begins with it.
func (t *tree) word(key []byte) uint64 {
	rest := key[len(t.prefix):]
	if len(rest) >= 8 {
		return binary.BigEndian.Uint64(rest)
	}
	var b [8]byte
	copy(b[:], rest)
	return binary.BigEndian.Uint64(b[:])
}

// search gives the block of a key that begins with the common prefix.
func (t *tree) search(key []byte) leaf {
	t.pivot.least = key
	t.order.Descend(leaf{t.word(key), &t.pivot}, t.catch)
	return t.found
}

func (b *block) position(r ref) int {
	return slices.IndexFunc(b.items, func(i treeItem) bool { return i.ref == r })
}

func (t *tree) keyOf(i treeItem) []byte { return recordKey(t.mem.at(i.ref)) }

func (t *tree) compare(a, b treeItem) int {
	if a.word != b.word {
		return cmp.Compare(a.word, b.word)
	}
	return bytes.Compare(t.keyOf(a), t.keyOf(b))
}

func (t *tree) compareKey(a treeItem, key []byte) int {
	if word := t.word(key); a.word != word {
		return cmp.Compare(a.word, word)
	}
	return bytes.Compare(t.keyOf(a), key)
}

// insert adds a key and reports whether it was absent.
func (t *tree) insert(key, value []byte) bool { return t.insertHash(t.hash(key), key, value) }

// insertHash is insert for a key whose hash is known.
func (t *tree) insertHash(h uint64, key, value []byte) bool {
	r := t.add(h, key, value)
	if r == 0 {
		return false
	}
	t.shorten(key)
	b := t.search(key).block
	b.items = append(b.items, treeItem{t.word(key), r})
	if len(b.items) == blockItems {
		t.halve(b)
	}
	return true
}

// shorten makes the prefix one of key as well. The prefix of an only key is the whole key.
func (t *tree) shorten(key []byte) {
	if t.count == 1 {
		t.prefix = bytes.Clone(key)
		return
	}
	if bytes.HasPrefix(key, t.prefix) {
		return
	}
	n := 0
	for n < len(key) && key[n] == t.prefix[n] {
		n++
	}
	t.prefix = t.prefix[:n]
	old := t.order
	t.order = newOrder()
	old.Scan(func(s leaf) bool {
		for i := range s.items {
			s.items[i].word = t.word(t.keyOf(s.items[i]))
		}
		if s.least != nil {
			s.word = t.word(s.least)
		}
		t.order.Load(s)
		return true
	})
}

// halve moves about the upper half of a full block to a new one.
func (t *tree) halve(b *block) {
	var sample [15]treeItem
	for i := range sample {
		sample[i] = b.items[i*len(b.items)/len(sample)]
	}
	slices.SortFunc(sample[:], t.compare)
	middle := sample[len(sample)/2]
	upper := t.newBlock(t.keyOf(middle))
	lower := b.items[:0]
	sorted := 0
	for i, item := range b.items {
		if t.compare(item, middle) < 0 {
			lower = append(lower, item)
		} else {
			upper.items = append(upper.items, item)
		}
		if i+1 == b.sorted {
			sorted, upper.sorted = len(lower), len(upper.items)
		}
	}
	b.items, b.sorted = lower, sorted
	t.order.Set(leaf{middle.word, upper})
}

// sort puts the items of a block in order.
func (t *tree) sort(b *block) {
	if b.sorted == len(b.items) {
		return
	}
	t.spare = append(t.spare[:0], b.items[b.sorted:]...)
	slices.SortFunc(t.spare, t.compare)
	from, to := b.sorted, len(b.items)
	for late := t.spare; len(late) > 0; {
		to--
		last := late[len(late)-1]
		if from > 0 && t.compare(b.items[from-1], last) > 0 {
			from--
			b.items[to] = b.items[from]
			continue
		}
		b.items[to] = last
		late = late[:len(late)-1]
	}
	b.sorted = len(b.items)
}

func (t *tree) delete(key []byte) bool {
	h := t.hash(key)
	slot, _ := t.find(h, key)
	if slot == nil {
		return false
	}
	s := t.search(key)
	b := s.block
	i := b.position(ref(*slot & refMask))
	b.items = slices.Delete(b.items, i, i+1)
	if i < b.sorted {
		b.sorted--
	}
	switch n := len(b.items); {
	case n == 0 && b.least != nil:
		t.remove(s)
	case n <= blockItems/8 && n%8 == 0:
		t.unite(s)
	}
	return t.dict.delete(key)
}

// unite takes the items of the next block in, when both together are few.
func (t *tree) unite(s leaf) {
	var next leaf
	t.order.Ascend(s, func(l leaf) bool {
		next = l
		return l.block == s.block
	})
	if next.block == s.block || len(s.items)+len(next.items) > blockItems/2 {
		return
	}
	s.items = append(s.items, next.items...)
	t.remove(next)
}

func (t *tree) remove(s leaf) {
	t.order.Delete(s)
	t.mem.free(s.room)
}

// ascend calls f for the records with keys ≥ from in ascending order until it returns false.
func (t *tree) ascend(from []byte, f func(rec []byte) bool) {
	if !bytes.HasPrefix(from, t.prefix) {
		if bytes.Compare(from, t.prefix) > 0 {
			return
		}
		from = t.prefix
	}
	t.order.Ascend(t.search(from), func(s leaf) bool {
		t.sort(s.block)
		i, _ := slices.BinarySearchFunc(s.items, from, t.compareKey)
		for _, item := range s.items[i:] {
			if !f(t.mem.at(item.ref)) {
				return false
			}
		}
		return true
	})
}
