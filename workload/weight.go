package workload

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
)

// maxWeight bounds a weight so that sums of a million of them stay in 64 bits.
const maxWeight = 1 << 32

func parseWeight(text string) (uint64, error) {
	w, err := strconv.ParseUint(text, 10, 64)
	if err != nil || w < 1 || w > maxWeight {
		return 0, fmt.Errorf("bad weight %q: want an integer from 1 to %d", text, int64(maxWeight))
	}
	return w, nil
}

// cumulative maps weights to thresholds: a uniform 64-bit draw belongs to the first threshold that is not below it.
func cumulative(weights []uint64) []uint64 {
	var total, sum uint64
	for _, w := range weights {
		total += w
	}
	upTo := make([]uint64, len(weights))
	for i, w := range weights {
		if sum += w; sum == total {
			upTo[i] = math.MaxUint64
			continue
		}
		share, _ := bits.Div64(sum, 0, total) // sum/total of 2^64; not 0, as total is far below 2^64
		upTo[i] = share - 1
	}
	return upTo
}
