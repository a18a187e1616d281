package workload

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Key distributions. All are counter-based: a draw is a pure function of one uniform 64-bit number (or, for the sequential ones, of
// the position in the sequence), so that a seed repeats them on any number of loops.

type distKind uint8

const (
	distUniform    distKind = iota
	distSequential          // 0, 1, … n-1, 0, …
	distSpread              // a few numbers evenly over the range, in order
	distZipf                // number k has weight 1/(k+1)^s
	distGaussian            // normal around the middle, cut at the ends
	distHotspot             // a share of the numbers gets a share of the draws
)

// KeyDist says how draws are spread over the keyspace. The zero value is uniform.
type KeyDist struct {
	kind      distKind
	parameter float64 // zipf: exponent. gaussian: standard deviation in keys; 0 = a sixth of the keyspace
	hotKeys   float64 // hotspot: share of the keys, 0 to 1
	hotDraws  float64 // hotspot: share of the draws, 0 to 1
}

// Sequential is the distribution that visits the keys in order, again from 0 after the last.
var Sequential = KeyDist{kind: distSequential}

const distSyntax = "want uniform, sequential, zipf:S, gaussian[:SD] or hotspot:KEYS%:OPS%"

// ParseKeyDist reads "uniform", "sequential", "zipf:S" (exponent above 0, at most 10), "gaussian:SD" (standard deviation in keys;
// without it a sixth of the keyspace) or "hotspot:KEYS%:OPS%" (that share of the keys gets that share of the operations). An empty
// text is uniform.
func ParseKeyDist(text string) (KeyDist, error) {
	name, args, colon := strings.Cut(text, ":")
	switch name {
	case "uniform", "sequential", "":
		if colon {
			break
		}
		if name == "sequential" {
			return Sequential, nil
		}
		return KeyDist{}, nil
	case "zipf":
		s, err := strconv.ParseFloat(args, 64)
		if err != nil || !(s > 0 && s <= 10) {
			return KeyDist{}, fmt.Errorf("bad exponent %q of zipf: want a number above 0, at most 10", args)
		}
		return KeyDist{kind: distZipf, parameter: s}, nil
	case "gaussian":
		if text == name {
			return KeyDist{kind: distGaussian}, nil
		}
		sd, err := strconv.ParseFloat(args, 64)
		if err != nil || !(sd > 0 && sd <= maxNumber) {
			return KeyDist{}, fmt.Errorf("bad standard deviation %q of gaussian: want a number of keys above 0", args)
		}
		return KeyDist{kind: distGaussian, parameter: sd}, nil
	case "hotspot":
		return parseHotspot(args)
	}
	return KeyDist{}, fmt.Errorf("unknown key distribution %q: %s", text, distSyntax)
}

func parseHotspot(args string) (KeyDist, error) {
	k, o, both := strings.Cut(args, ":")
	hotKeys, errKeys := parsePercent(k)
	hotDraws, errDraws := parsePercent(o)
	if !both || errKeys != nil || errDraws != nil || hotKeys == 0 {
		return KeyDist{}, fmt.Errorf("bad hotspot %q: want KEYS%%:OPS%%, such as 20%%:80%%", args)
	}
	return KeyDist{kind: distHotspot, hotKeys: hotKeys, hotDraws: hotDraws}, nil
}

func parsePercent(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err == nil && !(v >= 0 && v <= 100) {
		err = strconv.ErrRange
	}
	return v / 100, err
}

// over makes the distribution's draws over the numbers 0 to n-1. A keyspace below 1 counts as 1, above 10^12 as 10^12.
func (d KeyDist) over(keyspace int64) keys {
	n := uint64(min(max(keyspace, 1), maxNumber))
	k := keys{kind: d.kind, n: n}
	switch d.kind {
	case distZipf:
		k.zipf = newZipf(n, d.parameter)
	case distGaussian:
		k.normal = newTruncatedNormal(n, d.parameter)
	case distHotspot:
		k.hotspot = newHotspot(n, d.hotKeys, d.hotDraws)
	}
	return k
}

// spread is count numbers evenly over [0, n), in order.
func spread(n, count uint64) keys { return keys{kind: distSpread, n: n, count: count} }

// scaleRatio is floor(i·n/count) for i < count.
func scaleRatio(i, n, count uint64) uint64 {
	hi, lo := bits.Mul64(i, n)
	q, _ := bits.Div64(hi, lo, count)
	return q
}

// keys draws numbers of [0, n).
type keys struct {
	kind    distKind
	n       uint64
	count   uint64 // distSpread: how many draws cover the range
	zipf    zipf
	normal  truncatedNormal
	hotspot hotspot
}

// draw is a pure function: counter e of stream s decides a random number, ordinal one that goes in sequence.
func (k *keys) draw(s stream, e, ordinal uint64) uint64 {
	switch k.kind {
	case distUniform:
		return scale(s.at(e), k.n)
	case distSequential:
		return ordinal % k.n
	case distSpread:
		return scaleRatio(ordinal%k.count, k.n, k.count)
	case distZipf:
		return k.zipf.draw(s.at(e))
	case distGaussian:
		return k.normal.draw(s.at(e))
	default:
		return k.hotspot.draw(s.at(e))
	}
}

// hotspot draws uniformly from the first hot numbers with the probability below/2^64, else uniformly from the others.
type hotspot struct {
	hot, cold uint64
	below     uint64
}

func newHotspot(n uint64, hotKeys, hotDraws float64) hotspot {
	hot := min(max(uint64(math.Round(hotKeys*float64(n))), 1), n)
	if hotDraws >= 1 || hot == n {
		return hotspot{hot: hot} // no others
	}
	return hotspot{hot: hot, cold: n - hot, below: uint64(hotDraws * 0x1p64)}
}

func (h *hotspot) draw(r uint64) uint64 {
	if r < h.below || h.cold == 0 {
		return scale(scramble(r), h.hot)
	}
	return h.hot + scale(scramble(r), h.cold)
}

// truncatedNormal draws from a normal distribution around n/2 that is cut at 0 and n, by the inverse of its cumulative function;
// the number is the whole part.
type truncatedNormal struct {
	n         uint64
	middle    float64
	deviation float64
	low, span float64 // erf at the lower end, and erf at the upper end minus low
}

func newTruncatedNormal(n uint64, deviation float64) truncatedNormal {
	if deviation == 0 {
		deviation = float64(n) / 6
	}
	t := truncatedNormal{n: n, middle: float64(n) / 2, deviation: deviation * math.Sqrt2}
	t.low = math.Erf(-t.middle / t.deviation)
	t.span = math.Erf(t.middle/t.deviation) - t.low
	return t
}

func (t *truncatedNormal) draw(r uint64) uint64 {
	v := t.middle + t.deviation*math.Erfinv(t.low+t.span*unitInterval(r))
	return min(uint64(max(v, 0)), t.n-1)
}
