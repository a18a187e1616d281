package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// lognormal returns n latencies around 300 µs with a long tail.
func lognormal(n int, seed uint64) []int64 {
	r := rand.New(rand.NewPCG(seed, 7))
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(300e3 * math.Exp(r.NormFloat64()))
	}
	return v
}

func histogramOf(values ...int64) *Histogram {
	h := NewHistogram()
	for _, v := range values {
		h.Record(v)
	}
	return h
}

func TestBucketsCoverEveryValueOnce(t *testing.T) {
	next := int64(0)
	for i := range slots {
		low, high := bucketLow(i), bucketHigh(i)
		if low != next || high < low {
			t.Fatalf("bucket %d is %d..%d, the one before ended at %d", i, low, high, next-1)
		}
		if bucketIndex(low) != i || bucketIndex(high) != i {
			t.Fatalf("bucket %d: %d and %d have index %d and %d", i, low, high, bucketIndex(low), bucketIndex(high))
		}
		if width := float64(high - low); width > 0.001*float64(low) {
			t.Fatalf("bucket %d is %.0f wide at %d", i, width, low)
		}
		next = high + 1
	}
	if next-1 != HighestNs {
		t.Errorf("the last bucket ends at %d, want HighestNs %d", next-1, int64(HighestNs))
	}
	if HighestNs < int64(time.Hour) {
		t.Errorf("an hour does not fit")
	}
}

func TestPercentilesAgainstSortedSamples(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 99, 1000, 20001} {
		values := lognormal(n, uint64(n))
		h := histogramOf(values...)
		slices.Sort(values)
		for _, p := range []float64{0, 1, 25, 50, 90, 95, 99, 99.9, 99.99, 100} {
			rank := max(int(math.Ceil(p*float64(n)/100-1e-9)), 1)
			want, got := values[rank-1], h.Percentile(p)
			if got < want || float64(got-want) > 0.001*float64(want) {
				t.Errorf("n=%d p%v = %d, the sorted samples say %d", n, p, got, want)
			}
		}
		if h.Min() != values[0] || h.Max() != values[n-1] || h.Percentile(100) != values[n-1] {
			t.Errorf("n=%d: min %d max %d, want %d and %d", n, h.Min(), h.Max(), values[0], values[n-1])
		}
	}
}

func TestHistogramSums(t *testing.T) {
	values := lognormal(5000, 1)
	h, sum := histogramOf(values...), uint64(0)
	for _, v := range values {
		sum += uint64(v)
	}
	if h.Sum() != sum || h.Count() != 5000 || h.Mean() != float64(sum)/5000 {
		t.Errorf("sum %d count %d mean %v, want %d, 5000, %v", h.Sum(), h.Count(), h.Mean(), sum, float64(sum)/5000)
	}
	if d := histogramOf(1_234_567, 1_234_567).StdDev(); d != 0 {
		t.Errorf("equal values have a deviation of %v", d)
	}
	if d := histogramOf(100, 200, 300, 400).StdDev(); math.Abs(d-111.8034) > 0.001 {
		t.Errorf("StdDev = %v, want 111.8034", d)
	}
}

// A value outside of the range must be neither lost nor an error.
func TestHistogramRange(t *testing.T) {
	h := histogramOf(0, -5, 1000, 999_000, int64(61*time.Second), int64(time.Hour), int64(3*time.Hour))
	if h.Count() != 7 || h.OverRange() != 1 {
		t.Errorf("count %d over %d, want 7 and 1", h.Count(), h.OverRange())
	}
	if h.Min() != 0 || h.Max() != int64(3*time.Hour) || h.Percentile(100) != int64(3*time.Hour) {
		t.Errorf("min %d max %d p100 %d", h.Min(), h.Max(), h.Percentile(100))
	}
	if got := h.CountAtMost(0); got != 2 {
		t.Errorf("CountAtMost(0) = %d, want 2", got)
	}
	if got := h.CountAtMost(int64(2 * time.Hour)); got != 6 {
		t.Errorf("CountAtMost(2h) = %d, want 6", got)
	}
	if got := h.CountAtMost(-1); got != 0 {
		t.Errorf("CountAtMost(-1) = %d, want 0", got)
	}
}

func TestEmptyHistogram(t *testing.T) {
	h := NewHistogram()
	if h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.Percentile(99) != 0 || h.StdDev() != 0 || h.CountAtMost(5) != 0 {
		t.Errorf("an empty histogram must answer 0 everywhere")
	}
	h.Merge(nil)
	h.Merge(NewHistogram())
	if !h.Equal(NewHistogram()) || !h.Clone().Equal(h) {
		t.Errorf("merging nothing changed the histogram")
	}
}

func TestMergeEqualsAllSamples(t *testing.T) {
	whole, merged := NewHistogram(), NewHistogram()
	for loop := range uint64(4) {
		part := NewHistogram()
		for _, v := range lognormal(1000, loop) {
			part.Record(v << (6 * loop))
			whole.Record(v << (6 * loop))
		}
		merged.Merge(part)
	}
	if !merged.Equal(whole) || !whole.Clone().Equal(merged) {
		t.Errorf("the merged loops differ from one histogram of all samples")
	}
	merged.Record(1)
	if merged.Equal(whole) {
		t.Errorf("Equal does not see one more sample")
	}
}

func TestResetLeavesNothing(t *testing.T) {
	h := histogramOf(append(lognormal(100, 3), 0, int64(5*time.Hour))...)
	h.Reset()
	if !h.Equal(NewHistogram()) {
		t.Errorf("something is left after Reset")
	}
	h.RecordN(500, 3)
	if h.Count() != 3 || h.Min() != 500 || h.Max() != 500 || h.Percentile(50) != 500 {
		t.Errorf("after Reset: count %d min %d max %d", h.Count(), h.Min(), h.Max())
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h, v := NewHistogram(), int64(1)
	if n := testing.AllocsPerRun(100, func() { h.Record(v); h.RecordN(v*3, 8); v = v*7 + 1 }); n != 0 {
		t.Errorf("recording allocates %v times", n)
	}
}

func BenchmarkHistogramRecordN(b *testing.B) {
	h, values := NewHistogram(), lognormal(1<<16, 1)
	for i := range b.N {
		h.RecordN(values[i&(1<<16-1)], 3)
	}
}
