package kvstore

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"respbench/protocol"
)

// cmd_config.go: CONFIG GET, SET and RESETSTAT.

func (s *Server) configure(c *client, args [][]byte) {
	switch sub := strings.ToLower(string(args[1])); {
	case sub == "get" && len(args) >= 3:
		s.configGet(c, args[2:])
	case sub == "set" && len(args) >= 4 && len(args)%2 == 0:
		s.configSet(args[2:])
	case sub == "resetstat" && len(args) == 2:
		s.counts = counters{calls: make([]callCount, len(commands))}
		s.ok()
	case sub == "get" || sub == "set" || sub == "resetstat":
		s.wrongArity("config|" + sub)
	default:
		s.unknownSubcommand("CONFIG", args[1])
	}
}

// configValues gives the parameters under Redis's names: appendonly and appendfsync are what redis-benchmark asks for.
func (s *Server) configValues() map[string]string {
	return map[string]string{
		"appendonly":                pick(s.opts.Persistence == PersistNone, "no", "yes"),
		"appendfsync":               s.opts.Fsync,
		"save":                      "",
		"dir":                       s.opts.Dir,
		"maxclients":                strconv.Itoa(s.opts.MaxClients),
		"databases":                 "1",
		"port":                      strconv.Itoa(s.port),
		"bind":                      s.opts.Host,
		"io-threads":                "1",
		"allocator":                 s.opts.Allocator,
		"client-query-buffer-limit": strconv.Itoa(MaxQueryBuffer),
		"proto-max-bulk-len":        strconv.Itoa(protocol.MaxRequestBulk),
		"maxmemory":                 "0",
		"requirepass":               s.opts.RequirePass,
	}
}

func (s *Server) configGet(c *client, patterns [][]byte) {
	var found []string
	values := s.configValues()
	for name := range values {
		for _, p := range patterns {
			if ok, _ := path.Match(strings.ToLower(string(p)), name); ok {
				found = append(found, name)
				break
			}
		}
	}
	slices.Sort(found)
	s.mapHead(c, len(found))
	for _, name := range found {
		s.bulkString(name)
		s.bulkString(values[name])
	}
}

// configSet sets all of the parameters or none.
func (s *Server) configSet(pairs [][]byte) {
	maxClients, pass := s.opts.MaxClients, s.opts.RequirePass
	for i := 0; i < len(pairs); i += 2 {
		if wrong := s.setParameter(strings.ToLower(string(pairs[i])), pairs[i+1]); wrong != "" {
			s.opts.MaxClients, s.opts.RequirePass = maxClients, pass
			s.fail(wrong)
			return
		}
	}
	s.ok()
}

// setParameter gives the error to send when the parameter cannot have the value.
func (s *Server) setParameter(name string, value []byte) (wrong string) {
	now, known := s.configValues()[name]
	switch {
	case !known:
		return "ERR Unknown option or number of arguments for CONFIG SET - '" + name + "'"
	case name == "maxclients":
		n, ok := protocol.ParseInt(value)
		if !ok || n < 1 || n > int64(s.clientsPossible) {
			return "ERR CONFIG SET failed (possibly related to argument 'maxclients') - must be 1 to " + strconv.Itoa(s.clientsPossible)
		}
		s.opts.MaxClients = int(n)
	case name == "requirepass":
		s.opts.RequirePass = string(value)
	case now != string(value):
		return "ERR CONFIG SET failed (possibly related to argument '" + name + "') - can't set immutable config"
	}
	return ""
}
