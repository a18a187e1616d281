package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A sweep: one load after the other, and the curve of latency over throughput that they make.

// SweepPoint is one window of a sweep.
type SweepPoint struct {
	Load      float64  `json:"load"`                // offered rate, clients or pipeline depth
	Result    *Result  `json:"result"`              // of the last try
	Holds     *bool    `json:"holds,omitempty"`     // the objective; nil without one
	Tries     int      `json:"tries,omitempty"`     // a failed window is repeated before it is believed
	Objective []string `json:"objective,omitempty"` // the figures it was held against
}

// SweepResult is a finished sweep.
type SweepResult struct {
	Variable    string       `json:"variable"`            // "rate", "clients" or "pipeline"
	Objective   string       `json:"objective,omitempty"` // "p99<2ms"; empty: none
	Points      []SweepPoint `json:"points"`
	Max         float64      `json:"max,omitempty"` // highest load that holds the objective; 0: none does
	Command     []string     `json:"command,omitempty"`
	Interrupted bool         `json:"interrupted"`
	Notes       []string     `json:"notes,omitempty"`
}

// judged is the histogram that an objective is about: response time where the load was paced.
func (p *SweepPoint) judged() *Histogram {
	if h := histogramNames[""](p.Result); h != nil {
		return h
	}
	return NewHistogram()
}

// sorted are the points with a result, by load.
func (s *SweepResult) sorted() []SweepPoint {
	var points []SweepPoint
	for _, p := range s.Points {
		if p.Result != nil && p.Result.Requests > 0 {
			points = append(points, p)
		}
	}
	slices.SortStableFunc(points, func(a, b SweepPoint) int { return cmp.Compare(a.Load, b.Load) })
	return points
}

// Knee is the index in Points of the knee of the curve: the point with the most throughput per mean
// latency (Kleinrock's power), beyond which more load buys mostly waiting. -1 with fewer than three points.
func (s *SweepResult) Knee() int {
	best, power, usable := -1, 0.0, 0
	for i := range s.Points {
		p := &s.Points[i]
		if p.Result == nil || p.Result.Requests == 0 {
			continue
		}
		usable++
		if v := ratio(p.Result.QPS(), p.judged().Mean()); v > power {
			best, power = i, v
		}
	}
	if usable < 3 {
		return -1
	}
	return best
}

// SweepTable writes the curve as a table, the knee and the answer of --find-max below it.
func SweepTable(w io.Writer, s *SweepResult) error {
	g := grid{head: []string{s.Variable, "achieved/s", "of offered", "avg(ms)", "p50", "p99", "p99.9", "max", "errors"}, left: 0}
	if s.Objective != "" {
		g.head = append(g.head, "tries", s.Objective)
		g.tail = 1
	}
	for _, p := range s.sorted() {
		r, h := p.Result, p.judged()
		share := "n/a"
		if r.Pacing != nil {
			share = two(100*ratio(r.Pacing.Achieved, r.Pacing.Offered)) + "%"
		}
		row := []string{plainLoad(p.Load), two(r.QPS()), share, fmt.Sprintf("%.3f", h.Mean()/1e6), threeOr(true, h.Percentile(50)),
			threeOr(true, h.Percentile(99)), threeOr(true, h.Percentile(99.9)), threeOr(true, h.Max()), fmt.Sprint(r.ErrorTotal)}
		if s.Objective != "" {
			row = append(row, fmt.Sprint(max(p.Tries, 1)), holdsWord(p.Holds))
		}
		g.add(row...)
	}
	var b strings.Builder
	b.WriteString(g.text(""))
	b.WriteString(s.summary())
	_, err := io.WriteString(w, b.String())
	return err
}

func holdsWord(holds *bool) string {
	switch {
	case holds == nil:
		return ""
	case *holds:
		return "holds"
	}
	return "FAILS"
}

func plainLoad(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprint(int64(v))
	}
	return two(v)
}

// summary says where the knee is and what was found.
func (s *SweepResult) summary() string {
	var b strings.Builder
	if i := s.Knee(); i >= 0 {
		p := &s.Points[i]
		fmt.Fprintf(&b, "knee: %s %s, %s/s at p99 %s ms (most throughput per mean latency)\n",
			s.Variable, plainLoad(p.Load), two(p.Result.QPS()), threeOr(true, p.judged().Percentile(99)))
	}
	switch {
	case s.Objective != "" && s.Max > 0:
		fmt.Fprintf(&b, "highest %s that holds %s: %s\n", s.Variable, s.Objective, plainLoad(s.Max))
		if !s.bounded() {
			fmt.Fprintf(&b, "note: no higher %s was seen to fail: the limit may be above\n", s.Variable)
		}
	case s.Objective != "":
		fmt.Fprintf(&b, "no %s holds %s\n", s.Variable, s.Objective)
	}
	if s.Interrupted {
		b.WriteString("note: the sweep was interrupted: only what was complete is shown\n")
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	return b.String()
}

// bounded tells whether a load above the highest that holds was measured, and failed.
func (s *SweepResult) bounded() bool {
	return slices.ContainsFunc(s.Points, func(p SweepPoint) bool { return p.Holds != nil && !*p.Holds && p.Load > s.Max })
}

// sweepChart is latency over achieved throughput, knee and objective's limit marked.
func sweepChart(s *SweepResult) *lineChart {
	l := &lineChart{title: "Latency over throughput, by " + s.Variable, xLabel: "achieved requests per second", yLabel: "milliseconds (log)", yLog: true}
	for _, q := range []struct {
		name string
		of   func(*Histogram) int64
	}{
		{"p50", func(h *Histogram) int64 { return h.Percentile(50) }},
		{"p99", func(h *Histogram) int64 { return h.Percentile(99) }},
		{"p99.9", func(h *Histogram) int64 { return h.Percentile(99.9) }},
	} {
		c := curve{name: q.name, dots: true}
		for _, p := range s.sorted() {
			v := millis(q.of(p.judged()))
			c.points = append(c.points, point{p.Result.QPS(), max(v, 1e-6),
				fmt.Sprintf("%s %s, %.0f/s: %s %.3f ms", s.Variable, plainLoad(p.Load), p.Result.QPS(), q.name, v)})
		}
		l.curves = append(l.curves, c)
	}
	if i := s.Knee(); i >= 0 {
		l.events = append(l.events, event{x: s.Points[i].Result.QPS(), label: "knee"})
	}
	return l
}

// SweepSVG writes the curve as a picture of its own, which follows the reader's light or dark scheme.
func SweepSVG(w io.Writer, s *SweepResult) error {
	_, err := io.WriteString(w, sweepChart(s).svg(true))
	return err
}

// SweepHTML writes picture and table as one HTML file.
func SweepHTML(w io.Writer, s *SweepResult) error {
	var list []string
	for line := range strings.Lines(s.summary()) {
		list = append(list, strings.TrimSuffix(line, "\n"))
	}
	g := &grid{head: []string{s.Variable, "achieved/s", "avg ms", "p50", "p95", "p99", "p99.9", "max"}, left: 0}
	var env Environment
	for _, p := range s.sorted() {
		h := p.judged()
		env = p.Result.Env
		cells := latencyCells(h)
		g.add(append([]string{plainLoad(p.Load), two(p.Result.QPS()), cells[0]}, cells[2:]...)...)
	}
	t := textsFor("en")
	return writeHTML(w, "Sweep: "+s.Variable, t, []section{
		{list: list, charts: []drawing{sweepChart(s)}, table: g}, environmentSection(&env, t),
		{head: t.f("repeat"), code: ShellLine(s.Command)},
	})
}

const (
	// SweepSchemaName is the "schema" field of a sweep's result file.
	SweepSchemaName = "respbench/sweep"
	// SweepSchemaVersion is the "version" field of the files that WriteSweepJSON writes.
	SweepSchemaVersion = 1
)

// WriteSweepJSON writes a sweep's result file; its schema is docs/sweep.schema.json.
func WriteSweepJSON(w io.Writer, s *SweepResult) error {
	return writeFile(w, "sweep", struct {
		Schema  string `json:"schema"`
		Version int    `json:"version"`
		*SweepResult
		Knee int `json:"knee"`
	}{SweepSchemaName, SweepSchemaVersion, s, s.Knee()})
}
