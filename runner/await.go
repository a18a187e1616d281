package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"respbench/netpoll"
)

// awaitEvery is how often a server that is not ready is asked again.
const awaitEvery = 100 * time.Millisecond

// awaitServer asks with PING until the server accepts connections and has loaded its data, for at most --wait. Any other
// answer, good or bad, is left to the run itself.
func (s *session) awaitServer(ctx context.Context) error {
	deadline := netpoll.Now() + int64(s.o.Load.Wait)
	tick := time.NewTicker(awaitEvery)
	defer tick.Stop()
	for {
		err := s.isReady(ctx)
		if err == nil {
			return nil
		}
		s.io.Log.Debug().Str("answer", plainError(err)).Msg("the server is not ready")
		if netpoll.Now() >= deadline {
			return fmt.Errorf("%w (still so after %v, --wait)", err, s.o.Load.Wait)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// isReady is nil when a measurement may begin, and otherwise the error that it would end with.
func (s *session) isReady(ctx context.Context) error {
	c, err := s.openControl(ctx)
	var fault *nodeFault
	var refused *tlsError
	switch {
	case errors.As(err, &fault), errors.As(err, &refused):
		return nil
	case err != nil:
		return err
	}
	defer c.close()
	v, err := c.do("PING")
	if err == nil && isError(v) && strings.HasPrefix(v.Str, "LOADING") {
		return &serverError{text: v.Str}
	}
	return err
}
