//go:build !linux

package main

import (
	"os/exec"
	"syscall"
)

// startBound starts a child in a process group of its own. Where the kernel does not bind it to us, a server
// that does not watch its stdin outlives a kill of ours.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd.Start()
}
