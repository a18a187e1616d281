package report

import (
	"fmt"
	"io"
	"unicode/utf8"
)

// The outputs of redis-benchmark 6.2 and later, in its bytes. Where redis-benchmark lies we print the
// truth in the same place: an interrupted round says so, a title cannot break its line or its CSV field,
// and a round without a reply shows zeros and not "-nan".

// interruptedMark follows the figures, or in CSV the title, of a round that did not run to its end.
const interruptedMark = " (interrupted)"

func mark(r *Result) string {
	if r.Interrupted {
		return interruptedMark
	}
	return ""
}

// latency is the service time, never nil.
func (r *Result) latency() *Histogram {
	if r.Latency == nil {
		return NewHistogram()
	}
	return r.Latency
}

// Text writes the full report of one test. The blank line after the whole suite is the caller's.
func Text(w io.Writer, r *Result) error {
	b := fmt.Appendf(nil, "====== %s ======\n", oneLine(r.Title))
	b = fmt.Appendf(b, "  %d requests completed in %.2f seconds%s\n", r.Requests, r.Elapsed.Seconds(), mark(r))
	b = fmt.Appendf(b, "  %d parallel clients\n", r.Clients)
	b = fmt.Appendf(b, "  %d bytes payload\n", r.PayloadSize)
	b = fmt.Appendf(b, "  keep alive: %d\n", boolDigit(r.KeepAlive))
	b = appendServer(b, &r.Server)
	if r.Threaded {
		b = fmt.Appendf(b, "  multi-thread: yes\n  threads: %d\n", r.Threads)
	} else {
		b = append(b, "  multi-thread: no\n"...)
	}
	h := r.latency()
	b = append(b, "\nLatency by percentile distribution:\n"...)
	b = appendRows(b, percentileRows(h, r.Precision))
	b = append(b, "\nCumulative distribution of latencies:\n"...)
	b = appendRows(b, cumulativeRows(h))
	b = fmt.Appendf(b, "\nSummary:\n  throughput summary: %.2f requests per second\n", r.QPS())
	b = append(b, "  latency summary (msec):\n"...)
	b = fmt.Appendf(b, "    %9s %9s %9s %9s %9s %9s\n", "avg", "min", "p50", "p95", "p99", "max")
	b = append(b, "    "...)
	for i, v := range summaryMillis(h) {
		if i > 0 {
			b = append(b, ' ')
		}
		b = fmt.Appendf(b, "%9.3f", v)
	}
	_, err := w.Write(append(b, '\n'))
	return err
}

// appendServer appends what CONFIG GET said of the server or of each node.
func appendServer(b []byte, s *Server) []byte {
	if len(s.Nodes) == 0 {
		if s.HasConfig {
			b = fmt.Appendf(b, "  host configuration \"save\": %s\n", oneLine(s.Save))
			b = fmt.Appendf(b, "  host configuration \"appendonly\": %s\n", oneLine(s.AppendOnly))
		}
		return b
	}
	b = fmt.Appendf(b, "  cluster mode: yes (%d %s)\n", len(s.Nodes), nodeWord(s.Nodes))
	for i, n := range s.Nodes {
		if !n.HasConfig {
			continue
		}
		save := oneLine(n.Save)
		if save == "" {
			save = "NONE"
		}
		b = fmt.Appendf(b, "  node [%d] configuration:\n    save: %s\n    appendonly: %s\n", i, save, oneLine(n.AppendOnly))
	}
	return b
}

// nodeWord names the nodes that get load: redis-benchmark's "masters", unless replicas are among them.
func nodeWord(nodes []ClusterNode) string {
	replicas := 0
	for _, n := range nodes {
		if n.Role == "replica" {
			replicas++
		}
	}
	switch replicas {
	case 0:
		return "masters"
	case len(nodes):
		return "replicas"
	}
	return "nodes"
}

func appendRows(b []byte, rows []distRow) []byte {
	for _, r := range rows {
		b = fmt.Appendf(b, "%3.3f%% <= %.3f milliseconds (cumulative count %d)\n", r.percent, millis(r.bound), r.count)
	}
	return b
}

// summaryMillis are avg, min, p50, p95, p99 and max in milliseconds.
func summaryMillis(h *Histogram) []float64 {
	return []float64{
		h.Mean() / 1e6, millis(h.Min()), millis(h.Percentile(50)),
		millis(h.Percentile(95)), millis(h.Percentile(99)), millis(h.Max()),
	}
}

func boolDigit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// QuietLine writes the one line of -q.
func QuietLine(w io.Writer, r *Result) error {
	_, err := fmt.Fprintf(w, "%s: %.2f requests per second, p50=%.3f msec%s\n",
		oneLine(r.Title), r.QPS(), millis(r.latency().Percentile(50)), mark(r))
	return err
}

// CSVHeader writes the header line of --csv.
func CSVHeader(w io.Writer) error {
	_, err := w.Write(appendCSV(nil, "test", "rps", "avg_latency_ms", "min_latency_ms",
		"p50_latency_ms", "p95_latency_ms", "p99_latency_ms", "max_latency_ms"))
	return err
}

// CSVRow writes one test's row of --csv. An interrupted round says so in its title.
func CSVRow(w io.Writer, r *Result) error {
	fields := []string{r.Title + mark(r), fmt.Sprintf("%.2f", r.QPS())}
	for _, v := range summaryMillis(r.latency()) {
		fields = append(fields, fmt.Sprintf("%.3f", v))
	}
	_, err := w.Write(appendCSV(nil, fields...))
	return err
}

// Progress is the state of a running test between two ticks.
type Progress struct {
	Title        string
	Rate         float64 // answered per second since the last tick
	Overall      float64 // answered per second since the start
	AvgMs        float64 // mean latency since the last tick
	OverallAvgMs float64
}

// ProgressLine blanks the last progress line, which took last columns (0: none), and writes the next one, cut to a
// terminal of the given columns (0: none) so that it can be blanked in its turn. It returns the columns to blank, for the
// next call or for ClearLine.
func ProgressLine(w io.Writer, last, columns int, p Progress) (int, error) {
	line := fmt.Sprintf("%s: rps=%.1f (overall: %.1f) avg_msec=%.3f (overall: %.3f)",
		shortTitle(p.Title), p.Rate, p.Overall, p.AvgMs, p.OverallAvgMs)
	if columns > 0 {
		line = CutColumns(line, columns-2)
	}
	_, err := fmt.Fprintf(w, "%*s\r%s\r", last, " ", line)
	return Columns(line) + 1, err
}

// shortTitle is a title for a line that is drawn over itself: a carriage return does not lead back from the second row
// of a terminal.
func shortTitle(title string) string {
	const most = 60 // characters
	title = oneLine(title)
	for at, n := 0, 0; at < len(title); n++ {
		if n == most {
			return title[:at] + "..."
		}
		_, size := utf8.DecodeRuneInString(title[at:])
		at += size
	}
	return title
}

// ClearLine blanks a progress line of last columns, so that a report can start at the left margin.
func ClearLine(w io.Writer, last int) error {
	_, err := fmt.Fprintf(w, "%*s\r", last, " ")
	return err
}

// IdleLine writes the line of -I: how many connections are open.
func IdleLine(w io.Writer, clients int) error {
	_, err := fmt.Fprintf(w, "clients: %d\r", clients)
	return err
}
