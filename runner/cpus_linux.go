package runner

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// checkCPUs says which processor of --cpu this process may not use, before a loop fails to be pinned.
func checkCPUs(list []int) error {
	var may unix.CPUSet
	if len(list) == 0 || unix.SchedGetaffinity(0, &may) != nil {
		return nil
	}
	for _, cpu := range list {
		if !may.IsSet(cpu) {
			return fmt.Errorf("invalid --cpu %d: this process may use %s", cpu, describeCPUs(&may))
		}
	}
	return nil
}

// describeCPUs writes a set as --cpu takes it: 0-3,8.
func describeCPUs(set *unix.CPUSet) string {
	text := ""
	const most = 1 << 16
	for i, left := 0, set.Count(); left > 0 && i < most; i++ {
		if !set.IsSet(i) {
			continue
		}
		last := i
		for set.IsSet(last + 1) {
			last++
		}
		if text != "" {
			text += ","
		}
		text += fmt.Sprint(i)
		if last > i {
			text += fmt.Sprintf("-%d", last)
		}
		left -= last - i + 1
		i = last
	}
	return text
}
