package runner

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"respbench/report"
)

// live draws the running figures in place: a block of lines on a terminal, each wiped and written anew.
// The rate is that of the last quarter of a second, the latencies are those of the newest interval.
type live struct {
	w     io.Writer
	width func() int
	f     *figures
	r     *round

	drawn int   // lines on the screen
	done  int64 // at the last drawing
	at    time.Duration
}

func (l *live) draw(done int64, _, elapsed time.Duration) {
	v := l.f.view()
	rows := l.head(done, elapsed)
	now := perSecond(done-l.done, elapsed-l.at)
	l.done, l.at = done, elapsed
	rows = append(rows,
		fmt.Sprintf("          %12s %10s %10s %10s %10s %9s", "requests/s", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "errors"),
		liveRow("now", now, v.lasted > 0, v.last.Errors, v.last.Requests, v.last.P50, v.last.P99, v.last.P999, v.last.Max),
		liveRow("in all", perSecond(done, elapsed), v.lasted > 0, v.sum.errors, v.sum.requests, v.p50, v.p99, v.p999, v.max))
	l.write(rows)
}

// head says what runs and how far it is.
func (l *live) head(done int64, elapsed time.Duration) []string {
	text := fmt.Sprintf("%s: %.1f s, %d", printable(l.r.plan.Title), elapsed.Seconds(), done)
	switch limit := l.r.load.Warmup + l.r.timeLimit(); {
	case l.r.load.bounded():
		text += fmt.Sprintf(" of %d requests (%.1f%%)", l.r.load.Requests, 100*float64(done)/float64(l.r.load.Requests))
	default:
		text += fmt.Sprintf(" requests in %.0f%% of %v", 100*min(portion(elapsed, limit), 1), limit)
	}
	if elapsed < l.r.load.Warmup {
		text += ", warming up"
	}
	return []string{text}
}

// liveRow has a dash for what is not known: everything but the rate before the first interval has ended, and the latencies
// where no reply came.
func liveRow(name string, rate float64, known bool, errors, replies int64, latencies ...time.Duration) string {
	row := fmt.Sprintf("  %-8s%12.0f", name, rate)
	for _, d := range latencies {
		text := "-"
		if known && replies > 0 {
			text = fmt.Sprintf("%.3f", d.Seconds()*1e3)
		}
		row += fmt.Sprintf(" %10s", text)
	}
	if !known {
		return row + fmt.Sprintf(" %9s", "-")
	}
	return row + fmt.Sprintf(" %9d", errors)
}

// write replaces the block on the screen. Lines are cut to the terminal's width: a line that wraps
// would be two the next time.
func (l *live) write(rows []string) {
	var b strings.Builder
	if l.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", l.drawn)
	}
	width := l.width()
	for _, row := range rows {
		b.WriteString("\r" + report.CutColumns(row, max(width-1, 1)) + "\x1b[K\n")
	}
	l.drawn = len(rows)
	_, _ = io.WriteString(l.w, b.String()) // a terminal that is gone does not end the run
}

// printable is a title without what would move the cursor.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}

// wipe removes the block, so that the report stands where it was.
func (l *live) wipe() {
	if l.drawn > 0 {
		fmt.Fprintf(l.w, "\x1b[%dA\r\x1b[J", l.drawn)
		l.drawn = 0
	}
}
