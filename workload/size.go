package workload

import (
	"fmt"
	"strconv"
	"strings"
)

// values says what value belongs to a key. Size and content are functions of the key alone, not of the seed: what one run wrote, a
// later one verifies whatever its seed.
type values struct {
	pool  *pool // nil: the plan has no values of its own
	salt  uint64
	sizes ValueSize
}

// newValues makes the values of keys with that prefix.
func newValues(ring *pool, prefix string, sizes ValueSize) values {
	salt := uint64(len(prefix))
	for i := range len(prefix) {
		salt = scramble(salt ^ uint64(prefix[i]))
	}
	return values{ring, salt, sizes}
}

// offset is where in the pool the value of key number begins.
func (v *values) offset(number uint64) int {
	return int(scale(fold(number^v.salt), uint64(v.pool.period)))
}

// size is the length of the value of key number.
func (v *values) size(number uint64) int {
	if n := v.sizes.fixed(); n >= 0 {
		return n
	}
	return v.sizes.of(scramble(number ^ v.salt))
}

// ValueSize is a distribution of value sizes in bytes. The zero value is the constant size 0.
type ValueSize struct {
	ranges []sizeRange // at least two sizes in all; empty = constant
	bytes  int         // the constant, or the largest size
}

// sizeRange is one part of a ValueSize: sizes low to high, all equally likely.
type sizeRange struct {
	upTo      uint64 // draws at most this, and above the range before, are of this range
	low, high int
}

// ConstantSize is the size n for all values.
func ConstantSize(n int) ValueSize { return ValueSize{bytes: n} }

// Max is the largest size.
func (s ValueSize) Max() int { return s.bytes }

// fixed is the constant size; -1 when there are several.
func (s *ValueSize) fixed() int {
	if len(s.ranges) > 0 {
		return -1
	}
	return s.bytes
}

// of maps a uniform 64-bit number to a size.
func (s *ValueSize) of(draw uint64) int {
	r := 0
	for draw > s.ranges[r].upTo {
		r++
	}
	span := uint64(s.ranges[r].high - s.ranges[r].low + 1)
	return s.ranges[r].low + int(scale(scramble(draw), span))
}

// ParseValueSize reads "32", a range "64-4096", or weighted sizes and ranges "64:90,4096:10". Sizes are 0 to limit bytes, weights
// positive integers.
func ParseValueSize(text string, limit int) (ValueSize, error) {
	var s ValueSize
	var weights []uint64
	for part := range strings.SplitSeq(text, ",") {
		size, weight, weighted := strings.Cut(part, ":")
		r, err := parseSizeRange(size, limit)
		if err != nil {
			return ValueSize{}, err
		}
		w := uint64(1)
		if weighted {
			if w, err = parseWeight(weight); err != nil {
				return ValueSize{}, err
			}
		} else if strings.Contains(text, ",") {
			return ValueSize{}, fmt.Errorf("size %q has no weight: want SIZE:WEIGHT", part)
		}
		s.ranges, weights = append(s.ranges, r), append(weights, w)
		s.bytes = max(s.bytes, r.high)
	}
	if len(s.ranges) == 1 && s.ranges[0].low == s.ranges[0].high {
		return ConstantSize(s.bytes), nil
	}
	for i, upTo := range cumulative(weights) {
		s.ranges[i].upTo = upTo
	}
	return s, nil
}

func parseSizeRange(text string, limit int) (sizeRange, error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		high = low
	}
	l, errLow := strconv.Atoi(low)
	h, errHigh := strconv.Atoi(high)
	if errLow != nil || errHigh != nil || l < 0 || h > limit || l > h {
		return sizeRange{}, fmt.Errorf("bad size %q: want BYTES or LOW-HIGH within 0 to %d", text, limit)
	}
	return sizeRange{low: l, high: h}, nil
}
