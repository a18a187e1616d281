package runner

import (
	"time"

	"golang.org/x/sys/unix"

	"respbench/report"
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

func (c cpuUsage) total() time.Duration { return c.user + c.system }

// usage is what the worker's loop used in the measured part. It is called after the loop has ended.
func (w *worker) usage() report.LoopCPU {
	if !w.running || w.warming {
		return report.LoopCPU{}
	}
	end := w.toStats
	if w.loading > 0 { // cut short
		end = w.loop.Stats()
	}
	return report.LoopCPU{Busy: end.CPU - w.fromStats.CPU, RunQueue: end.RunQueue - w.fromStats.RunQueue,
		Turns: end.Turns - w.fromStats.Turns, WorkTurns: end.WorkTurns - w.fromStats.WorkTurns}
}
