package runner

import (
	"fmt"
	"strings"
	"testing"

	"respbench/protocol"
)

// The replies are spelt out as servers send them; the wanted text is one shard a line: nodes as
// address, id and R for a replica, then slots.

func describe(shards []shard) string {
	var b strings.Builder
	for _, s := range shards {
		for _, n := range s.nodes {
			fmt.Fprintf(&b, "%s/%s", n.addr(), n.id)
			if n.replica {
				b.WriteString("/R")
			}
			b.WriteByte(' ')
		}
		for _, r := range s.slots {
			fmt.Fprintf(&b, "%d-%d ", r.from, r.to)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func bulks(words ...string) string {
	var b []byte
	for _, w := range words {
		b = protocol.AppendBulkString(b, w)
	}
	return string(b)
}

func value(t *testing.T, wire string) protocol.Value {
	t.Helper()
	n, v, err := protocol.ParseValue([]byte(wire))
	if err != nil || n != len(wire) {
		t.Fatalf("%q: %d bytes, %v", wire, n, err)
	}
	return v
}

const (
	shardHead = "*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:5460\r\n$5\r\nnodes\r\n"
	onlineEnd = "$4\r\nrole\r\n$6\r\nmaster\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n"
)

func TestParseShards(t *testing.T) {
	from := asked{host: "10.0.0.9", port: 7000}
	fromTLS := asked{host: "10.0.0.9", port: 7443, tls: true}
	node := func(fields, role, health string) string {
		n := 6 + 2*strings.Count(fields, "|")
		words := strings.ReplaceAll(fields, "|", "")
		return fmt.Sprintf("*%d\r\n%s%s", n, words, bulks("role", role, "replication-offset")+":0\r\n"+bulks("health", health))
	}
	plain := "|" + bulks("id", "aaa") + "|" + bulks("port") + ":7001\r\n|" + bulks("ip", "10.0.0.1") + "|" + bulks("endpoint", "10.0.0.1")
	for _, c := range []struct {
		name, wire string
		from       asked
		want       string
	}{
		{"plain", "*1\r\n" + shardHead + "*1\r\n" + node(plain, "master", "online"), from, "10.0.0.1:7001/aaa 0-5460 \n"},
		{"RESP3 maps", "*1\r\n%2\r\n" + strings.TrimPrefix(shardHead, "*4\r\n") + "*1\r\n" +
			strings.Replace(node(plain, "master", "online"), "*14", "%7", 1), from, "10.0.0.1:7001/aaa 0-5460 \n"},
		{"replica first, failed one", "*1\r\n" + shardHead + "*3\r\n" +
			node(strings.ReplaceAll(strings.ReplaceAll(plain, "aaa", "bbb"), ":7001", ":7002"), "replica", "online") +
			node(plain, "master", "online") +
			node(strings.ReplaceAll(plain, "aaa", "ccc"), "replica", "failed"), from, "10.0.0.1:7001/aaa 10.0.0.1:7002/bbb/R 0-5460 \n"},
		{"IPv6", "*1\r\n" + shardHead + "*1\r\n" +
			node("|"+bulks("id", "aaa")+"|"+bulks("port")+":7001\r\n|"+bulks("ip", "2a02:6b8::1")+"|"+bulks("endpoint", "2a02:6b8::1"), "master", "online"),
			from, "[2a02:6b8::1]:7001/aaa 0-5460 \n"},
		{"host name", "*1\r\n" + shardHead + "*1\r\n" +
			node("|"+bulks("id", "aaa")+"|"+bulks("port")+":7001\r\n|"+bulks("ip", "10.0.0.1")+"|"+bulks("endpoint", "redis-0.local")+"|"+bulks("hostname", "redis-0.local"), "master", "online"),
			from, "redis-0.local:7001/aaa 0-5460 \n"},
		{"unknown endpoint is the asked host", "*1\r\n" + shardHead + "*1\r\n" +
			node("|"+bulks("id", "aaa")+"|"+bulks("port")+":7001\r\n|"+bulks("ip", "10.0.0.1")+"|"+bulks("endpoint")+"$-1\r\n", "master", "online"),
			from, "10.0.0.9:7001/aaa 0-5460 \n"},
		{"empty endpoint is the asked host", "*1\r\n" + shardHead + "*1\r\n" +
			node("|"+bulks("id", "aaa")+"|"+bulks("port")+":7001\r\n|"+bulks("ip", "10.0.0.1")+"|"+bulks("endpoint", ""), "master", "online"),
			from, "10.0.0.9:7001/aaa 0-5460 \n"},
		{"no host name yet: the address", "*1\r\n" + shardHead + "*1\r\n" +
			node("|"+bulks("id", "aaa")+"|"+bulks("port")+":7001\r\n|"+bulks("ip", "10.0.0.1")+"|"+bulks("endpoint", "?"), "master", "online"),
			from, "10.0.0.1:7001/aaa 0-5460 \n"},
		{"TLS port", "*1\r\n" + shardHead + "*1\r\n" + node(plain+"|"+bulks("tls-port")+":7501\r\n", "master", "online"), fromTLS, "10.0.0.1:7501/aaa 0-5460 \n"},
		{"TLS port not wanted", "*1\r\n" + shardHead + "*1\r\n" + node(plain+"|"+bulks("tls-port")+":7501\r\n", "master", "online"), from, "10.0.0.1:7001/aaa 0-5460 \n"},
		{"all failed", "*1\r\n" + shardHead + "*1\r\n" + node(plain, "master", "failed"), from, ""},
		{"nobody", "*0\r\n", from, ""},
	} {
		got, err := parseShards(value(t, c.wire), c.from)
		if err != nil || describe(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, describe(got), err, c.want)
		}
	}
	for _, wire := range []string{
		"+OK\r\n",
		"*1\r\n*4\r\n$5\r\nslots\r\n*2\r\n:0\r\n:16384\r\n$5\r\nnodes\r\n*0\r\n",
		"*1\r\n*4\r\n$5\r\nslots\r\n*2\r\n:7\r\n:6\r\n$5\r\nnodes\r\n*0\r\n",
	} {
		if got, err := parseShards(value(t, wire), from); err == nil {
			t.Errorf("%q: %v without an error", wire, got)
		}
	}
}

func TestParseSlots(t *testing.T) {
	from := asked{host: "10.0.0.9", port: 7000}
	for _, c := range []struct{ name, wire, want string }{
		{"ranges of one primary", "*3\r\n" +
			"*3\r\n:0\r\n:99\r\n*3\r\n$8\r\n10.0.0.1\r\n:7001\r\n$3\r\naaa\r\n" +
			"*4\r\n:100\r\n:16383\r\n*3\r\n$8\r\n10.0.0.2\r\n:7002\r\n$3\r\nbbb\r\n*3\r\n$8\r\n10.0.0.3\r\n:7003\r\n$3\r\nccc\r\n" +
			"*3\r\n:200\r\n:200\r\n*3\r\n$8\r\n10.0.0.1\r\n:7001\r\n$3\r\naaa\r\n",
			"10.0.0.1:7001/aaa 0-99 200-200 \n10.0.0.2:7002/bbb 10.0.0.3:7003/ccc/R 100-16383 \n"},
		{"Redis 3 without ids", "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$3\r\n::1\r\n:7001\r\n", "[::1]:7001/ 0-16383 \n"},
		{"null host and no port", "*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$-1\r\n:0\r\n$3\r\naaa\r\n*0\r\n", "10.0.0.9:7000/aaa 0-1 \n"},
		{"empty host", "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n$0\r\n\r\n:7001\r\n$3\r\naaa\r\n", "10.0.0.9:7001/aaa 0-1 \n"},
		{"question mark with metadata", "*1\r\n*3\r\n:0\r\n:1\r\n*4\r\n$1\r\n?\r\n:7001\r\n$3\r\naaa\r\n*2\r\n$2\r\nip\r\n$8\r\n10.0.0.1\r\n", "10.0.0.1:7001/aaa 0-1 \n"},
		{"question mark alone", "*1\r\n*3\r\n:0\r\n:1\r\n*3\r\n$1\r\n?\r\n:7001\r\n$3\r\naaa\r\n", "10.0.0.9:7001/aaa 0-1 \n"},
	} {
		got, err := parseSlots(value(t, c.wire), from)
		if err != nil || describe(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, describe(got), err, c.want)
		}
	}
	for _, wire := range []string{"$2\r\nhi\r\n", "*1\r\n*2\r\n:0\r\n:1\r\n", "*1\r\n*3\r\n:-1\r\n:1\r\n*2\r\n$1\r\na\r\n:1\r\n"} {
		if got, err := parseSlots(value(t, wire), from); err == nil {
			t.Errorf("%q: %v without an error", wire, got)
		}
	}
}

func TestParseNodes(t *testing.T) {
	from := asked{host: "10.0.0.9", port: 7000}
	for _, c := range []struct{ name, text, want string }{
		{"three, one replica, one on the move", "" +
			"aaa 127.0.0.1:30001@31001 myself,master - 0 0 1 connected 0-5460 7000 [93->-bbb]\n" +
			"ccc 127.0.0.1:30003@31003,host3 slave aaa 0 1 1 connected\n" +
			"bbb 127.0.0.1:30002@31002,host2,shard-id=x master - 0 0 2 connected 5461-16383\n",
			"127.0.0.1:30001/aaa 127.0.0.1:30003/ccc/R 0-5460 7000-7000 \n127.0.0.1:30002/bbb 5461-16383 \n"},
		{"last colon splits", "aaa ::1:7001@17001 master - 0 0 1 connected 0-1\n", "[::1]:7001/aaa 0-1 \n"},
		{"IPv6", "aaa 2a02:6b8:0::17:7001@17001 master - 0 0 1 connected 0-1\n", "[2a02:6b8:0::17]:7001/aaa 0-1 \n"},
		{"host name", "aaa localhost:7001@17001,name master - 0 0 1 connected 0-1\n", "localhost:7001/aaa 0-1 \n"},
		{"empty host", "aaa :7001@17001 myself,master - 0 0 1 connected 0-1\n", "10.0.0.9:7001/aaa 0-1 \n"},
		{"failing nodes", "" +
			"aaa 10.0.0.1:7001@17001 master,fail - 0 0 1 connected 0-1\n" +
			"bbb 10.0.0.2:7001@17001 slave,noaddr aaa 0 0 1 connected\n" +
			"ddd 10.0.0.4:0@0 handshake - 0 0 1 connected\n" +
			"ccc 10.0.0.3:7001@17001 master,fail? - 0 0 1 connected 2-3\n", "10.0.0.3:7001/ccc 2-3 \n"},
		{"old without a bus port", "aaa 10.0.0.1:7001 master - 0 0 1 connected 0-1\n", "10.0.0.1:7001/aaa 0-1 \n"},
	} {
		got, err := parseNodes(c.text, from)
		if err != nil || describe(got) != c.want {
			t.Errorf("%s: %q, %v, want %q", c.name, describe(got), err, c.want)
		}
	}
	for _, text := range []string{"hello\n", "aaa 10.0.0.1 master - 0 0 1 connected 0-1\n", "aaa h:x@1 master - 0 0 1 connected\n",
		"aaa h:1 master - 0 0 1 connected 1-x\n", "aaa h:1 master - 0 0 1 connected 16384\n"} {
		if got, err := parseNodes(text, from); err == nil {
			t.Errorf("%q: %v without an error", text, got)
		}
	}
}
