package kvstore

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The tree has its keys in order, whatever their common prefix was when they came, and through deletions and moves.
func TestTreeAgainstSortedKeys(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		tr := newTree(newDict(newMemory(MyPool), maphash.MakeSeed()))
		want := map[string]string{}
		prefix := strings.Repeat("bench:key:", rng.IntN(3))
		for range 2000 {
			key := prefix + fmt.Sprintf("%0*d", rng.IntN(13), rng.IntN(300))
			if rng.IntN(50) == 0 {
				key = key[:rng.IntN(len(key)+1)] // shortens the prefix
			}
			value := strings.Repeat("v", rng.IntN(200))
			switch rng.IntN(4) {
			case 0:
				_, there := want[key]
				if tr.delete([]byte(key)) != there {
					t.Fatalf("seed %d: delete %q", seed, key)
				}
				delete(want, key)
			case 1:
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
		var keys []string
		for k := range want {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, from := range slices.Concat(keys[:min(5, len(keys))], []string{"", "a", "bench:", "bench:key:1", "bench:key:bench:key:2", "z", "\xff"}) {
			var got []string
			tr.ascend([]byte(from), func(rec []byte) bool {
				got = append(got, string(recordKey(rec)))
				return true
			})
			i, _ := slices.BinarySearch(keys, from)
			if !slices.Equal(got, keys[i:]) {
				t.Fatalf("seed %d from %q: got %d keys, want %d: %.200q", seed, from, len(got), len(keys[i:]), got)
			}
		}
	}
}
