package runner

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spareFiles is what the process needs beside its connections: the pollers, the three standard
// files, a set-up connection, result files.
const spareFiles = 32

// raiseFileLimit raises the soft limit of open files as far as needed and allowed, and says at
// once when that is not far enough.
func raiseFileLimit(clients int, server string) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return fmt.Errorf("cannot read the limit of open files: %w", err)
	}
	need := uint64(clients + spareFiles)
	if lim.Cur < need && lim.Cur < lim.Max {
		lim.Cur = min(lim.Max, max(need, lim.Cur))
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
			return fmt.Errorf("cannot raise the limit of open files to %d: %w", lim.Cur, err)
		}
	}
	if lim.Cur < need {
		return fmt.Errorf("Could not connect to Redis at %s: Can't create socket: Too many open files: -c %d needs %d descriptors, the limit is %d (raise it with ulimit -n, or lower -c)",
			server, clients, need, lim.Cur)
	}
	return nil
}
