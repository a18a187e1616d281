package runner

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"unicode"

	"respbench/protocol"
	"respbench/report"
)

// serverError is an error reply that ended the run. In a cluster it names the node.
type serverError struct{ text, node string }

func (e *serverError) Error() string {
	text := report.OneLine(named(e.text))
	if e.node != "" {
		return "Error from server " + e.node + ": " + text
	}
	return "Error from server: " + text
}

// named is the text of an error reply, and what it is where it has none.
func named(text string) string {
	if text == "" {
		return "(an error reply without a text)"
	}
	return text
}

// errNoRequest is what a reply is that nobody asked for.
var errNoRequest = errors.New("Error: reply without a pending request")

// errEarly is a reply to a request of which the server has seen a part only.
var errEarly = errors.New("Error: reply to a request that is not wholly written")

// unasked is what a reply means that nobody asked for. An error is the server's reason to refuse the connection, such
// as too many clients or protected mode, and the user must see it.
func unasked(isError bool, text string) error {
	if isError {
		return &serverError{text: text}
	}
	return errNoRequest
}

// A port with TLS answers a plain command with an alert, whose record begins with this byte, or closes the connection.
const (
	tlsAlertByte = `"\x15"`
	wantsTLS     = ": does the port want --tls?"
)

// lostError words the end of a connection in mid-run as redis-benchmark does.
func lostError(err error) error {
	var syntax *protocol.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("Error: Server closed the connection")
	case errors.As(err, &syntax) && syntax.Offset == 0 && strings.Contains(syntax.Msg, tlsAlertByte):
		return fmt.Errorf("Error: %w%s", syntax, wantsTLS)
	case errors.As(err, &syntax):
		return fmt.Errorf("Error: %w", syntax)
	}
	return fmt.Errorf("Error: %s", plainError(err))
}

// inPart adds to an error that ends a connection that a reply on it is not whole: the server stopped in the middle of one,
// or announced more than it sent.
func inPart(err error, offset int64) error {
	return fmt.Errorf("%w; a reply has come in part, up to byte %d", err, offset)
}

// plainError is the system's own sentence, as strerror gives it, without the names of Go's layers.
func plainError(err error) string {
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return sentence(errno.Error())
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "Connection timed out"
	}
	text := err.Error()
	var op *net.OpError
	if errors.As(err, &op) {
		if isAlert(err) {
			return "TLS alert from the server: " + strings.TrimPrefix(op.Err.Error(), "tls: ")
		}
		text = sentence(op.Err.Error())
	}
	if rest, secure := strings.CutPrefix(sentence(text), "Tls: "); secure {
		return "TLS: " + rest
	}
	return text
}

func sentence(s string) string {
	r := []rune(s)
	if len(r) > 0 {
		r[0] = unicode.ToUpper(r[0])
	}
	return strings.TrimSpace(string(r))
}
