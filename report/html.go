package report

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

// One self-contained HTML file: no script, no font, no request. It opens offline, prints sharp, follows the
// reader's light or dark scheme, and wide tables scroll inside their own box on a phone.

//go:embed page.css
var pageStyle string

// SuiteHTML writes a suite's report as one HTML file.
func SuiteHTML(w io.Writer, s *SuiteResult, o ReportOptions) error {
	t := textsFor(o.Lang)
	return writeHTML(w, suiteTitle(s, t), t, suiteSections(s, o.Before, t))
}

// HTML writes saved results as one HTML file.
func HTML(w io.Writer, results []*Result, o ReportOptions) error {
	t := textsFor(o.Lang)
	return writeHTML(w, t.f("result title"), t, resultSections(results, t))
}

func writeHTML(w io.Writer, title string, t texts, sections []section) error {
	var b strings.Builder
	lang := Languages[t.column]
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n", lang)
	b.WriteString("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	b.WriteString("<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n")
	fmt.Fprintf(&b, "<title>%s</title>\n<style>%s%s</style>\n</head>\n<body>\n<main>\n<h1>%s</h1>\n", escape(title), chartStyle, pageStyle, escape(title))
	for i := range sections {
		writeSection(&b, &sections[i])
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func writeSection(b *strings.Builder, s *section) {
	if len(s.text) == 0 && len(s.list) == 0 && s.table == nil && s.code == "" && len(s.charts) == 0 {
		return
	}
	b.WriteString("<section>\n")
	if s.head != "" {
		fmt.Fprintf(b, "<h2>%s</h2>\n", escape(s.head))
	}
	for _, p := range s.text {
		fmt.Fprintf(b, "<p class=\"warn\">%s</p>\n", escape(p))
	}
	if len(s.charts) > 0 {
		b.WriteString("<div class=\"charts\">\n")
		for _, c := range s.charts {
			fmt.Fprintf(b, "<figure>%s</figure>\n", c.svg(false))
		}
		b.WriteString("</div>\n")
	}
	if s.table != nil {
		writeTable(b, s.table)
	}
	if len(s.list) > 0 {
		b.WriteString("<ul>\n")
		for _, item := range s.list {
			fmt.Fprintf(b, "<li>%s</li>\n", escape(item))
		}
		b.WriteString("</ul>\n")
	}
	if s.code != "" {
		fmt.Fprintf(b, "<pre><code>%s</code></pre>\n", html.EscapeString(s.code))
	}
	b.WriteString("</section>\n")
}

func writeTable(b *strings.Builder, g *grid) {
	b.WriteString("<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>")
	for i, h := range g.head {
		fmt.Fprintf(b, "<th%s>%s</th>", alignment(i, g), escape(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, r := range g.rows {
		b.WriteString("<tr>")
		for i, c := range r {
			fmt.Fprintf(b, "<td%s>%s</td>", alignment(i, g), escape(c))
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody>\n</table></div>\n")
}

func alignment(column int, g *grid) string {
	if g.words(column) {
		return ` class="w"`
	}
	return ""
}
