package kvstore

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"respbench/protocol"
)

// cmd_admin.go: what clients say before and beside their work.

var adminCommands = []command{
	{"ping", -1, 0, (*Server).ping, 0},
	{"echo", 2, 0, func(s *Server, c *client, args [][]byte) { s.bulk(args[1]) }, 0},
	{"auth", -2, noAuth, (*Server).auth, 0},
	{"hello", -1, noAuth, (*Server).hello, 0},
	{"quit", -1, noAuth, (*Server).quit, 0},
	{"select", 2, 0, (*Server).selectDB, 0},
	{"client", -2, 0, (*Server).client, 0},
	{"config", -2, 0, (*Server).configure, 0},
	{"command", -1, 0, (*Server).command, 0},
	{"info", -1, 0, (*Server).info, 0},
	{"dbsize", 1, 0, func(s *Server, c *client, args [][]byte) { s.int(int64(s.store.keys())) }, 0},
	{"flushall", -1, write, (*Server).flush, 0},
	{"flushdb", -1, write, (*Server).flush, 0},
	{"debug", -2, 0, (*Server).debug, 0},
	{"shutdown", -1, 0, (*Server).shutdown, 0},
	{"save", 1, 0, (*Server).save, 0},
	{"bgsave", -1, 0, (*Server).bgRewrite, 0},
	{"bgrewriteaof", 1, 0, (*Server).bgRewrite, 0},
}

func (s *Server) ping(c *client, args [][]byte) {
	switch len(args) {
	case 1:
		s.out = append(s.out, "+PONG\r\n"...)
	case 2:
		s.bulk(args[1])
	default:
		s.wrongArity("ping")
	}
}

func (s *Server) auth(c *client, args [][]byte) {
	switch {
	case len(args) > 3:
		s.fail(errSyntax)
	case len(args) == 2 && s.opts.RequirePass == "":
		s.fail("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	case s.login(c, args[1:]):
		s.ok()
	}
}

// login checks [user] password and sends the error when it is wrong.
func (s *Server) login(c *client, args [][]byte) bool {
	user, pass := []byte("default"), args[len(args)-1]
	if len(args) == 2 {
		user = args[0]
	}
	right := s.opts.RequirePass == "" || subtle.ConstantTimeCompare(pass, []byte(s.opts.RequirePass)) == 1
	if string(user) != "default" || !right {
		s.fail("WRONGPASS invalid username-password pair or user is disabled.")
		return false
	}
	c.parser.Unauthenticated = false
	return true
}

func (s *Server) hello(c *client, args [][]byte) {
	resp3 := c.resp3
	rest := args[1:]
	if len(rest) > 0 {
		v, ok := protocol.ParseInt(rest[0])
		switch {
		case !ok:
			s.fail("ERR Protocol version is not an integer or out of range")
			return
		case v != 2 && v != 3:
			s.fail("NOPROTO unsupported protocol version")
			return
		}
		resp3 = v == 3
		rest = rest[1:]
	}
	name := c.name
	for len(rest) > 0 {
		switch {
		case is(rest[0], "auth") && len(rest) >= 3:
			if !s.login(c, rest[1:3]) {
				return
			}
			rest = rest[3:]
		case is(rest[0], "setname") && len(rest) >= 2:
			if !s.rightName(rest[1]) {
				return
			}
			name = string(rest[1])
			rest = rest[2:]
		default:
			s.fail("ERR Syntax error in HELLO option '" + string(cString(rest[0], 128)) + "'")
			return
		}
	}
	if c.parser.Unauthenticated {
		s.fail("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
		return
	}
	c.resp3, c.name = resp3, name
	s.helloReply(c)
}

func (s *Server) helloReply(c *client) {
	s.mapHead(c, 7)
	s.bulkString("server")
	s.bulkString("kvstore")
	s.bulkString("version")
	s.bulkString(redisVersion)
	s.bulkString("proto")
	s.int(pick(c.resp3, int64(3), 2))
	s.bulkString("id")
	s.int(c.id)
	s.bulkString("mode")
	s.bulkString("standalone")
	s.bulkString("role")
	s.bulkString("master")
	s.bulkString("modules")
	s.array(0)
}

func (s *Server) quit(c *client, args [][]byte) {
	s.ok()
	c.closing = true
}

func (s *Server) selectDB(c *client, args [][]byte) {
	n, ok := protocol.ParseInt(args[1])
	switch {
	case !ok:
		s.fail(errNotInt)
	case n != int64(int32(n)):
		s.fail("ERR value is out of range, value must between -2147483648 and 2147483647")
	case n != 0:
		s.fail("ERR DB index is out of range")
	default:
		s.ok()
	}
}

func (s *Server) client(c *client, args [][]byte) {
	switch sub := strings.ToLower(string(args[1])); {
	case sub == "id" && len(args) == 2:
		s.int(c.id)
	case sub == "getname" && len(args) == 2:
		if c.name == "" {
			s.null(c)
			return
		}
		s.bulkString(c.name)
	case sub == "setname" && len(args) == 3:
		if s.rightName(args[2]) {
			c.name = string(args[2])
			s.ok()
		}
	case sub == "list" && len(args) == 2:
		s.clientList()
	case sub == "info" && len(args) == 2:
		s.bulkString(s.describe(c))
	case sub == "id" || sub == "getname" || sub == "setname" || sub == "list" || sub == "info":
		s.wrongArity("client|" + sub)
	default:
		s.unknownSubcommand("CLIENT", args[1])
	}
}

// rightName tells whether a client may have the name, and sends the error when it may not.
func (s *Server) rightName(name []byte) bool {
	if bytes.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		s.fail("ERR Client names cannot contain spaces, newlines or special characters.")
		return false
	}
	return true
}

func (s *Server) unknownSubcommand(name string, sub []byte) {
	s.fail("ERR unknown subcommand '" + string(cString(sub, 128)) + "'. Try " + name + " HELP.")
}

func (s *Server) clientList() {
	all := make([]*client, 0, len(s.clients))
	for c := range s.clients {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *client) int { return int(a.id - b.id) })
	var b strings.Builder
	for _, c := range all {
		b.WriteString(s.describe(c))
	}
	s.bulkString(b.String())
}

func (s *Server) describe(c *client) string {
	addr := ""
	if c.conn != nil && c.conn.RemoteAddr() != nil {
		addr = c.conn.RemoteAddr().String()
	}
	waiting := 0
	if c.sender != nil {
		waiting = c.sender.waiting()
	}
	return fmt.Sprintf("id=%d addr=%s fd=%d name=%s age=%d db=0 qbuf=%d omem=%d resp=%d\n",
		c.id, addr, c.fd, c.name, int(time.Since(c.since).Seconds()), len(c.input), waiting, pick(c.resp3, 3, 2))
}

func (s *Server) command(c *client, args [][]byte) {
	switch {
	case len(args) == 1:
		s.array(len(commands))
		for _, cmd := range commands {
			s.describeCommand(cmd)
		}
	case is(args[1], "count") && len(args) == 2:
		s.int(int64(len(commands)))
	case is(args[1], "count"):
		s.wrongArity("command|count")
	case is(args[1], "info"):
		s.array(len(args) - 2)
		for _, name := range args[2:] {
			if id := lookup(name); id >= 0 {
				s.describeCommand(commands[id])
			} else {
				s.null(c)
			}
		}
	case is(args[1], "docs"):
		s.mapHead(c, 0)
	default:
		s.unknownSubcommand("COMMAND", args[1])
	}
}

// describeCommand appends name, arity, flags, first key, last key, step.
func (s *Server) describeCommand(cmd command) {
	s.array(6)
	s.bulkString(cmd.name)
	s.int(int64(cmd.arity))
	s.array(1)
	s.out = protocol.AppendSimple(s.out, pick(cmd.flags&write != 0, "write", "readonly"))
	s.int(0)
	s.int(0)
	s.int(0)
}

func (s *Server) flush(c *client, args [][]byte) {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "sync") && !is(args[1], "async") {
		s.fail(errSyntax)
		return
	}
	s.clear()
	s.logOp(opFlush)
	s.ok()
}

func (s *Server) debug(c *client, args [][]byte) {
	if !is(args[1], "sleep") || len(args) != 3 {
		s.unknownSubcommand("DEBUG", args[1])
		return
	}
	f, ok := parseScore(args[2])
	if !ok {
		s.fail(errNotFloat)
		return
	}
	time.Sleep(time.Duration(min(max(f, 0), 3600) * float64(time.Second)))
	s.ok()
}

func (s *Server) shutdown(c *client, args [][]byte) {
	save, nosave := false, false
	for _, a := range args[1:] {
		save, nosave = save || is(a, "save"), nosave || is(a, "nosave")
		if !is(a, "save") && !is(a, "nosave") && !is(a, "now") && !is(a, "force") || save && nosave {
			s.fail(errSyntax)
			return
		}
	}
	s.opts.Log.Info().Int64("client", c.id).Msg("shutdown asked for by a client")
	c.closing = true
	go s.Stop()
}

// save answers when all is on the disk: at once without a log, and with one after a sync of its own.
func (s *Server) save(c *client, args [][]byte) {
	if s.log == nil {
		s.ok()
		return
	}
	if err := s.log.syncNow(); err != nil {
		s.fail(misconf(err))
		return
	}
	s.ok()
}

func (s *Server) bgRewrite(c *client, args [][]byte) {
	switch {
	case s.log == nil:
		s.fail("ERR there is no operation log: the server runs with --persistence none")
	case !s.beginRewrite():
		s.fail("ERR Background append only file rewriting already in progress")
	default:
		s.out = protocol.AppendSimple(s.out, "Background append only file rewriting started")
	}
}
