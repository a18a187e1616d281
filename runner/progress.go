package runner

import (
	"context"
	"fmt"
	"io"
	"time"

	"respbench/report"
)

// progressEvery is redis-benchmark's rhythm.
const progressEvery = 250 * time.Millisecond

// watch calls draw in redis-benchmark's rhythm while the round runs; stop ends that and wipes what
// was drawn.
func watch(r *round, draw func(done int64, sum, elapsed time.Duration), wipe func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		start := time.Now()
		for {
			select {
			case <-ctx.Done():
				wipe()
				return
			case now := <-t.C:
				done, sum := r.progress()
				draw(done, sum, now.Sub(start))
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// classicProgress draws redis-benchmark's line: rates since the last one and over all.
type classicProgress struct {
	w       io.Writer
	title   string
	columns func() int // of the terminal that w is; nil: it is none
	width   int        // columns of the line on the screen
	done    int64
	sum, at time.Duration
}

func (p *classicProgress) draw(done int64, sum, elapsed time.Duration) {
	line := report.Progress{Title: p.title, Rate: perSecond(done-p.done, elapsed-p.at), Overall: perSecond(done, elapsed),
		AvgMs: meanMillis(sum-p.sum, done-p.done), OverallAvgMs: meanMillis(sum, done)}
	p.width, _ = report.ProgressLine(p.w, p.width, widthOf(p.columns), line)
	p.done, p.sum, p.at = done, sum, elapsed
}

func (p *classicProgress) wipe() {
	if p.width > 0 {
		_ = report.ClearLine(p.w, p.width)
	}
}

// widthOf is a terminal's width, 0 when there is none.
func widthOf(columns func() int) int {
	if columns == nil {
		return 0
	}
	return columns()
}

func perSecond(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

func meanMillis(sum time.Duration, n int64) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n) / 1e6
}

// longProgress draws how much of long work is done, and when it will be.
type longProgress struct {
	w       io.Writer
	title   string
	total   int64
	columns func() int // as in classicProgress
	width   int
}

func (p *longProgress) draw(done int64, _, elapsed time.Duration) {
	left := "?"
	if rate := perSecond(done, elapsed); rate > 0 {
		left = time.Duration(float64(p.total-done) / rate * float64(time.Second)).Round(time.Second).String()
	}
	line := fmt.Sprintf("%s: %d/%d (%.1f%%) %.0f requests per second, %s left", p.title, done, p.total,
		100*float64(done)/float64(p.total), perSecond(done, elapsed), left)
	if p.total >= unlimited {
		line = fmt.Sprintf("%s: %d requests in %.1f s, %.0f requests per second", p.title, done, elapsed.Seconds(), perSecond(done, elapsed))
	}
	if columns := widthOf(p.columns); columns > 0 {
		line = report.CutColumns(line, columns-2)
	}
	p.wipe()
	fmt.Fprint(p.w, line+"\r")
	p.width = report.Columns(line)
}

func (p *longProgress) wipe() {
	if p.width > 0 {
		_ = report.ClearLine(p.w, p.width)
	}
}
