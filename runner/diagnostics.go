package runner

import (
	"github.com/rs/zerolog"

	"respbench/report"
)

// What --log-level info and debug show of a run's course: the server's addresses, what was waited for, what was probed and
// written before, and each round's beginning and end. One line an event, none a request; no password is ever in one.

// logServer says where the connections will go.
func (s *session) logServer() {
	event := s.io.Log.Debug().Str("server", s.ep.Name).Bool("tls", s.tls != nil)
	if len(s.ep.Addrs) > 0 {
		addrs := zerolog.Arr()
		for _, a := range s.ep.Addrs {
			addrs.Str(a.String())
		}
		event = event.Array("addresses", addrs)
	}
	event.Msg("server resolved")
}

// logBegin is a round before its first connection.
func (r *round) logBegin(log *zerolog.Logger, title string) {
	event := log.Info().Str("test", report.OneLine(title)).Int("clients", r.load.Clients).Int("threads", min(r.load.Threads, r.load.Clients)).
		Int("pipeline", r.load.Pipeline)
	if r.load.bounded() {
		event = event.Int64("requests", r.load.Requests)
	}
	if r.load.Warmup > 0 {
		event = event.Stringer("warmup", r.load.Warmup)
	}
	if r.load.Duration > 0 {
		event = event.Stringer("duration", r.load.Duration)
	}
	event.Msg("round begins")
}

// logEnd is a round after its last reply; res is nil when it has no result.
func (r *round) logEnd(log *zerolog.Logger, title string, res *report.Result, err error) {
	event := log.Info().Str("test", report.OneLine(title))
	if res != nil {
		event = event.Int64("requests", res.Requests).Int64("errors", res.ErrorTotal).Stringer("elapsed", res.Elapsed)
	}
	if err != nil {
		event = event.Str("error", report.OneLine(plainError(err)))
	}
	event.Msg("round ended")
}
