package main

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Clusters of fakes, which redirect in ways that a real one seldom does.

// fakeNode is one node. It answers CLUSTER and COMMAND itself; what load says to the rest is sent.
type fakeNode struct {
	*fakeServer
	mu     sync.Mutex
	oks    int
	asked  int // good replies to commands behind ASKING
	all    int // replies
	asking map[*fakeConn]bool
	topo   func(word string) string
	load   func(n *fakeNode, cmd []string, asking bool) string
}

const clusterDisabled = "-ERR unknown subcommand\r\n"

func useFakeNode(t testing.TB, load func(n *fakeNode, cmd []string, asking bool) string) *fakeNode {
	t.Helper()
	n := &fakeNode{asking: map[*fakeConn]bool{}, load: load}
	f, err := newFake("ok")
	if err != nil {
		t.Fatal(err)
	}
	f.load = each(n.answer)
	if n.fakeServer, err = runFake(f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	return n
}

// knows sets what the node says of the cluster.
func (n *fakeNode) knows(topo func(string) string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.topo = topo
}

// says sets how the node answers load.
func (n *fakeNode) says(load func(n *fakeNode, cmd []string, asking bool) string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.load = load
}

func (n *fakeNode) answer(c *fakeConn, cmd []string, _ int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch strings.ToUpper(cmd[0]) {
	case "CLUSTER":
		return c.send(n.topo(strings.ToUpper(cmd[1])))
	case "COMMAND":
		return c.send("-ERR unknown command\r\n") // an old server, or a proxy
	case "ASKING":
		n.asking[c] = true
		return c.send(okReply)
	}
	asking := n.asking[c]
	n.asking[c] = false
	n.all++
	reply := n.load(n, cmd, asking)
	switch {
	case !strings.HasPrefix(reply, "+"):
	case asking:
		n.asked++
	default:
		n.oks++
	}
	return c.send(reply)
}

func (n *fakeNode) counts() (oks, asked int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.oks, n.asked
}

func takesAll(*fakeNode, []string, bool) string { return okReply }

// slotsOf is CLUSTER SLOTS' reply with all slots at one node, in a dialect that knows nothing else.
func slotsOf(host, port string) func(string) string { return slotsUpTo(16383, host, port) }

func slotsUpTo(last int, host, port string) func(string) string {
	return func(word string) string {
		if word != "SLOTS" {
			return clusterDisabled
		}
		return fmt.Sprintf("*1\r\n*3\r\n:0\r\n:%d\r\n*3\r\n$%d\r\n%s\r\n:%s\r\n$3\r\naaa\r\n", last, len(host), host, port)
	}
}

// A node that has moved out sends everything to one that nobody knew.
func TestClusterMovedToUnknown(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "", "?", "localhost"} {
		t.Run("host="+host, func(t *testing.T) {
			b := useFakeNode(t, takesAll)
			a := useFakeNode(t, func(_ *fakeNode, cmd []string, _ bool) string {
				return fmt.Sprintf("-MOVED 12182 %s:%s\r\n", host, b.port())
			})
			a.knows(slotsOf("127.0.0.1", a.port()))
			b.knows(slotsOf("127.0.0.1", b.port()))
			o := respbench(t, "-p", a.port(), "--cluster", "-n", "200", "-c", "4", "-P", "3", "-q", "SET", "foo", "v")
			o.check(t, want{stdout: qRow, stderr: `tried again after MOVED \d+;`})
			if oks, _ := b.counts(); oks != 200 {
				t.Errorf("%d SETs at the new node, want 200", oks)
			}
		})
	}
}

// What a node says of the cluster may lead nowhere.
func TestClusterThatIsNone(t *testing.T) {
	a := useFakeNode(t, takesAll)
	shards := func(health string) string {
		node := "*8\r\n+id\r\n+aaa\r\n+port\r\n:" + a.port() + "\r\n+role\r\n+master\r\n+health\r\n+" + health + "\r\n"
		return "*1\r\n*4\r\n+slots\r\n*2\r\n:0\r\n:16383\r\n+nodes\r\n*1\r\n" + node
	}
	for reply, say := range map[string]string{
		"*0\r\n":          `^Invalid cluster: no node that 127\.0\.0\.1:\d+ knows of is up and has slots$`,
		shards("loading"): `^Invalid cluster: no node that 127\.0\.0\.1:\d+ knows of is up and has slots$`,
		"$-1\r\n":         `^Cluster node 127\.0\.0\.1:\d+: CLUSTER SHARDS: not an array$`,
		"-ERR This instance has cluster support disabled\r\n": `(?s)^Cluster node 127\.0\.0\.1:\d+ replied with error:\nERR This instance has cluster support disabled$`,
	} {
		a.knows(func(string) string { return reply })
		respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "-t", "set").check(t, bad(say))
	}
	a.knows(slotsOf("127.0.0.1", "99999"))
	respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "-t", "set").
		check(t, bad(`^Could not connect to Redis at 127\.0\.0\.1:99999: bad port$`))
	gone := freePort(t)
	refused := bad(`^Could not connect to Redis at 127\.0\.0\.1:` + gone + `: Connection refused \(the cluster gives this address for one of its nodes, and it must be reachable from here\)$`)
	a.knows(slotsOf("127.0.0.1", gone))
	respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "-t", "set").check(t, refused)
	a.knows(slotsOf("127.0.0.1", a.port()))
	a.says(func(*fakeNode, []string, bool) string { return "-MOVED 12182 127.0.0.1:" + gone + "\r\n" })
	respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "SET", "foo", "v").check(t, refused)
}

// A cluster of which a part is down is measured without that part, and not in silence.
func TestClusterWithPartDown(t *testing.T) {
	a := useFakeNode(t, takesAll)
	for _, c := range []struct {
		last int
		say  string
	}{
		{10922, `^WARNING: 5461 of the cluster's 16384 slots have no node that is up; tests leave them out, and a command with a key there fails$`},
		{16383, `!.`},
	} {
		a.knows(slotsUpTo(c.last, "", a.port()))
		respbench(t, "-p", a.port(), "--cluster", "-n", "100", "-c", "4", "-q", "-t", "set").check(t, want{stdout: qRow, stderr: c.say})
	}
}

func TestClusterAsk(t *testing.T) {
	b := useFakeNode(t, func(n *fakeNode, cmd []string, asking bool) string {
		if !asking {
			return "-MOVED 12182 127.0.0.1:1\r\n" // nobody may come without ASKING
		}
		return okReply
	})
	a := useFakeNode(t, func(n *fakeNode, cmd []string, _ bool) string {
		if n.all%3 == 0 {
			return "-ASK 12182 127.0.0.1:" + b.port() + "\r\n"
		}
		return okReply
	})
	a.knows(slotsOf("127.0.0.1", a.port()))
	b.knows(slotsOf("127.0.0.1", a.port()))
	for _, pipeline := range []string{"1", "5"} {
		before, _ := a.counts()
		_, askedBefore := b.counts()
		respbench(t, "-p", a.port(), "--cluster", "-n", "300", "-c", "4", "-P", pipeline, "-q", "SET", "foo", "v").
			check(t, want{stdout: qRow, stderr: `tried again after ASK \d+;`})
		oks, _ := a.counts()
		_, asked := b.counts()
		if asked == askedBefore || oks-before+asked-askedBefore != 300 {
			t.Errorf("P=%s: %d SETs at the owner, %d at the importing node: together not 300", pipeline, oks-before, asked-askedBefore)
		}
	}
}

func TestClusterTryAgain(t *testing.T) {
	for _, text := range []string{"TRYAGAIN Multiple keys request during rehashing of slot", "CLUSTERDOWN The cluster is down"} {
		word, _, _ := strings.Cut(text, " ")
		t.Run(word, func(t *testing.T) {
			a := useFakeNode(t, func(n *fakeNode, cmd []string, _ bool) string {
				if n.all%4 == 0 {
					return "-" + text + "\r\n"
				}
				return okReply
			})
			a.knows(slotsOf("", a.port()))
			respbench(t, "-p", a.port(), "--cluster", "-n", "100", "-c", "4", "-P", "2", "-q", "SET", "foo", "v").
				check(t, want{stdout: qRow, stderr: `tried again after ` + word + ` \d+;`})
			if oks, _ := a.counts(); oks != 100 {
				t.Errorf("%d SETs were good, want 100", oks)
			}
		})
	}
}

// Two nodes that send a request to and fro are left alone between tries, and given up in time.
func TestClusterDisagree(t *testing.T) {
	a, b := useFakeNode(t, nil), useFakeNode(t, nil)
	a.says(func(*fakeNode, []string, bool) string { return "-MOVED 12182 127.0.0.1:" + b.port() + "\r\n" })
	b.says(func(*fakeNode, []string, bool) string { return "-MOVED 12182 127.0.0.1:" + a.port() + "\r\n" })
	a.knows(slotsOf("127.0.0.1", a.port()))
	b.knows(slotsOf("127.0.0.1", b.port()))
	respbench(t, "-p", a.port(), "--cluster", "-n", "1", "-c", "1", "-q", "--timeout", "0.5", "SET", "foo", "v").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Error from server 127\.0\.0\.1:\d+: MOVED 12182 127\.0\.0\.1:\d+ \(after \d+ tries`})
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all > 20 {
		t.Errorf("one request was tried %d times at one node in half a second", a.all)
	}
}

// An error that is no redirect ends the run and names the node; --on-error count counts it.
func TestClusterError(t *testing.T) {
	a := useFakeNode(t, func(_ *fakeNode, cmd []string, _ bool) string { return "-OOM command not allowed\r\n" })
	a.knows(slotsOf("127.0.0.1", a.port()))
	respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "-t", "set").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Error from server 127\.0\.0\.1:` + a.port() + `: OOM command not allowed$`})
	respbench(t, "-p", a.port(), "--cluster", "-n", "10", "-c", "1", "-q", "-t", "set", "--on-error", "count").
		check(t, want{code: 1, stdout: qRow, stderr: `OOM`})
}
