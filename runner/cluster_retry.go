package runner

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"respbench/netpoll"
	"respbench/report"
)

// What a cluster asks to be tried again is taken out of the connection, without counting as a
// reply, and queued for another node, or for later.

// Marks of a flight.
const (
	askingFlight uint8 = 1 << iota // not a request, but the ASKING in front of one
	silent                         // its reply has been counted; it goes along with its transaction
	single                         // it goes alone, although it was one of a group
	asking                         // ASKING goes in front of it
	uncounted    = askingFlight | silent
)

// redirected deals with an error reply that asks for another try; handled is false for all others.
func (w *worker) redirected(c *client, text string) (handled bool, err error) {
	head := c.fly.at(0)
	if head.flags&askingFlight != 0 {
		return false, nil
	}
	red, ok := parseRedirect(text)
	if !ok {
		return w.aborted(c, text)
	}
	rt := w.router
	if head.index < warmupFirst {
		rt.counts[red.kind]++
	}
	x := w.takeBack(c)
	x.flags |= single
	if rt.routes.groups && rt.routes.inside[rt.routes.plan.Template(x.index)] {
		c.held = append(c.held, heldFlight{x, red}) // EXEC will say EXECABORT
		return true, nil
	}
	return true, w.tryAgain(c, []flight{x}, red, text)
}

// heldFlight is a command that was redirected within a transaction.
type heldFlight struct {
	flight
	red redirect
}

// takeBack removes the oldest flight of a connection without counting a reply to it.
func (w *worker) takeBack(c *client) flight {
	x := c.fly.pop()
	w.inFlight--
	c.inOrder--
	c.pending--
	c.answered++
	c.bad = false
	if c.fly.n > 0 {
		c.first = c.fly.at(0).index
	}
	return x
}

// tryAgain sends a group of flights where the redirect says, or pauses first.
func (w *worker) tryAgain(c *client, group []flight, red redirect, text string) error {
	now := netpoll.Now()
	tries := group[0].tries
	if tries < maxTries {
		tries++
	}
	for i := range group {
		group[i].tries = tries
		group[i].flags &^= asking
	}
	if limit, option := w.retryLimit(red); limit > 0 && now-group[0].sentNs > int64(limit) {
		return &serverError{fmt.Sprintf("%s (after %d tries in %v, %s)", text, tries, limit, option), w.nodeName(c)}
	}
	rt := w.router
	pause := pauseBefore(int(tries))
	switch red.kind {
	case moved, ask:
		n := w.named(c, red)
		if red.kind == moved && rt.learn(red.slot, n) {
			rt.cl.refresh(rt.ctx, w.r, n.node)
		}
		if tries <= followAtOnce && !(red.kind == ask && len(group) > 1) {
			for _, x := range group {
				if red.kind == ask {
					x.flags |= asking
				}
				rt.placeAt(n, x)
			}
			return nil
		}
		pause = pauseBefore(int(tries) - followAtOnce)
	case clusterDown:
		rt.cl.refresh(rt.ctx, w.r, nil)
	}
	rt.pause(group, now+int64(max(pause, firstPause)))
	return nil
}

// retryLimit is how long a request is tried again, and the option that says so. A cluster that has been down from the
// beginning, or whose nodes have sent the requests to and fro, is not waited for longer than a server that refuses: it is
// not in the middle of a failover, which takes its time. A slot on the move (TRYAGAIN) does, too.
func (w *worker) retryLimit(red redirect) (time.Duration, string) {
	limit, connect := w.r.load.Timeout, w.r.load.ConnectTimeout
	answered := w.lastNs > 0 || w.warmed > 0
	if red.kind != tryAgain && !answered && connect > 0 && connect < limit {
		return connect, "--connect-timeout"
	}
	return limit, "--timeout"
}

// named is the node of a MOVED or ASK. Without a host it is on the host of the node that sent it.
func (w *worker) named(c *client, red redirect) *nodeState {
	host := red.host
	if host == "" {
		host, _, _ = splitAddr(c.node.node.addr)
	}
	node := w.router.cl.intern(net.JoinHostPort(host, strconv.Itoa(red.port)))
	if node.endpoint.Load() == nil {
		w.router.cl.lookUp(w.router.ctx, node, w.r)
	}
	return w.router.state(node)
}

// aborted deals with the end of a transaction in which a command was redirected: the server has
// done nothing of it, so all of it is sent again, and what was counted before is not counted twice.
func (w *worker) aborted(c *client, text string) (bool, error) {
	if len(c.held) == 0 || !strings.HasPrefix(text, transactionEnd) {
		return false, nil
	}
	x := w.takeBack(c)
	first, n := w.router.routes.plan.Execution(x.index)
	group := make([]flight, n)
	for i := range group {
		group[i] = flight{index: first + uint64(i), dueNs: x.dueNs, slot: x.slot, flags: silent, tries: x.tries}
	}
	for _, h := range append(c.held, heldFlight{flight: x}) {
		k := h.index - first
		group[k].sentNs, group[k].flags = h.sentNs, h.flags&silent
	}
	group[0].sentNs = x.sentNs // for the limit of tries; a silent flight's time is not used otherwise
	red := c.held[0].red
	c.held = c.held[:0]
	return true, w.tryAgain(c, group, red, text)
}

// nodeName is the address of a connection's node, for messages; empty without --cluster.
func (w *worker) nodeName(c *client) string {
	if c.node == nil {
		return ""
	}
	return c.node.node.addr
}

// repeated tells that the reply being read is not one to a request, or has been judged before.
func (w *worker) repeated(c *client) bool {
	return w.router != nil && c.fly.at(0).flags&uncounted != 0
}

// nextWait is when the next paused request is to be tried, if that is before next.
func (rt *router) nextWait(next int64) int64 {
	if len(rt.waits) > 0 {
		return min(next, rt.waits[0].atNs)
	}
	return next
}

// redirects are what the round's requests were tried again after.
func (r *round) redirects() (list []report.Count) {
	for kind, name := range redirectNames {
		total := int64(0)
		for _, w := range r.workers {
			if w.router != nil {
				total += w.router.counts[kind]
			}
		}
		if total > 0 {
			list = append(list, report.Count{Text: name, N: total})
		}
	}
	return list
}
