package runner

import (
	"net"
	"time"

	"respbench/netpoll"
)

// The server's process, when it runs on this machine: its CPU time says what its replies cost and whether
// it had any to spare. It is found by the other end of a connection (process_linux.go).

// process is a server on this machine.
type process struct {
	pid  int
	name string // as the kernel shows it
}

// threadTimes is what the kernel's scheduler says of one thread.
type threadTimes struct {
	run  time.Duration // on a processor
	wait time.Duration // ready to run, but waiting for one
}

// processSample is the account of a process at one moment.
type processSample struct {
	atNs    int64
	cpu     time.Duration // all threads, those that have ended too
	cpus    int           // processors it may use; 0: not known
	threads map[int]threadTimes
}

// processUse is what a process did between two samples.
type processUse struct {
	lasted  time.Duration
	cpu     time.Duration
	cpus    int           // processors it may use; 0: not known
	busiest threadTimes   // of the thread that ran most
	waited  time.Duration // of all threads
}

// until is the use from s to a later sample.
func (s processSample) until(end processSample) processUse {
	u := processUse{lasted: time.Duration(end.atNs - s.atNs), cpu: end.cpu - s.cpu, cpus: end.cpus}
	for id, t := range end.threads {
		before := s.threads[id]
		u.waited += t.wait - before.wait
		if run := t.run - before.run; run > u.busiest.run {
			u.busiest = threadTimes{run: run, wait: t.wait - before.wait}
		}
	}
	return u
}

// localServer finds the process behind a connection. ok is false when it is on another machine, in
// another container, of another user, or this very process.
func localServer(conn net.Conn) (p process, ok bool) {
	if t, isTLS := conn.(interface{ NetConn() net.Conn }); isTLS {
		conn = t.NetConn()
	}
	p, ok = peerProcess(conn)
	if !ok || p.pid == ownPID {
		return process{}, false
	}
	_, ok = p.sample()
	return p, ok
}

// sample reads the account; ok is false when the process has ended.
func (p process) sample() (s processSample, ok bool) {
	s.atNs = netpoll.Now()
	if s.cpu, ok = processTime(p.pid); ok {
		s.threads, s.cpus = threadsOf(p.pid), cpusOf(p.pid)
	}
	return s, ok
}
