package kvstore

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
)

// dict.go maps keys to values: an index over records in allocator memory. A record is an 8-byte header, the key, the value:
//
//	bytes 0-3   length of the key
//	bytes 4-7   length of the value, and in the top bit whether the value is the number of an object
//
// An overwrite happens in place when the block is large enough and not much too large.

const (
	recordHead = 8
	objectBit  = 1 << 31
)

type dict struct {
	index
	mem    memory
	seed   maphash.Seed
	hashOf func(ref) uint64
	onMove func(old, now ref) // may be nil; both records are there when it is called
}

func newDict(mem memory, seed maphash.Seed) *dict {
	d := &dict{index: newIndex(mem.segment), mem: mem, seed: seed}
	d.hashOf = func(r ref) uint64 { return d.hash(recordKey(mem.at(r))) }
	return d
}

func (d *dict) hash(key []byte) uint64 { return maphash.Bytes(d.seed, key) }

func recordKey(rec []byte) []byte {
	n := binary.LittleEndian.Uint32(rec)
	return rec[recordHead : recordHead+n : recordHead+n]
}

// recordValue gives the value of a record, and whether it is the number of an object.
func recordValue(rec []byte) (value []byte, object bool) {
	from := recordHead + binary.LittleEndian.Uint32(rec)
	n := binary.LittleEndian.Uint32(rec[4:])
	to := from + n&^objectBit
	return rec[from:to:to], n&objectBit != 0
}

func fillRecord(rec, key, value []byte, object bool) {
	n := uint32(len(value))
	if object {
		n |= objectBit
	}
	binary.LittleEndian.PutUint32(rec, uint32(len(key)))
	binary.LittleEndian.PutUint32(rec[4:], n)
	copy(rec[recordHead:], key)
	copy(rec[recordHead+len(key):], value)
}

// find gives the slot of a key and its position in the segment; nil when the key is absent.
func (d *dict) find(h uint64, key []byte) (slot *uint64, i int) {
	seg := d.segmentOf(h)
	frag := fragment(h)
	i = int(h & (segmentSlots - 1))
	for {
		s := &seg.slots[i]
		if *s == 0 {
			return nil, 0
		}
		if *s>>refBits == frag && *s != deleted {
			if bytes.Equal(recordKey(d.mem.at(ref(*s&refMask))), key) {
				return s, i
			}
		}
		i = (i + 1) & (segmentSlots - 1)
	}
}

// get gives the record of a key, nil when it is absent. Valid until the next change.
func (d *dict) get(key []byte) []byte { return d.getHash(d.hash(key), key) }

// getHash is get for a key whose hash is known.
func (d *dict) getHash(h uint64, key []byte) []byte {
	slot, _ := d.find(h, key)
	if slot == nil {
		return nil
	}
	return d.mem.at(ref(*slot & refMask))
}

func (d *dict) has(key []byte) bool {
	slot, _ := d.find(d.hash(key), key)
	return slot != nil
}

// put sets the value of a key, whether it is there or not.
func (d *dict) put(key, value []byte, object bool) { d.putHash(d.hash(key), key, value, object) }

// putHash is put for a key whose hash is known.
func (d *dict) putHash(h uint64, key, value []byte, object bool) {
	if slot, _ := d.find(h, key); slot != nil {
		d.overwrite(slot, key, value, object)
		return
	}
	d.insert(h, d.record(key, value, object), d.hashOf)
}

// add inserts a key with hash h that is absent and returns its record's ref; it returns 0 when the key is there.
func (d *dict) add(h uint64, key, value []byte) ref {
	if slot, _ := d.find(h, key); slot != nil {
		return 0
	}
	r := d.record(key, value, false)
	d.insert(h, r, d.hashOf)
	return r
}

func (d *dict) record(key, value []byte, object bool) ref {
	r := d.mem.alloc(recordHead + len(key) + len(value))
	fillRecord(d.mem.at(r), key, value, object)
	return r
}

// overwrite replaces the value of the record in slot. value may lie in the record itself.
func (d *dict) overwrite(slot *uint64, key, value []byte, object bool) {
	old := ref(*slot & refMask)
	need, have := recordHead+len(key)+len(value), d.mem.size(old)
	if need <= have && (have <= 64 || need > have/2) {
		rec := d.mem.at(old)
		n := uint32(len(value))
		if object {
			n |= objectBit
		}
		binary.LittleEndian.PutUint32(rec[4:], n)
		copy(rec[recordHead+len(key):], value)
		return
	}
	now := d.record(key, value, object)
	*slot = *slot&^refMask | uint64(now)
	if d.onMove != nil {
		d.onMove(old, now)
	}
	d.mem.free(old)
}

// delete removes a key and reports whether it was there.
func (d *dict) delete(key []byte) bool {
	h := d.hash(key)
	slot, i := d.find(h, key)
	if slot == nil {
		return false
	}
	d.mem.free(ref(*slot & refMask))
	d.remove(h, slot, i)
	return true
}

// extend appends to the value of a key that is there and returns the new length. A block that has to move is taken a
// half larger than needed, so that many small appends cost what one large one does.
func (d *dict) extend(key, more []byte) int {
	h := d.hash(key)
	slot, _ := d.find(h, key)
	old := ref(*slot & refMask)
	rec := d.mem.at(old)
	value, _ := recordValue(rec)
	n := len(value) + len(more)
	if need := recordHead + len(key) + n; need > d.mem.size(old) {
		now := d.mem.alloc(need + need/2)
		moved := d.mem.at(now)
		fillRecord(moved, key, value, false)
		*slot = *slot&^refMask | uint64(now)
		d.mem.free(old)
		rec = moved
	}
	binary.LittleEndian.PutUint32(rec[4:], uint32(n))
	copy(rec[recordHead+len(key)+n-len(more):], more)
	return n
}
