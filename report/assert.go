package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Assertions for CI: "p99<2ms", "errors==0", "qps>=100k", "hit_ratio>=0.99", "achieved/offered>=0.99".
//
//	assertion = metric [ "/" metric ] operator value
//	operator  = "<" | "<=" | ">" | ">=" | "==" | "!="
//	value     = number [ unit ]
//
// Spaces are allowed between the parts. A time needs a unit (ns us ms s m), a count may have one (k M G),
// a share may be written in percent. A syntax error names the column, counted from 1 in characters.

// unit is what a metric measures.
type unit uint8

const (
	countUnit unit = iota
	timeUnit       // nanoseconds
	shareUnit      // 0 to 1
)

// metric is a named figure of a Result; ok is false where the round has no such figure.
type metric struct {
	name string
	unit unit
	of   func(*Result) (v float64, ok bool)
}

// Assertion is one parsed condition on a Result.
type Assertion struct {
	Text        string
	left, right metric // right is empty without a "/"
	op          string
	value       float64
	unit        unit
}

// WantsMore tells whether the assertion asks for so high a count or rate, as qps>=100k does: a lower load fails it by nature.
func (a *Assertion) WantsMore() bool {
	return a.left.unit == countUnit && a.right.of == nil && !strings.HasPrefix(a.op, "<")
}

// AssertionError is a syntax error in an assertion.
type AssertionError struct {
	Text   string
	Column int // of the first wrong character, from 1
	Msg    string
}

// Error is one line: assertion "p99<2mx", column 6: unknown unit "mx", want ns, us, ms, s or m.
func (e *AssertionError) Error() string {
	return fmt.Sprintf("assertion %q, column %d: %s", e.Text, e.Column, e.Msg)
}

// assertParser walks the characters of an assertion.
type assertParser struct {
	text string
	in   []rune
	at   int
}

func (p *assertParser) fail(at int, format string, args ...any) error {
	return &AssertionError{Text: p.text, Column: at + 1, Msg: fmt.Sprintf(format, args...)}
}

func (p *assertParser) space() {
	for p.at < len(p.in) && unicode.IsSpace(p.in[p.at]) {
		p.at++
	}
}

// take returns the longest run of characters that ok accepts, after spaces, and where it starts.
func (p *assertParser) take(ok func(rune) bool) (word string, at int) {
	p.space()
	at = p.at
	for p.at < len(p.in) && ok(p.in[p.at]) {
		p.at++
	}
	return string(p.in[at:p.at]), at
}

// ParseAssertion parses one assertion. The error is an *AssertionError.
func ParseAssertion(text string) (*Assertion, error) {
	p := &assertParser{text: text, in: []rune(text)}
	a := &Assertion{Text: strings.TrimSpace(text)}
	var err error
	if a.left, err = p.metric(); err != nil {
		return nil, err
	}
	a.unit = a.left.unit
	if slash, at := p.take(func(r rune) bool { return r == '/' }); slash == "/" {
		if a.right, err = p.metric(); err != nil {
			return nil, err
		}
		if a.right.unit != a.left.unit {
			return nil, p.fail(at, "%s and %s have different units", a.left.name, a.right.name)
		}
		a.unit = shareUnit
	} else if slash != "" {
		return nil, p.fail(at+1, "want a metric after /")
	}
	op, at := p.take(func(r rune) bool { return strings.ContainsRune("<>=!", r) })
	switch op {
	case "<", "<=", ">", ">=", "==", "!=":
		a.op = op
	default:
		return nil, p.fail(at, "want one of < <= > >= == != here")
	}
	p.space()
	valueAt := p.at
	if a.value, err = p.value(a.unit); err != nil {
		return nil, err
	}
	if a.left.unit == shareUnit && a.right.of == nil && a.value > 1 {
		return nil, p.fail(valueAt, "%s is a share from 0 to 1; in percent it has a %% sign", a.left.name)
	}
	return a, nil
}

// metric parses a name and finds what it means.
func (p *assertParser) metric() (metric, error) {
	name, at := p.take(func(r rune) bool {
		return r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
	})
	if name == "" {
		return metric{}, p.fail(at, "want a metric, such as p99, qps or errors")
	}
	if m, ok := countMetrics[name]; ok {
		m.name = name
		return m, nil
	}
	if m, ok := latencyMetric(name); ok {
		return m, nil
	}
	return metric{}, p.fail(at, "unknown metric %q; there are %s", name, MetricNames)
}

// value parses the number and its unit.
func (p *assertParser) value(u unit) (float64, error) {
	digits, at := p.take(func(r rune) bool { return unicode.IsDigit(r) || r == '.' || r == '-' || r == '+' })
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, p.fail(at, "want a number here")
	}
	word, wordAt := p.take(func(r rune) bool { return unicode.IsLetter(r) || r == '%' || r == 'µ' })
	scale, ok := unitScales[u][word]
	if !ok {
		if word == "" {
			return 0, p.fail(wordAt, "a time needs a unit: %s", unitNames[u])
		}
		return 0, p.fail(wordAt, "unknown unit %q, want %s", word, unitNames[u])
	}
	if p.space(); p.at < len(p.in) {
		return 0, p.fail(p.at, "nothing may follow the value")
	}
	if word == "%" { // exact, where v times 0.01 is not
		return v / 100, nil
	}
	return v * scale, nil
}

var unitNames = map[unit]string{
	timeUnit: "ns, us, ms, s or m", countUnit: "none, k, M or G", shareUnit: "none or %",
}

var unitScales = map[unit]map[string]float64{
	timeUnit:  {"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9},
	countUnit: {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9},
	shareUnit: {"": 1, "%": 0},
}

// MetricNames lists what an assertion may name.
const MetricNames = "qps, requests, ok, errors, conflicts, hits, misses, mismatches, over_range, hit_ratio, error_ratio, " +
	"offered, achieved, late, queue_max, bytes_in, bytes_out, elapsed, min, avg, max and any percentile (p50, p99.9); " +
	"service., response. and connect. before the last four choose the histogram"

func plain(f func(*Result) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) { return f(r), true }
}

func paced(f func(*Pacing) float64) func(*Result) (float64, bool) {
	return func(r *Result) (float64, bool) {
		if r.Pacing == nil {
			return 0, false
		}
		return f(r.Pacing), true
	}
}

var countMetrics = map[string]metric{
	"qps":        {of: plain((*Result).QPS)},
	"requests":   {of: plain(func(r *Result) float64 { return float64(r.Requests) })},
	"ok":         {of: plain(func(r *Result) float64 { return float64(r.OK()) })},
	"errors":     {of: plain(func(r *Result) float64 { return float64(r.ErrorTotal) })},
	"conflicts":  {of: plain(func(r *Result) float64 { return float64(r.Conflicts) })},
	"hits":       {of: plain(func(r *Result) float64 { return float64(r.Hits) })},
	"misses":     {of: plain(func(r *Result) float64 { return float64(r.Misses) })},
	"mismatches": {of: plain(func(r *Result) float64 { return float64(r.Mismatches) })},
	"over_range": {of: plain(func(r *Result) float64 { return float64(r.OverRange) })},
	"bytes_in":   {of: plain(func(r *Result) float64 { return float64(r.BytesIn) })},
	"bytes_out":  {of: plain(func(r *Result) float64 { return float64(r.BytesOut) })},
	"elapsed":    {unit: timeUnit, of: plain(func(r *Result) float64 { return float64(r.Elapsed) })},
	"hit_ratio": {unit: shareUnit, of: func(r *Result) (float64, bool) {
		return r.HitRatio(), r.Hits+r.Misses > 0
	}},
	"error_ratio": {unit: shareUnit, of: func(r *Result) (float64, bool) {
		return ratio(float64(r.ErrorTotal), float64(r.Requests)), r.Requests > 0
	}},
	"offered":   {of: paced(func(p *Pacing) float64 { return p.Offered })},
	"achieved":  {of: paced(func(p *Pacing) float64 { return p.Achieved })},
	"late":      {of: paced(func(p *Pacing) float64 { return float64(p.Late) })},
	"queue_max": {of: paced(func(p *Pacing) float64 { return float64(p.QueueMax) })},
}

// latencyMetric finds min, avg, max and percentiles. Without a prefix they are of the response time in a
// paced round, since there the service time hides what waited, and of the service time in a closed loop.
func latencyMetric(name string) (metric, bool) {
	which, figure, dotted := strings.Cut(name, ".")
	pick, known := histogramNames[which]
	if !dotted || !known {
		pick, figure = histogramNames[""], name
	}
	read := map[string]func(*Histogram) float64{
		"min": func(h *Histogram) float64 { return float64(h.Min()) },
		"avg": (*Histogram).Mean,
		"max": func(h *Histogram) float64 { return float64(h.Max()) },
	}[figure]
	if digits, isP := strings.CutPrefix(figure, "p"); isP && read == nil {
		p, err := strconv.ParseFloat(digits, 64)
		if err != nil || p < 0 || p > 100 || strings.Trim(digits, "0123456789.") != "" {
			return metric{}, false
		}
		read = func(h *Histogram) float64 { return float64(h.Percentile(p)) }
	}
	if read == nil {
		return metric{}, false
	}
	return metric{name: name, unit: timeUnit, of: func(r *Result) (float64, bool) {
		h := pick(r)
		if h == nil || h.Count() == 0 {
			return 0, false
		}
		return read(h), true
	}}, true
}

var histogramNames = map[string]func(*Result) *Histogram{
	"service":  func(r *Result) *Histogram { return r.Latency },
	"response": func(r *Result) *Histogram { return r.Response },
	"connect":  func(r *Result) *Histogram { return r.Connect },
	"": func(r *Result) *Histogram {
		if r.Response != nil {
			return r.Response
		}
		return r.Latency
	},
}

// Outcome is an assertion held against one Result.
type Outcome struct {
	Title     string // of the round
	Assertion string
	Value     string // the figure it was held against; "n/a" where the round has none
	OK        bool
}

// Check holds the assertion against a result. A figure that the round does not have fails: an assertion
// that is never evaluated would pass for the wrong reason.
func (a *Assertion) Check(r *Result) Outcome {
	o := Outcome{Title: r.Title, Assertion: a.Text, Value: "n/a"}
	v, ok := a.left.of(r)
	if ok && a.right.of != nil {
		var d float64
		if d, ok = a.right.of(r); ok {
			ok = d != 0
			v = ratio(v, d)
		}
	}
	if !ok {
		return o
	}
	o.Value = formatUnit(v, a.value, a.unit)
	switch a.op {
	case "<":
		o.OK = v < a.value
	case "<=":
		o.OK = v <= a.value
	case ">":
		o.OK = v > a.value
	case ">=":
		o.OK = v >= a.value
	case "==":
		o.OK = v == a.value
	case "!=":
		o.OK = v != a.value
	}
	return o
}

// formatUnit is a figure with so many decimals that it stands on the same side of the limit as it does in full.
func formatUnit(v, limit float64, u unit) string {
	switch u {
	case timeUnit:
		return besides(v/1e6, limit/1e6, 3) + "ms"
	case shareUnit:
		return besides(v, limit, 4)
	}
	if v == math.Trunc(v) {
		return fmt.Sprintf("%.0f", v)
	}
	return besides(v, limit, 2)
}

func besides(v, limit float64, decimals int) string {
	const most = 12 // what is nearer than that is told by no report
	for ; ; decimals++ {
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		if p, err := strconv.ParseFloat(text, 64); err != nil || decimals == most || cmp.Compare(p, limit) == cmp.Compare(v, limit) {
			return text
		}
	}
}

// CheckAll holds every assertion against every result and reports whether all of them hold.
func CheckAll(assertions []*Assertion, results []*Result) (outcomes []Outcome, ok bool) {
	ok = true
	for _, r := range results {
		for _, a := range assertions {
			o := a.Check(r)
			outcomes = append(outcomes, o)
			ok = ok && o.OK
		}
	}
	return outcomes, ok
}

// AssertionTable writes the table of passes and failures, with a last line that counts them.
func AssertionTable(w io.Writer, outcomes []Outcome) error {
	g := grid{head: []string{"assertion", "test", "result", "value"}, left: 3}
	failed := 0
	for _, o := range outcomes {
		word := "pass"
		if !o.OK {
			word = "FAIL"
			failed++
		}
		g.add(o.Assertion, o.Title, word, o.Value)
	}
	_, err := fmt.Fprintf(w, "%s%d of %d assertions hold\n", g.text(""), len(outcomes)-failed, len(outcomes))
	return err
}
