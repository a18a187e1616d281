package report

import (
	"strings"
	"testing"
	"time"
)

func part(start, elapsed time.Duration, requests int64, ns int64) *Result {
	h := NewHistogram()
	h.RecordN(ns, requests)
	return &Result{
		Title: "SET", Started: time.Unix(1000, 0).Add(start), Elapsed: elapsed, Requests: requests,
		Clients: 50, Threads: 1, Latency: h, Pacing: &Pacing{Offered: 1000, Achieved: 900, Due: requests, Unstarted: 3, Lag: 2, MaxLag: time.Second},
	}
}

// Two rounds of 10000 requests in 1 s and in 4 s: the mean of the rates is 6250, but overall it is 4000.
func TestMergeOfRoundsInTurn(t *testing.T) {
	m, err := Merge(part(0, time.Second, 10000, 1000), part(10*time.Second, 4*time.Second, 10000, 3000))
	if err != nil {
		t.Fatal(err)
	}
	if m.QPS() != 4000 || m.Clients != 50 || m.Pacing.Offered != 1000 || m.Pacing.Due != 20000 || m.Pacing.Unstarted != 6 || m.Pacing.Lag != 4 || m.Pacing.MaxLag != time.Second {
		t.Errorf("qps %v clients %d pacing %+v", m.QPS(), m.Clients, *m.Pacing)
	}
	if m.Latency.Count() != 20000 || m.Latency.Mean() != 2000 || m.Latency.Percentile(50) != 1000 || m.Latency.Percentile(51) < 2999 {
		t.Errorf("latency count %d mean %v", m.Latency.Count(), m.Latency.Mean())
	}
}

func TestMergeOfPartsAtOnce(t *testing.T) {
	a, b := part(0, 4*time.Second, 10000, 1000), part(time.Second, 4*time.Second, 10000, 3000)
	a.Errors, b.Errors = []Count{{"ERR a", 5}, {"ERR b", 3}}, []Count{{"ERR b", 4}}
	a.ErrorTotal, b.ErrorTotal = 8, 4
	a.Ops = []OpResult{{Name: "SET", Requests: 10000, Latency: a.Latency}}
	b.Ops = []OpResult{{Name: "SET", Requests: 6000, Latency: b.Latency}, {Name: "GET", Requests: 4000}}
	a.Series = []Interval{{At: time.Second}}
	m, err := Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if m.Elapsed != 5*time.Second || m.Clients != 100 || m.Threads != 2 || m.Pacing.Offered != 1600 {
		t.Errorf("elapsed %v clients %d threads %d offered %v", m.Elapsed, m.Clients, m.Threads, m.Pacing.Offered)
	}
	if len(m.Errors) != 2 || m.Errors[0] != (Count{"ERR b", 7}) || m.ErrorTotal != 12 {
		t.Errorf("errors %v", m.Errors)
	}
	if len(m.Ops) != 2 || m.Ops[0].Requests != 16000 || m.Ops[0].Latency.Count() != 20000 || m.Ops[1].Name != "GET" {
		t.Errorf("ops %+v", m.Ops)
	}
	if m.Series != nil || !strings.Contains(strings.Join(m.Notes, "\n"), "time series") {
		t.Errorf("series %v notes %v", m.Series, m.Notes)
	}
	if a.Latency.Count() != 10000 || a.Pacing.Due != 10000 || len(a.Errors) != 2 || a.Ops[0].Requests != 10000 {
		t.Errorf("Merge changed its argument")
	}
}

// Parts under different loads are merged as asked, but not in silence.
func TestMergeOfUnlikeLoads(t *testing.T) {
	for name, change := range map[string]func(*Result){
		"": func(*Result) {}, "pipeline": func(r *Result) { r.Pipeline = 16 }, "closed": func(r *Result) { r.Pacing = nil },
		"value": func(r *Result) { r.ValueSize = 9 },
	} {
		a, b := part(0, time.Second, 10, 1000), part(0, time.Second, 10, 1000)
		change(b)
		for _, pair := range [][]*Result{{a, b}, {b, a}} {
			m, err := Merge(pair...)
			if told := err == nil && strings.Contains(strings.Join(m.Notes, "\n"), "not taken under the same load"); told != (name != "") {
				t.Errorf("%q: %v, notes %q", name, err, m.Notes)
			}
		}
	}
}

func TestMergeErrors(t *testing.T) {
	if _, err := Merge(); err == nil || err.Error() != "nothing to merge" {
		t.Errorf("error %v", err)
	}
	other := part(0, time.Second, 1, 1)
	other.Title = "GET"
	if _, err := Merge(part(0, time.Second, 1, 1), other); err == nil || err.Error() != `cannot merge "SET" with "GET": not the same test` {
		t.Errorf("error %v", err)
	}
	one := part(0, time.Second, 7, 1)
	if m, err := Merge(one); err != nil || m.Requests != 7 || len(m.Notes) != 0 {
		t.Errorf("merge of one: %+v, %v", m, err)
	}
}
