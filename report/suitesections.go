package report

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A suite's report as sections. Markdown and HTML are two renderings of the same sections, so they cannot
// disagree; what they say is decided here and in suiteconclusions.go.

// section is one part of a report. Empty parts are not rendered.
type section struct {
	head   string
	text   []string
	list   []string
	table  *grid
	code   string
	charts []drawing
}

// drawing is a picture; standalone ones can be saved as a file of their own.
type drawing interface{ svg(standalone bool) string }

// suiteSections builds the report. before may be nil.
func suiteSections(s, before *SuiteResult, t texts) []section {
	all := []section{suiteHead(s, t)}
	for i := range s.Systems {
		sys := &s.Systems[i]
		cells := sys.cells()
		all = append(all,
			section{head: t.f("conclusions") + t.f("colon") + sys.Name, list: systemConclusions(sys, cells, t)},
			chartSection(sys, cells, t), rawSection(sys, cells, t), trimmedSection(sys, cells, t),
			overheadSection(sys, cells, t), spreadSection(sys, cells, t), latencySection(sys, cells, t), repliesSection(sys, cells, t),
		)
	}
	all = append(all, section{head: t.f("conclusions"), list: crossConclusions(s, t)})
	if before != nil {
		all = append(all, beforeAfter(s, before, t))
	}
	return append(all, failureSection(s, t), warmupSection(s, t), configSection(s, t),
		environmentSection(&s.Env, t), section{head: t.f("repeat"), code: ShellLine(s.Command)},
		section{head: t.f("notes"), list: s.Notes})
}

func suiteHead(s *SuiteResult, t texts) section {
	list := []string{
		t.f("started") + t.f("colon") + s.Started.Format("2006-01-02 15:04:05"),
		t.f("elapsed") + t.f("colon") + s.Elapsed.Round(time.Second).String(),
		t.f("rounds") + t.f("colon") + t.f("rounds of each", s.Rounds),
	}
	var params []string
	for _, p := range s.Parameters {
		params = append(params, p.Name+"="+p.Value)
	}
	if len(params) > 0 {
		list = append(list, t.f("parameters")+t.f("colon")+strings.Join(params, " "))
	}
	var servers []string
	for _, sys := range s.Systems {
		servers = append(servers, sys.described())
	}
	list = append(list, t.f("versions")+t.f("colon")+strings.Join(servers, "; "), t.f("rule", TrimFrom))
	sec := section{list: list}
	if s.Interrupted {
		sec.text = []string{t.f("interrupted")}
	}
	return sec
}

// described is a system with what it says of itself and the commands that were measured.
func (s *System) described() string {
	text := s.Name
	if s.Software != "" {
		text += ": " + strings.TrimSpace(s.Software+" "+s.Version)
	}
	if s.SetCmd != "" && s.GetCmd != "" {
		text += " (" + s.SetCmd + "/" + s.GetCmd + ")"
	}
	return text
}

// label is a strategy as tables show it: "persist_no (incremental, fsync no)".
func (c *cell) label() string {
	if c.strategy.Detail == "" {
		return c.strategy.Name
	}
	return c.strategy.Name + " (" + c.strategy.Detail + ")"
}

// rawSection has every round: its QPS as printed, or what became of it.
func rawSection(sys *System, cells []cell, t texts) section {
	numbers := roundNumbers(cells)
	g := &grid{head: []string{t.f("strategy"), t.f("mode")}, left: 2}
	for _, n := range numbers {
		g.head = append(g.head, fmt.Sprintf("Round%d", n))
	}
	g.head = append(g.head, t.f("mean qps"), t.f("mean us"), t.f("mean elapsed"))
	for i := range cells {
		c := &cells[i]
		row := append([]string{c.label(), c.mode}, make([]string, len(numbers))...)
		for j := range c.rounds {
			if r := &c.rounds[j]; !r.Warmup {
				at, _ := slices.BinarySearch(numbers, r.Number)
				row[2+at] = roundCell(r, t)
			}
		}
		some := c.complete()
		g.add(append(row, twoOr(some, c.qps.Mean), twoOr(some, c.micros), twoOr(some, c.elapsed))...)
	}
	return section{head: t.f("raw", sys.Name), table: g}
}

// roundNumbers are the numbers that any cell has a counted round of, in order: a run that was interrupted while it went
// on with another has gaps.
func roundNumbers(cells []cell) []int {
	var numbers []int
	for i := range cells {
		for _, r := range cells[i].rounds {
			if !r.Warmup {
				numbers = append(numbers, r.Number)
			}
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

func roundCell(r *Round, t texts) string {
	switch {
	case r.Result == nil:
		return t.f("failed")
	case r.Result.Interrupted:
		return t.f("interrupted round")
	}
	return two(r.Result.QPS())
}

func trimmedSection(sys *System, cells []cell, t texts) section {
	g := &grid{head: []string{t.f("strategy"), t.f("mode"), t.f("dropped round"), t.f("dropped qps"),
		t.f("left"), t.f("trimmed qps"), t.f("trimmed us")}, left: 2}
	for i := range cells {
		c := &cells[i]
		cut, some := c.trim.Dropped >= 0, c.complete()
		dropped := c.droppedRound()
		if !cut {
			dropped = t.f("not trimmed")
		}
		g.add(c.strategy.Name, c.mode, dropped, twoOr(cut, c.trim.DroppedQPS), fmt.Sprint(c.trim.Left),
			twoOr(some, c.trim.QPS), twoOr(some, c.trim.MicrosPerOp))
	}
	return section{head: t.f("trimmed", sys.Name), table: g}
}

// overheadSection is the table of costs: a row a strategy, two columns a mode.
func overheadSection(sys *System, cells []cell, t texts) section {
	modes := sys.modes()
	g := &grid{head: []string{t.f("strategy")}, left: 1}
	for _, m := range modes {
		g.head = append(g.head, t.f("qps change", m), t.f("us change", m))
	}
	known := false
	for i := range sys.Strategies {
		name := sys.Strategies[i].Name
		if name == sys.Baseline {
			continue
		}
		row := []string{name}
		for _, m := range modes {
			base := find(cells, sys.Baseline, m)
			known = known || base != nil
			qps, us := "n/a", "n/a"
			if c := find(cells, name, m); c != nil {
				qps, us = c.overhead(base)
			}
			row = append(row, qps, us)
		}
		g.add(row...)
	}
	if !known || len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("overhead", sys.Name, sys.Baseline), table: g}
}

func spreadSection(sys *System, cells []cell, t texts) section {
	g := &grid{head: []string{t.f("strategy"), t.f("mode"), t.f("rounds ok"), t.f("median"), t.f("sd"), "CV",
		t.f("ci"), t.f("warning")}, left: 2, tail: 1}
	for i := range cells {
		c := &cells[i]
		q := c.qps
		ci, cv := "n/a", "n/a"
		if q.HasCI {
			ci = two(q.CILow) + " – " + two(q.CIHigh)
		}
		if q.HasSD {
			cv = two(q.CV()) + "%"
		}
		g.add(c.strategy.Name, c.mode, t.f("of", q.N, q.N+c.failed), twoOr(c.complete(), q.Median),
			twoOr(q.HasSD, q.SD), cv, ci, strings.Join(c.warnings(t), "; "))
	}
	return section{head: t.f("spread", sys.Name), table: g}
}

// warnings say how far the mean of a cell can be trusted.
func (c *cell) warnings(t texts) []string {
	var w []string
	if c.failed > 0 {
		w = append(w, t.f("some fail", c.failed, c.failed+c.qps.N))
	}
	if c.complete() && !c.qps.HasCI {
		w = append(w, t.f("few", IntervalMin))
	}
	if c.qps.Scatters() {
		w = append(w, t.f("scatters", c.qps.CV()))
	}
	for _, i := range c.qps.OutlierIndexes {
		w = append(w, t.f("outlier", c.numbers[i], c.values[i]))
	}
	return w
}

func latencySection(sys *System, cells []cell, t texts) section {
	g := &grid{head: []string{t.f("strategy"), t.f("mode"), t.f("avg"), t.f("min"), "p50", "p95", "p99", "p99.9", t.f("max")}, left: 2}
	for i := range cells {
		c := &cells[i]
		if c.latency.Count() > 0 {
			g.add(append([]string{c.strategy.Name, c.mode}, latencyCells(c.latency)...)...)
		}
	}
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("latency", sys.Name), table: g}
}

// latencyCells are avg, min, p50, p95, p99, p99.9 and max in milliseconds.
func latencyCells(h *Histogram) []string {
	cells := []string{fmt.Sprintf("%.3f", h.Mean()/1e6), threeOr(true, h.Min())}
	for _, p := range []float64{50, 95, 99, 99.9, 100} {
		cells = append(cells, threeOr(true, h.Percentile(p)))
	}
	return cells
}

// eachRound calls f for every round of a suite.
func eachRound(s *SuiteResult, f func(sys *System, st *Strategy, mode string, r *Round)) {
	for i := range s.Systems {
		sys := &s.Systems[i]
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			for _, m := range st.Modes {
				for k := range m.Rounds {
					f(sys, st, m.Mode, &m.Rounds[k])
				}
			}
		}
	}
}

func failureSection(s *SuiteResult, t texts) section {
	g := &grid{head: []string{t.f("system"), t.f("strategy"), t.f("mode"), t.f("round"), t.f("status"), t.f("attempts"), t.f("why")}, left: 3, tail: 1}
	eachRound(s, func(sys *System, st *Strategy, mode string, r *Round) {
		if len(r.Failures) == 0 && r.Result != nil {
			return
		}
		status := t.f("ok")
		if r.Result == nil {
			status = t.f("failed")
		}
		number := fmt.Sprint(r.Number)
		if r.Warmup {
			number = t.f("warm-up", r.Number)
		}
		g.add(sys.Name, st.Name, mode, number, status, fmt.Sprint(len(r.Failures)), strings.Join(r.Failures, "; "))
	})
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("failures"), table: g}
}

func warmupSection(s *SuiteResult, t texts) section {
	g := &grid{head: []string{t.f("system"), t.f("strategy"), t.f("mode"), t.f("round"), "QPS"}, left: 3}
	eachRound(s, func(sys *System, st *Strategy, mode string, r *Round) {
		if r.Warmup {
			g.add(sys.Name, st.Name, mode, fmt.Sprint(r.Number), roundCell(r, t))
		}
	})
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("warmups"), table: g}
}

func configSection(s *SuiteResult, t texts) section {
	g := &grid{head: []string{t.f("system"), t.f("strategy"), t.f("setting"), t.f("value")}, left: 4}
	for _, sys := range s.Systems {
		for _, st := range sys.Strategies {
			for _, p := range st.Config {
				g.add(sys.Name, st.Name, p.Name, fmt.Sprintf("%q", p.Value))
			}
		}
	}
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("configs"), table: g}
}

func environmentSection(e *Environment, t texts) section {
	var list []string
	add := func(name, value string) {
		if value != "" {
			list = append(list, name+": "+value)
		}
	}
	add("respbench", strings.TrimPrefix(e.Tool, "respbench "))
	add("Go", e.Go)
	add("OS", e.OS)
	add("kernel", e.Kernel)
	if cpu := e.CPU; cpu != "" || e.Cores > 0 {
		add("CPU", strings.TrimSpace(fmt.Sprintf("%s, %d logical", cpu, e.Cores)))
	}
	add("governor", e.Governor)
	add("congestion control", e.Congestion)
	add("mitigations", strings.Join(e.Mitigations, "; "))
	add("engine", e.Engine)
	return section{head: t.f("environment"), list: list}
}

// ShellLine joins arguments so that a shell reads them back.
func ShellLine(args []string) string {
	var quoted []string
	for _, a := range args {
		if a == "" || strings.ContainsFunc(a, func(r rune) bool { return !strings.ContainsRune(shellSafe, r) }) {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		quoted = append(quoted, a)
	}
	return strings.Join(quoted, " ")
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"
