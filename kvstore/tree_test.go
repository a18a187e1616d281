package kvstore

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The tree has its keys in order, whatever their common prefix was when they came, through deletions and moves, and when it
// is read in between. Some seeds fill many blocks, some with keys that differ only behind the word of an item, or in zeros.
func TestTreeAgainstSortedKeys(t *testing.T) {
	many := 12_000 // keys of several blocks
	if testing.Short() {
		many = 4000
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tr := newTree(newDict(newMemory([]string{MyPool, Malloc}[seed%2]), maphash.MakeSeed()))
		want := map[string]string{}
		prefix := strings.Repeat("bench:key:", rng.IntN(3))
		numbers := []int{300, many}[seed%2]
		longest := []int{13, 13, 30}[seed%3]
		deletions := 1 + rng.IntN(3) // of 8
		for step := range 10 * numbers {
			key := prefix + fmt.Sprintf("%0*d", rng.IntN(longest), rng.IntN(numbers))
			if seed%5 == 4 {
				b := make([]byte, rng.IntN(12))
				for i := range b {
					b[i] = []byte{0, 1, 255}[rng.IntN(3)]
				}
				key = prefix + string(b)
			}
			if rng.IntN(50) == 0 {
				key = key[:rng.IntN(len(key)+1)] // shortens the prefix
			}
			value := strings.Repeat("v", rng.IntN(200))
			if step%(numbers/4) == 0 {
				checkOrder(t, tr, want, key)
			}
			if step == 8*numbers {
				deletions = 6 // empties blocks
			}
			switch op := rng.IntN(8); {
			case op < deletions:
				_, there := want[key]
				if tr.delete([]byte(key)) != there {
					t.Fatalf("seed %d: delete %q", seed, key)
				}
				delete(want, key)
			case op == 6:
				if modify(tr.dict, []byte(key), []byte(value)) {
					want[key] = value
				}
			default:
				_, there := want[key]
				if tr.insert([]byte(key), []byte(value)) == there {
					t.Fatalf("seed %d: insert %q", seed, key)
				}
				if !there {
					want[key] = value
				}
			}
		}
		checkDict(t, tr.dict, want)
		for _, from := range []string{"", "a", "bench:", "bench:key:1", "bench:key:bench:key:2", "z", "\xff"} {
			checkOrder(t, tr, want, from)
		}
		for key := range want {
			tr.delete([]byte(key))
		}
		if n := tr.mem.stats().blocks; n != 1 || tr.order.Len() != 1 {
			t.Fatalf("seed %d: %d blocks of memory are left, %d of the tree", seed, n, tr.order.Len())
		}
		again := map[string]string{}
		for i := range 2 * blockItems {
			key := fmt.Sprint("other", i)
			again[key] = "1"
			tr.insert([]byte(key), []byte("1"))
		}
		checkOrder(t, tr, again, "other5")
	}
}

// A queue, whose oldest keys go while new ones come, keeps no block that is empty.
func TestTreeAsAQueue(t *testing.T) {
	tr := newTree(newDict(newMemory(MyPool), maphash.MakeSeed()))
	key := func(i int) []byte { return fmt.Appendf(nil, "queue:%09d", i) }
	const length = 3 * blockItems
	for i := range 10 * length {
		tr.insert(key(i), nil)
		if i >= length && !tr.delete(key(i-length)) {
			t.Fatalf("key %d is gone", i-length)
		}
	}
	if n := tr.order.Len(); n > 2*length/blockItems+2 {
		t.Errorf("%d blocks for %d keys", n, length)
	}
	i := 9 * length
	tr.ascend(nil, func(rec []byte) bool {
		if string(recordKey(rec)) != string(key(i)) {
			t.Fatalf("got %q, want %q", recordKey(rec), key(i))
		}
		i++
		return true
	})
	if i != 10*length {
		t.Errorf("the order ends at key %d of %d", i, 10*length)
	}
}

// A range whose keys all go leaves no block, though what follows is full.
func TestTreeRangeGoes(t *testing.T) {
	tr := newTree(newDict(newMemory(MyPool), maphash.MakeSeed()))
	const n = 4 * blockItems
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		tr.insert(fmt.Appendf(nil, "range:%09d", i), nil)
	}
	was := tr.order.Len()
	for i := n / 4; i < 3*n/4; i++ {
		tr.delete(fmt.Appendf(nil, "range:%09d", i))
	}
	tr.order.Scan(func(l leaf) bool {
		if len(l.items) == 0 {
			t.Errorf("the block from %q on is empty", l.least)
		}
		return true
	})
	if tr.order.Len() >= was {
		t.Errorf("%d blocks, as before", was)
	}
}

// checkOrder reads a hundred keys from one on.
func checkOrder(t *testing.T, tr *tree, want map[string]string, from string) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(want))
	i, _ := slices.BinarySearch(keys, from)
	keys = keys[i:min(i+100, len(keys))]
	var got []string
	tr.ascend([]byte(from), func(rec []byte) bool {
		got = append(got, string(recordKey(rec)))
		return len(got) < 100
	})
	if !slices.Equal(got, keys) {
		t.Fatalf("from %q: got %d keys, want %d: %.200q", from, len(got), len(keys), got)
	}
}
