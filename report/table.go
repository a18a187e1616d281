package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// grid is a table of finished cells. The first left columns and the last tail columns are words, aligned
// left; the others are figures, aligned right. Terminal, Markdown and HTML all come from the same grid, so that they cannot
// show different figures.
type grid struct {
	head []string
	left int
	tail int
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// words reports whether column i holds words.
func (g *grid) words(i int) bool { return i < g.left || i >= len(g.head)-g.tail }

// writer hands the cells to the table library.
func (g *grid) writer() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(libraryRow(g.head))
	configs := make([]table.ColumnConfig, len(g.head))
	for i := range g.head {
		align := text.AlignRight
		if g.words(i) {
			align = text.AlignLeft
		}
		configs[i] = table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align}
	}
	t.SetColumnConfigs(configs)
	for _, r := range g.rows {
		t.AppendRow(libraryRow(r))
	}
	style := table.StyleDefault
	style.Format.Header = text.FormatDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	return t
}

func libraryRow(cells []string) table.Row {
	row := make(table.Row, len(cells))
	for i, c := range cells {
		row[i] = oneLine(c)
	}
	return row
}

// text is the table for a terminal: columns two spaces apart, no rules, each line after indent.
func (g *grid) text(indent string) string {
	var b strings.Builder
	for line := range strings.Lines(g.writer().Render()) {
		b.WriteString(strings.TrimRight(indent+line, " \n") + "\n")
	}
	return b.String()
}

// markdown is the table as GitHub reads it, bars and line ends in cells escaped.
func (g *grid) markdown() string { return g.writer().RenderMarkdown() + "\n" }
