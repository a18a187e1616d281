package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"respbench/netpoll"
	"respbench/protocol"
	"respbench/report"
)

// The server beside the load: its CPU time and its INFO at the beginning and at the end of the measured
// part, and once a second whether it saves or rewrites. All of it on a connection and a goroutine of its
// own; the loops only say when the measured part begins. What cannot be had is left out with one note.

const (
	watchEvery = time.Second
	watchLimit = 2 * time.Second // for an answer; a server that is slower is not asked again
)

// serverWatch is kept from round to round.
type serverWatch struct {
	nodes []*watchedNode // one, but in a cluster
	asks  bool           // INFO is to be asked for
	note  string         // why it is not, for the next result
	own   int            // commands sent so far
}

// watchedNode is one server.
type watchedNode struct {
	name    string
	c       *control
	process process
	local   bool // process is known
}

// openWatch prepares to watch when any output will show it. It never fails: a server that may not be
// asked is measured all the same.
func (s *session) openWatch(ctx context.Context) *serverWatch {
	out := &s.o.Output
	full := out.Additions && !out.Quiet && !out.CSV
	if !out.ServerInfo && !full && out.JSON == "" && !s.judged {
		return nil
	}
	w := &serverWatch{asks: out.ServerInfo}
	for _, ep := range s.serversOf(s.o.Target.ReadFrom) {
		c, err := s.openControlAt(ctx, ep)
		if err != nil {
			w.close()
			s.io.Log.Debug().Str("server", ep.Name).Str("error", plainError(err)).Msg("the server is not watched")
			return nil // the load will say it better
		}
		c.stop() // a signal ends the load; what the server says of it is still wanted
		if c.limit == 0 || c.limit > watchLimit {
			c.limit = watchLimit
		}
		c.heard = true // a server that ends the connection at INFO is refusing INFO: whether it wants TLS is the load's to say
		n := &watchedNode{name: ep.Name, c: c}
		n.process, n.local = localServer(c.conn)
		w.nodes = append(w.nodes, n)
	}
	return w
}

func (w *serverWatch) close() {
	if w == nil {
		return
	}
	for _, n := range w.nodes {
		n.c.close()
	}
}

// info asks for a section, of a cluster's nodes as one server. After the first failure it is not tried again.
func (w *serverWatch) info(section string) infoFields {
	if !w.asks {
		return nil
	}
	var all []infoFields
	for _, n := range w.nodes {
		v, err := n.c.do("INFO", section)
		w.own++
		switch {
		case err == nil && isError(v):
			err = errors.New(v.Str)
		case err == nil && (v.Kind != protocol.BulkString && v.Kind != protocol.Verbatim || v.Str == ""):
			err = errors.New("the reply is no text")
		}
		if err != nil {
			w.asks, w.note = false, fmt.Sprintf("no INFO from %s: %s", n.name, plainError(err))
			return nil
		}
		all = append(all, parseInfo(v.Str))
	}
	return sumInfo(all)
}

// moment is the server at one time.
type moment struct {
	taken     bool
	processes []processSample // of each node; empty when one is not known
	info      infoFields
	own       int
	atNs      int64
}

func (w *serverWatch) moment() moment {
	m := moment{taken: true, atNs: netpoll.Now(), own: w.own}
	for _, n := range w.nodes {
		p := processSample{}
		if n.local {
			p, n.local = n.process.sample()
		}
		if !n.local {
			m.processes = nil
			break
		}
		m.processes = append(m.processes, p)
	}
	m.info = w.info("all")
	return m
}

// roundWatch watches one round.
type roundWatch struct {
	*serverWatch
	r             *round
	opened        infoFields // INFO before the round's connections were opened; nil when it is not needed
	before, after moment
	start, began  chan struct{}
	finish, ended chan struct{}
	finishing     sync.Once
}

// watchRound begins to watch; r tells when the measured part begins. w may be nil.
func (w *serverWatch) watchRound(r *round) *roundWatch {
	if w == nil {
		return nil
	}
	rw := &roundWatch{serverWatch: w, r: r, start: make(chan struct{}), began: make(chan struct{}),
		finish: make(chan struct{}), ended: make(chan struct{})}
	if r.load.Warmup == 0 && !r.target.Cluster {
		rw.opened = w.info("stats")
	}
	r.onMeasured = func(wait bool) {
		close(rw.start)
		if wait {
			<-rw.began
		}
	}
	r.onAnswered = rw.end
	go rw.watch()
	return rw
}

func (rw *roundWatch) watch() {
	defer close(rw.ended)
	select {
	case <-rw.start:
	case <-rw.finish:
		return
	}
	rw.before = rw.moment()
	close(rw.began)
	rw.look()
	rw.after = rw.moment()
}

// look asks once a second what the server does in the background, to the end.
func (rw *roundWatch) look() {
	was := rw.before.info.persistence()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-rw.finish:
			return
		case <-tick.C:
		}
		info := rw.info("persistence")
		if info == nil {
			continue
		}
		now := info.persistence()
		rw.r.addEvents(netpoll.Now(), was.events(now))
		was = now
	}
}

// end is the end of the measured part.
func (rw *roundWatch) end() { rw.finishing.Do(func() { close(rw.finish) }) }

// stop ends the watch, if the round was cut short, and waits for its last look.
func (rw *roundWatch) stop() {
	rw.end()
	<-rw.ended
}

// complete fills in what was seen of the server, and what that says of the round.
func (rw *roundWatch) complete(res *report.Result) serverLoad {
	if rw == nil {
		return serverLoad{}
	}
	rw.stop()
	before, after := rw.before, rw.after
	load := rw.load(before, after)
	res.Server.CPU = load.cpu
	if info := before.info; info != nil {
		res.Server.Software, res.Server.Version = info.software()
	}
	if before.info != nil && after.info != nil {
		if before.info["run_id"] != after.info["run_id"] {
			res.Notes = append(res.Notes, "the server was started anew during the round: its figures are left out")
		} else {
			rw.countConnections(before.info)
			res.Server.Deltas = infoDeltas(before.info, after.info, after.own-before.own, rw.r.plan.Ops())
			rw.noteOthers(res)
		}
	}
	if rw.note != "" {
		res.Notes = append(res.Notes, rw.note)
		rw.note = ""
	}
	return load
}

// countConnections puts right how many connections the server had received when the measured part began: all of the round
// were open then, but a server accepts them when it gets to it, and may have told its count before.
func (rw *roundWatch) countConnections(before infoFields) {
	if was, ok := rw.opened.number(connectionsReceived); ok {
		before[connectionsReceived] = strconv.FormatFloat(was+float64(rw.r.load.Clients), 'f', -1, 64)
	}
}

// othersLeast is how many commands beyond ours are worth a note: set-up commands of connections are
// not counted.
const othersLeast = 1000

// noteOthers says that the server had other work than ours.
func (rw *roundWatch) noteOthers(res *report.Result) {
	if rw.r.load.Warmup > 0 || rw.r.load.Reconnect > 0 || rw.r.target.Cluster {
		return
	}
	for _, d := range res.Server.Deltas {
		if more := d.Value - float64(res.Requests); d.Name == commandsProcessed && more > othersLeast && more > 0.01*d.Value {
			res.Notes = append(res.Notes, fmt.Sprintf("the server processed %.0f commands that are not of this round: somebody else uses it", more))
		}
	}
}

// load is what the server used between two moments: by its process where that is known, else by INFO.
func (w *serverWatch) load(before, after moment) serverLoad {
	if n := len(after.processes); n > 0 && n == len(before.processes) {
		return w.processLoad(before, after)
	}
	all0, main0, ok0 := before.info.cpu()
	all1, main1, ok1 := after.info.cpu()
	if !ok0 || !ok1 || all1 < all0 {
		return serverLoad{}
	}
	busiest := main1 - main0
	if main1 == 0 { // older servers do not tell their main thread's apart
		busiest = all1 - all0
	}
	if n := len(w.nodes); n > 1 { // INFO's sums do not tell which node is the busiest
		busiest /= time.Duration(n)
	}
	return serverLoad{known: true, name: w.name(), lasted: time.Duration(after.atNs - before.atNs), cpu: all1 - all0,
		busiest: threadTimes{run: busiest}}
}

// processLoad is the load of all nodes, and of the busiest among their threads.
func (w *serverWatch) processLoad(before, after moment) serverLoad {
	load := serverLoad{known: true, local: true, name: w.name()}
	for i := range after.processes {
		u := before.processes[i].until(after.processes[i])
		load.lasted = max(load.lasted, u.lasted)
		load.cpu += u.cpu
		load.waited += u.waited
		if u.cpus > 0 {
			load.confined = max(load.confined, portion(u.cpu, u.lasted)/float64(u.cpus))
		}
		if u.busiest.run+u.busiest.wait > load.busiest.run+load.busiest.wait {
			load.busiest = u.busiest
		}
	}
	return load
}

// name is how a verdict calls the server.
func (w *serverWatch) name() string {
	n := w.nodes[0]
	switch {
	case len(w.nodes) > 1:
		return fmt.Sprintf("%d nodes", len(w.nodes))
	case n.local:
		return fmt.Sprintf("%s, pid %d", n.process.name, n.process.pid)
	}
	return n.name
}
