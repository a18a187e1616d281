package runner

import (
	"fmt"
	"time"

	"respbench/report"
)

// suiteClock tells on stderr what is being measured and how long the rest will take. It knows counts and
// sums of time only: a suite of two thousand million rounds needs no more memory than one of five.
type suiteClock struct {
	s           *suite
	left, total int64 // measurements
	did         int64
	spent       time.Duration
	began       time.Time
	label       string
}

func newSuiteClock(s *suite) *suiteClock {
	k := &suiteClock{s: s, total: int64(len(s.cells)) * (int64(s.spec.Rounds) + int64(s.spec.Warmup))}
	k.left = k.total
	for _, c := range s.cells {
		k.left -= int64(len(c.rounds.Rounds))
	}
	return k
}

func (k *suiteClock) say(format string, args ...any) {
	fmt.Fprintf(k.s.io.Stderr, format+"\n", args...) // nobody may listen: the suite goes on
}

func (k *suiteClock) start(c *suiteCell, number int, warmup bool) {
	k.began = time.Now()
	name := fmt.Sprintf("round %d/%d", number, k.s.spec.Rounds)
	if warmup {
		name = fmt.Sprintf("warm-up %d/%d", number, k.s.spec.Warmup)
	}
	k.label = fmt.Sprintf("[%d/%d] %s, %s", k.total-k.left+1, k.total, name, c)
}

func (k *suiteClock) failed(attempt int, why string) {
	k.say("%s: attempt %d of %d failed: %s", k.label, attempt+1, k.s.spec.Retries+1, why)
}

func (k *suiteClock) broken() { k.say("%s: interrupted", k.label) }

func (k *suiteClock) done(c *suiteCell, r *report.Round) {
	k.left--
	k.did++
	k.spent += time.Since(k.began)
	what := "failed"
	if r.Result != nil {
		what = fmt.Sprintf("%.2f QPS, %.2f us/op", r.Result.QPS(), r.Result.MicrosPerOp())
	}
	eta := ""
	if k.left > 0 {
		each := k.spent/time.Duration(k.did) + k.s.spec.Rest
		eta = "; about " + roughly(each, k.left) + " left"
	}
	k.say("%s: %s%s", k.label, what, eta)
}

// roughly is n times a duration, in seconds, or in days where a duration could not hold it.
func roughly(each time.Duration, n int64) string {
	seconds := each.Seconds() * float64(n)
	const day = 24 * 60 * 60
	if seconds > 100*day {
		return fmt.Sprintf("%.0f days", seconds/day)
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
