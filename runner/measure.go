package runner

import (
	"context"
	"errors"
	"fmt"

	"respbench/report"
)

// watched is one measured round with all that stands around it: the server watched, the running figures
// shown, the result completed, judged and kept for the result files. As that of round.run, its error may stand beside a
// result.
func (s *session) watched(ctx context.Context, r *round) (*report.Result, error) {
	if !s.watching {
		s.watch, s.watching = s.openWatch(ctx), true
	}
	watch := s.watch.watchRound(r)
	r.logBegin(&s.io.Log, r.plan.Title)
	stop := s.show(r)
	res, err := r.run(ctx)
	stop()
	r.logEnd(&s.io.Log, r.plan.Title, res, err)
	if res == nil {
		if watch != nil {
			watch.stop()
		}
		return nil, err
	}
	s.describe(res)
	load := watch.complete(res)
	res.Series = r.intervals(res.Elapsed) // again: with the events
	if watch != nil {
		res.Verdict = judge(facts{elapsed: res.Elapsed, rate: res.QPS(), loops: res.CPU.Loops, client: res.CPU.User + res.CPU.System,
			spins: r.load.Spin > 0, server: load, cores: s.env.Cores, clients: r.load.Clients, pipeline: r.load.Pipeline,
			pacing: res.Pacing, ceiling: s.o.Load.Ceiling})
	}
	return res, err
}

// tellNotes says on stderr, where the report has no room for its notes, that the server did not take the offered load, and that
// it answered the warm-up with errors.
func (s *session) tellNotes(r *round, res *report.Result) {
	if out := &s.o.Output; !out.Quiet && !out.CSV && out.Additions {
		return
	}
	for _, note := range []string{paceNote(res.Pacing), r.warmupErrors()} {
		if note != "" {
			fmt.Fprintf(s.io.Stderr, "WARNING: %s: %s\n", res.Title, note)
		}
	}
}

// nothingMeasured is the error of a round that went to its end without a measured request. Latencies of 0 are no result.
func nothingMeasured(ctx context.Context, res *report.Result) error {
	if res.Requests > 0 || ctx.Err() != nil {
		return nil
	}
	if p := res.Pacing; p != nil && p.Due == 0 {
		return errors.New("Error: nothing was measured: the schedule of --rps had no request due in its time")
	}
	return errors.New("Error: nothing was measured: no connection was free before the time was up; try a longer --duration, or fewer requests in flight (-P)")
}
