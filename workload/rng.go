// Package workload says what request number i of a round is, as ready bytes, and what a right reply to it looks like.
//
// It is pure and has no clock: request i is a function of (seed, i) alone, so that the same seed gives the same set of requests
// whatever the number of connections, loops or the pipeline depth. A Plan is that function; a Gen makes its bytes for one loop.
package workload

import "math/bits"

// Random numbers are counter-based: there is no generator state to share or to advance. Each place that needs a number (the choice
// of the command, the key, each placeholder) has a stream of its own, and draw e of a stream is one multiplication away from e.
// The seed is scrambled before anything is added to it, so that seeds s and s+1 start at unrelated places of a 2^64 orbit.

const (
	goldenRatio = 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	streamStep  = 0x2d358dccaa6c78a5 // odd, half of its bits set: the increment of wyrand
	foldMask    = 0x8bb84b93962eacc9 // the second constant of wyrand
)

// stream is the start of one counter sequence.
type stream uint64

func newStream(seed uint64, field int) stream {
	return stream(scramble(scramble(seed) + uint64(field)*goldenRatio))
}

// at is draw e of the stream, uniform over 64 bits.
func (s stream) at(e uint64) uint64 { return fold(uint64(s) + e*streamStep) }

// fold is wyrand's output function: both halves of a 128-bit product, xored.
func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x^foldMask)
	return hi ^ lo
}

// scramble is the finalizer of splitmix64: a bijection in which each input bit changes half of the output bits.
func scramble(x uint64) uint64 {
	x += goldenRatio
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// scale maps a uniform 64-bit number to [0, n) by multiplication; the bias is below n/2^64.
func scale(r, n uint64) uint64 {
	hi, _ := bits.Mul64(r, n)
	return hi
}

// unitInterval maps a uniform 64-bit number to [0, 1) with 53 bits.
func unitInterval(r uint64) float64 { return float64(r>>11) * 0x1p-53 }
