package report

import (
	"fmt"
	"html"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Units and small pieces of text that several outputs share. Every output of this package builds its
// bytes first and writes them with one call, so that a reader never sees half a report and the one
// write error is the output's error.

// millis is a duration in ns as milliseconds, the unit of redis-benchmark's tables.
func millis(ns int64) float64 { return float64(ns) / 1e6 }

// ratio is a/b, and 0 where b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// percent is part of whole in percent; 0 of nothing is 0.
func percent(part, whole int64) float64 { return 100 * ratio(float64(part), float64(whole)) }

// oneLine makes a title safe for outputs that are read line by line: control characters and bytes that
// are no UTF-8 appear as Go escapes (\n, \x00), everything else as it is.
func oneLine(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && r != utf8.RuneError && !unicode.IsControl(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsControl(r):
			q := fmt.Sprintf("%q", r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// OneLine is a text from outside (an error reply, a name) as a message may show it: on one line, without the control
// characters that would move the cursor or colour a terminal. They appear as Go escapes.
func OneLine(s string) string { return oneLine(s) }

// runeColumns is how many columns of a terminal a character takes. What is behind firstWide and yet narrow loses nothing
// when it counts as wide.
func runeColumns(r rune) int {
	if r >= firstWide {
		return 2
	}
	return 1
}

// Columns is how many columns a text takes on a terminal, at the most.
func Columns(s string) (n int) {
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// CutColumns is the beginning of a text that fits into so many columns.
func CutColumns(s string, most int) string {
	for at, r := range s {
		if most -= runeColumns(r); most < 0 {
			return s[:at]
		}
	}
	return s
}

// csvQuote is a field in double quotes, inner quotes doubled, on one line.
func csvQuote(s string) string { return `"` + strings.ReplaceAll(oneLine(s), `"`, `""`) + `"` }

// appendCSV appends one record whose fields are all quoted, as redis-benchmark quotes them.
func appendCSV(b []byte, fields ...string) []byte {
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, csvQuote(f)...)
	}
	return append(b, '\n')
}

// siBytes is a size or a rate of bytes with three or four figures: 999 B, 1.23 KB, 45.6 MB.
func siBytes(n float64) string {
	for _, unit := range []string{"B", "KB", "MB", "GB"} {
		// 999.5 would print as 1000 with no decimals.
		if n < 999.5 {
			return fmt.Sprintf("%.*f %s", decimals(n, unit), n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.2f TB", n)
}

// decimals keeps three figures; bytes have none.
func decimals(n float64, unit string) int {
	switch {
	case unit == "B" || n >= 99.95:
		return 0
	case n >= 9.995:
		return 1
	}
	return 2
}

// shortDuration is a duration with three figures and the unit a reader would choose: 950ns, 12.3µs,
// 4.56ms, 7.89s.
func shortDuration(d time.Duration) string {
	n := float64(d)
	if n < 999.5 {
		return fmt.Sprintf("%.0fns", n)
	}
	for _, unit := range []string{"µs", "ms"} {
		if n /= 1e3; n < 999.5 {
			return fmt.Sprintf("%.*f%s", decimals(n, unit), n, unit)
		}
	}
	return fmt.Sprintf("%.*fs", max(decimals(n/1e3, "s"), 1), n/1e3)
}

// escape makes a text safe inside HTML and SVG, on one line.
func escape(s string) string { return html.EscapeString(oneLine(s)) }
