package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// The outputs of bench.c mode. The line "elapsed(s)=… QPS=… avg(us/op)=…" is bench.c's own; scripts that
// read it keep working. avg(us/op) is elapsed time divided by requests and no latency: with many requests
// in flight it is far smaller than any reply took. The latency line has the time of each reply.

// OK is the number of requests that were answered as they should be: neither an error nor a conflict.
func (r *Result) OK() int64 { return r.Requests - r.ErrorTotal - r.Conflicts }

// writes is what the share of conflicts refers to.
func (r *Result) writes() int64 {
	if reads := r.Hits + r.Misses; r.Mode == "mixed" && reads > 0 {
		return r.Requests - reads
	}
	return r.Requests
}

// benchTitle names mode and commands: "mixed (RSET/RGET)".
func benchTitle(r *Result) string {
	switch r.Mode {
	case "set":
		return fmt.Sprintf("set (%s)", oneLine(r.SetCmd))
	case "get":
		return fmt.Sprintf("get (%s)", oneLine(r.GetCmd))
	case opMode:
		return fmt.Sprintf("%s (%s)", r.Mode, oneLine(r.SetCmd))
	}
	if r.SetCmd == "" && r.GetCmd == "" {
		if len(r.Ops) < 2 { // a mix of one: its figures are those of the whole
			return r.Mode + " (1 command)"
		}
		return fmt.Sprintf("%s (%d commands)", r.Mode, len(r.Ops)) // --mix
	}
	return fmt.Sprintf("%s (%s/%s)", r.Mode, oneLine(r.SetCmd), oneLine(r.GetCmd))
}

// BenchText writes the full report of a bench.c round.
func BenchText(w io.Writer, r *Result) error {
	b := fmt.Appendf(nil, "====== %s ======\n", benchTitle(r))
	b = fmt.Appendf(b, "requests=%d clients=%d threads=%d pipeline=%d keyspace=%d value-size=%d seed=%d%s\n",
		r.Requests, r.Clients, r.Threads, r.Pipeline, r.Keyspace, r.ValueSize, r.Seed, mark(r))
	if r.Prefilled > 0 {
		b = fmt.Appendf(b, "prefilled=%d keys before the measured part\n", r.Prefilled)
	}
	b = appendCounts(b, r)
	b = fmt.Appendf(b, "%s\n", benchLine(r))
	b = append(b, latencyLine("latency(ms)", r.latency())...)
	b = appendResources(b, r)
	b = append(b, opsTable(r)...)
	b = append(b, errorTable(r)...)
	b = append(b, mismatchLines(r)...)
	b = append(b, readWarning(r)...)
	_, err := w.Write(b)
	return err
}

// appendCounts appends what the replies were.
func appendCounts(b []byte, r *Result) []byte {
	b = fmt.Appendf(b, "ok=%d errors=%d conflicts=%d", r.OK(), r.ErrorTotal, r.Conflicts)
	if r.Conflicts > 0 {
		b = fmt.Appendf(b, " (%.2f%% of the writes)", percent(r.Conflicts, r.writes()))
	}
	b = fmt.Appendf(b, " misses=%d", r.Misses)
	if reads := r.Hits + r.Misses; r.Misses > 0 && reads > 0 {
		b = fmt.Appendf(b, " (%.2f%% of the reads)", percent(r.Misses, reads))
	}
	b = fmt.Appendf(b, " mismatches=%d", r.Mismatches)
	if r.Verified > 0 {
		b = fmt.Appendf(b, " verified=%d", r.Verified)
	}
	return append(b, '\n')
}

// benchLine is bench.c's result line.
func benchLine(r *Result) string {
	return fmt.Sprintf("elapsed(s)=%.2f QPS=%.2f avg(us/op)=%.2f", r.Elapsed.Seconds(), r.QPS(), r.MicrosPerOp())
}

// latencyLine is one histogram on one line, in milliseconds.
func latencyLine(name string, h *Histogram) string {
	return fmt.Sprintf("%s: avg=%.3f min=%.3f p50=%.3f p95=%.3f p99=%.3f p99.9=%.3f max=%.3f\n", name,
		h.Mean()/1e6, millis(h.Min()), millis(h.Percentile(50)), millis(h.Percentile(95)),
		millis(h.Percentile(99)), millis(h.Percentile(99.9)), millis(h.Max()))
}

// appendResources appends what the round moved and what it cost the client.
func appendResources(b []byte, r *Result) []byte {
	secs := r.Elapsed.Seconds()
	b = fmt.Appendf(b, "bytes/s: out=%s in=%s\n",
		siBytes(ratio(float64(r.BytesOut), secs)), siBytes(ratio(float64(r.BytesIn), secs)))
	return fmt.Appendf(b, "client CPU: %.3f us/request, %.1f%% of a core (user %.2f s, system %.2f s)\n",
		r.ClientMicros(), r.ClientCore(), r.CPU.User.Seconds(), r.CPU.System.Seconds())
}

// ClientMicros is the client's own CPU time per answered request, in microseconds.
func (r *Result) ClientMicros() float64 {
	return ratio(float64((r.CPU.User+r.CPU.System).Nanoseconds())/1e3, float64(r.Requests))
}

// ClientCore is the client's own CPU time in percent of one core; several loops can exceed 100.
func (r *Result) ClientCore() float64 {
	return 100 * ratio(float64(r.CPU.User+r.CPU.System), float64(r.Elapsed))
}

// opsTable shows each kind of request of a mixed run; empty when there was one kind.
func opsTable(r *Result) string {
	if g := opsGrid(r); g != nil {
		return g.text("  ")
	}
	return ""
}

func opsGrid(r *Result) *grid {
	if len(r.Ops) < 2 {
		return nil
	}
	g := &grid{head: []string{"operation", "requests", "share", "errors", "hits", "misses",
		"avg(ms)", "p50", "p95", "p99", "p99.9", "max"}, left: 1}
	for i := range r.Ops {
		o := &r.Ops[i]
		h := o.Latency
		if h == nil {
			h = NewHistogram()
		}
		row := []string{o.Name, fmt.Sprint(o.Requests), fmt.Sprintf("%.2f%%", percent(o.Requests, r.Requests)),
			fmt.Sprint(o.Errors), fmt.Sprint(o.Hits), fmt.Sprint(o.Misses), fmt.Sprintf("%.3f", h.Mean()/1e6)}
		for _, p := range []float64{50, 95, 99, 99.9, 100} {
			row = append(row, fmt.Sprintf("%.3f", millis(h.Percentile(p))))
		}
		g.add(row...)
	}
	return g
}

// errorTable lists error replies by text; empty when there was none.
func errorTable(r *Result) string {
	if r.ErrorTotal == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "error replies: %d of %d (%.2f%%)\n", r.ErrorTotal, r.Requests, percent(r.ErrorTotal, r.Requests))
	listed := int64(0)
	for _, c := range r.Errors {
		fmt.Fprintf(&b, "  %d x %s\n", c.N, oneLine(c.Text))
		listed += c.N
	}
	if rest := r.ErrorTotal - listed; rest > 0 {
		fmt.Fprintf(&b, "  %d x other texts\n", rest)
	}
	return b.String()
}

// ErrorTable writes the error replies by text, most frequent first, and nothing when there was none. It stands apart from
// the result, whose title it therefore begins with.
func ErrorTable(w io.Writer, r *Result) error {
	table := errorTable(r)
	if table != "" && r.Title != "" {
		table = shortTitle(r.Title) + ": " + table
	}
	_, err := io.WriteString(w, table)
	return err
}

// Faults writes what stands in the full report of bench.c mode and in no other: the table of error replies and the first
// mismatches, where there are any.
func Faults(w io.Writer, r *Result) error {
	if r.ErrorTotal > 0 {
		if err := ErrorTable(w, r); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, mismatchLines(r))
	return err
}

// mismatchLines shows the first replies that were not what the key must hold.
func mismatchLines(r *Result) string {
	var b strings.Builder
	for _, m := range r.Samples {
		fmt.Fprintf(&b, "mismatch: key=%s offset=", oneLine(m.Key))
		switch m.Offset {
		case -1:
			b.WriteString("none (wrong length)")
		case -2:
			b.WriteString("none (no such key)")
		case -3:
			b.WriteString("none (no bulk string)")
		default:
			fmt.Fprint(&b, m.Offset)
		}
		fmt.Fprintf(&b, " expected=%q got=%q\n", m.Expected, m.Got)
	}
	if more := r.Mismatches - int64(len(r.Samples)); more > 0 && len(r.Samples) > 0 {
		fmt.Fprintf(&b, "mismatch: %d more\n", more)
	}
	return b.String()
}

// readWarning says when a read benchmark mostly asked for keys that do not exist.
func readWarning(r *Result) string {
	switch {
	case r.Misses == 0 || r.Misses <= r.Hits:
		return ""
	case r.Hits == 0:
		return fmt.Sprintf("warning: none of the %d reads found its key%s\n", r.Misses, readAdvice(r))
	}
	return fmt.Sprintf("warning: only %.2f%% of the reads found their key%s\n", percent(r.Hits, r.Hits+r.Misses), readAdvice(r))
}

// readAdvice says what the figures are figures of, or, where that is an option, how to read what is there.
func readAdvice(r *Result) string {
	if r.Mode == "" {
		return "; null replies are faster than values"
	}
	return "; --prefill always writes the keyspace first"
}

// BenchQuietLine writes the one line of -q in bench.c mode.
func BenchQuietLine(w io.Writer, r *Result) error {
	h := r.latency()
	_, err := fmt.Fprintf(w, "%s: %s p50(ms)=%.3f p99(ms)=%.3f errors=%d conflicts=%d misses=%d mismatches=%d%s\n",
		benchTitle(r), benchLine(r), millis(h.Percentile(50)), millis(h.Percentile(99)),
		r.ErrorTotal, r.Conflicts, r.Misses, r.Mismatches, mark(r))
	return err
}

// benchColumn is one column of the CSV of bench.c mode.
type benchColumn struct {
	name  string
	value func(*Result) string
}

func intColumn(name string, f func(*Result) int64) benchColumn {
	return benchColumn{name, func(r *Result) string { return fmt.Sprint(f(r)) }}
}

func msColumn(name string, f func(*Histogram) float64) benchColumn {
	return benchColumn{name, func(r *Result) string { return fmt.Sprintf("%.3f", f(r.latency())/1e6) }}
}

func floatColumn(name, format string, f func(*Result) float64) benchColumn {
	return benchColumn{name, func(r *Result) string { return fmt.Sprintf(format, f(r)) }}
}

var benchColumns = []benchColumn{
	{"mode", func(r *Result) string { return r.Mode }},
	{"set_cmd", func(r *Result) string { return r.SetCmd }},
	{"get_cmd", func(r *Result) string { return r.GetCmd }},
	intColumn("requests", func(r *Result) int64 { return r.Requests }),
	intColumn("clients", func(r *Result) int64 { return int64(r.Clients) }),
	intColumn("threads", func(r *Result) int64 { return int64(r.Threads) }),
	intColumn("pipeline", func(r *Result) int64 { return int64(r.Pipeline) }),
	intColumn("keyspace", func(r *Result) int64 { return r.Keyspace }),
	intColumn("value_size", func(r *Result) int64 { return int64(r.ValueSize) }),
	{"seed", func(r *Result) string { return fmt.Sprint(r.Seed) }},
	intColumn("ok", (*Result).OK),
	intColumn("errors", func(r *Result) int64 { return r.ErrorTotal }),
	intColumn("conflicts", func(r *Result) int64 { return r.Conflicts }),
	intColumn("hits", func(r *Result) int64 { return r.Hits }),
	intColumn("misses", func(r *Result) int64 { return r.Misses }),
	intColumn("mismatches", func(r *Result) int64 { return r.Mismatches }),
	floatColumn("elapsed_s", "%.6f", func(r *Result) float64 { return r.Elapsed.Seconds() }),
	floatColumn("qps", "%.2f", (*Result).QPS),
	floatColumn("us_per_op", "%.2f", (*Result).MicrosPerOp),
	msColumn("avg_latency_ms", (*Histogram).Mean),
	msColumn("min_latency_ms", func(h *Histogram) float64 { return float64(h.Min()) }),
	msColumn("p50_latency_ms", func(h *Histogram) float64 { return float64(h.Percentile(50)) }),
	msColumn("p95_latency_ms", func(h *Histogram) float64 { return float64(h.Percentile(95)) }),
	msColumn("p99_latency_ms", func(h *Histogram) float64 { return float64(h.Percentile(99)) }),
	msColumn("p99.9_latency_ms", func(h *Histogram) float64 { return float64(h.Percentile(99.9)) }),
	msColumn("max_latency_ms", func(h *Histogram) float64 { return float64(h.Max()) }),
	intColumn("bytes_out", func(r *Result) int64 { return r.BytesOut }),
	intColumn("bytes_in", func(r *Result) int64 { return r.BytesIn }),
	floatColumn("client_us_per_request", "%.3f", (*Result).ClientMicros),
	floatColumn("client_cpu_percent", "%.1f", (*Result).ClientCore),
	intColumn("interrupted", func(r *Result) int64 { return int64(boolDigit(r.Interrupted)) }),
}

// BenchCSVHeader writes the header line of --csv in bench.c mode.
func BenchCSVHeader(w io.Writer) error {
	var names []string
	for _, c := range benchColumns {
		names = append(names, c.name)
	}
	_, err := w.Write(appendCSV(nil, names...))
	return err
}

// BenchCSVRow writes one round's row of --csv in bench.c mode.
func BenchCSVRow(w io.Writer, r *Result) error {
	var fields []string
	for _, c := range benchColumns {
		v := c.value(r)
		if r.Mode == opMode && slices.Contains(ofAllOps, c.name) {
			v = ""
		}
		fields = append(fields, v)
	}
	_, err := w.Write(appendCSV(nil, fields...))
	return err
}
