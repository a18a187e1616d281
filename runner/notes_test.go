package runner

import (
	"testing"

	"respbench/report"
)

func TestPaceNote(t *testing.T) {
	for _, c := range []struct {
		pacing *report.Pacing
		want   string
	}{
		{nil, ""},
		{&report.Pacing{Offered: 1000, Achieved: 981, Late: 5}, ""},
		{&report.Pacing{Offered: 1000, Achieved: 20, Late: 60, Unstarted: 2940}, "the rate was not reached: 20.00 of 1000.00 offered requests per second (2.00%)"},
		{&report.Pacing{Offered: 1000, Achieved: 500, Unstarted: 9}, "the rate was not reached: 500.00 of 1000.00 offered requests per second (50.00%)"},
		{&report.Pacing{Offered: 1e5, Achieved: 6e4, Due: 10}, ""}, // ten requests in 170 us instead of 100
	} {
		if got := paceNote(c.pacing); got != c.want {
			t.Errorf("%+v: %q, want %q", c.pacing, got, c.want)
		}
	}
}
