package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"respbench/report"
)

// Tests against a real cluster of redis-servers on loopback: what they counted decides.

// redisCluster is primaries that share the slots evenly, and replicas of the first of them.
type redisCluster struct {
	t     testing.TB
	nodes []*clusterPeer // the primaries, then the replicas
}

type clusterPeer struct {
	addr, port, busPort, tlsPort, id string
}

// ownTLSPort stands for a port of each node's own in the arguments of useCluster.
const ownTLSPort = "TLS-PORT"

const lastSlot = 16383

func useCluster(t testing.TB, primaries, replicas int, args ...string) *redisCluster {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not installed")
	}
	c := &redisCluster{t: t}
	for range primaries + replicas {
		c.nodes = append(c.nodes, startPeer(t, path, args))
	}
	first := c.nodes[0]
	for i, n := range c.nodes {
		n.id = regexp.MustCompile(`[0-9a-f]{40}`).FindString(ask(t, n.addr, "AUTH secret", "CLUSTER MYID"))
		from, to := i*(lastSlot+1)/primaries, (i+1)*(lastSlot+1)/primaries-1
		lines := []string{"AUTH secret", fmt.Sprintf("CLUSTER SET-CONFIG-EPOCH %d", i+1)}
		if i < primaries {
			lines = append(lines, fmt.Sprintf("CLUSTER ADDSLOTSRANGE %d %d", from, to))
		}
		if i > 0 {
			port := first.port
			if first.tlsPort != "" {
				port = first.tlsPort
			}
			lines = append(lines, fmt.Sprintf("CLUSTER MEET 127.0.0.1 %s %s", port, first.busPort))
		}
		ask(t, n.addr, lines...)
	}
	c.await("cluster_known_nodes:"+strconv.Itoa(len(c.nodes))+"\r", "CLUSTER INFO", c.nodes...)
	for _, n := range c.nodes[primaries:] {
		ask(t, n.addr, "AUTH secret", "CLUSTER REPLICATE "+first.id)
		c.await("master_link_status:up", "INFO replication", n)
		for _, other := range c.nodes {
			c.await(n.id+`[^\n]*[ ,]slave `+first.id, "CLUSTER NODES", other)
		}
	}
	c.await("cluster_state:ok", "CLUSTER INFO", c.nodes...)
	c.await(fmt.Sprintf(`(?s)(online.*){%d}`, len(c.nodes)), "CLUSTER SHARDS", c.nodes...)
	return c
}

func startPeer(t testing.TB, path string, args []string) *clusterPeer {
	t.Helper()
	n := &clusterPeer{port: freePort(t), busPort: freePort(t)}
	n.addr = net.JoinHostPort("127.0.0.1", n.port)
	args = slices.Clone(args)
	if i := slices.Index(args, ownTLSPort); i >= 0 {
		n.tlsPort = freePort(t)
		args[i] = n.tlsPort
	}
	cmd := exec.Command(path, append([]string{"--port", n.port, "--cluster-port", n.busPort, "--cluster-enabled", "yes", "--cluster-node-timeout", "2000", "--save", "",
		"--bind", "127.0.0.1", "--dir", t.TempDir(), "--repl-diskless-sync-delay", "0", "--enable-debug-command", "local"}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGKILL) // a replica would otherwise be waited for
		cmd.Wait()
	})
	waitAccepting(t, n.addr)
	return n
}

// await waits until each of the nodes answers a command with what the pattern matches.
func (c *redisCluster) await(pattern, command string, nodes ...*clusterPeer) {
	c.t.Helper()
	re := regexp.MustCompile(pattern)
	for _, n := range nodes {
		for end := time.Now().Add(2 * hang); ; time.Sleep(10 * time.Millisecond) {
			reply := ask(c.t, n.addr, "AUTH secret", command)
			if re.MatchString(reply) {
				break
			}
			if time.Now().After(end) {
				c.t.Fatalf("node %s: %s never matches %s:\n%s", n.addr, command, pattern, reply)
			}
		}
	}
}

// calls is how often the command was carried out, on all nodes together.
func (c *redisCluster) calls(command string) (sum int) {
	c.t.Helper()
	for _, n := range c.nodes {
		sum += c.callsAt(n, command)
	}
	return sum
}

func (c *redisCluster) callsAt(n *clusterPeer, command string) int {
	return statCalls(c.t, ask(c.t, n.addr, "AUTH secret", "INFO commandstats"), command)
}

// keys is the number of keys on the primaries.
func (c *redisCluster) keys(primaries int) (sum int) {
	for _, n := range c.nodes[:primaries] {
		reply := strings.TrimSpace(ask(c.t, n.addr, "AUTH secret", "DBSIZE"))
		sum += integer(c.t, reply[strings.LastIndex(reply, ":"):])
	}
	return sum
}

func (c *redisCluster) reset() {
	for _, n := range c.nodes {
		ask(c.t, n.addr, "AUTH secret", "FLUSHALL", "CONFIG RESETSTAT")
	}
}

// resultOf is the result of a run with --json.
func resultOf(t testing.TB, path string) report.Result {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Results []report.Result `json:"results"`
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Results) != 1 {
		t.Fatalf("%d results, %v in %s", len(file.Results), err, cut(string(text)))
	}
	return file.Results[0]
}

// A cluster takes seconds to come up: these tests share one.
func TestCluster(t *testing.T) {
	t.Parallel()
	c := useCluster(t, 3, 0)
	for _, x := range []struct {
		name string
		test func(*testing.T, *redisCluster)
	}{{"exact", answersExactly}, {"few clients", needsClients}, {"output", printsNodes}, {"idle", idles}, {"resharding", losesNothing}} {
		t.Run(x.name, func(t *testing.T) {
			c.t = t
			x.test(t, c)
		})
	}
}

func answersExactly(t *testing.T, c *redisCluster) {
	port := c.nodes[0].port
	for _, x := range []struct {
		name string
		args []string
		want map[string]int // calls by command
		all  bool           // every node gets its part
	}{
		{"tests with tags", []string{"-t", "set,get,incr,mset,lpush", "-n", "3001", "-c", "7", "-P", "3", "-r", "500"},
			map[string]int{"set": 3001, "get": 3001, "incr": 3001, "mset": 3001, "lpush": 3001}, true},
		{"one request", []string{"-t", "set", "-n", "1", "-c", "3"}, map[string]int{"set": 1}, false},
		{"no key", []string{"-t", "ping", "-n", "999", "-P", "16"}, map[string]int{"ping": 2 * 999}, true},
		{"own command by its key", []string{"-n", "5003", "-r", "1000", "-P", "8", "SET", "k:__rand_int__", "v"}, map[string]int{"set": 5003}, true},
		{"own command with a hash tag", []string{"-n", "1000", "-r", "1000", "SET", "{account}:__rand_int__", "v"}, map[string]int{"set": 1000}, false},
		{"own command with {tag}", []string{"-n", "1000", "-r", "1000", "SADD", "s:{tag}", "__rand_int__"}, map[string]int{"sadd": 1000}, true},
		{"key behind a number", []string{"-n", "1000", "-r", "1000", "EVAL", "return redis.call('INCR',KEYS[1])", "1", "1:__rand_int__"}, map[string]int{"eval": 1000, "incr": 1000}, true},
		{"key equal to an argument", []string{"-n", "300", "EVAL", "return 1", "1", "return 1"}, map[string]int{"eval": 300}, false},
		{"key of a subcommand", []string{"-n", "500", "-r", "1000", "OBJECT", "ENCODING", "k:__rand_int__"}, map[string]int{"object|encoding": 500}, true},
		{"a sequence", []string{"-n", "999", "-r", "1000", "SET", "k:__rand_1st__", "v", ";", "GET", "k:__rand_1st__"}, map[string]int{"set": 500, "get": 499}, true},
		{"one loop", []string{"-t", "set", "-n", "2000", "--threads", "1"}, map[string]int{"set": 2000}, true},
		{"own command, two loops", []string{"-n", "4000", "-r", "1000", "--threads", "2", "INCR", "k:__rand_int__"}, map[string]int{"incr": 4000}, true},
		{"gnet", []string{"-n", "2000", "-r", "1000", "--engine", "gnet", "SET", "k:__rand_int__", "v"}, map[string]int{"set": 2000}, true},
		{"large values", []string{"-t", "set", "-n", "60", "-c", "6", "-P", "2", "-d", "300000"}, map[string]int{"set": 60}, false},
		{"reconnecting", []string{"-t", "set", "-n", "500", "-c", "6", "-k", "0"}, map[string]int{"set": 500}, true},
		{"at a rate", []string{"-n", "600", "-r", "1000", "--rps", "3000", "SET", "k:__rand_int__", "v"}, map[string]int{"set": 600}, true},
		{"tests at a rate", []string{"-t", "set", "-n", "600", "-r", "1000", "--rps", "3000"}, map[string]int{"set": 600}, true},
		{"bench mode", []string{"--mode", "set", "-c", "6", "-n", "4000", "--keyspace", "1000"}, map[string]int{"set": 4000}, true},
		{"prefill and verification", []string{"--mode", "get", "-c", "6", "-n", "4000", "--keyspace", "777", "--verify-get"}, map[string]int{"set": 777}, true},
		{"transactions", []string{"--mix", "1:MULTI ; INCR __key__ ; EXEC", "-n", "3000", "-c", "6", "--keyspace", "1000"},
			map[string]int{"multi": 1000, "incr": 1000, "exec": 1000}, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			c.t = t
			timed(t, func() (idle string) { // while a loop waits for a processor, others take its requests
				c.reset()
				o := respbench(t, append([]string{"-p", port, "--cluster", "-q"}, x.args...)...)
				o.check(t, want{stderr: "!MOVED|tried again"})
				for command, n := range x.want {
					if got := c.calls(command); got != n {
						t.Errorf("%d calls of %s, want %d", got, command, n)
					}
					for _, node := range c.nodes {
						if got := c.callsAt(node, command); x.all && got == 0 {
							idle = fmt.Sprintf("no call of %s at %s", command, node.addr)
						}
					}
				}
				return idle
			})
		})
	}
}

// C122: fewer clients than nodes cannot reach all slots.
func needsClients(t *testing.T, c *redisCluster) {
	respbench(t, "-p", c.nodes[0].port, "--cluster", "-c", "2", "-n", "10", "-q", "-t", "set").
		check(t, want{code: 1, stderr: `needs at least 3 clients`})
	// C119: without --cluster a redirect is an error as any other.
	respbench(t, "-p", c.nodes[0].port, "-r", "1000", "-n", "100", "-q", "SET", "k:__rand_int__", "v").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Error from server: MOVED \d+ 127\.0\.0\.1:`})
	// The server of --cluster is none of a cluster.
	r := useRedis(t)
	respbench(t, "-p", r.port, "--cluster", "-n", "10", "-q", "-t", "set").
		check(t, want{code: 1, stderr: `^Cluster node 127\.0\.0\.1:\d+ replied with error:\nERR This instance has cluster support disabled`})
}

// The preamble and the lines about nodes are redis-benchmark's; --csv stays CSV.
func printsNodes(t *testing.T, c *redisCluster) {
	port := c.nodes[0].port
	o := respbench(t, "-p", port, "--cluster", "-n", "30", "-t", "set", "-c", "6")
	o.check(t, want{stdout: `\ACluster has 3 master nodes:\n\nMaster 0: [0-9a-f]{40} 127\.0\.0\.1:\d+\nMaster 1: .*\nMaster 2: .*\n\n====== SET ======\n`})
	o.check(t, want{stdout: `  cluster mode: yes \(3 masters\)\n  node \[0\] configuration:\n    save: NONE\n    appendonly: no\n`})
	o.check(t, want{stdout: `  multi-thread: yes\n  threads: 3\n`})
	for _, n := range c.nodes {
		o.check(t, want{stdout: n.id + " " + regexp.QuoteMeta(n.addr)})
	}
	respbench(t, "-p", port, "--cluster", "-n", "30", "-t", "set", "-q").check(t, want{stdout: `\ACluster has 3 master nodes:\n`})
	respbench(t, "-p", port, "--cluster", "-n", "30", "-t", "set", "--csv").check(t, want{stdout: `\A"test","rps"`})
	respbench(t, "-p", port, "--cluster", "-n", "30", "-q", "SET", "k:{tag}").
		check(t, want{code: 1, stderr: `^Error from server 127\.0\.0\.1:\d+: ERR wrong number of arguments`})
}

// idles opens connections alone: to all nodes, not to the one that was named.
func idles(t *testing.T, c *redisCluster) {
	for _, engine := range engines() {
		p := start(t, time.Minute, nil, "-p", c.nodes[0].port, "--cluster", "-I", "-c", "6", "--engine", engine)
		c.await(`connected_clients:3\r`, "INFO clients", c.nodes...) // two, and the one that asks
		p.Process.Signal(syscall.SIGINT)
		p.end().check(t, want{code: 130, stdout: `\ACluster has 3 master nodes:\n(?s:.*)\nCreating 6 idle connections`})
		c.await(`connected_clients:1\r`, "INFO clients", c.nodes...)
	}
}

// move moves a slot with its keys, as redis-cli does.
func (c *redisCluster) move(slot int, from, to *clusterPeer) {
	c.t.Helper()
	ask(c.t, to.addr, "AUTH secret", fmt.Sprintf("CLUSTER SETSLOT %d IMPORTING %s", slot, from.id))
	ask(c.t, from.addr, "AUTH secret", fmt.Sprintf("CLUSTER SETSLOT %d MIGRATING %s", slot, to.id))
	for end := time.Now().Add(hang); ; {
		reply := strings.Split(ask(c.t, from.addr, "AUTH secret", fmt.Sprintf("CLUSTER GETKEYSINSLOT %d 100", slot)), "\r\n")
		var keys []string
		for _, line := range reply[1:] {
			if line != "" && line[0] != '$' && line[0] != '*' && line[0] != '+' {
				keys = append(keys, line)
			}
		}
		if len(keys) == 0 {
			break
		}
		for i, key := range keys {
			keys[i] = fmt.Sprintf("MIGRATE 127.0.0.1 %s %s 0 5000", to.port, key)
		}
		if said := ask(c.t, from.addr, keys...); time.Now().After(end) {
			c.t.Fatalf("slot %d still has %d keys; MIGRATE says %s", slot, len(keys), cut(said))
		}
	}
	for _, n := range []*clusterPeer{to, from} {
		ask(c.t, n.addr, "AUTH secret", fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", slot, to.id))
	}
}

// Slots move to and fro in mid-run. Every key is written once: each acknowledged SET must be found.
func losesNothing(t *testing.T, c *redisCluster) {
	hundred := make([]int, 100)
	for i := range hundred {
		hundred[i] = i
	}
	one := integer(t, ask(t, c.nodes[0].addr, "CLUSTER KEYSLOT x")) // of keys with {x}; the third node has it
	for _, x := range []struct {
		name      string
		slots     []int
		from, to  int
		n         int // executions
		perRun    int // keys, and calls, of each
		args      []string
		redirects string
	}{
		{"by key", hundred, 0, 1, 20000, 1, []string{"SET", "k:__rand_int__", "v"}, "MOVED"},
		{"tags", hundred, 0, 1, 20000, 1, []string{"SET", "k:{tag}:__rand_int__", "v"}, "MOVED"},
		{"one slot", []int{one}, 2, 0, 5000, 1, []string{"SET", "{x}:__rand_int__", "v"}, "MOVED.*ASK"},
		{"several keys", []int{one}, 2, 0, 3000, 2, []string{"MSET", "{x}:__rand_1st__", "v", "{x}b:__rand_1st__", "v"}, "MOVED.*ASK.*TRYAGAIN"},
		{"transactions", []int{one}, 2, 0, 3000, 1, []string{"MULTI", ";", "SET", "{x}:__rand_int__", "v", ";", "EXEC"}, "MOVED.*ASK"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c.t = t
			c.reset()
			requests := x.n * (1 + strings.Count(strings.Join(x.args, " "), ";"))
			file := filepath.Join(t.TempDir(), "r.json")
			p := start(t, 30*time.Second, nil, append([]string{"-p", c.nodes[1].port, "--cluster", "-n", strconv.Itoa(requests), "-r", strconv.Itoa(x.n),
				"--sequential", "-c", "12", "--rps", strconv.Itoa(requests / 2), "--json", file, "-q"}, x.args...)...)
			defer p.cancel() // when the cluster fails the next case begins without it
			ended := make(chan struct{})
			go func() {
				p.Wait()
				close(ended)
			}()
			c.reshard(x.slots, c.nodes[x.from], c.nodes[x.to], x.n/20, ended)
			p.cancel()
			outcome{stdout: p.stdout.String(), stderr: p.stderr.String(), code: p.ProcessState.ExitCode()}.
				check(t, want{stdout: qRow, stderr: `tried again after.*` + x.redirects})
			r := resultOf(t, file)
			if r.Requests != int64(requests) {
				t.Errorf("%d requests answered, want %d", r.Requests, requests)
			}
			if got := c.keys(3); got != x.n*x.perRun {
				t.Errorf("%d keys are there, want %d", got, x.n*x.perRun)
			}
			if got := c.writes(); got != x.n {
				t.Errorf("%d writes were carried out, want %d", got, x.n)
			}
			t.Logf("redirects: %v", r.Redirects)
		})
	}
}

// reshard moves slots to and fro until the load has ended, and then home. Behind each round it lets some load pass.
func (c *redisCluster) reshard(slots []int, from, to *clusterPeer, some int, ended <-chan struct{}) {
	running := true
	for rounds := 0; running || rounds%2 != 0; rounds++ {
		for _, slot := range slots {
			c.move(slot, from, to)
		}
		c.agree(slots, to)
		from, to = to, from
		for writes := c.writes(); running && c.writes() < writes+some; {
			select {
			case <-ended:
				running = false
			case <-time.After(time.Millisecond):
			}
		}
	}
}

func (c *redisCluster) writes() int { return c.calls("set") + c.calls("mset") }

// agree waits until every node has heard of the owner: a further move would otherwise be mixed up with this one, and the
// cluster itself would lose keys. A claim that was older, but came later, may have undone a move: then it is said again, and
// the owner takes a new epoch, as redis-cli's fix does.
func (c *redisCluster) agree(slots []int, owner *clusterPeer) {
	c.t.Helper()
	end, again := time.Now().Add(3*hang), time.Now().Add(time.Second)
	for {
		node, slot := c.disagrees(slots, owner)
		switch now := time.Now(); {
		case node == nil:
			return
		case now.After(end):
			c.t.Fatalf("%s has not heard that slot %d belongs to %s", node.addr, slot, owner.addr)
		case now.After(again):
			again = now.Add(time.Second)
			ask(c.t, node.addr, "AUTH secret", fmt.Sprintf("CLUSTER SETSLOT %d NODE %s", slot, owner.id))
			ask(c.t, owner.addr, "AUTH secret", "CLUSTER BUMPEPOCH")
		}
		time.Sleep(time.Millisecond)
	}
}

// disagrees finds a node that has another owner for one of the slots, nil when there is none.
func (c *redisCluster) disagrees(slots []int, owner *clusterPeer) (*clusterPeer, int) {
	for _, n := range c.nodes {
		nodes := ask(c.t, n.addr, "CLUSTER NODES")
		for _, slot := range slots {
			if ownerOf(nodes, slot) != owner.id {
				return n, slot
			}
		}
	}
	return nil, 0
}

// ownerOf finds the id of a slot's node in CLUSTER NODES.
func ownerOf(nodes string, slot int) string {
	for line := range strings.Lines(nodes) {
		f := strings.Fields(line)
		for i := 8; i < len(f); i++ {
			var from, to int
			switch n, _ := fmt.Sscanf(f[i], "%d-%d", &from, &to); {
			case n == 1 && from == slot, n == 2 && from <= slot && slot <= to:
				return f[0]
			}
		}
	}
	return ""
}

func TestClusterReplicas(t *testing.T) {
	t.Parallel()
	c := useCluster(t, 3, 1)
	primary, replica := c.nodes[0], c.nodes[3]
	for _, x := range []struct {
		rfr              string
		primary, replica bool // get reads
	}{{"no", true, false}, {"yes", false, true}, {"all", true, true}} {
		t.Run(x.rfr, func(t *testing.T) {
			c.t = t
			c.reset()
			respbench(t, "-p", primary.port, "--cluster", "--rfr", x.rfr, "-n", "3000", "-r", "1000", "-c", "8", "-q", "GET", "k:__rand_int__").
				check(t, want{stdout: qRow, stderr: "!tried again"})
			if got := c.calls("get"); got != 3000 {
				t.Errorf("%d calls of get, want 3000", got)
			}
			if p, r := c.callsAt(primary, "get") > 0, c.callsAt(replica, "get") > 0; p != x.primary || r != x.replica {
				t.Errorf("reads at the primary: %v, at its replica: %v", p, r)
			}
			respbench(t, "-p", primary.port, "--cluster", "--rfr", x.rfr, "-n", "300", "-c", "8", "-q", "-t", "set").
				check(t, want{stdout: qRow, stderr: "!tried again"})
		})
	}
}

// A replica takes over in mid-run: requests follow it, and so do the connections, so that only those in flight are
// sent twice. Of commandstats the sum tells nothing here, since replicas count what they are sent by their primary.
func TestClusterFailover(t *testing.T) {
	t.Parallel()
	c := useCluster(t, 2, 1)
	primary, replica := c.nodes[0], c.nodes[2]
	for _, args := range []string{"-P 4 -t set", "-P 4 -r 1000000 SET k:__rand_int__ v"} {
		c.reset()
		file := t.TempDir() + "/result.json"
		p := start(t, time.Minute, nil, append([]string{"-p", c.nodes[1].port, "--cluster", "-c", "8", "-q", "--duration", "3", "--json", file}, strings.Fields(args)...)...)
		c.await(`cmdstat_set:calls=\d{3}`, "INFO commandstats", primary)
		ask(t, replica.addr, "CLUSTER FAILOVER")
		c.await("role:master", "INFO replication", replica)
		p.end().check(t, want{stdout: qRow, stderr: "tried again after MOVED"})
		res := resultOf(t, file)
		i := slices.IndexFunc(res.Redirects, func(r report.Count) bool { return r.Text == "MOVED" })
		if i < 0 || res.Redirects[i].N*5 > res.Requests {
			t.Errorf("%s: redirects %v of %d requests", args, res.Redirects, res.Requests)
		}
		primary, replica = replica, primary
		c.await("master_link_status:up", "INFO replication", replica)
	}
}

// C125: the password goes to every node.
func TestClusterPassword(t *testing.T) {
	t.Parallel()
	c := useCluster(t, 3, 0, "--requirepass", "secret", "--masterauth", "secret")
	port := c.nodes[0].port
	respbench(t, "-p", port, "--cluster", "-a", "secret", "-n", "300", "-r", "100", "-q", "SET", "k:__rand_int__", "v").check(t, want{stdout: qRow})
	if got := c.calls("set"); got != 300 {
		t.Errorf("%d calls of set, want 300", got)
	}
	respbench(t, "-p", port, "--cluster", "-a", "wrong", "-n", "300", "-q", "-t", "set").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Node 127\.0\.0\.1:\d+ replied with error:\nWRONGPASS`})
	respbench(t, "-p", port, "--cluster", "-n", "300", "-q", "-t", "set").check(t, want{code: 1, stdout: "!" + qRow, stderr: `NOAUTH`})
}

// Nodes that have a port with TLS, and name the other one.
func TestClusterNamesPlainPorts(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue("127.0.0.1")
	c := useCluster(t, 1, 0, "--tls-port", ownTLSPort, "--tls-cert-file", a.path("127.0.0.1.pem"), "--tls-key-file", a.path("127.0.0.1.key"),
		"--tls-ca-cert-file", a.path("ca.pem"), "--tls-auth-clients", "no")
	respbench(t, "-p", c.nodes[0].tlsPort, "--cluster", "--tls", "--cacert", a.path("ca.pem"), "--connect-timeout", "300ms", "-q", "-t", "set").
		check(t, bad(`^Could not negotiate a TLS connection: no answer .*\(node 127\.0\.0\.1:`+c.nodes[0].port+`, as the cluster names it: without "tls-cluster yes" `))
}

// The nodes have a plain port and one with TLS: only the latter is used.
func TestClusterTLS(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.issue("127.0.0.1")
	c := useCluster(t, 3, 0, "--tls-cluster", "yes", "--tls-port", ownTLSPort, "--tls-cert-file", a.path("127.0.0.1.pem"), "--tls-key-file", a.path("127.0.0.1.key"),
		"--tls-ca-cert-file", a.path("ca.pem"), "--tls-auth-clients", "no")
	for _, args := range [][]string{{"-t", "set", "-P", "4"}, {"-r", "1000", "SET", "k:__rand_int__", "v"}, {"-k", "0", "-r", "1000", "SET", "k:__rand_int__", "v"}} {
		for _, engine := range engines() {
			c.reset()
			respbench(t, append([]string{"-p", c.nodes[0].tlsPort, "--cluster", "--tls", "--cacert", a.path("ca.pem"), "--engine", engine, "-n", "301", "-c", "6", "-q"}, args...)...).
				check(t, want{stdout: qRow, stderr: "!tried again"})
			if got := c.calls("set"); got != 301 {
				t.Errorf("%s %v: %d SETs, want 301", engine, args, got)
			}
			for _, n := range c.nodes {
				if c.callsAt(n, "set") == 0 {
					t.Errorf("%s %v: no SET at %s", engine, args, n.addr)
				}
			}
		}
	}
	respbench(t, "-p", c.nodes[0].tlsPort, "--cluster", "--tls", "--cacert", a.path("ca.pem"), "-n", "300", "-t", "set", "-q").
		check(t, want{stdout: `Master \d: [0-9a-f]+ 127\.0\.0\.1:` + c.nodes[1].tlsPort})
}

// A slot that nobody has is waited for, but not for ever.
func TestClusterDown(t *testing.T) {
	t.Parallel()
	c := useCluster(t, 3, 0)
	slot := strconv.Itoa(lastSlot)
	key := "{" + keyOfSlot(t, c.nodes[0], lastSlot) + "}"
	for _, n := range c.nodes {
		ask(t, n.addr, "CONFIG SET cluster-require-full-coverage no", "CLUSTER DELSLOTS "+slot)
	}
	port := c.nodes[0].port
	respbench(t, "-p", port, "--cluster", "-n", "100", "-q", "--timeout", "0.5", "SET", key, "v").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `^Error from server 127\.0\.0\.1:\d+: CLUSTERDOWN Hash slot not served \(after \d+ tries in 500ms, --timeout\)`})
	respbench(t, "-p", port, "--cluster", "-n", "100", "-q", "--connect-timeout", "0.5", "SET", key, "v").
		check(t, want{code: 1, stdout: "!" + qRow, stderr: `CLUSTERDOWN Hash slot not served \(after \d+ tries in 500ms, --connect-timeout\)`})
	c.reset() // so that what is rejected from here on is this run's
	p := start(t, hang, nil, "-p", port, "--cluster", "-n", "100", "-q", "SET", key, "v")
	c.await(`cmdstat_set:calls=\d+[^\n]*rejected_calls=[1-9]`, "INFO commandstats", c.nodes[2:]...)
	ask(t, c.nodes[2].addr, "CLUSTER ADDSLOTS "+slot)
	p.end().check(t, want{stdout: qRow, stderr: `tried again after .*CLUSTERDOWN \d+`})
	if got := c.calls("set"); got != 100 {
		t.Errorf("%d SETs were carried out, want 100", got)
	}
}

// keyOfSlot finds a key of a slot by asking.
func keyOfSlot(t testing.TB, n *clusterPeer, slot int) string {
	t.Helper()
	const batch = 4000
	for from := 0; ; from += batch {
		var lines []string
		for i := range batch {
			lines = append(lines, "CLUSTER KEYSLOT "+strconv.Itoa(from+i))
		}
		for i, line := range bytes.Split([]byte(ask(t, n.addr, lines...)), []byte("\r\n")) {
			if string(line) == ":"+strconv.Itoa(slot) {
				return strconv.Itoa(from + i)
			}
		}
	}
}
