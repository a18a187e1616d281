package runner

import (
	"strconv"
	"strings"
	"time"
)

// redirectKind is an error reply with which a cluster asks for another try.
type redirectKind uint8

const (
	moved       redirectKind = iota // the slot belongs to the named node
	ask                             // this request alone: the named node, behind ASKING
	tryAgain                        // some of several keys are on the move
	clusterDown                     // no node has the slot at present
	redirectKinds
)

var redirectNames = [redirectKinds]string{"MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"}

// redirect is such a reply. Host and port are those of MOVED and ASK; an empty host is that of the
// node that sent it.
type redirect struct {
	kind redirectKind
	slot uint16
	host string
	port int
}

// parseRedirect reads the text of an error reply; ok is false for all that are no redirects, and
// for those that name no place to go to.
func parseRedirect(text string) (r redirect, ok bool) {
	word, rest, _ := strings.Cut(text, " ")
	for kind, name := range redirectNames {
		if word != name {
			continue
		}
		r.kind = redirectKind(kind)
		if r.kind > ask {
			return r, true
		}
		slot, addr, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(slot)
		if err != nil || n < 0 || n >= slotCount {
			return r, false
		}
		r.slot = uint16(n)
		r.host, r.port, err = splitAddr(strings.TrimSpace(addr))
		if r.host == "?" { // the node prefers a host name and has none
			r.host = ""
		}
		return r, err == nil && r.port > 0
	}
	return r, false
}

// Pauses before another try: doubled each time between these two.
const (
	firstPause = 10 * time.Millisecond
	longPause  = time.Second
)

// pauseBefore is how long to wait before try number n+1, counted from 1.
func pauseBefore(n int) time.Duration {
	if n < 1 {
		return 0
	}
	if n > 7 {
		return longPause
	}
	return min(firstPause<<(n-1), longPause)
}

// followAtOnce is how many redirects in a row a request follows without a pause: more only come
// when nodes disagree.
const followAtOnce = 5
