package report

import (
	"fmt"
	"io"
	"strings"
)

// Suites and saved results on a terminal: the same sections as in Markdown and HTML, without the pictures.

// SuiteText writes a suite's report as plain text.
func SuiteText(w io.Writer, s *SuiteResult, o ReportOptions) error {
	t := textsFor(o.Lang)
	return writeText(w, suiteTitle(s, t), suiteSections(s, o.Before, t))
}

func writeText(w io.Writer, title string, sections []section) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", oneLine(title))
	for i := range sections {
		s := &sections[i]
		if len(s.text) == 0 && len(s.list) == 0 && s.table == nil && s.code == "" {
			continue
		}
		b.WriteByte('\n')
		if s.head != "" {
			fmt.Fprintf(&b, "%s\n", oneLine(s.head))
		}
		for _, p := range s.text {
			fmt.Fprintf(&b, "  %s\n", oneLine(p))
		}
		if s.table != nil {
			b.WriteString(s.table.text("  "))
		}
		for _, item := range s.list {
			fmt.Fprintf(&b, "  %s\n", oneLine(item))
		}
		if s.code != "" {
			fmt.Fprintf(&b, "  %s\n", oneLine(s.code))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
