package kvstore

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"
)

func TestPoolClasses(t *testing.T) {
	m := newPoolMemory()
	last := -1
	for n := 1; n <= largestSlot; n++ {
		c := m.class(n)
		if c < last || c >= len(m.classes) {
			t.Fatalf("class(%d) = %d after %d, of %d", n, c, last, len(m.classes))
		}
		last = c
		if size := m.classes[c].size; size < n {
			t.Fatalf("class(%d) has slots of %d bytes", n, size)
		}
		if c > 0 && m.classes[c-1].size >= n {
			t.Fatalf("class(%d) is %d, but %d bytes would do", n, c, m.classes[c-1].size)
		}
	}
}

// Blocks of random sizes, freed in random order, never overlap and are found again.
func TestMemoryBlocksAreDisjoint(t *testing.T) {
	for _, allocator := range []string{Malloc, MyPool} {
		t.Run(allocator, func(t *testing.T) {
			m := newMemory(allocator)
			rng := rand.New(rand.NewPCG(1, 2))
			type block struct {
				r    ref
				fill byte
				n    int
			}
			var blocks []block
			for i := range 20000 {
				if len(blocks) > 0 && rng.IntN(3) == 0 {
					k := rng.IntN(len(blocks))
					b := blocks[k]
					if got := m.at(b.r)[:b.n]; bytes.Count(got, []byte{b.fill}) != b.n {
						t.Fatalf("block of %d bytes was overwritten", b.n)
					}
					m.free(b.r)
					blocks[k] = blocks[len(blocks)-1]
					blocks = blocks[:len(blocks)-1]
					continue
				}
				n := 8 + rng.IntN(1<<rng.IntN(17))
				b := block{m.alloc(n), byte(i), n}
				if m.size(b.r) < n || b.r == 0 || b.r > refMask {
					t.Fatalf("block of %d bytes: ref %x, size %d", n, b.r, m.size(b.r))
				}
				for j := range m.at(b.r)[:n] {
					m.at(b.r)[j] = b.fill
				}
				blocks = append(blocks, b)
			}
			for _, b := range blocks {
				m.free(b.r)
			}
			if s := m.stats(); s.blocks != 0 || s.used != 0 {
				t.Errorf("after freeing all: %+v", s)
			}
		})
	}
}

// A dict answers as a Go map does, through splits, overwrites and deletions.
func TestDictAgainstMap(t *testing.T) {
	for _, allocator := range []string{Malloc, MyPool} {
		t.Run(allocator, func(t *testing.T) {
			d := newDict(newMemory(allocator), maphash.MakeSeed())
			want := map[string]string{}
			rng := rand.New(rand.NewPCG(3, 4))
			for range 200000 {
				key := fmt.Sprint("key:", rng.IntN(20000))
				switch rng.IntN(4) {
				case 0:
					_, there := want[key]
					if d.delete([]byte(key)) != there {
						t.Fatalf("delete %s: there is %v", key, there)
					}
					delete(want, key)
				default:
					value := string(bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(1<<rng.IntN(9))))
					d.put([]byte(key), []byte(value), false)
					want[key] = value
				}
			}
			checkDict(t, d, want)
		})
	}
}

func checkDict(t *testing.T, d *dict, want map[string]string) {
	t.Helper()
	if d.count != len(want) {
		t.Errorf("count %d, want %d", d.count, len(want))
	}
	for k, v := range want {
		rec := d.get([]byte(k))
		if rec == nil {
			t.Fatalf("%s is missing", k)
		}
		if got, _ := recordValue(rec); string(got) != v {
			t.Fatalf("%s: got %q, want %q", k, got, v)
		}
	}
	seen := 0
	d.each(func(r ref) {
		seen++
		if _, there := want[string(recordKey(d.mem.at(r)))]; !there {
			t.Errorf("walk shows %q", recordKey(d.mem.at(r)))
		}
	})
	if seen != len(want) {
		t.Errorf("walk shows %d keys, want %d", seen, len(want))
	}
}

// Beyond 16 levels a split needs the whole hash again; a directory that deep takes equal leading bits to come about.
func TestIndexSplitsBelowTheKeptBits(t *testing.T) {
	x := newIndex(func() *segment { return new(segment) })
	hashes := map[ref]uint64{}
	for i := range 3000 {
		h := uint64(0xABCD)<<48 | uint64(i)<<34 | uint64(i&1023)
		hashes[ref(i+1)] = h
		x.insert(h, ref(i+1), func(r ref) uint64 { return hashes[r] })
	}
	if x.depth <= fragTop {
		t.Fatalf("depth %d, want more than %d", x.depth, fragTop)
	}
	seen, last := 0, uint64(0)
	for h, end := uint64(0), false; !end; {
		from := h
		h, end = x.walk(h, func(r ref) {
			seen++
			if hashes[r] < from {
				t.Errorf("hash %x in the segment from %x", hashes[r], from)
			}
			last = max(last, hashes[r])
		})
		if !end && last >= h {
			t.Errorf("hash %x in a segment that ends before %x", last, h)
		}
	}
	if seen != 3000 || x.count != 3000 {
		t.Errorf("walk shows %d of %d", seen, x.count)
	}
}

// each calls f for every record, as a rewrite of the log walks them.
func (x *index) each(f func(ref)) {
	for h, last := uint64(0), false; !last; {
		h, last = x.walk(h, f)
	}
}
