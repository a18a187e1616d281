package report

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ReportOptions choose how a report is written.
type ReportOptions struct {
	Lang   string       // one of Languages; empty = English
	Before *SuiteResult // an earlier run to compare with; nil = none
}

// SuiteMarkdown writes a suite's report in Markdown.
func SuiteMarkdown(w io.Writer, s *SuiteResult, o ReportOptions) error {
	t := textsFor(o.Lang)
	return writeMarkdown(w, suiteTitle(s, t), suiteSections(s, o.Before, t))
}

func suiteTitle(s *SuiteResult, t texts) string {
	if s.Title != "" {
		return s.Title
	}
	return t.f("suite title")
}

// Markdown writes saved results in Markdown.
func Markdown(w io.Writer, results []*Result, o ReportOptions) error {
	t := textsFor(o.Lang)
	return writeMarkdown(w, t.f("result title"), resultSections(results, t))
}

// writeMarkdown renders sections; pictures are left to HTML.
func writeMarkdown(w io.Writer, title string, sections []section) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", mdEscape(title))
	for i := range sections {
		s := &sections[i]
		if len(s.text) == 0 && len(s.list) == 0 && s.table == nil && s.code == "" {
			continue
		}
		if s.head != "" {
			fmt.Fprintf(&b, "\n## %s\n", mdEscape(s.head))
		}
		for _, p := range s.text {
			fmt.Fprintf(&b, "\n%s\n", mdEscape(p))
		}
		if s.table != nil {
			b.WriteString("\n" + escapedGrid(s.table).markdown())
		}
		if len(s.list) > 0 {
			b.WriteByte('\n')
			for _, item := range s.list {
				fmt.Fprintf(&b, "- %s\n", mdEscape(item))
			}
		}
		if s.code != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", s.code)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// escapedGrid is a copy whose cells are Markdown; bars are escaped by the table library.
func escapedGrid(g *grid) *grid {
	e := &grid{left: g.left, tail: g.tail}
	for _, h := range g.head {
		e.head = append(e.head, mdEscape(h))
	}
	for _, r := range g.rows {
		var row []string
		for _, c := range r {
			row = append(row, mdEscape(c))
		}
		e.add(row...)
	}
	return e
}

// mdEscape makes a text mean itself in Markdown. An underscore inside a word is no markup there and stays,
// so that names like persist_no can be read in the source too.
func mdEscape(s string) string {
	var b strings.Builder
	previous := ' '
	for i, r := range oneLine(s) {
		next, _ := utf8.DecodeRuneInString(oneLine(s)[i+utf8.RuneLen(r):])
		inWord := isWord(previous) && isWord(next)
		if strings.ContainsRune("\\`*[]<>~", r) || r == '_' && !inWord || i == 0 && strings.ContainsRune("#+-=", r) && !startsFigure(s) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		previous = r
	}
	return b.String()
}

// startsFigure reports whether a text is a signed figure, which is no list item: there is no space.
func startsFigure(s string) bool {
	return len(s) > 1 && (s[0] == '-' || s[0] == '+') && (unicode.IsDigit(rune(s[1])) || s[1] == '-')
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
