package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// The pictures of the reports: mean QPS with intervals, latency by percentile, rate over time.

// namedChart is a picture with the name of the file that it can be saved in.
type namedChart struct {
	name string
	drawing
}

func chartSection(sys *System, cells []cell, t texts) section {
	var s section
	for _, c := range systemCharts(sys, cells, t) {
		s.charts = append(s.charts, c.drawing)
	}
	return s
}

// systemCharts are all pictures of a system.
func systemCharts(sys *System, cells []cell, t texts) []namedChart {
	charts := []namedChart{{sys.Name + "_qps", throughputChart(sys, cells, t)}}
	for _, mode := range sys.modes() {
		latency := &lineChart{title: t.f("latency chart", sys.Name, mode)}
		rate := &lineChart{title: t.f("rate chart", sys.Name, mode)}
		for i := range cells {
			c := &cells[i]
			if c.mode != mode || !c.complete() {
				continue
			}
			if c.latency.Count() > 0 {
				latency.curves = append(latency.curves, latencyCurve(c.strategy.Name, c.latency))
			}
			if r := c.medianRound(); r != nil && len(r.Result.Series) > 1 {
				addRate(rate, c.strategy.Name, r.Result.Series)
			}
		}
		if len(latency.curves) > 0 {
			charts = append(charts, namedChart{sys.Name + "_" + mode + "_latency", latency.percentiles(t)})
		}
		if len(rate.curves) > 0 {
			rate.xLabel = t.f("seconds axis") + " (" + t.f("rate note") + ")"
			rate.yLabel = t.f("rate axis")
			charts = append(charts, namedChart{sys.Name + "_" + mode + "_rate", rate})
		}
	}
	return charts
}

func throughputChart(sys *System, cells []cell, t texts) *barChart {
	b := &barChart{title: t.f("throughput chart", sys.Name), xLabel: t.f("qps axis"), none: t.f("none complete"), series: sys.modes()}
	for i := range sys.Strategies {
		st := &sys.Strategies[i]
		row := make([]bar, len(b.series))
		for j, mode := range b.series {
			row[j].missing = true
			if c := find(cells, st.Name, mode); c != nil {
				q := c.qps
				row[j] = bar{value: q.Mean, low: q.CILow, high: q.CIHigh, hasCI: q.HasCI, hover: t.f("hover", st.Name, mode, q.Mean)}
				if q.HasCI {
					row[j].hover += t.f("hover ci", q.CILow, q.CIHigh)
				}
			}
		}
		b.groups = append(b.groups, st.Name)
		b.bars = append(b.bars, row)
	}
	return b
}

// medianRound is the round whose QPS is nearest to the median, the one to show when only one can be shown.
func (c *cell) medianRound() *Round {
	var best *Round
	distance := math.Inf(1)
	for i := range c.rounds {
		r := &c.rounds[i]
		if d := math.Abs(r.qpsOrNaN() - c.qps.Median); d < distance {
			best, distance = r, d
		}
	}
	return best
}

func (r *Round) qpsOrNaN() float64 {
	if !r.counts() {
		return math.NaN()
	}
	return printed(r.Result.QPS())
}

// latencyCurve is a histogram by percentile, as far as the samples reach. The place of percentile p is
// 1/(1-p), so that each nine has the same room.
func latencyCurve(name string, h *Histogram) curve {
	c := curve{name: name}
	for p := 0.0; ; p = nextTick(p, 4) {
		x := 100 / (100 - p)
		if x > float64(h.Count()) {
			break
		}
		v := h.Percentile(p)
		c.points = append(c.points, point{x, max(millis(v), 1e-6), fmt.Sprintf("%s p%.5g: %.3f ms", name, p, millis(v))})
	}
	last := point{float64(h.Count()), max(millis(h.Max()), 1e-6), fmt.Sprintf("%s max: %.3f ms", name, millis(h.Max()))}
	c.points = append(c.points, last)
	return c
}

// percentiles sets the axes of a chart of latencyCurves.
func (l *lineChart) percentiles(t texts) *lineChart {
	l.xLabel, l.yLabel = t.f("percentile axis"), t.f("ms axis")
	l.xLog, l.yLog = true, true
	most := 0.0
	for i := range l.curves {
		p := l.curves[i].points
		most = max(most, p[len(p)-1].x)
	}
	l.xTicks = []tick{{2, "50%"}, {10, "90%"}}
	label := "99"
	for x := 100.0; x <= most; x *= 10 {
		l.xTicks = append(l.xTicks, tick{x, label + "%"})
		if label == "99" {
			label += "."
		}
		label += "9"
	}
	return l
}

// ratePoints is how many points a rate curve has at most: more than there are places for would only make
// the file large.
const ratePoints = 240

// thin joins neighbouring steps of a long series: requests add up, the worst p99 stays.
func thin(series []Interval) []Interval {
	group := (len(series) + ratePoints - 1) / ratePoints
	if group < 2 {
		return series
	}
	var out []Interval
	for part := range slices.Chunk(series, group) {
		out = append(out, joined(part))
	}
	return out
}

func joined(part []Interval) Interval {
	j := Interval{At: part[len(part)-1].At}
	for i := range part {
		j.Requests += part[i].Requests
		j.P99 = max(j.P99, part[i].P99)
		j.Events = append(j.Events, part[i].Events...)
	}
	return j
}

// wholeSteps joins the last step with the one before when it is less than half as long: the rate of a sliver of a few
// milliseconds is chance, and would be drawn as a fall or a peak at the end.
func wholeSteps(series []Interval) []Interval {
	n := len(series)
	if n < 2 || 2*(series[n-1].At-series[n-2].At) >= series[0].At {
		return series
	}
	return append(slices.Clone(series[:n-2]), joined(series[n-2:]))
}

// addRate adds a time series and its events.
func addRate(l *lineChart, name string, series []Interval) {
	c := curve{name: name}
	before := time.Duration(0)
	for _, s := range thin(wholeSteps(series)) {
		y := math.NaN()
		if width := (s.At - before).Seconds(); width > 0 {
			y = float64(s.Requests) / width
		}
		at := s.At.Seconds()
		c.points = append(c.points, point{at, y, fmt.Sprintf("%s, %.1f s: %.0f/s, p99 %s", name, at, y, shortDuration(s.P99))})
		for _, e := range s.Events {
			l.events = append(l.events, event{at, e, len(l.curves)})
		}
		before = s.At
	}
	slices.SortStableFunc(l.events, func(a, b event) int { return cmp.Compare(a.x, b.x) })
	l.curves = append(l.curves, c)
}
