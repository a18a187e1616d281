//go:build !linux

package runner

import "errors"

// checkCPUs: pinning a thread to a processor is Linux's.
func checkCPUs(list []int) error {
	if len(list) > 0 {
		return errors.New("--cpu is only there on Linux")
	}
	return nil
}
