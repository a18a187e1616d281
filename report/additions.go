package report

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Additions writes what redis-benchmark does not have: the far tail, bytes, the client's own cost, pacing,
// what limited the round, what the server says of itself, and notes. It follows Text or BenchText in a
// full report under our own name, never in -q, --csv or under the name redis-benchmark.
func Additions(w io.Writer, r *Result) error {
	var b strings.Builder
	if r.Mode == "" {
		b.WriteString("\nAdditions:\n")
		b.WriteString(latencyLine("  latency(ms)", r.latency()))
		for line := range strings.Lines(string(appendResources(nil, r))) {
			b.WriteString("  " + line)
		}
		b.WriteString(opsTable(r))
	}
	for _, part := range []func(*Result) string{
		additionalWarning, connectLine, overRangeLine, redirectLines, pacingLines, responseLines, serverLines, verdictLines, noteLines,
	} {
		for line := range strings.Lines(part(r)) {
			if r.Mode == "" {
				b.WriteString("  ")
			}
			b.WriteString(line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// additionalWarning is for redis-benchmark's report; BenchText has it itself.
func additionalWarning(r *Result) string {
	if r.Mode != "" {
		return ""
	}
	return readWarning(r)
}

func connectLine(r *Result) string {
	if r.Connect == nil || r.Connect.Count() == 0 {
		return ""
	}
	return fmt.Sprintf("connections opened: %d; ", r.Connect.Count()) + latencyLine("connect(ms)", r.Connect)
}

func overRangeLine(r *Result) string {
	if r.OverRange == 0 {
		return ""
	}
	return fmt.Sprintf("over range: %d latencies above %v are counted as that\n", r.OverRange, time.Duration(HighestNs).Round(time.Minute))
}

func redirectLines(r *Result) string {
	if len(r.Redirects) == 0 {
		return ""
	}
	var parts []string
	for _, c := range r.Redirects {
		parts = append(parts, fmt.Sprintf("%s %d", oneLine(c.Text), c.N))
	}
	return "retried after: " + strings.Join(parts, ", ") + "\n"
}

// pacingLines are the open loop's account.
func pacingLines(r *Result) string {
	p := r.Pacing
	if p == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "pacing: %s arrivals", p.Arrival)
	if p.Schedule != "" {
		fmt.Fprintf(&b, ", schedule %s", p.Schedule)
	}
	fmt.Fprintf(&b, "; offered %s/s, achieved %s/s (%.2f%%)\n", perSecond(p.Offered), perSecond(p.Achieved), 100*ratio(p.Achieved, p.Offered))
	fmt.Fprintf(&b, "late starts: %d of %d due (%.2f%%), latest %s after its time; at most %d requests queued\n",
		p.Late, p.Due, percent(p.Late, p.Due), shortDuration(p.MaxLate), p.QueueMax)
	if p.Unstarted > 0 {
		fmt.Fprintf(&b, "not begun when the time was up: %d of %d due (%.2f%%)\n", p.Unstarted, p.Due, percent(p.Unstarted, p.Due))
	}
	if p.Lag > 0 {
		fmt.Fprintf(&b, "the client was late itself for %d requests (%.2f%%), at most by %s: its processor was not free\n",
			p.Lag, percent(p.Lag, p.Due), shortDuration(p.MaxLag))
	}
	if p.Resolution != "" {
		fmt.Fprintf(&b, "timing: %s\n", p.Resolution)
	}
	return b.String()
}

// perSecond is a rate; one below 1 keeps its figures.
func perSecond(v float64) string {
	if v < 1 {
		return fmt.Sprintf("%.3g", v)
	}
	return two(v)
}

// responseLines set the two times of a paced round side by side.
func responseLines(r *Result) string {
	if r.Response == nil {
		return ""
	}
	return latencyLine("service time, from write to reply (ms)", r.latency()) +
		latencyLine("response time, from due to reply (ms)", r.Response)
}

// serverLines are the server's own figures of the measured part.
func serverLines(r *Result) string {
	s := &r.Server
	var b strings.Builder
	if s.Software != "" || s.CPU > 0 {
		fmt.Fprintf(&b, "server: %s\n", strings.Join(serverFacts(r), ", "))
	}
	if len(s.Deltas) > 0 {
		b.WriteString("server, by INFO before and after:\n")
		g := grid{head: []string{"field", "change"}, left: 1}
		for _, d := range s.Deltas {
			g.add(d.Name, plainNumber(d.Value))
		}
		_, rows, _ := strings.Cut(g.text("  "), "\n")
		b.WriteString(rows)
	}
	return b.String()
}

func serverFacts(r *Result) []string {
	var facts []string
	if name := strings.TrimSpace(r.Server.Software + " " + r.Server.Version); name != "" {
		facts = append(facts, oneLine(name))
	}
	if cpu := r.Server.CPU; cpu > 0 {
		facts = append(facts, fmt.Sprintf("CPU %.3f us/request, %.1f%% of a core",
			ratio(float64(cpu.Nanoseconds())/1e3, float64(r.Requests)), 100*ratio(float64(cpu), float64(r.Elapsed))))
	}
	return facts
}

// plainNumber is a whole number without decimals and anything else with three.
func plainNumber(v float64) string {
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d", int64(v))
	}
	return fmt.Sprintf("%.3f", v)
}

// verdictLines say what limited the round: "verdict: client-bound (try --threads 2)", and why.
func verdictLines(r *Result) string {
	v := r.Verdict
	if v == nil {
		return ""
	}
	line := "verdict: " + v.Word
	if v.Advice != "" {
		line += " (" + v.Advice + ")"
	}
	if len(v.Reasons) > 0 {
		line += ": " + strings.Join(v.Reasons, "; ")
	}
	return line + "\n"
}

func noteLines(r *Result) string {
	var b strings.Builder
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", oneLine(n))
	}
	return b.String()
}
