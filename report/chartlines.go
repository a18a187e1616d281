package report

import (
	"fmt"
	"math"
	"strings"
)

// point is one place of a line. A NaN y is a gap.
type point struct {
	x, y  float64
	hover string
}

// curve is one line of a lineChart.
type curve struct {
	name   string
	points []point
	dots   bool // draw every point: measured values far apart
}

// tick is a labelled place of an axis.
type tick struct {
	at    float64
	label string
}

// event is a vertical mark in the colour of its curve.
type event struct {
	x     float64
	label string
	curve int
}

// lineChart shows curves over a shared x axis.
type lineChart struct {
	title, xLabel, yLabel string
	xLog, yLog            bool
	xTicks                []tick // empty: round values
	curves                []curve
	events                []event
}

const (
	plotHeight = 220.0
	plotLeft   = 50.0
	plotRight  = 12.0
)

// svg draws the chart.
func (l *lineChart) svg(standalone bool) string {
	c := &canvas{}
	c.text(0, 16, "t", "start", l.title)
	y := 26.0
	if len(l.curves) > 1 {
		names := make([]string, len(l.curves))
		for i := range l.curves {
			names[i] = l.curves[i].name
		}
		y += c.legend(y, names, func(x, top float64, i int) {
			c.line(x, top+6, x+14, top+6, lineClass(i))
		})
	}
	rows := l.markRows()
	top := y + 20 + 13*float64(rows)
	bottom := top + plotHeight
	c.text(0, y+12, "d", "start", l.yLabel)
	xs, ys := l.axes(top, bottom)
	l.grid(c, xs, ys)
	l.marks(c, xs, top, bottom)
	for i := range l.curves {
		l.draw(c, xs, ys, i)
	}
	c.text((plotLeft+chartWidth-plotRight)/2, bottom+32, "d", "middle", l.xLabel)
	c.height = bottom + 40
	return c.svg(l.title, standalone)
}

// bounds are the extremes of all points.
func (l *lineChart) bounds() (lowX, highX, lowY, highY float64) {
	lowX, lowY = math.Inf(1), math.Inf(1)
	for i := range l.curves {
		for _, p := range l.curves[i].points {
			if math.IsNaN(p.y) {
				continue
			}
			lowX, highX = min(lowX, p.x), max(highX, p.x)
			if p.y > 0 || !l.yLog {
				lowY = min(lowY, p.y)
			}
			highY = max(highY, p.y)
		}
	}
	if math.IsInf(lowX, 0) {
		return 0, 1, 0.1, 1
	}
	return lowX, highX, lowY, highY
}

// axes are the scales; a linear one starts at 0, so that heights can be compared.
func (l *lineChart) axes(top, bottom float64) (xs, ys axis) {
	lowX, highX, lowY, highY := l.bounds()
	xs = axis{log: l.xLog, max: highX, from: plotLeft, to: chartWidth - plotRight}
	if l.xLog {
		xs.min = lowX
	}
	if len(l.xTicks) == 0 {
		l.xTicks = labelled(ticksFor(l.xLog, lowX, highX, 6))
		if l.xLog {
			xs.min = l.xTicks[0].at
			xs.max = l.xTicks[len(l.xTicks)-1].at
		}
	}
	yt := ticksFor(l.yLog, lowY, highY, 5)
	ys = axis{log: l.yLog, min: yt[0], max: yt[len(yt)-1], from: bottom, to: top}
	return xs, ys
}

func ticksFor(log bool, low, high float64, n int) []float64 {
	if log {
		return logTicks(low, high)
	}
	return niceTicks(high, n)
}

func labelled(values []float64) []tick {
	var t []tick
	for _, v := range values {
		t = append(t, tick{v, short(v)})
	}
	return t
}

// grid draws the rules and labels of both axes.
func (l *lineChart) grid(c *canvas, xs, ys axis) {
	for _, v := range ticksFor(ys.log, ys.min, ys.max, 5) {
		c.line(xs.from, ys.at(v), xs.to, ys.at(v), "g")
		c.text(xs.from-6, ys.at(v)+4, "d", "end", short(v))
	}
	for _, t := range l.xTicks {
		if t.at > xs.max*(1+1e-9) {
			continue
		}
		x := xs.at(t.at)
		c.line(x, ys.to, x, ys.from, "g")
		anchor := "middle"
		// The last label would stick out of the picture.
		if x+textWidth(t.label)/2 > chartWidth {
			anchor = "end"
		}
		c.text(min(x, chartWidth), ys.from+15, "d", anchor, t.label)
	}
}

// draw draws one curve, and an invisible dot at each point that shows its value on hover.
func (l *lineChart) draw(c *canvas, xs, ys axis, i int) {
	var d, dots strings.Builder
	pen := "M"
	for _, p := range l.curves[i].points {
		if math.IsNaN(p.y) {
			pen = "M"
			continue
		}
		x, y := xs.at(p.x), ys.at(p.y)
		fmt.Fprintf(&d, "%s%.1f %.1f", pen, x, y)
		pen = "L"
		class := "h"
		if l.curves[i].dots || len(l.curves[i].points) == 1 {
			class = fmt.Sprintf("f%d", i%seriesColours)
		}
		fmt.Fprintf(&dots, `<circle cx="%.1f" cy="%.1f" r="4" class="%s"><title>%s</title></circle>`, x, y, class, escape(p.hover))
	}
	fmt.Fprintf(&c.b, `<path d="%s" class="%s"/>%s`, d.String(), lineClass(i), dots.String())
}

// place is an event with the row its label stands in and where it starts; row -1: no room, the label
// shows on hover.
type place struct {
	event
	row  int
	from float64
}

const markRowsMax = 3

// layout gives each label the first row where it does not run into the label before.
func (l *lineChart) layout(xs axis) []place {
	var places []place
	var ends [markRowsMax]float64
	for _, e := range l.events {
		width := textWidth(e.label) + 8
		// A label that would stick out on the right stands on the left of its line.
		from, row := xs.at(e.x)+3, -1
		if from+width > chartWidth {
			from -= width
		}
		for r := range ends {
			if from >= ends[r] {
				row = r
				ends[r] = from + width
				break
			}
		}
		places = append(places, place{e, row, from})
	}
	return places
}

func (l *lineChart) markRows() int {
	xs, _ := l.axes(0, 1)
	rows := 0
	for _, p := range l.layout(xs) {
		rows = max(rows, p.row+1)
	}
	return rows
}

// marks draws the events: a dashed line each, and the label above where there is room.
func (l *lineChart) marks(c *canvas, xs axis, top, bottom float64) {
	for _, p := range l.layout(xs) {
		x := xs.at(p.x)
		c.titled(fmt.Sprintf("%s: %s, %.1f s", l.curves[p.curve].name, p.label, p.x))
		upper := top
		if p.row >= 0 {
			y := top - 4 - 13*float64(p.row)
			upper = y - 8
			c.text(p.from, y, "d", "start", p.label)
		}
		fmt.Fprintf(&c.b, `<path d="M%.1f %.1fL%.1f %.1f" class="m" style="stroke:var(--s%d)"/>`, x, upper, x, bottom, p.curve%seriesColours)
		c.end()
	}
}
