package workload

import (
	"math"
	"math/bits"
)

// zipf draws numbers k-1 of [0, n) with weights k^-s, k = 1 … n, exactly and from a table of fixed size.
//
// The first zipfRanks numbers have an outcome each. The others lie in blocks that are 1/64 wide of where they begin, so that 1300 of
// them reach to 10^12. A block stands for its width times the weight of its first number, which is the largest; a number of it is
// drawn uniformly and accepted in the proportion of the weights, which differ by little. What is refused is drawn anew from all
// outcomes with a number hashed from the first, so that a draw stays a pure function of one 64-bit number. An outcome is found with
// A. J. Walker's alias method, one look into the table.
type zipf struct {
	s     float64
	table *[zipfColumns]uint64 // a column's own share in the upper bits, its alias in the lower zipfBits
	from  []uint64             // first k of each block, and one behind the last
}

const (
	zipfBits    = 13
	zipfColumns = 1 << zipfBits
	zipfRanks   = 6800
	zipfWide    = 64 // a block is its beginning divided by this wide
)

func newZipf(n uint64, s float64) zipf {
	ranks := min(n, zipfRanks)
	mass := make([]float64, 0, zipfColumns)
	for k := range ranks {
		mass = append(mass, zipfWeight(k+1, s))
	}
	z := zipf{s: s}
	for k := ranks + 1; k <= n; {
		width := min(k/zipfWide, n+1-k)
		z.from = append(z.from, k)
		mass = append(mass, float64(width)*zipfWeight(k, s))
		k += width
	}
	z.from = append(z.from, n+1)
	z.table = aliasTable(mass)
	return z
}

func zipfWeight(k uint64, s float64) float64 { return math.Exp(-s * math.Log(float64(k))) }

// aliasTable gives each column its own outcome up to a share, and above it another's (M. D. Vose, "A linear algorithm for generating
// random numbers with a given distribution", IEEE TSE 17(9), 1991).
func aliasTable(mass []float64) *[zipfColumns]uint64 {
	total := 0.0
	for _, m := range mass {
		total += m
	}
	const whole = 1 << (64 - zipfBits)
	share := make([]float64, zipfColumns) // of a column; what has no outcome has 0
	table := new([zipfColumns]uint64)
	var small, large []int
	for i := range share {
		if i < len(mass) {
			share[i] = mass[i] / total * zipfColumns
			table[i] = (whole-1)<<zipfBits | uint64(i) // the whole column
		}
		if share[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		i, j := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[i] = uint64(share[i]*whole)<<zipfBits | uint64(j)
		if share[j] -= 1 - share[i]; share[j] < 1 {
			large = large[:len(large)-1]
			small = append(small, j)
		}
	}
	return table // what rounding has left in small is whole to within it
}

func (z *zipf) draw(r uint64) uint64 {
	for {
		outcome, entry := r>>(64-zipfBits), z.table[r>>(64-zipfBits)]
		if r<<zipfBits>>zipfBits >= entry>>zipfBits {
			outcome = entry & (zipfColumns - 1)
		}
		if outcome < zipfRanks {
			return outcome
		}
		first, end := z.from[outcome-zipfRanks], z.from[outcome-zipfRanks+1]
		r = scramble(r)
		at, rest := bits.Mul64(r, end-first)
		if z.accepts(float64(at)/float64(first), float64(rest)*0x1p-64) {
			return first + at - 1
		}
		r = scramble(r)
	}
}

// accepts tells whether u is below (1+x)^-s, mostly by its tangent, which lies below it.
func (z *zipf) accepts(x, u float64) bool { return u < 1-z.s*x || u < math.Exp(-z.s*math.Log1p(x)) }
