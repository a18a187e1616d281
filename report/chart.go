package report

import (
	"fmt"
	"math"
	"strings"
)

// Pictures as SVG, written here because no library gives all of it at once: one picture for light and dark
// (colours are CSS variables), sharp in print, text that stays text, values on hover, confidence
// intervals, log scales and event marks, without a script. A picture is 480 units wide, which a phone
// shows at about two thirds and a desktop page beside a second one.

const (
	chartWidth = 480
	charWidth  = 6.6    // of the 12-unit labels, on the average
	firstWide  = 0x2e80 // the characters of China, Japan and Korea begin here
)

// chartStyle holds the colours. The eight series colours keep their distance for colour-blind readers, on
// both grounds; series also differ by dash.
const chartStyle = `
:root{--ground:#ffffff;--ink:#1c2733;--dim:#5d6b7a;--rule:#dfe5ea;--s0:#2a6fd0;--s1:#d9622b;--s2:#15936a;--s3:#b07a00;--s4:#c2528c;--s5:#6a54b8;--s6:#4d8a16;--s7:#c43c3c}
@media (prefers-color-scheme:dark){:root{--ground:#14191f;--ink:#e6ebf0;--dim:#9aa7b4;--rule:#2c353f;--s0:#5b9bf2;--s1:#f08a55;--s2:#3cc093;--s3:#dba92f;--s4:#e884b6;--s5:#a793ee;--s6:#86c44a;--s7:#f07373}}
@media print{:root{--ground:#ffffff;--ink:#000000;--dim:#444444;--rule:#cccccc;--s0:#2a6fd0;--s1:#d9622b;--s2:#15936a;--s3:#b07a00;--s4:#c2528c;--s5:#6a54b8;--s6:#4d8a16;--s7:#c43c3c}}
svg.chart{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-size:12px;fill:var(--ink);background:var(--ground)}
svg.chart .t{font-size:14px;font-weight:600}
svg.chart .d{fill:var(--dim)}
svg.chart .g{stroke:var(--rule);stroke-width:1;fill:none}
svg.chart .w{stroke:var(--ink);stroke-width:1.2;fill:none}
svg.chart .m{stroke-width:1.5;stroke-dasharray:2 3;fill:none}
svg.chart .l{fill:none;stroke-width:2;stroke-linejoin:round}
svg.chart .n{stroke-width:1}
svg.chart .h{fill:transparent;stroke:none}
svg.chart .h:hover{fill:var(--ink)}
svg.chart .f0{fill:var(--s0)}svg.chart .f1{fill:var(--s1)}svg.chart .f2{fill:var(--s2)}svg.chart .f3{fill:var(--s3)}
svg.chart .f4{fill:var(--s4)}svg.chart .f5{fill:var(--s5)}svg.chart .f6{fill:var(--s6)}svg.chart .f7{fill:var(--s7)}
svg.chart .l0{stroke:var(--s0)}svg.chart .l1{stroke:var(--s1);stroke-dasharray:7 3}svg.chart .l2{stroke:var(--s2);stroke-dasharray:2 2}svg.chart .l3{stroke:var(--s3);stroke-dasharray:9 3 2 3}
svg.chart .l4{stroke:var(--s4)}svg.chart .l5{stroke:var(--s5);stroke-dasharray:7 3}svg.chart .l6{stroke:var(--s6);stroke-dasharray:2 2}svg.chart .l7{stroke:var(--s7);stroke-dasharray:9 3 2 3}
`

const seriesColours = 8

// lineClass is the look of a curve: colour and dash, thin from the ninth on.
func lineClass(i int) string {
	class := fmt.Sprintf("l l%d", i%seriesColours)
	if i/seriesColours%2 == 1 {
		class += " n"
	}
	return class
}

// canvas collects the elements of one picture.
type canvas struct {
	b      strings.Builder
	height float64
}

func (c *canvas) text(x, y float64, class, anchor, s string) {
	fmt.Fprintf(&c.b, `<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>`, x, y, class, anchor, escape(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<path d="M%.1f %.1fL%.1f %.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

// textWidth is about how wide a label is; Chinese characters are square.
func textWidth(s string) float64 {
	width := 0.0
	for _, r := range s {
		if r >= firstWide {
			width += 12
		} else {
			width += charWidth
		}
	}
	return width
}

// titled opens a group whose text is shown on hover.
func (c *canvas) titled(s string) {
	fmt.Fprintf(&c.b, `<g><title>%s</title>`, escape(s))
}

func (c *canvas) end() { c.b.WriteString(`</g>`) }

// legend draws the names of series in rows from y on and returns the height it took.
func (c *canvas) legend(y float64, names []string, swatch func(x, y float64, i int)) float64 {
	x, rows := 0.0, 1
	for i, n := range names {
		width := 30 + textWidth(n)
		if x > 0 && x+width > chartWidth {
			x = 0
			rows++
		}
		top := y + 18*float64(rows-1)
		swatch(x, top, i)
		c.text(x+18, top+10, "d", "start", n)
		x += width
	}
	return 18 * float64(rows)
}

// svg is the finished picture; standalone ones carry their colours with them.
func (c *canvas) svg(title string, standalone bool) string {
	style := ""
	namespace := ""
	if standalone {
		style = "<style>" + chartStyle + "</style>"
		namespace = ` xmlns="http://www.w3.org/2000/svg"`
	}
	return fmt.Sprintf(`<svg%s class="chart" viewBox="-4 0 %d %.0f" role="img" aria-label="%s">%s%s</svg>`+"\n",
		namespace, chartWidth+8, c.height, escape(title), style, c.b.String())
}

// axis maps values to places on a picture.
type axis struct {
	log      bool
	min, max float64 // of the values
	from, to float64 // of the places
}

// at is the place of a value; values outside are drawn at the edge.
func (a axis) at(v float64) float64 {
	low, high := a.min, a.max
	if a.log {
		v, low, high = math.Log10(max(v, a.min)), math.Log10(a.min), math.Log10(a.max)
	}
	share := 0.0
	if high > low {
		share = min(max((v-low)/(high-low), 0), 1)
	}
	return a.from + share*(a.to-a.from)
}

// niceTicks are round values from 0 or below to at least high, about n of them, with steps of 1, 2 or 5.
func niceTicks(high float64, n int) []float64 {
	if high <= 0 || math.IsInf(high, 0) || math.IsNaN(high) {
		high = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(high/float64(n))))
	for _, m := range []float64{1, 2, 5, 10} {
		if high/(m*step) <= float64(n) {
			step *= m
			break
		}
	}
	ticks := []float64{0}
	for i := 1; ticks[len(ticks)-1] < high*(1-1e-9); i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return ticks
}

// logTicks are the powers of ten around low and high; with fewer than three of them 2 and 5 as well.
func logTicks(low, high float64) []float64 {
	if !(low > 0) {
		low = 1e-3
	}
	high = max(high, low)
	from, to := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	to = max(to, from+1)
	var ticks []float64
	for e := from; e <= to; e++ {
		ticks = append(ticks, math.Pow(10, e))
		if to-from < 3 && e < to {
			ticks = append(ticks, 2*math.Pow(10, e), 5*math.Pow(10, e))
		}
	}
	return trimTicks(ticks, low, high)
}

// trimTicks leaves the last tick that is not above low and the first that is not below high at the ends.
func trimTicks(ticks []float64, low, high float64) []float64 {
	for len(ticks) > 2 && ticks[1] <= low*(1+1e-9) {
		ticks = ticks[1:]
	}
	for n := len(ticks); n > 2 && ticks[n-2] >= high*(1-1e-9); n = len(ticks) {
		ticks = ticks[:n-1]
	}
	return ticks
}

// short is an axis label: 0, 250, 1.5k, 200k, 2M.
func short(v float64) string {
	for _, s := range []struct {
		unit  float64
		label string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= s.unit {
			return fmt.Sprintf("%.4g%s", v/s.unit, s.label)
		}
	}
	return fmt.Sprintf("%.4g", v)
}
