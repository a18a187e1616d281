package runner

import (
	"context"
	"errors"
	"fmt"
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
	node    string
	c       *control
	process process
	local   bool   // process is known
	asks    bool   // INFO is to be asked for
	note    string // why it is not, for the next result
	own     int    // commands sent so far
}

// openWatch prepares to watch when any output will show it. It never fails: a server that may not be
// asked is measured all the same.
func (s *session) openWatch(ctx context.Context) *serverWatch {
	out := &s.o.Output
	full := out.Additions && !out.Quiet && !out.CSV
	if !out.ServerInfo && !full && out.JSON == "" && !s.judged {
		return nil
	}
	c, err := s.openControl(ctx)
	if err != nil {
		return nil // the load will say it better
	}
	c.stop() // a signal ends the load; what the server says of it is still wanted
	if c.limit == 0 || c.limit > watchLimit {
		c.limit = watchLimit
	}
	w := &serverWatch{node: s.ep.Name, c: c, asks: out.ServerInfo}
	w.process, w.local = localServer(c.conn)
	return w
}

func (w *serverWatch) close() {
	if w != nil {
		w.c.close()
	}
}

// info asks for a section. After the first failure it is not tried again.
func (w *serverWatch) info(section string) infoFields {
	if !w.asks {
		return nil
	}
	v, err := w.c.do("INFO", section)
	w.own++
	switch {
	case err != nil:
		w.giveUp(err)
	case isError(v):
		w.giveUp(errors.New(v.Str))
	case v.Kind != protocol.BulkString && v.Kind != protocol.Verbatim || v.Str == "":
		w.giveUp(errors.New("the reply is no text"))
	default:
		return parseInfo(v.Str)
	}
	return nil
}

func (w *serverWatch) giveUp(err error) {
	w.asks, w.note = false, fmt.Sprintf("no INFO from %s: %s", w.node, plainError(err))
}

// moment is the server at one time.
type moment struct {
	taken   bool
	process processSample
	info    infoFields
	own     int
	atNs    int64
}

func (w *serverWatch) moment() moment {
	m := moment{taken: true, atNs: netpoll.Now()}
	if w.local {
		m.process, w.local = w.process.sample()
	}
	m.own = w.own
	m.info = w.info("all")
	return m
}

// roundWatch watches one round.
type roundWatch struct {
	*serverWatch
	r             *round
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
	if w.local && before.process.cpu > 0 {
		u := before.process.until(after.process)
		return serverLoad{known: true, local: true, name: fmt.Sprintf("%s, pid %d", w.process.name, w.process.pid),
			lasted: u.lasted, cpu: u.cpu, waited: u.waited, busiest: u.busiest}
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
	return serverLoad{known: true, name: w.node, lasted: time.Duration(after.atNs - before.atNs), cpu: all1 - all0,
		busiest: threadTimes{run: busiest}}
}
