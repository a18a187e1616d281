package report

import (
	"regexp"
	"strings"
	"testing"
)

// Every picture of the page can be a file: its name is safe and its own, and it stands alone.
func TestSuitePictures(t *testing.T) {
	s := scriptSuite(t)
	s.Systems[1].Name = s.Systems[0].Name
	s.Systems = append(s.Systems, System{Name: `../a "b"/c`, Strategies: s.Systems[0].Strategies})
	pictures := SuitePictures(s, ReportOptions{})
	var page strings.Builder
	if err := SuiteHTML(&page, s, ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(page.String(), "<figure>"); len(pictures) != want || want == 0 {
		t.Errorf("%d pictures, the page has %d", len(pictures), want)
	}
	names := map[string]bool{}
	for _, p := range pictures {
		if !regexp.MustCompile(`^[A-Za-z0-9_-]+\.svg$`).MatchString(p.Name) || names[p.Name] {
			t.Errorf("name %q", p.Name)
		}
		names[p.Name] = true
		if !strings.HasPrefix(p.SVG, "<svg") || !strings.Contains(p.SVG, `xmlns="http://www.w3.org/2000/svg"`) {
			t.Errorf("%s begins %.80s", p.Name, p.SVG)
		}
	}
}
