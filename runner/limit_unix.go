package runner

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// What the process needs beside its connections.
const (
	loopFiles  = 4  // of each loop: poller, wake-up, deadline; gnet has one more
	spareFiles = 28 // Go's own poller, the three standard files, set-up connections, result files
)

// raiseFileLimit raises the soft limit of open files as far as needed and allowed, and says at
// once when that is not far enough.
func raiseFileLimit(l *Load, server string) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("cannot read the limit of open files: %w", err)
	}
	loops := min(l.Threads, l.Clients)
	need := uint64(l.Clients + loopFiles*loops + spareFiles)
	if allowed := min(uint64(lim.Max), need); uint64(lim.Cur) < allowed {
		setLimit(&lim.Cur, allowed)
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
			return fmt.Errorf("cannot raise the limit of open files to %d: %w", lim.Cur, err)
		}
	}
	if uint64(lim.Cur) < need {
		what := fmt.Sprintf("-c %d", l.Clients)
		if loops > 1 {
			what += fmt.Sprintf(" with %d loops", loops)
		}
		return fmt.Errorf("Could not connect to Redis at %s: Can't create socket: Too many open files: %s needs %d descriptors, the limit is %d (raise it with ulimit -n, or lower -c)",
			server, what, need, lim.Cur)
	}
	return nil
}

// setLimit hides that FreeBSD's limits are signed.
func setLimit[T int64 | uint64](limit *T, n uint64) { *limit = T(n) }
