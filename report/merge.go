package report

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Merge joins results of the same round taken by several processes or machines, or of several rounds of
// the same test. Counts are added and histograms merged, never averaged: a percentile of the result is a
// percentile of all samples. Elapsed time is the time that any of them ran, so that parts which ran at once
// add up to a higher rate, and parts which ran one after the other do not.
func Merge(results ...*Result) (*Result, error) {
	if len(results) == 0 {
		return nil, errors.New("nothing to merge")
	}
	m := *results[0]
	for _, h := range []**Histogram{&m.Latency, &m.Response, &m.Connect} {
		*h = mergeHistograms(*h, nil)
	}
	m.Ops, m.Errors, m.Redirects = nil, nil, nil
	m.Notes, m.Samples = slices.Clone(m.Notes), slices.Clone(m.Samples)
	m.CPU.Loops = slices.Clone(m.CPU.Loops)
	for i, r := range results {
		if r.Title != m.Title || r.Mode != m.Mode {
			return nil, fmt.Errorf("cannot merge %q with %q: not the same test", oneLine(m.Title), oneLine(r.Title))
		}
		m.Ops = mergeOps(m.Ops, r.Ops)
		m.Errors = mergeCounts(m.Errors, r.Errors)
		m.Redirects = mergeCounts(m.Redirects, r.Redirects)
		if i > 0 {
			m.addFigures(r)
			m.Pacing = mergePacing(m.Pacing, r.Pacing)
		}
	}
	m.Elapsed = covered(results)
	if len(results) > 1 {
		m.addLoad(results)
		m.leaveOut(results)
	}
	return &m, nil
}

// addFigures adds what one more part counted.
func (m *Result) addFigures(r *Result) {
	m.Requests += r.Requests
	m.Asked += r.Asked
	m.ErrorTotal += r.ErrorTotal
	m.Conflicts += r.Conflicts
	m.Hits += r.Hits
	m.Misses += r.Misses
	m.Mismatches += r.Mismatches
	m.Verified += r.Verified
	m.BytesIn += r.BytesIn
	m.BytesOut += r.BytesOut
	m.Prefilled += r.Prefilled
	m.OverRange += r.OverRange
	m.Interrupted = m.Interrupted || r.Interrupted
	m.CPU.User += r.CPU.User
	m.CPU.System += r.CPU.System
	m.CPU.Loops = append(m.CPU.Loops, r.CPU.Loops...)
	m.Samples = append(m.Samples, r.Samples...)
	m.Latency = mergeHistograms(m.Latency, r.Latency)
	m.Response = mergeHistograms(m.Response, r.Response)
	m.Connect = mergeHistograms(m.Connect, r.Connect)
	for _, n := range r.Notes {
		if !slices.Contains(m.Notes, n) {
			m.Notes = append(m.Notes, n)
		}
	}
	if r.Started.Before(m.Started) {
		m.Started = r.Started
	}
}

// leaveOut drops what cannot be merged and says so.
func (m *Result) leaveOut(results []*Result) {
	m.Series, m.Verdict, m.Server.Deltas, m.Server.CPU = nil, nil, nil, 0
	if slices.ContainsFunc(results, func(r *Result) bool { return !reflect.DeepEqual(r.Env, m.Env) }) {
		m.Notes = append(m.Notes, "the merged results come from different environments; the first one's is shown")
	}
	if slices.ContainsFunc(results, func(r *Result) bool { return !sameLoad(r, m) }) {
		m.Notes = append(m.Notes, "the merged results were not taken under the same load; the first one's settings are shown")
	}
	m.Notes = append(m.Notes, fmt.Sprintf(
		"merged from %d results; time series, verdict and server figures cannot be merged and are left out", len(results)))
}

// sameLoad tells whether two results are parts of one measurement, as far as their settings say.
func sameLoad(a, b *Result) bool {
	return loadOf(a) == loadOf(b) && a.Pipeline == b.Pipeline && a.PayloadSize == b.PayloadSize && a.ValueSize == b.ValueSize &&
		a.Keyspace == b.Keyspace && a.KeepAlive == b.KeepAlive
}

// addLoad sets clients and threads to the sum where parts ran at once, and the rates of the schedules to
// what all of them offered over the time covered.
func (m *Result) addLoad(results []*Result) {
	total, offered, achieved := time.Duration(0), 0.0, 0.0
	clients, threads := 0, 0
	for _, r := range results {
		total += r.Elapsed
		clients += r.Clients
		threads += r.Threads
		if r.Pacing != nil {
			offered += r.Pacing.Offered * r.Elapsed.Seconds()
			achieved += r.Pacing.Achieved * r.Elapsed.Seconds()
		}
	}
	if total > m.Elapsed {
		m.Clients, m.Threads = clients, threads
	}
	if m.Pacing != nil {
		m.Pacing.Offered = ratio(offered, m.Elapsed.Seconds())
		m.Pacing.Achieved = ratio(achieved, m.Elapsed.Seconds())
	}
}

// mergeHistograms returns a new histogram of both; nil when neither is there.
func mergeHistograms(a, b *Histogram) *Histogram {
	if a == nil && b == nil {
		return nil
	}
	h := NewHistogram()
	h.Merge(a)
	h.Merge(b)
	return h
}

func mergeOps(into, from []OpResult) []OpResult {
	for _, o := range from {
		i := slices.IndexFunc(into, func(x OpResult) bool { return x.Name == o.Name })
		if i < 0 {
			o.Latency = mergeHistograms(o.Latency, nil)
			into = append(into, o)
			continue
		}
		x := &into[i]
		x.Requests += o.Requests
		x.Errors += o.Errors
		x.Hits += o.Hits
		x.Misses += o.Misses
		x.Latency = mergeHistograms(x.Latency, o.Latency)
	}
	return into
}

// mergeCounts adds by text, most frequent first.
func mergeCounts(into, from []Count) []Count {
	for _, c := range from {
		i := slices.IndexFunc(into, func(x Count) bool { return x.Text == c.Text })
		if i < 0 {
			into = append(into, c)
			continue
		}
		into[i].N += c.N
	}
	slices.SortStableFunc(into, func(a, b Count) int { return cmp.Compare(b.N, a.N) })
	return into
}

// mergePacing adds the counts of two schedules; the rates follow in addLoad.
func mergePacing(a, b *Pacing) *Pacing {
	if a == nil {
		a, b = b, a
	}
	if a == nil {
		return nil
	}
	m := *a
	if b == nil {
		return &m
	}
	m.Due += b.Due
	m.Late += b.Late
	m.MaxLate = max(a.MaxLate, b.MaxLate)
	m.QueueMax += b.QueueMax
	m.Unstarted += b.Unstarted
	m.Lag += b.Lag
	m.MaxLag = max(a.MaxLag, b.MaxLag)
	return &m
}

// covered is the length of the union of the intervals in which the parts ran.
func covered(results []*Result) time.Duration {
	parts := slices.Clone(results)
	slices.SortFunc(parts, func(a, b *Result) int { return a.Started.Compare(b.Started) })
	total, end := time.Duration(0), time.Time{}
	for i, r := range parts {
		from, to := r.Started, r.Started.Add(r.Elapsed)
		if i > 0 && from.Before(end) {
			from = end
		}
		if i == 0 || to.After(end) {
			total += to.Sub(from)
			end = to
		}
	}
	return total
}
