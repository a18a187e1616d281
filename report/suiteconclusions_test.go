package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What the report made by hand says of these figures: persistence costs on set, get is stable.
func TestSuiteConclusions(t *testing.T) {
	got := suiteOutput(t, SuiteMarkdown, scriptSuite(t), ReportOptions{})
	for _, want := range []string{
		"- redis, set: the fastest is none (207470.00 QPS).",
		"- redis, set: aof_no costs -30.88% QPS and +44.81% us/op against none.",
		"- redis, set: aof_everysec costs -31.61% QPS and +46.27% us/op against none.",
		"- kvstore, get: no difference between persist_everysec and nopersist: the 95% intervals overlap.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not say: %s", want)
		}
	}
}

// Two rounds have no interval: nothing is claimed of them, neither within a system nor between two.
func TestSuiteConclusionsOfFewRounds(t *testing.T) {
	s := scriptSuite(t)
	eachRound(s, func(_ *System, _ *Strategy, _ string, r *Round) { r.Warmup = r.Number > 2 })
	for _, list := range [][]string{systemConclusions(&s.Systems[0], s.Systems[0].cells(), textsFor("en")),
		systemConclusions(&s.Systems[1], s.Systems[1].cells(), textsFor("en")), crossConclusions(s, textsFor("en"))} {
		if len(list) < 2 {
			t.Errorf("sentences %q", list)
		}
		for _, sentence := range list {
			if !strings.Contains(sentence, ": cannot tell whether ") || !strings.HasSuffix(sentence, ": fewer than 3 rounds.") {
				t.Errorf("claimed of two rounds: %s", sentence)
			}
		}
	}
}

// Two systems are compared at their best persisting strategies, or where neither persists; never one that persists with one
// that does not.
func TestSuiteCrossConclusions(t *testing.T) {
	system := func(name string, persists bool, qps float64) System {
		m := ModeRounds{Mode: "set"}
		for n := range 4 {
			m.Rounds = append(m.Rounds, suiteRound(n+1, qps+float64(n), false))
		}
		return System{Name: name, Strategies: []Strategy{{Name: "x", Persists: persists, Modes: []ModeRounds{m}}}}
	}
	for _, c := range []struct {
		a, b System
		want string
	}{
		{system("a", true, 1000), system("b", true, 2000), "[a against b, set: -49.98% QPS (each at its best persisting strategy: x and x).]"},
		{system("a", false, 1000), system("b", false, 2000), "[a against b, set: -49.98% QPS (x and x).]"},
		{system("a", false, 1000), system("b", false, 1000), "[a against b, set: no difference between x and x: the 95% intervals overlap.]"},
		{system("a", true, 1000), system("b", false, 2000), "[]"},
	} {
		if got := fmt.Sprint(crossConclusions(&SuiteResult{Systems: []System{c.a, c.b}}, textsFor("en"))); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestSuiteBeforeAfter(t *testing.T) {
	before, after := scriptSuite(t), scriptSuite(t)
	for i := range after.Systems[0].Strategies[0].Modes[0].Rounds {
		r := after.Systems[0].Strategies[0].Modes[0].Rounds[i].Result
		r.Elapsed = r.Elapsed * 3 / 4
	}
	before.Parameters = slices.Clone(before.Parameters)
	before.Parameters[3].Value, before.Systems[0].Strategies[1].Modes[0].Rounds = "32", nil
	got := suiteOutput(t, SuiteMarkdown, after, ReportOptions{Before: before})
	for _, want := range []string{
		"- VSIZE is 32 before and 256 after: the change may be that.", "| kvstore | persist_everysec | set | n/a | 133105.75 | n/a |",
		"## Before and after", "| kvstore | persist_no | set | 140206.50 | 186942.00 | +33.33% |",
		"- kvstore persist_no, set: +33.33% QPS.", "- kvstore persist_no, get: no difference: the 95% intervals overlap.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the report does not have: %s", want)
		}
	}
}
