package runner

import (
	"fmt"
	"time"

	"respbench/report"
)

// Who is the bottleneck? A side is at its limit when its busiest thread ran, or wanted to run, all the
// time: a loop that had nothing to do would have slept. The decision is a pure function of the figures.

// The verdict's words.
const (
	serverBound  = "server-bound"
	clientBound  = "client-bound"
	latencyBound = "neither: latency-bound"
	pacedWord    = "paced"
	cannotTell   = "cannot tell"
)

const (
	fullShare   = 0.90                   // from here on a thread counts as busy all the time
	keptShare   = 0.98                   // of the offered load; less was not for the schedule's sake
	ceilingPart = 0.90                   // of what the client can do at most
	ceilingOver = 1.10                   // what is above was no ceiling
	shortest    = 100 * time.Millisecond // CPU times of less say little
)

// serverLoad is what the server used in the measured part.
type serverLoad struct {
	known   bool
	local   bool // on this machine, so that it competes with the client for processors
	name    string
	lasted  time.Duration // between the two looks
	cpu     time.Duration // all threads
	waited  time.Duration // all threads, for a processor
	busiest threadTimes

	confined float64 // part it used of the processors it may use, 0 to 1
}

// facts is what a verdict is made of.
type facts struct {
	elapsed  time.Duration
	rate     float64 // answered per second
	loops    []report.LoopCPU
	client   time.Duration // CPU of the whole client
	spins    bool          // loops poll busily: their CPU time says nothing
	server   serverLoad
	cores    int
	clients  int
	pipeline int
	pacing   *report.Pacing // nil in a closed loop
	ceiling  float64        // requests per second that this client can do; 0 = not measured
}

func portion(part, whole time.Duration) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// clientShare is how busy the busiest loop was, 0 to 1: it ran, or wanted to.
func (f *facts) clientShare() (busy float64, loop int) {
	known := false
	for i, l := range f.loops {
		known = known || l.Busy > 0
		if s := portion(l.Busy+l.RunQueue, f.elapsed); s > busy {
			busy, loop = s, i
		}
	}
	if !known { // the platform or the engine does not tell: all loops share the process's time
		return portion(f.client, f.elapsed) / float64(max(len(f.loops), 1)), -1
	}
	return busy, loop
}

// serverShare is how busy the server's busiest thread was, or all the processors it may use. A server whose work wanders over its threads
// (Go's scheduler does that) is as busy as all of them together, as long as that is no more than one
// could have done.
func (f *facts) serverShare() float64 {
	s := &f.server
	one := max(portion(s.busiest.run+s.busiest.wait, s.lasted), s.confined)
	if all := portion(s.cpu+s.waited, s.lasted); all <= 1+1-fullShare {
		return max(one, all)
	}
	return one
}

// judge says what limited the round.
func judge(f facts) *report.Verdict {
	v := &report.Verdict{Word: cannotTell}
	if f.elapsed < shortest {
		unit := time.Millisecond
		if f.elapsed < 10*unit {
			unit = time.Microsecond
		}
		v.Reasons = []string{fmt.Sprintf("the round lasted only %s", f.elapsed.Round(unit))}
		return v
	}
	v.Reasons = append(v.Reasons, f.clientReason())
	v.Reasons = append(v.Reasons, f.serverReason())
	if f.pacing != nil && f.pacing.Achieved >= keptShare*f.pacing.Offered {
		f.judgePaced(v)
		return v
	}
	if f.pacing != nil {
		v.Reasons = append(v.Reasons, fmt.Sprintf("achieved %.2f%% of the offered load", 100*f.pacing.Achieved/f.pacing.Offered))
	}
	f.judgeClosed(v)
	return v
}

func (f *facts) judgePaced(v *report.Verdict) {
	v.Word = pacedWord
	v.Reasons = append(v.Reasons, fmt.Sprintf("the schedule was the limit: achieved %.2f of %.2f offered requests per second", f.pacing.Achieved, f.pacing.Offered))
	if p := f.pacing; p.Lag > p.Due/100 {
		v.Advice = "the client's processor was not free"
		v.Reasons = append(v.Reasons, f.lateReason())
	}
}

// heldUp tells that a paced client lacked a processor, and that this makes up most of the delay.
func (f *facts) heldUp() bool {
	p := f.pacing
	return p != nil && f.crowded() && p.Lag > p.Due/10 && p.MaxLag > p.MaxLate/2
}

func (f *facts) lateReason() string {
	return fmt.Sprintf("%.2f%% of the requests were noticed late by the client", 100*float64(f.pacing.Lag)/float64(f.pacing.Due))
}

func (f *facts) judgeClosed(v *report.Verdict) {
	busy, _ := f.clientShare()
	client, server := busy >= fullShare && !f.spins, f.server.known && f.serverShare() >= fullShare
	known := false // what the client can do
	if f.ceiling > 0 {
		part := f.rate / f.ceiling
		v.Reasons = append(v.Reasons, fmt.Sprintf("%.0f%% of the client's ceiling of %.0f requests per second", 100*part, f.ceiling))
		if known = part < ceilingOver; known {
			client = part >= ceilingPart
		} else {
			v.Reasons = append(v.Reasons, "the ceiling is too low to be one: measure it again, with the same options")
		}
	}
	if !server && f.heldUp() {
		client = true
		v.Reasons = append(v.Reasons, f.lateReason())
	}
	switch {
	case client && server && !known:
		v.Reasons = append(v.Reasons, "both are busy all the time")
		v.Advice = "measure the client alone: respbench ceiling, then --ceiling"
		if f.crowded() {
			v.Advice = "the processors are not enough for both and what else runs here"
		}
	case client && f.crowded():
		v.Word, v.Advice = clientBound, "its loop lacked a processor: stop what else runs here, or pin it with --cpu"
	case client:
		v.Word, v.Advice = clientBound, f.moreThreads()
	case server:
		v.Word = serverBound
		if portion(f.server.busiest.wait, f.server.lasted) >= crowdedShare {
			v.Advice = "the server lacked a processor: stop what else runs here"
		}
	case !f.server.known:
		// The client had time to spare; whether the server had is not known.
	default:
		v.Word, v.Advice = latencyBound, "raise -c or -P"
	}
}

// crowdedShare of the time spent waiting for a processor says that there are too few of them.
const crowdedShare = 0.25

func (f *facts) crowded() bool {
	for _, l := range f.loops {
		if portion(l.RunQueue, f.elapsed) >= crowdedShare {
			return true
		}
	}
	return false
}

// moreThreads is what a client at its limit can do.
func (f *facts) moreThreads() string {
	free := f.cores - len(f.loops)
	if f.server.local || !f.server.known {
		free-- // the server's own processor
	}
	switch {
	case f.clients <= len(f.loops):
		return fmt.Sprintf("raise -c, then try --threads %d", len(f.loops)+1)
	case free > 0:
		return fmt.Sprintf("try --threads %d", len(f.loops)+1)
	}
	return fmt.Sprintf("a further loop beside the server does not help on %d processors: run the client on another machine", f.cores)
}

func (f *facts) clientReason() string {
	busy, loop := f.clientShare()
	if loop < 0 {
		return fmt.Sprintf("client %.0f%% of a processor a loop", 100*busy)
	}
	l := f.loops[loop]
	text := fmt.Sprintf("client loop %d busy %.0f%%", loop, 100*portion(l.Busy, f.elapsed))
	if wait := portion(l.RunQueue, f.elapsed); wait >= 0.01 {
		text += fmt.Sprintf(" and waiting for a processor %.0f%%", 100*wait)
	}
	if f.spins {
		text += " (polling busily)"
	}
	if l.Turns > 0 {
		text += fmt.Sprintf(", found work in %.0f%% of its turns", 100*float64(l.WorkTurns)/float64(l.Turns))
	}
	return text
}

func (f *facts) serverReason() string {
	s := &f.server
	if !s.known {
		return "the server's CPU time is not known"
	}
	text := fmt.Sprintf("server (%s) busiest thread %.0f%%", s.name, 100*portion(s.busiest.run, s.lasted))
	if wait := portion(s.busiest.wait, s.lasted); wait >= 0.01 {
		text += fmt.Sprintf(" and waiting for a processor %.0f%%", 100*wait)
	}
	text += fmt.Sprintf(", %.0f%% of a processor in all", 100*portion(s.cpu, s.lasted))
	if s.confined >= fullShare {
		text += ", which is all it may use"
	}
	return text
}
