package workload

import (
	"math"
	"math/bits"
	"testing"
)

// Draws of neighbouring seeds, neighbouring fields and neighbouring counters look like independent random numbers: of 64 bits, 32 ±
// 4 differ on average over few draws, and the average over many is 32 within five standard errors.
func TestStreamsAreUnrelated(t *testing.T) {
	pairs := map[string]func(i uint64) (uint64, uint64){
		"seeds s and s+1": func(i uint64) (uint64, uint64) {
			return newStream(i, streamKey).at(0), newStream(i+1, streamKey).at(0)
		},
		"seeds 1 and 2":       func(i uint64) (uint64, uint64) { return newStream(1, 1).at(i), newStream(2, 1).at(i) },
		"seed 1 shifted by 1": func(i uint64) (uint64, uint64) { return newStream(1, 1).at(i + 1), newStream(2, 1).at(i) },
		"fields 1 and 2":      func(i uint64) (uint64, uint64) { return newStream(1, 1).at(i), newStream(1, 2).at(i) },
		"draws i and i+1":     func(i uint64) (uint64, uint64) { return newStream(1, 1).at(i), newStream(1, 1).at(i + 1) },
		"seeds 0 and 2^64-1":  func(i uint64) (uint64, uint64) { return newStream(0, 1).at(i), newStream(1<<64-1, 1).at(i) },
	}
	const n = 100_000
	for name, pair := range pairs {
		differ, equal := 0, 0
		for i := range uint64(n) {
			a, b := pair(i)
			differ += bits.OnesCount64(a ^ b)
			if a == b {
				equal++
			}
		}
		mean, standardError := float64(differ)/n, 4/math.Sqrt(n)
		if math.Abs(mean-32) > 5*standardError || equal > 0 {
			t.Errorf("%s: %.3f bits differ on average, %d draws are equal", name, mean, equal)
		}
	}
}

// Neighbouring seeds give neither the same keys in the same order nor one stream shifted against the other.
func TestSeedsShareNoPattern(t *testing.T) {
	const n = 20_000
	keysOf := func(seed uint64) []uint64 {
		s, all := newStream(seed, streamKey), make([]uint64, n)
		for i := range all {
			all[i] = scale(s.at(uint64(i)), 1e9)
		}
		return all
	}
	base := keysOf(1000)
	seen := map[uint64]bool{}
	for _, k := range base {
		seen[k] = true
	}
	for _, seed := range []uint64{999, 1001, 1002, 1064, 0} {
		shared := 0
		for _, k := range keysOf(seed) {
			if seen[k] {
				shared++
			}
		}
		if shared > 8 { // by chance 0.4 of 20000·20000/10^9
			t.Errorf("seeds 1000 and %d share %d of %d keys of a thousand million", seed, shared, n)
		}
	}
}

func TestScaleIsUniform(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 97, 1000} {
		counts := make([]int, n)
		s := newStream(5, 1)
		const draws = 200_000
		for i := range uint64(draws) {
			counts[scale(s.at(i), n)]++
		}
		want := make([]float64, n)
		for i := range want {
			want[i] = 1 / float64(n)
		}
		checkChiSquare(t, "uniform", counts, want)
	}
}

// checkChiSquare fails when counts differ from the expected shares by more than chance does once in a million seeds. Shares that
// would give less than eight counts are taken together with their neighbours.
func checkChiSquare(t *testing.T, name string, counts []int, shares []float64) {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	var sum, expected, got float64
	cells := 0
	for i := range counts {
		expected += shares[i] * float64(total)
		got += float64(counts[i])
		if expected >= 8 || i == len(counts)-1 && expected > 0 {
			sum += (got - expected) * (got - expected) / expected
			cells, expected, got = cells+1, 0, 0
		}
	}
	if got > 0 {
		t.Errorf("%s: %v draws where none can be", name, got)
	}
	if cells < 2 {
		return
	}
	// Wilson and Hilferty: the cube root of chi-square over its degrees of freedom is nearly normal.
	f := float64(cells - 1)
	z := (math.Cbrt(sum/f) - (1 - 2/(9*f))) / math.Sqrt(2/(9*f))
	if z > 4.9 || z < -4.9 {
		t.Errorf("%s: chi-square %.1f with %d cells is %.1f standard deviations off", name, sum, cells, z)
	}
}
