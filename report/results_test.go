package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResultsMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := Markdown(&b, []*Result{classicResult(), fullResult()}, ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "results.golden.md", b.String())
}

func TestResultsHTML(t *testing.T) {
	full := fullResult()
	full.Series = append(full.Series, full.Series[0])
	full.Series[1].At *= 2
	for _, lang := range Languages {
		var b bytes.Buffer
		if err := HTML(&b, []*Result{classicResult(), full}, ReportOptions{Lang: lang}); err != nil {
			t.Fatal(err)
		}
		page := b.String()
		if got := strings.Count(page, "<svg"); got != 3 {
			t.Errorf("%s: %d pictures, want 3", lang, got)
		}
		for _, bad := range []string{"NaN", "http:", "https:", "<script"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s: the page contains %s", lang, bad)
			}
		}
		if dir := os.Getenv("REPORT_PAGES"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "results."+lang+".html"), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	var b bytes.Buffer
	if err := HTML(&b, nil, ReportOptions{}); err != nil || !strings.HasSuffix(b.String(), "</html>\n") {
		t.Errorf("no results: %v", err)
	}
}

// A rate below one a second is shown with its figures.
func TestPacingOfALowRate(t *testing.T) {
	r := &Result{Pacing: &Pacing{Offered: 0.001, Achieved: 0.0009, Arrival: "fixed", Due: 1}}
	if got, want := pacingLines(r), "pacing: fixed arrivals; offered 0.001/s, achieved 0.0009/s (90.00%)\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
