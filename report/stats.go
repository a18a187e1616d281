package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/aclements/go-moremath/stats"
)

// Statistics over the rounds of one cell of a suite. Mean, trimmed mean and overhead are defined as in
// the reports of run_bench.hash.sh, so that old and new reports can be laid side by side; the spread, the
// confidence interval and the warnings beside them say how far each mean can be trusted.

// Thresholds of the warnings.
const (
	TrimFrom    = 4   // rounds from which the one farthest from the median is dropped
	IntervalMin = 3   // rounds from which a confidence interval is given
	ScatterCV   = 5.0 // percent: above it the rounds scatter
	outlierFrom = 5   // rounds from which one can be called an outlier
	outlierZ    = 3.5 // modified z-score of Iglewicz and Hoaglin
	madToSigma  = 1.4826
)

// Stats describes a sample. SD is the sample standard deviation (n-1). What a sample is too small for is
// marked and printed as "n/a", never as 0 or NaN.
type Stats struct {
	N              int
	Mean, Median   float64
	Min, Max       float64
	SD             float64 // meaningful when HasSD
	CILow, CIHigh  float64 // 95 % confidence interval of the mean, Student's t; meaningful when HasCI
	HasSD, HasCI   bool
	OutlierIndexes []int // values that lie apart from the others
}

// Describe computes the statistics of values, in the order of the rounds. It does not change values.
func Describe(values []float64) Stats {
	s := Stats{N: len(values)}
	if s.N == 0 {
		return s
	}
	s.Mean = mean(values)
	s.Median = median(values)
	s.Min, s.Max = slices.Min(values), slices.Max(values)
	if s.HasSD = s.N > 1; s.HasSD {
		s.SD = stats.StdDev(values)
	}
	if s.HasCI = s.N >= IntervalMin; s.HasCI {
		_, s.CILow, s.CIHigh = stats.MeanCI(values, 0.95)
	}
	s.OutlierIndexes = outliers(values, s.Median)
	return s
}

// CV is the coefficient of variation in percent; 0 when the mean is 0 or there is one value.
func (s Stats) CV() float64 { return 100 * ratio(s.SD, s.Mean) }

// Scatters reports whether the rounds scatter too much for their mean to be quoted without a warning.
func (s Stats) Scatters() bool { return s.HasSD && s.CV() > ScatterCV }

// Overlaps reports whether the confidence intervals of two samples overlap; ok is false when one of them
// has none.
func (s Stats) Overlaps(o Stats) (overlap, ok bool) {
	if !s.HasCI || !o.HasCI {
		return false, false
	}
	return s.CILow <= o.CIHigh && o.CILow <= s.CIHigh, true
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return ratio(sum, float64(len(values)))
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}

// outliers finds values whose distance to the median is large against the median distance, and at least
// as large as the scatter that is worth a warning.
func outliers(values []float64, med float64) []int {
	if len(values) < outlierFrom {
		return nil
	}
	var far []int
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - med)
	}
	limit := max(outlierZ*madToSigma*median(distances), math.Abs(med)*ScatterCV/100)
	for i, d := range distances {
		if d > limit {
			far = append(far, i)
		}
	}
	return far
}

// Trimmed is the trimmed mean of those reports: the one round whose QPS is farthest from the median QPS is
// dropped (the later one on a tie), the rest is averaged. Below TrimFrom rounds nothing is dropped.
type Trimmed struct {
	Dropped     int // index of the dropped round; -1: not trimmed
	DroppedQPS  float64
	QPS         float64
	MicrosPerOp float64
	Left        int // rounds that were averaged
}

// Trim computes the trimmed means of rounds in order. Both slices have the same length.
func Trim(qps, microsPerOp []float64) Trimmed {
	t := Trimmed{Dropped: -1, Left: len(qps)}
	q, us := slices.Clone(qps), slices.Clone(microsPerOp)
	if len(q) >= TrimFrom {
		med, far := median(q), -1.0
		for i, v := range q {
			if d := math.Abs(v - med); d >= far {
				t.Dropped, far = i, d
			}
		}
		t.DroppedQPS = q[t.Dropped]
		q = slices.Delete(q, t.Dropped, t.Dropped+1)
		us = slices.Delete(us, t.Dropped, t.Dropped+1)
		t.Left--
	}
	t.QPS, t.MicrosPerOp = mean(q), mean(us)
	return t
}

// printed is a figure as the tables show it, with two decimals: the us/op of a round and the figures that an
// overhead compares are taken so, and a reader with a pocket calculator gets the same.
func printed(v float64) float64 {
	p, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64)
	if err != nil {
		return v // an infinity or NaN, which no finished result holds
	}
	return p
}

// Change is the relative difference from a baseline.
type Change struct {
	Percent   float64
	Undefined bool // the baseline is 0 and the new value is not
}

// ChangeOf is how far value is from base, both taken as printed.
func ChangeOf(base, value float64) Change {
	base, value = printed(base), printed(value)
	switch {
	case base == value:
		return Change{}
	case base == 0:
		return Change{Undefined: true}
	}
	return Change{Percent: 100 * (value - base) / base}
}

// String is "-6.58%", "0.00%" or "n/a (baseline 0)".
func (c Change) String() string {
	if c.Undefined {
		return "n/a (baseline 0)"
	}
	if printed(c.Percent) == 0 {
		return "0.00%"
	}
	return fmt.Sprintf("%+.2f%%", c.Percent)
}

// Changed reports whether there is a difference at all.
func (c Change) Changed() bool { return c.Undefined || c.Percent != 0 }
