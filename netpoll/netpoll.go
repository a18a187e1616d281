// Package netpoll drives many non-blocking connections on few threads.
//
// It knows descriptors, readiness and buffers; what the bytes mean is its handler's business.
// Two engines stand behind one small interface: "epoll" (Linux, raw system calls) and "gnet"
// (portable). A Loop owns its connections alone: nothing is shared between loops, and every
// method of a Conn and every call of a Handler happens on the loop's own goroutine.
package netpoll

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"time"
)

// Handler receives what happens on a loop.
type Handler interface {
	// Opened says that c is connected and may be written to.
	Opened(c Conn)
	// Data hands over received bytes. now is the clock read after the read that brought them.
	// What the handler leaves in the buffer is presented again in front of what comes next.
	Data(c Conn, in *ChainBuffer, now int64)
	// Writable says that c takes bytes again after a Write that was cut short.
	Writable(c Conn)
	// Closed is the last word on c: it could not connect, or the other end or an error closed it.
	// io.EOF means an orderly close. It does not follow a Close of one's own.
	Closed(c Conn, err error)
	// Tick follows a deadline that has passed, or a Wake.
	Tick(now int64)
}

// Conn is one connection of a Loop.
type Conn interface {
	// Tag is the number given to Dial.
	Tag() int
	// Write takes as much of p as the kernel does now and returns how much that was. After a short
	// count Handler.Writable follows, or Closed: a write that fails is told there, after everything
	// that the other end had still said.
	Write(p []byte) int
	// Writev is Write for several slices. It may change the elements of bufs, not their bytes.
	Writev(bufs [][]byte) int
	// CloseWrite says that nothing more will be written; what the other end still says is received,
	// and its own close reported.
	CloseWrite()
	// Close ends the connection; no further call of the handler names it.
	Close()
	// LocalAddr and RemoteAddr are for messages; they allocate.
	LocalAddr() string
	RemoteAddr() string
}

// Loop multiplexes connections on one thread.
type Loop interface {
	// Dial starts to connect to the endpoint's addresses in turn; Opened or Closed follows.
	// It may be called before Run, and on the loop during Run.
	Dial(d Dial)
	// Run serves until Stop and then closes every connection.
	Run() error
	// Stop ends Run at the next turn; from any goroutine.
	Stop()
	// Wake makes the loop call Tick soon; from any goroutine.
	Wake()
	// SetDeadline asks for a Tick at the given time of Now; 0 asks for none. On the loop only.
	SetDeadline(ns int64)
	// Stats is the loop's account so far. On the loop, or after Run.
	Stats() Stats
}

// Dial is one connection to be made.
type Dial struct {
	Endpoint *Endpoint
	Source   netip.Addr // local address; the zero value is the kernel's choice
	Tag      int
	MPTCP    bool // Linux only
}

// Stats is what a loop did and used. Times are zero where the platform does not tell.
type Stats struct {
	Turns     int64 // returns of the poller
	WorkTurns int64 // of these, with an event
	CPU       time.Duration
	RunQueue  time.Duration // ready to run, but waiting for a processor
}

// Options of a loop.
type Options struct {
	Engine string        // "epoll", "gnet", or empty for the platform's best
	CPU    int           // processor to run on; -1 = any
	Spin   time.Duration // poll so long without blocking before each wait (epoll only)
	Log    func(text string)

	// TLS is how every connection is secured; nil is plain TCP. It is not changed. Without a
	// ServerName each endpoint's own host is used.
	TLS *tls.Config
	// HandshakeTimeout fails a handshake with os.ErrDeadlineExceeded. It is counted from the
	// beginning of TCP's connect, which it does not end; 0 = wait for ever.
	HandshakeTimeout time.Duration
}

// Engines names the engines of this platform, the default first.
func Engines() []string { return engines }

// New makes a loop that reports to h.
func New(h Handler, o Options) (Loop, error) {
	if o.Engine == "" {
		o.Engine = engines[0]
	}
	if o.TLS != nil {
		return newTLS(h, o)
	}
	switch o.Engine {
	case "epoll":
		return newEpoll(h, o)
	case "gnet":
		return newGnet(h, o)
	}
	return nil, fmt.Errorf("unknown engine %q: must be one of %v", o.Engine, engines)
}

// epoch is where Now begins.
var epoch = time.Now()

// Now is the monotonic clock in nanoseconds since the start of the process.
func Now() int64 { return int64(time.Since(epoch)) }
