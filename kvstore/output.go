package kvstore

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// output.go is the way of the replies. A batch's replies leave with one write. What the socket does not take goes to a
// sender, a goroutine of the client with a descriptor of its own, so that neither a slow reader nor the end of the
// connection concerns the event loop: gnet may close its descriptor, and the sender still delivers what is due,
// ends the stream in order, and swallows what the client still sends, since closing a socket with unread
// input would reset the connection before the client has read the last reply.

// send passes the replies in s.out on and empties it.
func (s *Server) send(c *client) {
	if len(s.out) == 0 {
		return
	}
	if s.mustHold(c) {
		s.hold(c)
	} else {
		s.deliver(c, s.out)
	}
	s.out, s.writes = s.out[:0], s.writes[:0]
}

// deliver writes b to the client, or queues what the socket does not take.
func (s *Server) deliver(c *client, b []byte) {
	s.counts.bytesOut += int64(len(b))
	if c.sender != nil {
		if c.sender.add(b) {
			return
		}
		c.sender = nil // it has sent all it had
	}
	if c.gone {
		return
	}
	n, err := writeSocket(c.fd, b)
	if err != nil && err != unix.EAGAIN {
		c.gone = true
		return
	}
	if n < len(b) {
		s.startSender(c, b[n:], false)
	}
}

// mustWait reports whether so much output waits that the client's commands have to wait, too. Those of a client that is lost
// wait until its connection is closed.
func (s *Server) mustWait(c *client) bool {
	return c.heldBytes() > MaxOutputWait || c.sender != nil && c.sender.waiting() > MaxOutputWait || c.lost()
}

// lost reports that the client went away before it had taken its output.
func (c *client) lost() bool { return c.sender != nil && c.sender.broken() }

// startSender gives the client a sender with a duplicate of its descriptor and b to send. It has b before it runs: a sender without
// work gives up, and could do so before this goroutine, when that is kept from running, comes to hand it some. held: it
// does not give up, finish will be called.
func (s *Server) startSender(c *client, b []byte, held bool) {
	fd, err := unix.FcntlInt(uintptr(c.fd), unix.F_DUPFD_CLOEXEC, 0)
	w := &sender{queue: append([]byte(nil), b...), held: held}
	w.more.L = &w.mu
	c.sender = w
	if err != nil {
		s.opts.Log.Error().Err(os.NewSyscallError("dup", err)).Msg("client closed")
		w.failed = true
		c.gone = true
		return
	}
	loop := s.loop
	w.file = os.NewFile(uintptr(fd), "client") // non-blocking as the original is: it goes to Go's poller
	w.fd = fd
	w.drained = func() {
		s.onLoop(loop, func() { s.resume(c) })
	}
	s.senders.Add(1)
	w.sent = s.senders.Done
	go w.run()
}

// resume executes what waited for the client to read. The client may have closed its half of the connection meanwhile, or have
// gone away: then what waited is for nobody.
func (s *Server) resume(c *client) {
	c.stalled = false
	action := gnet.None
	if c.lost() {
		c.input = nil
	} else if len(c.input) > 0 {
		action = s.feed(c, nil)
	}
	switch {
	case c.conn != nil && action == gnet.Close:
		c.conn.Close()
	case c.conn == nil && c.sender != nil && !c.holding && !c.stalled:
		c.closing = true
		c.sender.finish()
	}
}

// refuse writes the only thing that a client will hear, and takes what it has sent already: to close a socket with unread input
// would reset the connection. There is no lingering here, since descriptors are what is short.
func refuse(fd int, text string) {
	writeSocket(fd, []byte(text))
	var rest [4096]byte
	for range 16 {
		if n, err := unix.Read(fd, rest[:]); n <= 0 || err != nil {
			return
		}
	}
}

// linger ends a connection from the server's side: all replies, then the end of the stream, then nothing for a while.
func (s *Server) linger(c *client) gnet.Action {
	if c.gone {
		return gnet.Close
	}
	c.input = nil
	s.ensureSender(c)
	return gnet.Close
}

// ensureSender gives the client a sender that stays until finish is called.
func (s *Server) ensureSender(c *client) {
	if c.sender == nil || !c.sender.hold() {
		s.startSender(c, nil, true)
	}
}

// detach lets go of gnet's connection; the sender, if there is one, ends by itself. When the client has only closed its
// half, the commands that wait for it to read are still executed.
func (s *Server) detach(c *client, orderly bool) {
	waits := orderly && !c.gone && !c.lost() && (c.holding || c.stalled && !c.closing)
	if waits {
		s.ensureSender(c)
	}
	c.gone = true
	c.conn = nil
	switch {
	case waits: // release or resume finishes
	case c.sender == nil:
		c.closing = true
	default:
		c.closing = true
		c.sender.finish()
	}
}

// sender delivers the output of one client that the socket did not take at once.
type sender struct {
	file    *os.File
	fd      int
	drained func() // called when commands may be executed again
	sent    func() // called when all is written

	mu       sync.Mutex
	more     sync.Cond
	queue    []byte
	writing  int  // bytes of the write under way
	paused   bool // the event loop waits for drained
	idle     bool // run waits for more
	over     bool // all was sent: the next add must go elsewhere
	held     bool // finish will be called, wait for it
	finished bool // no add will follow; close when all is sent
	failed   bool // the client is gone
}

// add queues b; false means that the sender has ended and b is the caller's again.
func (w *sender) add(b []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return false
	}
	if !w.failed {
		w.queue = append(w.queue, b...)
	}
	w.more.Signal()
	return true
}

// waiting gives the bytes that are not sent yet, and above the limit arms drained.
func (w *sender) waiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.queue) + w.writing
	if w.over || w.failed {
		return 0
	}
	w.paused = w.paused || n > MaxOutputWait
	return n
}

// broken reports that sending failed.
func (w *sender) broken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// finish tells that the connection is closed on the server's side.
func (w *sender) finish() {
	w.mu.Lock()
	w.finished = true
	w.more.Signal()
	w.mu.Unlock()
	if w.file != nil {
		w.file.SetWriteDeadline(time.Now().Add(lingerTime))
	}
}

// hold keeps the sender until finish is called; false when it has ended already.
func (w *sender) hold() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = !w.over
	return w.held
}

// senderPatience is how long a sender that has nothing to do stays.
const senderPatience = 10 * time.Millisecond

func (w *sender) run() {
	defer w.file.Close()
	var spare []byte
	for {
		batch, last := w.take(spare)
		if last {
			break
		}
		err := w.write(batch)
		spare = batch[:0]
		w.mu.Lock()
		w.writing = 0
		if err != nil {
			w.failed, w.queue = true, nil
		}
		w.mu.Unlock()
	}
	w.mu.Lock()
	closing := w.finished && !w.failed
	w.mu.Unlock()
	w.sent()
	if closing {
		w.closeInOrder()
	}
}

// take gives the bytes to write next; last is true when there are none and will be none.
func (w *sender) take(spare []byte) (batch []byte, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused && len(w.queue) <= MaxOutputWait/2 {
		w.paused = false
		w.drained()
	}
	if len(w.queue) > 0 {
		batch, w.queue = w.queue, spare
		w.writing = len(batch)
		return batch, false
	}
	if !w.finished {
		// Stay a little: a client that did not take all at once may be in the middle of a large reply, or be closed next.
		timer := time.AfterFunc(senderPatience, w.giveUp)
		w.idle = true
		for len(w.queue) == 0 && !w.finished && !w.over {
			w.more.Wait()
		}
		w.idle = false // a giveUp that comes too late must not count
		timer.Stop()
		if len(w.queue) > 0 && !w.over {
			batch, w.queue = w.queue, spare
			w.writing = len(batch)
			return batch, false
		}
	}
	w.over = true
	return nil, true
}

// giveUp ends a sender that has had nothing to do.
func (w *sender) giveUp() {
	w.mu.Lock()
	if w.idle && len(w.queue) == 0 && !w.finished && !w.held {
		w.over = true
	}
	w.more.Signal()
	w.mu.Unlock()
}

// write sends b. A client that has been closed on the server's side has lingerTime to take each piece.
func (w *sender) write(b []byte) error {
	const piece = 256 << 10
	for len(b) > 0 {
		w.mu.Lock()
		finished := w.finished
		w.mu.Unlock()
		if finished {
			w.file.SetWriteDeadline(time.Now().Add(lingerTime))
		}
		n, err := w.file.Write(b[:min(piece, len(b))])
		b = b[n:]
		w.mu.Lock()
		w.writing = len(b)
		w.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// closeInOrder ends the stream and reads what the client still sends until it closes as well, for a while.
func (w *sender) closeInOrder() {
	if unix.Shutdown(w.fd, unix.SHUT_WR) != nil {
		return
	}
	w.file.SetReadDeadline(time.Now().Add(lingerTime))
	io.Copy(io.Discard, w.file)
}
