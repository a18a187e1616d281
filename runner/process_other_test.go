//go:build !linux

package runner

const canSeeProcesses = false
