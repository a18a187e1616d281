package report

import (
	"fmt"
	"strings"
)

// Saved results as sections, for Markdown and HTML.

func resultSections(results []*Result, t texts) []section {
	if len(results) == 0 {
		return nil
	}
	all := []section{summarySection(results, t), latencyTable(results, t), resultCharts(results, t), verdictSection(results, t)}
	for _, r := range results {
		all = append(all, opsSection(r), errorsSection(r, t))
	}
	first := results[0]
	return append(all, environmentSection(&first.Env, t),
		section{head: t.f("repeat"), code: ShellLine(first.Command)}, notesSection(results, t))
}

// name is the title of a result, with its commands in bench.c mode.
func (r *Result) name() string {
	if r.Mode != "" {
		return benchTitle(r) + mark(r)
	}
	return r.Title + mark(r)
}

func summarySection(results []*Result, t texts) section {
	g := &grid{head: []string{t.f("test"), t.f("clients"), t.f("pipeline"), t.f("requests"), t.f("errors"), "QPS", "us/op", "elapsed(s)", t.f("cpu")}, left: 1}
	for _, r := range results {
		g.add(r.name(), fmt.Sprint(r.Clients), fmt.Sprint(r.Pipeline), fmt.Sprint(r.Requests), fmt.Sprint(r.ErrorTotal),
			two(r.QPS()), two(r.MicrosPerOp()), two(r.Elapsed.Seconds()), fmt.Sprintf("%.3f", r.ClientMicros()))
	}
	return section{head: t.f("summary"), table: g}
}

func latencyTable(results []*Result, t texts) section {
	g := &grid{head: []string{t.f("test"), t.f("avg"), t.f("min"), "p50", "p95", "p99", "p99.9", t.f("max")}, left: 1}
	for _, r := range results {
		if r.Response == nil {
			g.add(append([]string{r.name()}, latencyCells(r.latency())...)...)
			continue
		}
		g.add(append([]string{t.f("service", r.name())}, latencyCells(r.latency())...)...)
		g.add(append([]string{t.f("response", r.name())}, latencyCells(r.Response)...)...)
	}
	return section{head: t.f("latency table"), table: g}
}

func resultCharts(results []*Result, t texts) section {
	var s section
	for _, r := range results {
		if r.latency().Count() > 0 {
			l := &lineChart{title: t.f("latency of", shorten(r.name(), 40))}
			if r.Response != nil && r.Response.Count() > 0 {
				l.curves = []curve{latencyCurve(t.f("service", ""), r.latency()), latencyCurve(t.f("response", ""), r.Response)}
				l.curves[0].name, l.curves[1].name = strings.Trim(l.curves[0].name, ":： "), strings.Trim(l.curves[1].name, ":： ")
			} else {
				l.curves = []curve{latencyCurve(r.name(), r.latency())}
			}
			s.charts = append(s.charts, l.percentiles(t))
		}
		if len(r.Series) > 1 {
			l := &lineChart{title: t.f("rate of", shorten(r.name(), 40)), xLabel: t.f("seconds axis"), yLabel: t.f("rate axis")}
			addRate(l, r.name(), r.Series)
			s.charts = append(s.charts, l)
		}
	}
	return s
}

func verdictSection(results []*Result, t texts) section {
	var list []string
	for _, r := range results {
		for line := range strings.Lines(verdictLines(r) + pacingLines(r)) {
			list = append(list, r.name()+": "+strings.TrimSuffix(line, "\n"))
		}
	}
	return section{head: t.f("verdict"), list: list}
}

func opsSection(r *Result) section {
	g := opsGrid(r)
	if g == nil {
		return section{}
	}
	return section{head: r.name(), table: g}
}

func errorsSection(r *Result, t texts) section {
	var list []string
	for _, c := range r.Errors {
		list = append(list, fmt.Sprintf("%d × %s", c.N, c.Text))
	}
	for line := range strings.Lines(mismatchLines(r)) {
		list = append(list, strings.TrimSuffix(line, "\n"))
	}
	return section{head: r.name() + ": " + t.f("errors"), list: list}
}

func notesSection(results []*Result, t texts) section {
	var list []string
	for _, r := range results {
		for _, n := range r.Notes {
			list = append(list, r.name()+": "+n)
		}
	}
	return section{head: t.f("notes"), list: list}
}
