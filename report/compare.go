package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// Is B really faster than A? Runs of both are compared by medians and the Mann–Whitney U test, which ask
// nothing of the distribution: "~" stands where the runs do not tell the two apart, and beside it the
// smallest difference that they would have shown.

// CompareRow is one figure of one test in both samples.
type CompareRow struct {
	Test        string
	Metric      string
	Higher      bool // higher is better
	A, B        Center
	Change      Change
	Significant bool
	P           float64
	NA, NB      int
	// Smallest is the smallest difference, in percent, that runs with this spread would have shown; 0 when
	// there are too few runs to show any.
	Smallest float64
}

// Center is a sample's median with its 95 % confidence interval.
type Center struct {
	Median   float64
	Low      float64
	High     float64
	HasRange bool // enough runs for an interval
}

// Comparison is the finished comparison of two samples of results.
type Comparison struct {
	NameA, NameB string
	Rows         []CompareRow
	Warnings     []string
}

// compareMetric is one line of the comparison; ok is false where a result does not have the figure.
type compareMetric struct {
	name   string
	higher bool
	of     func(*Result) (float64, bool)
}

func latencyOf(read func(*Histogram) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		h := histogramNames[""](r)
		if h == nil || h.Count() == 0 {
			return 0, false
		}
		return read(h) / 1e6, true
	}
}

func percentileOf(p float64) func(*Result) (float64, bool) {
	return latencyOf(func(h *Histogram) float64 { return float64(h.Percentile(p)) })
}

var compareMetrics = []compareMetric{
	{"QPS", true, func(r *Result) (float64, bool) { return r.QPS(), r.Requests > 0 }},
	{"avg ms", false, latencyOf((*Histogram).Mean)},
	{"p50 ms", false, percentileOf(50)},
	{"p95 ms", false, percentileOf(95)},
	{"p99 ms", false, percentileOf(99)},
	{"p99.9 ms", false, percentileOf(99.9)},
	{"max ms", false, percentileOf(100)},
	{"client CPU us/req", false, func(r *Result) (float64, bool) { v := r.ClientMicros(); return v, v > 0 }},
	{"server CPU us/req", false, func(r *Result) (float64, bool) {
		v := ratio(float64(r.Server.CPU.Nanoseconds())/1e3, float64(r.Requests))
		return v, v > 0
	}},
}

// Compare compares the runs of A with those of B, test by test. Interrupted runs are left out and named.
func Compare(nameA, nameB string, a, b []*Result) *Comparison {
	c := &Comparison{NameA: nameA, NameB: nameB}
	a, b = c.complete(nameA, a), c.complete(nameB, b)
	for _, test := range testNames(a) {
		ra, rb := ofTest(a, test), ofTest(b, test)
		if len(rb) == 0 {
			c.warn("%s is only in %s", test, nameA)
			continue
		}
		c.settings(test, ra[0], rb[0])
		c.errors(test, nameA, ra)
		c.errors(test, nameB, rb)
		for _, m := range compareMetrics {
			va, vb := values(ra, m.of), values(rb, m.of)
			if len(va) == len(ra) && len(vb) == len(rb) {
				c.Rows = append(c.Rows, c.row(test, m, va, vb))
			}
		}
	}
	for _, test := range testNames(b) {
		if len(ofTest(a, test)) == 0 {
			c.warn("%s is only in %s", test, nameB)
		}
	}
	return c
}

func (c *Comparison) warn(format string, args ...any) {
	if w := fmt.Sprintf(format, args...); !slices.Contains(c.Warnings, w) {
		c.Warnings = append(c.Warnings, w)
	}
}

// complete leaves out runs that did not run to their end.
func (c *Comparison) complete(name string, all []*Result) []*Result {
	var kept []*Result
	for _, r := range all {
		if !r.Interrupted {
			kept = append(kept, r)
		}
	}
	if n := len(all) - len(kept); n > 0 {
		c.warn("%d interrupted runs of %s are left out", n, name)
	}
	return kept
}

// settings warns where two samples were not taken in the same way: the difference may be that.
func (c *Comparison) settings(test string, a, b *Result) {
	for _, s := range []struct {
		name string
		a, b any
	}{
		{"clients", a.Clients, b.Clients}, {"threads", a.Threads, b.Threads}, {"pipeline", a.Pipeline, b.Pipeline},
		{"payload", a.PayloadSize, b.PayloadSize}, {"value size", a.ValueSize, b.ValueSize}, {"keyspace", a.Keyspace, b.Keyspace},
		{"kernel", a.Env.Kernel, b.Env.Kernel}, {"CPU", a.Env.CPU, b.Env.CPU}, {"engine", a.Env.Engine, b.Env.Engine},
		{"server version", a.Server.Version, b.Server.Version}, {"load", loadOf(a), loadOf(b)},
	} {
		if s.a != s.b {
			c.warn("%s: %s is %v in %s and %v in %s", test, s.name, s.a, c.NameA, s.b, c.NameB)
		}
	}
}

// loadOf is what decides when requests are sent, and with it which latency is compared.
func loadOf(r *Result) string {
	if r.Pacing == nil {
		return "a closed loop (service times)"
	}
	return r.Pacing.Arrival + " arrivals at " + r.Pacing.Schedule + " (response times)"
}

// errors warns of runs with error replies, which are sooner made than answers.
func (c *Comparison) errors(test, name string, runs []*Result) {
	var failed, requests int64
	for _, r := range runs {
		failed += r.ErrorTotal
		requests += r.Requests
	}
	if failed > 0 {
		c.warn("%s: %d of the %d replies of %s are errors", test, failed, requests, name)
	}
}

func testNames(results []*Result) []string {
	var names []string
	for _, r := range results {
		if n := r.name(); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func ofTest(results []*Result, test string) []*Result {
	var found []*Result
	for _, r := range results {
		if r.name() == test {
			found = append(found, r)
		}
	}
	return found
}

func values(results []*Result, of func(*Result) (float64, bool)) []float64 {
	var v []float64
	for _, r := range results {
		if x, ok := of(r); ok {
			v = append(v, x)
		}
	}
	return v
}

// sample hands a copy to the library, which sorts in place.
func sample(v []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds)
}

func (c *Comparison) row(test string, m compareMetric, a, b []float64) CompareRow {
	r := CompareRow{Test: test, Metric: m.name, Higher: m.higher, NA: len(a), NB: len(b), A: c.center(a), B: c.center(b)}
	result := benchmath.AssumeNothing.Compare(sample(a), sample(b))
	r.P = result.P
	r.Significant = result.P <= result.Alpha
	r.Change = changeExact(r.A.Median, r.B.Median)
	r.Smallest = smallestShift(a, b)
	if r.tooFew() {
		c.warn("n/a: so few runs cannot tell any difference from chance; %d of each can", CompareMin)
	}
	return r
}

// CompareMin is how many runs of each side can tell a difference.
const CompareMin = 4

// tooFew tells whether no difference whatever could have been called one: of all orders in which the runs can lie, the
// two that separate A from B wholly are still too likely.
func (r *CompareRow) tooFew() bool {
	orders := 1.0
	for i := range r.NA {
		orders *= float64(r.NB+i+1) / float64(i+1)
	}
	return 2/orders > benchmath.DefaultThresholds.CompareAlpha
}

// changeExact is a change of figures that are not rounded to two decimals, such as latencies.
func changeExact(base, value float64) Change {
	if base == 0 && value != 0 {
		return Change{Undefined: true}
	}
	return Change{Percent: 100 * ratio(value-base, base)}
}

func (c *Comparison) center(v []float64) Center {
	s := benchmath.AssumeNothing.Summary(sample(v), 0.95)
	if math.IsInf(s.Lo, 0) || math.IsInf(s.Hi, 0) {
		for _, w := range s.Warnings {
			c.warn("%v", w)
		}
		return Center{Median: s.Center}
	}
	return Center{Median: s.Center, Low: s.Lo, High: s.Hi, HasRange: true}
}

// smallestShift scales both samples to a median of 1 and finds the smallest factor between them that the
// test would have called a difference whichever of the two it favours, in percent to a tenth.
func smallestShift(a, b []float64) float64 {
	ma, mb := median(a), median(b)
	if ma <= 0 || mb <= 0 {
		return 0
	}
	base, other := make([]float64, len(a)), make([]float64, len(b))
	for i, v := range a {
		base[i] = v / ma
	}
	differs := func(factor float64) bool {
		for i, v := range b {
			other[i] = v / mb * factor
		}
		r := benchmath.AssumeNothing.Compare(sample(base), sample(other))
		return r.P <= r.Alpha
	}
	shows := func(percent float64) bool { return differs(1+percent/100) && differs(1/(1+percent/100)) }
	low, high := 0.0, 0.1
	for !shows(high) {
		low = high
		if high *= 2; high > 1000 {
			return 0
		}
	}
	for high-low > 0.05 {
		if middle := (low + high) / 2; shows(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Ceil(high*10) / 10
}

// TooFew lists the tests whose throughput cannot be judged, and how many runs they have.
func (c *Comparison) TooFew() (tests []string) {
	for i := range c.Rows {
		if r := &c.Rows[i]; r.Metric == compareMetrics[0].name && r.tooFew() {
			tests = append(tests, fmt.Sprintf("%s (%d and %d)", r.Test, r.NA, r.NB))
		}
	}
	return tests
}

// Slower lists the tests whose throughput fell by more than limit percent, beyond what chance explains.
// Latency does not enter: it judges throughput alone.
func (c *Comparison) Slower(limit float64) []CompareRow {
	var slower []CompareRow
	for _, r := range c.Rows {
		if r.Metric == compareMetrics[0].name && r.Significant && r.Change.Percent < -limit {
			slower = append(slower, r)
		}
	}
	return slower
}

// String is the median with its interval as a share of it: "176594.67 ±1.2%".
func (m Center) String() string {
	s := fmt.Sprintf("%.3f", m.Median)
	if m.Median >= 1000 {
		s = two(m.Median)
	}
	if !m.HasRange || m.Median == 0 {
		return s + " ± n/a"
	}
	half := max(m.High/m.Median-1, 1-m.Low/m.Median)
	return fmt.Sprintf("%s ± %.1f%%", s, 100*half)
}

// Delta is the change where it is one, "~" where the runs do not tell, "n/a" where so few runs cannot.
func (r *CompareRow) Delta() string {
	switch {
	case r.Significant:
		return r.Change.String()
	case r.tooFew():
		return "n/a"
	}
	return "~"
}

// CompareTable writes the comparison like benchstat's, and the warnings below it.
func CompareTable(w io.Writer, c *Comparison) error {
	g := grid{head: []string{"test", "metric", c.NameA, c.NameB, "B vs A", "p, n", "would show"}, left: 2}
	for i := range c.Rows {
		r := &c.Rows[i]
		n := fmt.Sprintf("p=%.3f n=%d", r.P, r.NA)
		if r.NA != r.NB {
			n += fmt.Sprintf("+%d", r.NB)
		}
		smallest := "n/a"
		if r.Smallest > 0 {
			smallest = fmt.Sprintf("±%.1f%%", r.Smallest)
		}
		g.add(r.Test, r.Metric, r.A.String(), r.B.String(), r.Delta(), n, smallest)
	}
	var b strings.Builder
	b.WriteString(g.text(""))
	b.WriteString("~: no difference (Mann-Whitney U, alpha 0.05); medians with 95% intervals;" +
		" would show: the smallest difference that runs with this spread tell from chance\n")
	for _, warning := range c.Warnings {
		fmt.Fprintf(&b, "note: %s\n", oneLine(warning))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
