package kvstore

import "github.com/rs/zerolog"

// gnetLog passes gnet's messages to the server's log. Its informational lines are debugging to us.
type gnetLog struct{ log zerolog.Logger }

func (g gnetLog) Debugf(format string, args ...any) { g.log.Trace().Msgf(format, args...) }
func (g gnetLog) Infof(format string, args ...any)  { g.log.Debug().Msgf(format, args...) }
func (g gnetLog) Warnf(format string, args ...any)  { g.log.Debug().Msgf(format, args...) }
func (g gnetLog) Errorf(format string, args ...any) { g.log.Error().Msgf(format, args...) }

// Fatalf does not end the process: gnet calls it nowhere on the server's side.
func (g gnetLog) Fatalf(format string, args ...any) { g.log.Error().Msgf(format, args...) }
