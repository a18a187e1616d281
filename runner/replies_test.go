package runner

import (
	"testing"

	"respbench/protocol"
)

// What an RSET of a key that is there may be answered with, and what looks like it.
func TestConflictsAreRecognised(t *testing.T) {
	for _, c := range []struct {
		kind protocol.Kind
		text string
		want bool
	}{
		{protocol.Error, "ERR key already exists", true},
		{protocol.Error, "EXIST", true},
		{protocol.Error, "exist", true},
		{protocol.BulkError, "ERR EXISTS already", true},
		{protocol.SimpleString, "Exist", true},
		{protocol.Error, "ERR piano exists", true},
		{protocol.SimpleString, "OK", false},
		{protocol.SimpleString, "", false},
		{protocol.BulkString, "", false},
		{protocol.Error, "ERR unknown command 'RSET'", false},
		{protocol.Error, "ERR exis", false},
		{protocol.Error, "ERR the key does not exist", false},
		{protocol.Error, "ERR key doesn't exist", false},
		{protocol.Error, "NO EXIST", false},
	} {
		r := protocol.Reply{Kind: c.kind, Text: []byte(c.text)}
		if got := isConflict(&r); got != c.want {
			t.Errorf("%c %q: %v, want %v", c.kind, c.text, got, c.want)
		}
	}
}
