//go:build !linux

package runner

import (
	"net"
	"os"
	"time"
)

// Elsewhere the server's CPU time comes from its INFO only.

var ownPID = os.Getpid()

func peerProcess(net.Conn) (process, bool)  { return process{}, false }
func processTime(int) (time.Duration, bool) { return 0, false }
func threadsOf(int) map[int]threadTimes     { return nil }
func cpusOf(int) int                        { return 0 }
