package report

import "fmt"

// What the replies of a suite were, and what they cost. A rate of misses or of conflicts is a rate of cheaper
// requests: whoever compares strategies must see them side by side.

// repliesSection has a row a cell: figures of all rounds that count, added up.
func repliesSection(sys *System, cells []cell, t texts) section {
	g := &grid{head: []string{t.f("strategy"), t.f("mode"), t.f("requests"), t.f("overall qps"), t.f("miss rate"), t.f("conflict rate"),
		t.f("verified"), t.f("cpu"), t.f("server cpu")}, left: 2}
	for i := range cells {
		c := &cells[i]
		if !c.complete() {
			continue
		}
		var sum Result
		known := true
		for j := range c.rounds {
			if r := &c.rounds[j]; r.counts() {
				sum.addReplies(r.Result)
				known = known && r.Result.Server.CPU > 0
			}
		}
		reads, writes := sum.Hits+sum.Misses, sum.writes()
		if sum.Mode == "get" {
			writes = 0
		}
		g.add(c.strategy.Name, c.mode, fmt.Sprint(sum.Requests), two(c.overall), share(sum.Misses, reads), share(sum.Conflicts, writes),
			share(sum.Verified, reads), fmt.Sprintf("%.3f", sum.ClientMicros()),
			threeDecimalsOr(known, ratio(float64(sum.Server.CPU.Nanoseconds())/1e3, float64(sum.Requests))))
	}
	if len(g.rows) == 0 {
		return section{}
	}
	return section{head: t.f("replies", sys.Name), table: g}
}

// addReplies adds what another round of the same cell counted.
func (m *Result) addReplies(r *Result) {
	m.Mode = r.Mode // set, get or mixed, whatever the suite calls its workload
	m.Requests += r.Requests
	m.Hits += r.Hits
	m.Misses += r.Misses
	m.Conflicts += r.Conflicts
	m.Verified += r.Verified
	m.CPU.User += r.CPU.User
	m.CPU.System += r.CPU.System
	m.Server.CPU += r.Server.CPU
}

// share is a part in percent, "n/a" of nothing.
func share(part, whole int64) string {
	if whole == 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.2f%%", percent(part, whole))
}

func threeDecimalsOr(ok bool, v float64) string {
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.3f", v)
}
