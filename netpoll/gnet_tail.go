package netpoll

import (
	"github.com/panjf2000/gnet/v2"
	"golang.org/x/sys/unix"
)

// gnet gives a connection up at its first failed write, without a look at what the other end had said before: a server
// that refuses a request in the middle answers, closes and, since there is more to read, resets. The answer is the
// reason, so it is fetched while the descriptor is still open.

// tailMost is far more than an error reply takes.
const tailMost = 64 << 10

// tailOf reads what a connection that gnet is about to close still holds.
func tailOf(gc gnet.Conn) []byte {
	buf := make([]byte, tailMost)
	held := 0
	if kept, err := gc.Peek(-1); err == nil {
		held = copy(buf, kept)
	}
	for held < len(buf) {
		n, err := unix.Read(gc.Fd(), buf[held:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		held += n
	}
	return buf[:held]
}
