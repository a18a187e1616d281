package report

import (
	"fmt"
	"strings"
	"unicode"
)

// Picture is one picture of a suite as a file of its own.
type Picture struct {
	Name string // "redis_set_latency.svg": letters, digits, "_", "-" and "." alone
	SVG  string
}

// SuitePictures are the pictures of a suite's HTML report, each a file that stands alone.
func SuitePictures(s *SuiteResult, o ReportOptions) (list []Picture) {
	t := textsFor(o.Lang)
	taken := map[string]bool{}
	for i := range s.Systems {
		sys := &s.Systems[i]
		for _, c := range systemCharts(sys, sys.cells(), t) {
			name := fileName(c.name)
			for n := 2; taken[name]; n++ {
				name = fmt.Sprintf("%s_%d", fileName(c.name), n)
			}
			taken[name] = true
			list = append(list, Picture{name + ".svg", c.svg(true)})
		}
	}
	return list
}

// fileName is a name without what a file system or a shell minds.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, name)
}
