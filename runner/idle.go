package runner

import (
	"context"
	"fmt"
	"net/netip"
	"sync/atomic"
	"time"

	"respbench/netpoll"
	"respbench/protocol"
	"respbench/report"
)

// idle is -I: open the connections, send nothing, and wait for an interrupt. An error reply (a
// server that is full) or a close by the server ends it. In a cluster they are spread over its nodes.
func (s *session) idle(ctx context.Context) error {
	if s.o.Target.Cluster {
		if err := s.probeCluster(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(s.io.Stdout, "Creating %d idle connections and waiting forever (Ctrl+C when done)\n", s.o.Load.Clients)
	h := &idler{s: s, servers: s.serversOf(s.o.Target.ReadFrom), sources: s.o.Target.sources(),
		want: s.o.Load.Clients, opened: make([]bool, s.o.Load.Clients), openedNs: netpoll.Now()}
	l, err := netpoll.New(h, netpoll.Options{Engine: s.o.Load.Engine, CPU: -1, Log: s.logLine,
		TLS: s.tls, HandshakeTimeout: s.o.Load.ConnectTimeout})
	if err != nil {
		return err
	}
	h.loop = l
	h.dialMore()
	stop := context.AfterFunc(ctx, l.Stop)
	defer stop()
	lines, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		h.draw(lines)
	}()
	err = l.Run()
	close(lines)
	<-ended
	if h.err != nil {
		return h.err
	}
	if err != nil {
		return err
	}
	return context.Cause(ctx)
}

type idler struct {
	s       *session
	loop    netpoll.Loop
	servers []*netpoll.Endpoint // connection k is to the one at k modulo their number
	sources []netip.Addr        // in turn, too; empty: the kernel's choice
	want    int
	dialled int
	open    atomic.Int64
	opened  []bool // by connection
	err     error

	openedNs int64 // when the latest connection came about; at first, when the first was begun
}

func (h *idler) dialMore() {
	for h.dialled < h.want && h.dialled-int(h.open.Load()) < dialsAtOnce {
		d := netpoll.Dial{Endpoint: h.server(h.dialled), Tag: h.dialled, MPTCP: h.s.o.Target.MPTCP}
		if len(h.sources) > 0 {
			d.Source = h.sources[h.dialled%len(h.sources)]
		}
		h.loop.Dial(d)
		h.dialled++
	}
}

func (h *idler) server(k int) *netpoll.Endpoint { return h.servers[k%len(h.servers)] }

func (h *idler) draw(done <-chan struct{}) {
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		_ = report.IdleLine(h.s.io.Stdout, int(h.open.Load()))
		select {
		case <-done:
			return
		case <-t.C:
			h.loop.Wake()
		}
	}
}

func (h *idler) Opened(c netpoll.Conn) {
	h.opened[c.Tag()] = true
	h.open.Add(1)
	h.openedNs = netpoll.Now()
	h.dialMore()
}

func (h *idler) Data(_ netpoll.Conn, in *netpoll.ChainBuffer, _ int64) {
	for in.Len() > 0 {
		n, v, err := protocol.ParseValue(in.Linear())
		switch {
		case err != nil:
			h.fail(lostError(err))
			return
		case n == 0:
			return
		case v.Kind != protocol.Push:
			h.fail(unasked(isError(v), v.Str))
			return
		}
		in.Discard(n)
	}
}

func (h *idler) Writable(netpoll.Conn) {}

// Tick ends the wait for connections that do not come about.
func (h *idler) Tick(now int64) {
	limit := h.s.o.Load.ConnectTimeout
	if limit > 0 && int(h.open.Load()) < h.want && now-h.openedNs > int64(limit) {
		h.fail(timeoutError(h.server(h.dialled-1), phaseDialing, limit))
	}
}

func (h *idler) Closed(c netpoll.Conn, err error) {
	if !h.opened[c.Tag()] {
		h.fail(connectError(h.server(c.Tag()), err))
		return
	}
	h.open.Add(-1)
	h.fail(lostError(err))
}

func (h *idler) fail(err error) {
	if h.err == nil {
		h.err = err
	}
	h.loop.Stop()
}
