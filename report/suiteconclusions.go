package report

import "slices"

// What the figures of a suite say, by rules: the fastest, the fastest that persists, what each strategy
// costs, and what a rewrite of the server changed. Figures are trimmed means; "no difference" is said where
// the 95 % intervals over all rounds overlap, and nothing is claimed where there are too few rounds.

// systemConclusions are the sentences about one system.
func systemConclusions(sys *System, cells []cell, t texts) []string {
	var say []string
	for _, mode := range sys.modes() {
		best, second := topTwo(cells, mode, false)
		if second == nil {
			continue
		}
		if !slices.ContainsFunc(cells, func(c cell) bool { return c.mode == mode && c.qps.HasCI }) {
			say = append(say, t.f("cannot tell any", sys.Name, mode, IntervalMin))
			continue
		}
		say = append(say, fastestSentence(sys, mode, best, second, t))
		if !best.strategy.Persists {
			say = append(say, persistingSentence(sys, cells, mode, t)...)
		}
		base := find(cells, sys.Baseline, mode)
		for i := range cells {
			if c := &cells[i]; base != nil && c.mode == mode && c.complete() && c.strategy != base.strategy {
				say = append(say, costSentence(sys, c, base, t))
			}
		}
	}
	return say
}

// topTwo are the cells of a mode with the highest trimmed means, only among strategies that persist if so
// asked; nil where there are not so many.
func topTwo(cells []cell, mode string, persists bool) (best, second *cell) {
	for i := range cells {
		c := &cells[i]
		switch {
		case c.mode != mode || !c.complete() || persists && !c.strategy.Persists:
		case best == nil || c.trim.QPS > best.trim.QPS:
			best, second = c, best
		case second == nil || c.trim.QPS > second.trim.QPS:
			second = c
		}
	}
	return best, second
}

func fastestSentence(sys *System, mode string, best, second *cell, t texts) string {
	overlap, ok := best.qps.Overlaps(second.qps)
	switch {
	case !ok:
		return t.f("cannot tell", sys.Name, mode, best.strategy.Name, second.strategy.Name, IntervalMin)
	case overlap:
		return t.f("fastest tie", sys.Name, mode, best.strategy.Name, best.trim.QPS, second.strategy.Name)
	}
	return t.f("fastest", sys.Name, mode, best.strategy.Name, best.trim.QPS)
}

// persistingSentence names the fastest strategy that persists, if any does.
func persistingSentence(sys *System, cells []cell, mode string, t texts) []string {
	best, second := topTwo(cells, mode, true)
	if best == nil {
		return nil
	}
	if second != nil {
		switch overlap, ok := best.qps.Overlaps(second.qps); {
		case !ok:
			return []string{t.f("cannot tell", sys.Name, mode, best.strategy.Name, second.strategy.Name, IntervalMin)}
		case overlap:
			return []string{t.f("persists tie", sys.Name, mode, best.strategy.Name, best.trim.QPS, second.strategy.Name)}
		}
	}
	return []string{t.f("fastest persists", sys.Name, mode, best.strategy.Name, best.trim.QPS)}
}

// costSentence says what a strategy costs against the baseline.
func costSentence(sys *System, c, base *cell, t texts) string {
	name, baseline := c.strategy.Name, base.strategy.Name
	overlap, ok := c.qps.Overlaps(base.qps)
	switch {
	case !ok:
		return t.f("cannot tell", sys.Name, c.mode, name, baseline, IntervalMin)
	case overlap:
		return t.f("no difference", sys.Name, c.mode, name, baseline)
	}
	qps, us := c.overhead(base)
	key := "costs"
	if c.trim.QPS > base.trim.QPS {
		key = "gains"
	}
	return t.f(key, sys.Name, c.mode, name, qps, us, baseline)
}

// crossConclusions compare the first system with each other one, at the fastest persisting strategy of both; where one
// has none, at the fastest of both, if neither persists.
func crossConclusions(s *SuiteResult, t texts) []string {
	var say []string
	if len(s.Systems) < 2 {
		return nil
	}
	first := &s.Systems[0]
	mine := first.cells()
	for i := range s.Systems[1:] {
		other := &s.Systems[i+1]
		theirs := other.cells()
		for _, mode := range first.modes() {
			differ, same := "between", "same between"
			a, _ := topTwo(mine, mode, true)
			b, _ := topTwo(theirs, mode, true)
			if a == nil || b == nil {
				a, _ = topTwo(mine, mode, false)
				b, _ = topTwo(theirs, mode, false)
				differ, same = "between plain", "same between plain"
			}
			if a == nil || b == nil || a.strategy.Persists != b.strategy.Persists {
				continue
			}
			overlap, ok := a.qps.Overlaps(b.qps)
			switch {
			case !ok:
				say = append(say, t.f("between unknown", first.Name, other.Name, mode, IntervalMin))
			case overlap:
				say = append(say, t.f(same, first.Name, other.Name, mode, a.strategy.Name, b.strategy.Name))
			default:
				say = append(say, t.f(differ, first.Name, other.Name, mode,
					ChangeOf(b.trim.QPS, a.trim.QPS).String(), a.strategy.Name, b.strategy.Name))
			}
		}
	}
	return say
}

// beforeAfter compares the cells of two runs. A cell that only one of them has stands there with "n/a".
func beforeAfter(after, before *SuiteResult, t texts) section {
	g := &grid{head: []string{t.f("system"), t.f("strategy"), t.f("mode"), t.f("before") + " QPS", t.f("after") + " QPS", t.f("change")}, left: 3}
	say := otherSettings(after, before, t)
	for i := range after.Systems {
		sys := &after.Systems[i]
		old := systemNamed(before, sys.Name)
		if old == nil {
			continue
		}
		was, now := old.cells(), sys.cells()
		for j := range now {
			c := &now[j]
			b := find(was, c.strategy.Name, c.mode)
			if b == nil || !c.complete() {
				if b != nil || c.complete() {
					g.add(sys.Name, c.strategy.Name, c.mode, trimmedOr(b), trimmedOr(find(now, c.strategy.Name, c.mode)), "n/a")
				}
				continue
			}
			change := ChangeOf(b.trim.QPS, c.trim.QPS).String()
			g.add(sys.Name, c.strategy.Name, c.mode, trimmedOr(b), trimmedOr(c), change)
			if overlap, ok := c.qps.Overlaps(b.qps); ok && overlap {
				say = append(say, t.f("same after", sys.Name, c.strategy.Name, c.mode))
			} else if ok {
				say = append(say, t.f("faster after", sys.Name, c.strategy.Name, c.mode, change))
			}
		}
	}
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("before after"), table: g, list: say}
}

// trimmedOr is a cell's trimmed mean, "n/a" where there is none.
func trimmedOr(c *cell) string {
	if c == nil {
		return "n/a"
	}
	return two(c.trim.QPS)
}

// otherSettings says in what two runs were not measured alike: the change may be that. How many rounds there were, and
// from which seed, is none of it.
func otherSettings(after, before *SuiteResult, t texts) (say []string) {
	differ := func(name, was, now string) {
		if was != now {
			say = append(say, t.f("other setting", name, was, now))
		}
	}
	for _, now := range after.Parameters {
		for _, was := range before.Parameters {
			if was.Name == now.Name && !slices.Contains([]string{"ROUNDS", "RETRIES", "SEED"}, now.Name) {
				differ(now.Name, was.Value, now.Value)
			}
		}
	}
	differ("CPU", before.Env.CPU, after.Env.CPU)
	differ("kernel", before.Env.Kernel, after.Env.Kernel)
	return say
}

func systemNamed(s *SuiteResult, name string) *System {
	for i := range s.Systems {
		if s.Systems[i].Name == name {
			return &s.Systems[i]
		}
	}
	return nil
}
