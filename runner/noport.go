package runner

import (
	"errors"
	"fmt"
	"syscall"

	"respbench/netpoll"
)

// A connection that we close keeps its local port for a minute (TIME_WAIT), or for a second where the kernel may use
// it again (net.ipv4.tcp_tw_reuse). A reconnecting run that has used them all waits for one, as long as a connection
// may take. We do not set SO_LINGER to 0, which would free the port at once: that closes with a reset, which a real
// client does not do, and which the server logs as an error.

// waitsForPort takes a connection that found no local port back into the queue; false when it has waited long enough
// or failed for another reason.
func (w *worker) waitsForPort(c *client, err error) bool {
	limit := int64(w.r.load.ConnectTimeout)
	if !errors.Is(err, syscall.EADDRNOTAVAIL) || limit > 0 && netpoll.Now()-c.dialNs >= limit {
		return false
	}
	c.phase = phaseNoPort
	w.portless++
	w.noPort = err
	return true
}

// dialWaiting tries again; it runs with every tick.
func (w *worker) dialWaiting() {
	for i := 0; i < len(w.clients) && w.portless > 0; i++ {
		if c := &w.clients[i]; c.phase == phaseNoPort {
			w.portless--
			w.dialing--
			w.dialSince(i, c.dialNs)
			if c.phase == phaseNoPort {
				return // none for the others either
			}
		}
	}
}

// dialError words a failed connection, with what was done so far when the ports ran out.
func (w *worker) dialError(c *client, err error) error {
	ep := w.endpointOf(c)
	worded := addressGiven(connectError(ep, err), ep, w.r.endpoint)
	if !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return worded
	}
	w.publish()
	done, _ := w.r.progress()
	return fmt.Errorf("%w; %d requests were answered", worded, done)
}
