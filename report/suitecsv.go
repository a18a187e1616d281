package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strings"
	"time"
)

// The three CSV files of a suite: a row a round, a row a cell, and a row a cell with its trimmed means.
// Figures are rounded as in the Markdown and HTML reports, so that all files of a suite agree.

// writeCSV writes records by RFC 4180 with one write.
func writeCSV(w io.Writer, records [][]string) error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	for _, r := range records {
		for i := range r {
			r[i] = oneLine(r[i])
		}
		if err := c.Write(r); err != nil {
			return err
		}
	}
	c.Flush()
	_, err := w.Write(b.Bytes())
	return err
}

func two(v float64) string { return fmt.Sprintf("%.2f", v) }

// twoOr is a figure, or "n/a" where the sample is too small for it.
func twoOr(ok bool, v float64) string {
	if !ok {
		return "n/a"
	}
	return two(v)
}

// SuiteDetailCSV writes a row a round: everything that was measured. A failed round has empty figures.
func SuiteDetailCSV(w io.Writer, s *SuiteResult) error {
	head := []string{"system", "version", "strategy", "detail", "round", "status", "attempts", "started"}
	for _, c := range benchColumns {
		head = append(head, c.name)
	}
	records := [][]string{append(head, "prefilled", "verified", "server_cpu_us_per_request", "failures", "notes")}
	for i := range s.Systems {
		sys := &s.Systems[i]
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			for _, m := range st.Modes {
				for k := range m.Rounds {
					records = append(records, detailRow(sys, st, m.Mode, &m.Rounds[k]))
				}
			}
		}
	}
	return writeCSV(w, records)
}

func detailRow(sys *System, st *Strategy, mode string, r *Round) []string {
	attempts := len(r.Failures)
	started := ""
	if r.Result != nil {
		attempts++
		started = r.Result.Started.Format(time.RFC3339Nano)
	}
	row := []string{sys.Name, strings.TrimSpace(sys.Software + " " + sys.Version), st.Name, st.Detail,
		fmt.Sprint(r.Number), r.status(), fmt.Sprint(attempts), started}
	notes, more := r.Notes, make([]string, 3)
	for _, c := range benchColumns {
		switch {
		case c.name == "mode":
			row = append(row, mode)
		case c.name == "seed":
			row = append(row, fmt.Sprint(r.Seed))
		case r.Result == nil:
			row = append(row, "")
		default:
			row = append(row, c.value(r.Result))
		}
	}
	if res := r.Result; res != nil {
		notes = append(notes[:len(notes):len(notes)], res.Notes...)
		more = []string{fmt.Sprint(res.Prefilled), fmt.Sprint(res.Verified),
			threeDecimalsOr(res.Server.CPU > 0, ratio(float64(res.Server.CPU.Nanoseconds())/1e3, float64(res.Requests)))}
	}
	return append(append(row, more...), strings.Join(r.Failures, "; "), strings.Join(notes, "; "))
}

// SuiteSummaryCSV writes a row a cell: means over the rounds, spread and merged latency.
func SuiteSummaryCSV(w io.Writer, s *SuiteResult) error {
	records := [][]string{{"system", "strategy", "detail", "mode", "rounds_ok", "rounds", "round_qps", "mean_qps",
		"mean_us_per_op", "mean_elapsed_s", "median_qps", "sd_qps", "cv_percent", "ci95_low_qps", "ci95_high_qps",
		"min_qps", "max_qps", "overall_qps", "p50_latency_ms", "p99_latency_ms", "p99.9_latency_ms", "max_latency_ms", "warnings"}}
	english := textsFor("en")
	for i := range s.Systems {
		for _, c := range s.Systems[i].cells() {
			q, h := c.qps, c.latency
			some := c.complete()
			records = append(records, []string{c.system.Name, c.strategy.Name, c.strategy.Detail, c.mode,
				fmt.Sprint(q.N), fmt.Sprint(q.N + c.failed), joinTwo(c.values), twoOr(some, q.Mean),
				twoOr(some, c.micros), twoOr(some, c.elapsed), twoOr(some, q.Median), twoOr(q.HasSD, q.SD),
				twoOr(q.HasSD, q.CV()), twoOr(q.HasCI, q.CILow), twoOr(q.HasCI, q.CIHigh), twoOr(some, q.Min), twoOr(some, q.Max), twoOr(some, c.overall),
				threeOr(some, h.Percentile(50)), threeOr(some, h.Percentile(99)), threeOr(some, h.Percentile(99.9)),
				threeOr(some, h.Max()), strings.Join(c.warnings(english), "; ")})
		}
	}
	return writeCSV(w, records)
}

// threeOr is a latency in milliseconds, or "n/a".
func threeOr(ok bool, ns int64) string {
	if !ok {
		return "n/a"
	}
	return fmt.Sprintf("%.3f", millis(ns))
}

func joinTwo(values []float64) string {
	var parts []string
	for _, v := range values {
		parts = append(parts, two(v))
	}
	return strings.Join(parts, " ")
}

// SuiteTrimmedCSV writes a row a cell: the trimmed means, the round that was dropped, and the overhead
// against the system's baseline.
func SuiteTrimmedCSV(w io.Writer, s *SuiteResult) error {
	records := [][]string{{"system", "strategy", "mode", "round_qps", "mean_qps", "mean_us_per_op", "dropped_round", "dropped_qps",
		"trimmed_mean_qps", "trimmed_mean_us_per_op", "rounds_left", "baseline", "qps_change", "us_change"}}
	for i := range s.Systems {
		cells := s.Systems[i].cells()
		for j := range cells {
			c := &cells[j]
			some, cut := c.complete(), c.trim.Dropped >= 0
			qps, us := c.overhead(find(cells, c.system.Baseline, c.mode))
			records = append(records, []string{c.system.Name, c.strategy.Name, c.mode, joinTwo(c.values),
				twoOr(some, c.qps.Mean), twoOr(some, c.micros), c.droppedRound(), twoOr(cut, c.trim.DroppedQPS),
				twoOr(some, c.trim.QPS), twoOr(some, c.trim.MicrosPerOp), fmt.Sprint(c.trim.Left), c.system.Baseline, qps, us})
		}
	}
	return writeCSV(w, records)
}

// droppedRound is the number of the round that was dropped, or "n/a".
func (c *cell) droppedRound() string {
	if c.trim.Dropped < 0 {
		return "n/a"
	}
	return fmt.Sprint(c.numbers[c.trim.Dropped])
}

// overhead is the change of the trimmed means against the baseline's cell, "n/a" without one.
func (c *cell) overhead(base *cell) (qps, micros string) {
	if base == nil || !c.complete() {
		return "n/a", "n/a"
	}
	return ChangeOf(base.trim.QPS, c.trim.QPS).String(), ChangeOf(base.trim.MicrosPerOp, c.trim.MicrosPerOp).String()
}
