package runner

import (
	"respbench/netpoll"
	"respbench/protocol"
)

// phase is where a connection is in its life.
type phase uint8

const (
	phaseIdle     phase = iota // not yet dialled, or closed between two connections
	phaseDialing               // TCP, and TLS
	phaseGreeting              // the prefix commands are sent, not all answered
	phaseReady                 // waits for the round to begin
	phaseLoading               // has requests in flight
	phaseDone                  // found no more work
	phaseNoPort                // found no free local port; dialled again soon
)

// client is one connection's state on its worker. The first fields are used with every reply.
type client struct {
	conn    netpoll.Conn
	phase   phase
	class   class  // of the last reply, for the run of equal ones behind it
	bad     bool   // the reply being read differs from what it must be
	inOrder int32  // requests of the current stamp without a reply
	stampNs int64  // when the requests of the current stamp were written
	first   uint64 // index of the oldest request without a reply
	pending int32  // requests of the batch without a reply
	unsent  int32  // of these, not wholly written
	skip    int    // written bytes of the first unsent one
	dec     protocol.Decoder

	heardNs  int64   // last sign of life
	dialNs   int64   // when this connection was begun
	later    []stamp // writes behind the current stamp, after a short write only
	answered int64   // on this connection
	greeted  int     // prefix replies so far
	queued   uint8   // the queues of the open loop that it stands in
	fly      flights // instead of batch and stamps, where requests are tracked

	node *nodeState   // that the connection belongs to; nil without --cluster
	held []heldFlight // redirected commands of the transaction that is being answered
}

// stamp is one write: when it was made and how many requests it began.
type stamp struct {
	ns int64
	n  int32
}

// sent notes that a write at ns began n requests.
func (c *client) sent(ns int64, n int32) {
	switch {
	case n == 0:
	case c.inOrder == 0 && len(c.later) == 0:
		c.stampNs, c.inOrder = ns, n
	default:
		c.later = append(c.later, stamp{ns, n})
	}
}

// nextStamp moves on when every request of the current stamp is answered.
func (c *client) nextStamp() {
	if c.inOrder == 0 && len(c.later) > 0 {
		c.stampNs, c.inOrder = c.later[0].ns, c.later[0].n
		c.later = append(c.later[:0], c.later[1:]...)
	}
}

// owed is how many replies of the current stamp may come: a request that is not wholly written has none yet.
func (c *client) owed() int {
	if c.skip > 0 && len(c.later) == 0 {
		return int(c.inOrder) - 1
	}
	return int(c.inOrder)
}

// unasked is what the last reply means when none was owed.
func (c *client) unasked() error {
	r := c.dec.Reply()
	if c.inOrder > 0 && !r.IsError() {
		return errEarly
	}
	return unasked(r.IsError(), string(r.Text))
}

// reset makes the state that of a connection not yet made.
func (c *client) reset() {
	*c = client{later: c.later[:0], fly: flights{buf: c.fly.buf}, queued: c.queued, node: c.node, held: c.held[:0]}
}
