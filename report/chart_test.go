package report

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestNiceTicks(t *testing.T) {
	for _, c := range []struct {
		high float64
		n    int
		want []float64
	}{
		{100, 5, []float64{0, 20, 40, 60, 80, 100}},
		{161e3, 5, []float64{0, 50e3, 100e3, 150e3, 200e3}},
		{7.4, 6, []float64{0, 2, 4, 6, 8}},
		{0, 5, []float64{0, 0.2, 0.4, 0.6000000000000001, 0.8, 1}},
		{math.Inf(1), 2, []float64{0, 0.5, 1}},
	} {
		if got := niceTicks(c.high, c.n); !slices.Equal(got, c.want) {
			t.Errorf("niceTicks(%v, %d) = %v, want %v", c.high, c.n, got, c.want)
		}
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      []float64
	}{
		{1, 1000, []float64{1, 10, 100, 1000}},
		{0.32, 2.6, []float64{0.2, 0.5, 1, 2, 5}},
		{1, 1, []float64{1, 2}},
		{0.02, 90000, []float64{0.01, 0.1, 1, 10, 100, 1000, 10000, 100000}},
	} {
		got := logTicks(c.low, c.high)
		if len(got) != len(c.want) {
			t.Errorf("logTicks(%v, %v) = %v, want %v", c.low, c.high, got, c.want)
			continue
		}
		for i := range got {
			if math.Abs(got[i]/c.want[i]-1) > 1e-9 {
				t.Errorf("logTicks(%v, %v) = %v, want %v", c.low, c.high, got, c.want)
			}
		}
	}
	for _, low := range []float64{0, -1, math.NaN()} {
		if got := logTicks(low, 1); len(got) < 2 || !(got[0] > 0) {
			t.Errorf("logTicks(%v, 1) = %v", low, got)
		}
	}
}

func TestAxis(t *testing.T) {
	lin := axis{max: 100, from: 10, to: 20}
	log := axis{log: true, min: 1, max: 100, from: 0, to: 10}
	for _, c := range []struct {
		a       axis
		v, want float64
	}{
		{lin, 0, 10}, {lin, 50, 15}, {lin, 100, 20}, {lin, 1000, 20}, {lin, -5, 10},
		{log, 1, 0}, {log, 10, 5}, {log, 100, 10}, {log, 0, 0}, {axis{from: 3, to: 9}, 7, 3},
	} {
		if got := c.a.at(c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v at %v = %v, want %v", c.a, c.v, got, c.want)
		}
	}
}

// Every picture is well-formed XML, whatever the names and values are.
func TestPicturesAreXML(t *testing.T) {
	ugly := "a<b> & \"c\" 'd'\x00"
	nan := math.NaN()
	for name, d := range map[string]drawing{
		"bars": &barChart{title: ugly, series: []string{"set", ugly}, groups: []string{ugly, strings.Repeat("long_", 20)}, none: "failed",
			bars: [][]bar{{{value: 5, low: -1, high: 9, hasCI: true, hover: ugly}, {missing: true}}, {{value: 1e9}, {value: 0}}}},
		"no bars":  &barChart{},
		"no lines": &lineChart{},
		"lines": &lineChart{title: ugly, yLog: true, curves: []curve{{name: ugly, points: []point{{0, 1, ugly}, {1, nan, ""}, {2, 3, ""}, {3, 0, ""}}}, {name: "b"}},
			events: []event{{1, ugly, 0}, {1, ugly, 1}, {1, ugly, 0}, {1, ugly, 0}, {3, "late", 0}}},
	} {
		for _, standalone := range []bool{false, true} {
			svg := d.svg(standalone)
			dec := xml.NewDecoder(strings.NewReader(svg))
			for {
				_, err := dec.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v\n%s", name, err, svg)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Errorf("%s: NaN or Inf in the picture", name)
			}
		}
	}
}

// Labels in one row never run into each other.
func TestEventLabelsDoNotOverlap(t *testing.T) {
	l := &lineChart{curves: []curve{{points: []point{{0, 1, ""}, {100, 1, ""}}}}}
	for x := 0.0; x <= 100; x += 7 {
		l.events = append(l.events, event{x: x, label: "rewrite"})
	}
	xs, _ := l.axes(0, 1)
	ends := map[int]float64{}
	labelled := 0
	for _, p := range l.layout(xs) {
		if p.row < 0 {
			continue
		}
		labelled++
		if p.from < ends[p.row] || p.from+textWidth(p.label) > chartWidth+8 {
			t.Errorf("the label at %v starts at %v, the one before ended at %v", p.x, p.from, ends[p.row])
		}
		ends[p.row] = p.from + textWidth(p.label)
	}
	if labelled < 5 {
		t.Errorf("only %d events have a label", labelled)
	}
}

func TestThin(t *testing.T) {
	var series []Interval
	for i := range 1000 {
		series = append(series, Interval{At: time.Duration(i+1) * time.Second, Requests: 3, P99: time.Duration(i)})
	}
	series[500].Events = []string{"save"}
	got := thin(series)
	sum, events := int64(0), 0
	for i, s := range got {
		sum += s.Requests
		events += len(s.Events)
		if i > 0 && s.At <= got[i-1].At {
			t.Fatalf("step %d ends at %v, the one before at %v", i, s.At, got[i-1].At)
		}
	}
	if len(got) > ratePoints || sum != 3000 || events != 1 || got[len(got)-1].At != 1000*time.Second || got[0].P99 != 4 {
		t.Errorf("%d points, %d requests, %d events", len(got), sum, events)
	}
	if len(thin(series[:ratePoints])) != ratePoints {
		t.Errorf("a short series was thinned")
	}
}

func TestWholeSteps(t *testing.T) {
	step := func(at, requests int64) Interval {
		return Interval{At: time.Duration(at) * time.Millisecond, Requests: requests, Events: []string{"save"}}
	}
	for _, c := range []struct {
		series []Interval
		want   string
	}{
		{nil, ""}, {[]Interval{step(3, 1)}, "3ms:1 "},
		{[]Interval{step(100, 10), step(200, 10), step(203, 2)}, "100ms:10 203ms:12 "},
		{[]Interval{step(100, 10), step(200, 10), step(260, 6)}, "100ms:10 200ms:10 260ms:6 "},
		{[]Interval{step(100, 10), step(101, 1)}, "101ms:11 "},
	} {
		got, events := "", 0
		for _, s := range wholeSteps(c.series) {
			got += fmt.Sprintf("%v:%d ", s.At, s.Requests)
			events += len(s.Events)
		}
		if got != c.want || events != len(c.series) {
			t.Errorf("%v: %s with %d events, want %s", c.series, got, events, c.want)
		}
	}
}
