package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuUsage is CPU time of this process.
type cpuUsage struct{ user, system time.Duration }

func processCPU() cpuUsage {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return cpuUsage{}
	}
	return cpuUsage{user: time.Duration(ru.Utime.Nano()), system: time.Duration(ru.Stime.Nano())}
}

func (c cpuUsage) since(start cpuUsage) cpuUsage {
	return cpuUsage{user: c.user - start.user, system: c.system - start.system}
}
