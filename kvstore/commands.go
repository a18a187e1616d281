package kvstore

import (
	"bytes"
	"strings"

	"respbench/protocol"
)

// commands.go finds and calls the function of a command. Names of up to eight bytes, which is nearly all traffic, are looked
// up as one word in a small table; the rest goes through a map.

// command is one row of the table.
type command struct {
	name  string // lower case
	arity int    // arguments with the name; negative: at least so many
	flags uint8
	run   func(s *Server, c *client, args [][]byte)

	engine engine // where the second argument is looked up
}

// engine is one of the three name spaces.
type engine uint8

const (
	noEngine engine = iota
	plainEngine
	treeEngine
	tableEngine
)

const (
	write  uint8 = 1 << iota // changes the store
	noAuth                   // allowed before AUTH
)

// commands is filled by init, since its functions refer to it.
var commands []command

// byWord finds a command whose name has at most eight letters; byName finds any.
var (
	byWord [wordSlots]wordEntry
	byName = map[string]int{}
)

const wordSlots = 1024

type wordEntry struct {
	word uint64
	id   int32 // command id + 1; 0: free
}

func init() {
	for _, group := range []struct {
		commands []command
		engine   engine
	}{
		{stringCommands, plainEngine}, {treeCommands, treeEngine}, {hashCommands, tableEngine}, {listCommands, plainEngine},
		{setCommands, plainEngine}, {zsetCommands, plainEngine}, {streamCommands, plainEngine}, {adminCommands, noEngine},
	} {
		for _, cmd := range group.commands {
			cmd.engine = group.engine
			commands = append(commands, cmd)
		}
	}
	for id, cmd := range commands {
		byName[cmd.name] = id
		if len(cmd.name) > 8 {
			continue
		}
		w := nameWord([]byte(cmd.name))
		i := wordSlot(w)
		for byWord[i].id != 0 {
			i = (i + 1) % wordSlots
		}
		byWord[i] = wordEntry{w, int32(id + 1)}
	}
}

// nameWord packs a name of up to eight bytes in lower case. Only letters can become lower-case letters, so that words are
// equal only when the names are.
func nameWord(name []byte) (w uint64) {
	for _, c := range name {
		w = w<<8 | uint64(c|0x20)
	}
	return w
}

func wordSlot(w uint64) uint64 { return w * 0x9E3779B97F4A7C15 >> 54 }

// lookup gives the id of a command, -1 when there is none of that name.
func lookup(name []byte) int {
	if len(name) > 8 {
		if id, ok := byName[strings.ToLower(string(name))]; ok {
			return id
		}
		return -1
	}
	w := nameWord(name)
	for i := wordSlot(w); ; i = (i + 1) % wordSlots {
		e := &byWord[i]
		if e.id == 0 {
			return -1
		}
		if e.word == w {
			return int(e.id - 1)
		}
	}
}

// dispatch executes one command, whose name has been looked up; its reply is appended to s.out. s.key is the hash of
// args[1], if there is one.
func (s *Server) dispatch(c *client, id int, args [][]byte) {
	s.counts.commands++
	if id < 0 {
		s.unknown(c, args)
		return
	}
	cmd := &commands[id]
	count := &s.counts.calls[id]
	if cmd.arity > 0 && len(args) != cmd.arity || len(args) < -cmd.arity {
		count.rejected++
		s.wrongArity(cmd.name)
		return
	}
	if c.parser.Unauthenticated && cmd.flags&noAuth == 0 {
		count.rejected++
		s.fail("NOAUTH Authentication required.")
		return
	}
	if cmd.flags&write != 0 && s.log != nil {
		if err := s.log.failure(); err != nil {
			count.rejected++
			s.fail(misconf(err))
			return
		}
	}
	start := len(s.out)
	count.calls++
	cmd.run(s, c, args)
	if len(s.out) > start && s.out[start] == '-' {
		count.failed++
	} else if cmd.flags&write != 0 && s.log != nil && s.log.fsync == FsyncAlways {
		s.writes = append(s.writes, span{start, len(s.out)})
	}
}

func (s *Server) unknown(c *client, args [][]byte) {
	if httpWord(args[0]) {
		s.opts.Log.Warn().Int64("client", c.id).Msg("an HTTP request came to this port: connection closed")
		c.closing = true
		return
	}
	var b strings.Builder
	b.WriteString("ERR unknown command '")
	b.Write(cString(args[0], 128))
	b.WriteString("', with args beginning with: ")
	quoted := 0
	for _, a := range args[1:] {
		if quoted >= 128 {
			break
		}
		a = cString(a, 128-quoted)
		b.WriteString("'")
		b.Write(a)
		b.WriteString("' ")
		quoted += len(a) + 3
	}
	s.fail(b.String())
}

// cString cuts b at a NUL and at n bytes, as %.*s does.
func cString(b []byte, n int) []byte {
	b = b[:min(len(b), n)]
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

// Error texts used by many commands.
const (
	errWrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"
	errNotInt    = "ERR value is not an integer or out of range"
	errNotFloat  = "ERR value is not a valid float"
	errSyntax    = "ERR syntax error"
	errExists    = "ERR key already exists"
	errNoKey     = "ERR no such key"
)

func (s *Server) fail(text string) {
	s.counts.errors++
	s.out = protocol.AppendError(s.out, text)
}

func (s *Server) wrongArity(name string) {
	s.fail("ERR wrong number of arguments for '" + name + "' command")
}

func (s *Server) ok() { s.out = append(s.out, "+OK\r\n"...) }

func (s *Server) int(n int64) { s.out = protocol.AppendInt(s.out, n) }

func (s *Server) bool(v bool) {
	if v {
		s.out = append(s.out, ":1\r\n"...)
		return
	}
	s.out = append(s.out, ":0\r\n"...)
}

func (s *Server) bulk(b []byte) { s.out = protocol.AppendBulk(s.out, b) }

func (s *Server) bulkString(b string) { s.out = protocol.AppendBulkString(s.out, b) }

func (s *Server) array(n int) { s.out = protocol.AppendArray(s.out, n) }

// null appends the null of the client's protocol version in place of a string.
func (s *Server) null(c *client) {
	if c.resp3 {
		s.out = protocol.AppendNull(s.out)
		return
	}
	s.out = protocol.AppendNullBulk(s.out)
}

// nullArray appends the null of the client's protocol version in place of an array.
func (s *Server) nullArray(c *client) {
	if c.resp3 {
		s.out = protocol.AppendNull(s.out)
		return
	}
	s.out = protocol.AppendNullArray(s.out)
}

// mapHead begins a reply of n pairs.
func (s *Server) mapHead(c *client, n int) {
	if c.resp3 {
		s.out = protocol.AppendMap(s.out, n)
		return
	}
	s.out = protocol.AppendArray(s.out, 2*n)
}

// is compares an option word without regard to case; word is in lower case.
func is(arg []byte, word string) bool {
	return len(arg) == len(word) && strings.EqualFold(string(arg), word)
}
