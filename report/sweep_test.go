package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// queueSweep is the curve of a queue with a capacity of 100000 per second: latency 1/(capacity-rate).
func queueSweep() *SweepResult {
	s := &SweepResult{Variable: "rate", Objective: "p99<0.5ms", Max: 90000, Command: []string{"respbench", "sweep"}}
	for _, rate := range []float64{20000, 60000, 90000, 40000, 98000} {
		h := NewHistogram()
		for i := range int64(1000) {
			h.Record(int64(float64(1e9/(100000-rate)) * (0.5 + float64(i)/1000)))
		}
		holds := h.Percentile(99) < int64(500*time.Microsecond)
		s.Points = append(s.Points, SweepPoint{Load: rate, Holds: &holds, Tries: 1, Result: &Result{
			Title: "SET", Requests: int64(rate), Elapsed: time.Second, Response: h, Latency: h,
			Pacing: &Pacing{Offered: rate, Achieved: rate},
		}})
	}
	return s
}

func TestSweepTable(t *testing.T) {
	var b bytes.Buffer
	if err := SweepTable(&b, queueSweep()); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.golden", b.String())
}

// Of a queue with capacity 100, power λ(100-λ) is highest at a load of one half.
func TestKnee(t *testing.T) {
	s := queueSweep()
	if i := s.Knee(); i < 0 || s.Points[i].Load != 60000 && s.Points[i].Load != 40000 {
		t.Errorf("knee at point %d", i)
	}
	s.Points = s.Points[:2]
	if s.Knee() != -1 {
		t.Errorf("a knee of two points")
	}
	s.Points = append(s.Points, SweepPoint{Load: 1}, SweepPoint{Load: 2, Result: &Result{}})
	var b bytes.Buffer
	s.Max, s.Interrupted = 0, true
	if err := SweepTable(&b, s); err != nil || !strings.Contains(b.String(), "no rate holds p99<0.5ms") || !strings.Contains(b.String(), "interrupted") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// A search that met nothing that fails has not found the limit, and does not say so.
func TestSweepWithoutALimit(t *testing.T) {
	const note = "note: no higher rate was seen to fail"
	s := queueSweep()
	if strings.Contains(s.summary(), note) {
		t.Errorf("98000 failed: %s", s.summary())
	}
	s.Points = s.Points[:4]
	if !strings.Contains(s.summary(), "highest rate that holds p99<0.5ms: 90000\n"+note) {
		t.Errorf("nothing failed: %s", s.summary())
	}
}

func TestSweepPictures(t *testing.T) {
	var b bytes.Buffer
	if err := SweepSVG(&b, queueSweep()); err != nil {
		t.Fatal(err)
	}
	svg := b.String()
	for _, want := range []string{`xmlns="http://www.w3.org/2000/svg"`, "prefers-color-scheme:dark", ">knee<", "rate 90000, 90000/s: p99 0.1"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture does not contain %s", want)
		}
	}
	b.Reset()
	if err := SweepHTML(&b, queueSweep()); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("%v", err)
	}
	if err := SweepSVG(&b, &SweepResult{}); err != nil {
		t.Errorf("a sweep without a point: %v", err)
	}
	if dir := os.Getenv("REPORT_PAGES"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "sweep.svg"), []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{
		"SweepTable": SweepTable(fullWriter{}, queueSweep()), "SweepSVG": SweepSVG(fullWriter{}, queueSweep()),
		"SweepHTML": SweepHTML(fullWriter{}, queueSweep()), "WriteSweepJSON": WriteSweepJSON(fullWriter{}, queueSweep()),
	} {
		if !errors.Is(err, errFull) {
			t.Errorf("%s returned %v", name, err)
		}
	}
}

func TestSweepFileMatchesSchema(t *testing.T) {
	var b bytes.Buffer
	if err := WriteSweepJSON(&b, queueSweep()); err != nil {
		t.Fatal(err)
	}
	schema, err := jsonschema.NewCompiler().Compile("../docs/sweep.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Errorf("%v", err)
	}
}
