package kvstore

import (
	"bytes"
	"encoding/binary"

	"github.com/tidwall/btree"
)

// tree.go is the ordered engine: a dict that finds a key in one step, and a B-tree that has the keys in order. Reading and
// changing a key goes through the dict alone; the tree is touched when a key comes, goes, or its record moves.
//
// Comparing keys through their records would cost a cache miss for each of the twenty steps of a search among a million
// keys. So a tree item carries the eight bytes of the key that follow the prefix common to all keys; they nearly always
// decide. When a new key shortens the common prefix, the items are made anew; that happens at most once for each byte
// of the first key.

type tree struct {
	*dict
	order  *btree.BTreeG[treeItem]
	prefix []byte // common to all keys
	pivot  []byte // the key of the item with ref 0, which a search starts from
}

type treeItem struct {
	word uint64 // the eight bytes behind the prefix, big endian, padded with zeros
	ref  ref
}

func newTree(d *dict) *tree {
	t := &tree{dict: d}
	d.onMove = func(_, now ref) { t.order.Set(t.item(recordKey(d.mem.at(now)), now)) }
	t.order = t.newOrder()
	return t
}

func (t *tree) newOrder() *btree.BTreeG[treeItem] {
	return btree.NewBTreeGOptions(t.less, btree.Options{NoLocks: true})
}

func (t *tree) less(a, b treeItem) bool {
	if a.word != b.word {
		return a.word < b.word
	}
	if a.ref == b.ref {
		return false
	}
	return bytes.Compare(t.keyOf(a), t.keyOf(b)) < 0
}

func (t *tree) keyOf(i treeItem) []byte {
	if i.ref == 0 {
		return t.pivot
	}
	return recordKey(t.mem.at(i.ref))
}

// item makes the tree item of a key that begins with the common prefix.
func (t *tree) item(key []byte, r ref) treeItem {
	rest := key[len(t.prefix):]
	if len(rest) >= 8 {
		return treeItem{binary.BigEndian.Uint64(rest), r}
	}
	var b [8]byte
	copy(b[:], rest)
	return treeItem{binary.BigEndian.Uint64(b[:]), r}
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
	t.order.Set(t.item(key, r))
	return true
}

// shorten makes the prefix one of key as well.
func (t *tree) shorten(key []byte) {
	if t.order.Len() == 0 {
		t.prefix = bytes.Clone(key)
		return
	}
	n := 0
	for n < len(t.prefix) && n < len(key) && t.prefix[n] == key[n] {
		n++
	}
	if n == len(t.prefix) {
		return
	}
	t.prefix = t.prefix[:n]
	old := t.order
	t.order = t.newOrder()
	old.Scan(func(i treeItem) bool {
		t.order.Load(t.item(t.keyOf(i), i.ref))
		return true
	})
}

func (t *tree) delete(key []byte) bool {
	h := t.hash(key)
	slot, _ := t.find(h, key)
	if slot == nil {
		return false
	}
	t.order.Delete(t.item(key, ref(*slot&refMask)))
	return t.dict.delete(key)
}

// ascend calls f for the records with keys ≥ from in ascending order until it returns false.
func (t *tree) ascend(from []byte, f func(rec []byte) bool) {
	visit := func(i treeItem) bool { return f(t.mem.at(i.ref)) }
	switch {
	case bytes.HasPrefix(from, t.prefix):
		t.pivot = from
		t.order.Ascend(t.item(from, 0), visit)
	case bytes.Compare(from, t.prefix) < 0:
		t.order.Scan(visit)
	}
}
