package report

import "fmt"

// bar is one value with its confidence interval.
type bar struct {
	missing bool // failed or not measured: a gap with a word, never a bar of 0
	value   float64
	low     float64
	high    float64
	hasCI   bool
	hover   string
}

// barChart shows groups (strategies) of bars (modes) from left to right, so that long names fit.
type barChart struct {
	title  string
	xLabel string
	none   string // word for a missing bar
	series []string
	groups []string
	bars   [][]bar // by group, then by series
}

const (
	barThick  = 17.0
	groupGap  = 12.0
	valueGap  = 58.0 // right of the longest bar, for its figure
	nameMin   = 40.0 // a few wide letters need more than their count says
	nameMax   = 150.0
	nameChars = 22 // that fit into nameMax
)

// svg draws the chart.
func (b *barChart) svg(standalone bool) string {
	c := &canvas{}
	c.text(0, 16, "t", "start", b.title)
	y := 26.0
	if len(b.series) > 1 {
		y += c.legend(y, b.series, func(x, top float64, i int) {
			fmt.Fprintf(&c.b, `<rect x="%.1f" y="%.1f" width="12" height="12" rx="2" class="f%d"/>`, x, top, i%seriesColours)
		})
	}
	y += 6
	names := nameMin
	for _, g := range b.groups {
		names = max(names, textWidth(g))
	}
	names = min(names, nameMax) + 8
	bottom := y + float64(len(b.groups))*(float64(len(b.series))*barThick+groupGap)
	x := axis{from: names, to: chartWidth - valueGap}
	ticks := niceTicks(b.high(), 5)
	x.max = ticks[len(ticks)-1]
	for _, t := range ticks {
		c.line(x.at(t), y, x.at(t), bottom, "g")
		c.text(x.at(t), bottom+15, "d", "middle", short(t))
	}
	c.text((x.from+x.to)/2, bottom+32, "d", "middle", b.xLabel)
	for i, g := range b.groups {
		top := y + groupGap/2
		y += float64(len(b.series))*barThick + groupGap
		c.titled(g)
		c.text(names-8, (top+y-groupGap/2)/2+4, "", "end", shorten(g, nameChars))
		c.end()
		for j := range b.series {
			b.draw(c, x, top+float64(j)*barThick, j, b.bars[i][j])
		}
	}
	c.height = bottom + 40
	return c.svg(b.title, standalone)
}

// draw draws one bar with its interval and its figure.
func (b *barChart) draw(c *canvas, x axis, top float64, series int, v bar) {
	middle := top + barThick/2
	if v.missing {
		c.text(x.from+6, middle+4, "d", "start", b.none)
		return
	}
	c.titled(v.hover)
	fmt.Fprintf(&c.b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="2" class="f%d"/>`,
		x.from, top+1, max(x.at(v.value)-x.from, 1), barThick-2, series%seriesColours)
	end := x.at(v.value)
	if v.hasCI {
		low, high := x.at(max(v.low, 0)), x.at(v.high)
		c.line(low, middle, high, middle, "w")
		c.line(low, middle-4, low, middle+4, "w")
		c.line(high, middle-4, high, middle+4, "w")
		end = max(end, high)
	}
	c.text(end+5, middle+4, "", "start", short(threeFigures(v.value)))
	c.end()
}

// high is the largest value or upper end of an interval.
func (b *barChart) high() float64 {
	high := 0.0
	for _, g := range b.bars {
		for _, v := range g {
			if !v.missing {
				high = max(high, v.value)
				if v.hasCI {
					high = max(high, v.high)
				}
			}
		}
	}
	return high
}

// threeFigures rounds a positive value for a label.
func threeFigures(v float64) float64 {
	unit := 1.0
	for v/unit >= 1000 {
		unit *= 10
	}
	if unit == 1 {
		return printed(v)
	}
	return float64(int64(v/unit+0.5)) * unit
}

// shorten cuts a name to n characters, with an ellipsis.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}
