package protocol

import "strconv"

// SyntaxError says that the bytes of a connection are not RESP. Nothing after it can be understood: the connection
// has to be closed.
type SyntaxError struct {
	Offset int64  // the byte that proved it, counted from 0 at the start of the stream
	Msg    string // one line without the offset, in the words of redis-benchmark where it has some
}

// Error gives the message and the offset: `Bad integer value (byte 3)`.
func (e *SyntaxError) Error() string {
	return e.Msg + " (byte " + strconv.FormatInt(e.Offset, 10) + ")"
}
