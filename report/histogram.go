package report

import (
	"math"
	"math/bits"
)

// A Histogram counts durations in nanoseconds in the buckets of an HDR histogram with a lowest value of
// 1 ns, a highest of one hour and three significant digits: exact below 2048 ns, and never more than
// 0.1 % wide above. The array is our own because recording is on the hot path of a load generator: a
// value costs one index, one addition and two conditional moves, has no branch and is inlined into the
// caller. A library is used where its format matters: see hdr.go.
//
// Count, sum, minimum and maximum are exact. One histogram is 264 KiB; memory that the latencies never
// reach stays untouched by everything but its creation. Not safe for concurrent use: give each loop its
// own and Merge at the end.

const (
	subBits  = 10           // sub-buckets of an octave, as a power of two: three digits
	subCount = 1 << subBits // slots per octave
	octaves  = 33           // pages of subCount slots; the first octave needs two
	slots    = octaves << subBits

	// HighestNs is the largest latency with a bucket of its own, 73 minutes: HDR's range of one hour,
	// up to the end of its last octave.
	HighestNs = 1<<(octaves-1+subBits) - 1
)

// Histogram is a distribution of durations in nanoseconds. It comes from NewHistogram.
type Histogram struct {
	counts *[slots + 1]int64 // the last slot counts what is above HighestNs
	min    int64             // math.MaxInt64 when empty
	max    int64
	total  int64
	sum    uint64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{counts: new([slots + 1]int64), min: math.MaxInt64}
}

// Record adds one value. Negative values count as 0; values above HighestNs are counted in OverRange.
func (h *Histogram) Record(ns int64) { h.RecordN(ns, 1) }

// RecordN adds the same value n times, n ≥ 1.
func (h *Histogram) RecordN(ns, n int64) {
	ns = max(ns, 0)
	h.counts[min(uint(bucketIndex(ns)), slots)] += n
	h.total += n
	h.sum += uint64(ns * n)
	h.min = min(h.min, ns)
	h.max = max(h.max, ns)
}

// bucketIndex is HDR's index: the octave, then the ten bits below the highest one.
func bucketIndex(ns int64) int {
	e := bits.Len64(uint64(ns)|(2*subCount-1)) - (subBits + 1)
	return e<<subBits + int(ns>>e)
}

// bucketLow is the smallest value that falls into bucket i.
func bucketLow(i int) int64 {
	if i < 2*subCount {
		return int64(i)
	}
	e := i>>subBits - 1
	return int64(i-e<<subBits) << e
}

// bucketHigh is the largest value that falls into bucket i.
func bucketHigh(i int) int64 { return bucketLow(i+1) - 1 }

// used is the half-open range of buckets that may hold counts.
func (h *Histogram) used() (from, to int) {
	if h.total == 0 {
		return 0, 0
	}
	return min(bucketIndex(h.min), slots), min(bucketIndex(h.max), slots) + 1
}

// Merge adds all samples of o to h. o may be nil.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil || o.total == 0 {
		return
	}
	from, to := o.used()
	into := h.counts[from:to]
	for i, c := range o.counts[from:to] {
		into[i] += c
	}
	h.total += o.total
	h.sum += o.sum
	h.min = min(h.min, o.min)
	h.max = max(h.max, o.max)
}

// Reset empties the histogram. It clears only the part of the array that was used.
func (h *Histogram) Reset() {
	from, to := h.used()
	clear(h.counts[from:to])
	*h = Histogram{counts: h.counts, min: math.MaxInt64}
}

// Clone returns a copy that shares nothing with h.
func (h *Histogram) Clone() *Histogram {
	c := NewHistogram()
	c.Merge(h)
	return c
}

// Equal reports whether both hold the same samples, as far as buckets can tell.
func (h *Histogram) Equal(o *Histogram) bool {
	return h.total == o.total && h.sum == o.sum && h.min == o.min && h.max == o.max && *h.counts == *o.counts
}

// Count is the number of samples.
func (h *Histogram) Count() int64 { return h.total }

// OverRange is the number of samples above HighestNs; they are part of Count.
func (h *Histogram) OverRange() int64 { return h.counts[slots] }

// Min is the smallest sample in ns, exact; 0 when empty.
func (h *Histogram) Min() int64 {
	if h.total == 0 {
		return 0
	}
	return h.min
}

// Max is the largest sample in ns, exact even above HighestNs; 0 when empty.
func (h *Histogram) Max() int64 { return h.max }

// Sum is the exact sum of all samples in ns.
func (h *Histogram) Sum() uint64 { return h.sum }

// Mean is the exact mean in ns; 0 when empty.
func (h *Histogram) Mean() float64 {
	if h.total == 0 {
		return 0
	}
	return float64(h.sum) / float64(h.total)
}

// StdDev is the standard deviation over all samples in ns, from the value that stands for each bucket.
func (h *Histogram) StdDev() float64 {
	if h.total == 0 || h.min == h.max { // equal samples, which their bucket's middle is not
		return 0
	}
	mean, squares := h.Mean(), 0.0
	from, to := h.used()
	for i := from; i < to; i++ {
		if c := h.counts[i]; c > 0 {
			d := float64(bucketLow(i)+bucketHigh(i))/2 - mean
			squares += d * d * float64(c)
		}
	}
	return math.Sqrt(squares / float64(h.total))
}

// Percentile is the value in ns that p percent of the samples (nearest rank) do not exceed: the top of
// its bucket, but never outside of Min and Max. 0 when empty.
func (h *Histogram) Percentile(p float64) int64 {
	if h.total == 0 {
		return 0
	}
	rank, seen := h.rank(p), int64(0)
	from, to := h.used()
	for i := from; i < to; i++ {
		if seen += h.counts[i]; seen >= rank {
			return h.inside(i)
		}
	}
	return h.max
}

// rank is how many samples p percent are: at least one, at most all.
func (h *Histogram) rank(p float64) int64 {
	// One step down, so that a product which is a whole number but for rounding stays that number.
	want := math.Ceil(math.Nextafter(p/100*float64(h.total), math.Inf(-1)))
	return min(max(int64(want), 1), h.total)
}

// inside is the value that stands for bucket i: its top, or the exact maximum in the last bucket used.
func (h *Histogram) inside(i int) int64 {
	if i >= slots {
		return h.max
	}
	return min(bucketHigh(i), h.max)
}

// CountAtMost is the number of samples that are at most ns, to within the bucket of ns.
func (h *Histogram) CountAtMost(ns int64) int64 {
	if ns >= h.max {
		return h.total
	}
	seen := int64(0)
	from, _ := h.used()
	for i := from; ns >= 0 && i <= min(bucketIndex(ns), slots-1); i++ {
		seen += h.counts[i]
	}
	return seen
}
