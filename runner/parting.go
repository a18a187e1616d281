package runner

import (
	"time"

	"respbench/netpoll"
)

// The end of a round. When every reply is there the connections are closed in one direction, and
// the server closes the other: so nothing is left unread, which would show as a reset in the
// server's log, and a reply that nobody asked for is still found, although it comes last.

// partingLimit is how long a loop waits for the server to close; a server that keeps
// half-closed connections open is not at fault.
const partingLimit = 200 * time.Millisecond

// finish takes a connection out of the round; the last one begins the parting.
func (w *worker) finish(c *client) {
	c.phase = phaseDone
	if w.loading--; w.loading > 0 {
		return
	}
	w.cpuEnd, w.toStats = processCPU(), w.loop.Stats()
	w.r.oneAnswered()
	w.partNs = netpoll.Now() + int64(partingLimit)
	for i := range w.clients {
		if c := &w.clients[i]; c.conn != nil {
			w.parting++
			c.conn.CloseWrite()
		}
	}
	w.loop.SetDeadline(w.nextTick())
	if w.parting == 0 {
		w.loop.Stop()
	}
}

// parted is a connection that the server closed after it had no more work.
func (w *worker) parted() {
	if w.partNs == 0 {
		return // the others are still at work
	}
	if w.parting--; w.parting == 0 {
		w.loop.Stop()
	}
}
