package runner

import (
	"strconv"

	"respbench/protocol"
)

// prefixOf makes the commands of a new connection, in redis-benchmark's order: AUTH,
// CLIENT TRACKING, SELECT, HELLO, and valkey-benchmark's READONLY. They are neither measured nor counted.
func prefixOf(t *Target) prefix {
	var p prefix
	for _, args := range prefixCommands(t) {
		p.bytes = protocol.AppendCommand(p.bytes, args...)
		p.replies++
	}
	if t.Cluster && t.ReadFrom != ReadFromPrimaries {
		p.bytes = protocol.AppendCommand(p.bytes, "READONLY") // a replica would redirect everything
		p.replies++
	}
	return p
}

func prefixCommands(t *Target) (list [][]string) {
	if t.Auth || t.Password != "" {
		auth := []string{"AUTH", t.Password}
		if t.User != "" {
			auth = []string{"AUTH", t.User, t.Password}
		}
		list = append(list, auth)
	}
	if t.Tracking {
		list = append(list, []string{"CLIENT", "TRACKING", "on"})
	}
	if t.DB != 0 {
		list = append(list, []string{"SELECT", strconv.Itoa(t.DB)})
	}
	if t.RESP3 {
		list = append(list, []string{"HELLO", "3"})
	}
	return list
}
