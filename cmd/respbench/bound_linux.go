package main

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// startBound starts a child in a process group of its own that the kernel kills when we end, however that
// happens. The kernel means the thread that started the child, so there is one thread for it that never ends.
func startBound(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	startThread.Do(func() {
		go func() {
			runtime.LockOSThread()
			for start := range starts {
				start()
			}
		}()
	})
	err := make(chan error)
	starts <- func() { err <- cmd.Start() }
	return <-err
}

var (
	startThread sync.Once
	starts      = make(chan func())
)
