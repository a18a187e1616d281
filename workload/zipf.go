package workload

import "math"

// zipf draws numbers k of [0, n) with weights 1/(k+1)^s by rejection-inversion (W. Hörmann and G. Derflinger, "Rejection-inversion
// to generate variates from monotone discrete distributions", ACM TOMACS 6(3), 1996). It is exact for any s > 0, needs no table, and
// so costs the same for a thousand keys and for a million millions. A rejected draw is tried again with a number hashed from it.
type zipf struct {
	n          float64
	s          float64
	rest       float64 // 1-s
	perRest    float64 // 1/(1-s)
	top, span  float64 // integral at n+½, and what to add to reach the integral at 1½ minus 1
	acceptance float64
}

func newZipf(n uint64, s float64) zipf {
	z := zipf{n: float64(n), s: s, rest: 1 - s, perRest: 1 / (1 - s)}
	z.top = z.integral(z.n + 0.5)
	z.span = z.integral(1.5) - 1 - z.top
	z.acceptance = 2 - z.inverse(z.integral(2.5)-z.weight(2))
	return z
}

func (z *zipf) draw(r uint64) uint64 {
	for {
		u := z.top + unitInterval(r)*z.span
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.acceptance || u >= z.integral(k+0.5)-z.weight(k) {
			return uint64(k) - 1
		}
		r = scramble(r)
	}
}

// weight is x^-s.
func (z *zipf) weight(x float64) float64 { return math.Exp(-z.s * math.Log(x)) }

// integral is an antiderivative of weight: (x^(1-s) - 1) / (1-s), or log x for s = 1.
func (z *zipf) integral(x float64) float64 {
	l := math.Log(x)
	return expm1Ratio(z.rest*l) * l
}

// inverse is the inverse function of integral: (1 + (1-s)·y)^(1/(1-s)). Away from s = 1 the plain formula is exact enough and costs
// half; at s = 1 it is e^y.
func (z *zipf) inverse(y float64) float64 {
	t := max(y*z.rest, -1) // rounding could take it below
	switch {
	case z.rest == 0:
		return math.Exp(y)
	case math.Abs(z.rest) > 1e-3:
		return math.Exp(math.Log(1+t) * z.perRest)
	}
	return math.Exp(log1pRatio(t) * y)
}

// expm1Ratio is (e^t - 1)/t, by its series near 0.
func expm1Ratio(t float64) float64 {
	if math.Abs(t) > 1e-8 {
		return math.Expm1(t) / t
	}
	return 1 + t/2
}

// log1pRatio is log(1+t)/t, by its series near 0.
func log1pRatio(t float64) float64 {
	if math.Abs(t) > 1e-8 {
		return math.Log1p(t) / t
	}
	return 1 - t/2
}
