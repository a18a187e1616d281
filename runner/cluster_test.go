package runner

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"respbench/protocol"
)

func TestLoadNodes(t *testing.T) {
	cl := &cluster{byAddr: map[string]int{}}
	l := cl.layoutOf([]shard{
		{nodes: []nodeInfo{{host: "a", port: 1}, {host: "a", port: 2, replica: true}}, slots: []slotRange{{0, 99}, {200, 200}}},
		{nodes: []nodeInfo{{host: "b", port: 1}}, slots: []slotRange{{100, 199}, {50, 60}}}, // the overlap is the first one's
		{nodes: []nodeInfo{{host: "c", port: 2, replica: true}}, slots: []slotRange{{300, 300}}},
		{nodes: []nodeInfo{{host: "d", port: 1}}},
	})
	if got := l.covered(); got != 202 {
		t.Errorf("%d slots are covered, want 202", got)
	}
	if l.shardOf[55] != 0 || l.shardOf[150] != 1 || l.shardOf[300] != 2 || l.shardOf[299] != noShard || len(l.shards[0].slots) != 101 {
		t.Errorf("slots are at the wrong shards")
	}
	for from, want := range map[ReadFrom]string{
		ReadFromPrimaries: "a:1 b:1",
		ReadFromReplicas:  "a:2 b:1 c:2",
		ReadFromAll:       "a:1 a:2 b:1 c:2",
	} {
		var got []string
		for _, number := range l.loadNodes(from) {
			got = append(got, cl.node(number).addr)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("reading from %d: %v, want %s", from, got, want)
		}
	}
}

func TestRouterLearns(t *testing.T) {
	cl := &cluster{byAddr: map[string]int{}}
	l := cl.layoutOf([]shard{{nodes: []nodeInfo{{host: "a", port: 1}}, slots: []slotRange{{0, 9}}}, {nodes: []nodeInfo{{host: "b", port: 1}}, slots: []slotRange{{10, 19}}}})
	rt := &router{cl: cl, routes: &routing{}}
	rt.adopt(l)
	b, fresh := rt.state(cl.intern("b:1")), rt.state(cl.intern("c:1"))
	if rt.learn(15, b) {
		t.Error("what the map says already is news")
	}
	if !rt.learn(5, b) || rt.shardOf[5] != int16(b.home) {
		t.Error("a moved slot was not learned")
	}
	if !rt.learn(6, fresh) || fresh.shard == noShard || !rt.unbalanced {
		t.Error("a new node was not learned")
	}
	if l.shardOf[5] != 0 || len(l.shards[1].slots) != 10 {
		t.Error("the map that all loops share was changed")
	}
	for from, want := range map[uint64]int16{0: 0, 19: 19, 20: 0, slotCount - 1: 0} {
		if got := rt.servedSlot(from); got != want {
			t.Errorf("slot %d stands for %d, want %d", got, from, want)
		}
	}
	pair := &router{cl: cl, routes: &routing{}}
	pair.adopt(cl.layoutOf([]shard{{nodes: []nodeInfo{{host: "a", port: 1}, {host: "a", port: 2, replica: true}}, slots: []slotRange{{0, 9}}}}))
	if pair.learn(5, pair.state(cl.intern("a:1"))) || !pair.learn(5, pair.state(cl.intern("a:2"))) {
		t.Error("a replica that became the primary is no news, or the primary is")
	}
	// What waits is sorted anew by the next map, and nothing is lost.
	for slot := range int16(20) {
		rt.place(flight{index: uint64(slot), slot: slot}, 0)
	}
	rt.place(flight{index: 20, slot: noSlot}, 1)
	rt.adopt(cl.layoutOf([]shard{{nodes: []nodeInfo{{host: "c", port: 1}}, slots: []slotRange{{0, 19}}}}))
	if q := &rt.shards[0].queue; q.n != 21 || rt.queued != 21 || fresh.shard != 0 || b.shard != noShard {
		t.Errorf("%d requests wait (%d counted), want 21", q.n, rt.queued)
	}
	sent := flight{index: 30, slot: 3, sentNs: 1}
	rt.place(sent, 0)
	if dropped := rt.dropUnsent(); dropped != 21 || rt.queued != 1 || rt.shards[0].queue.take() != sent {
		t.Errorf("%d were dropped, %d are left", dropped, rt.queued)
	}
}

func TestRetryLimit(t *testing.T) {
	for _, x := range []struct {
		kind             redirectKind
		lastNs           int64
		connect, timeout time.Duration
		want             string
	}{
		{clusterDown, 0, 5, 30, "5ns --connect-timeout"},
		{moved, 0, 5, 30, "5ns --connect-timeout"},
		{tryAgain, 0, 5, 30, "30ns --timeout"},
		{clusterDown, 1, 5, 30, "30ns --timeout"},
		{clusterDown, 0, 0, 30, "30ns --timeout"},
		{clusterDown, 0, 5, 0, "0s --timeout"},
		{clusterDown, 0, 30, 5, "5ns --timeout"},
	} {
		w := &worker{r: &round{load: Load{ConnectTimeout: x.connect, Timeout: x.timeout}}, lastNs: x.lastNs}
		limit, option := w.retryLimit(redirect{kind: x.kind})
		if got := limit.String() + " " + option; got != x.want {
			t.Errorf("%+v: %s", x, got)
		}
	}
}

// answering is a control connection to a server that answers by table; unknown commands get an error.
func answering(t *testing.T, replies map[string]string) *control {
	t.Helper()
	client, server := net.Pipe()
	t.Cleanup(func() { client.Close(); server.Close() })
	go func() {
		r := bufio.NewReader(server)
		for {
			var n int
			if _, err := fmt.Fscanf(r, "*%d\r\n", &n); err != nil {
				return
			}
			words := make([]string, n)
			for i := range words {
				var size int
				fmt.Fscanf(r, "$%d\r\n", &size)
				word := make([]byte, size+2)
				for k := range word {
					word[k], _ = r.ReadByte()
				}
				words[i] = string(word[:size])
			}
			reply, ok := replies[strings.Join(words, " ")]
			if !ok {
				reply = "-ERR unknown\r\n"
			}
			if _, err := server.Write([]byte(reply)); err != nil {
				return
			}
		}
	}()
	return &control{conn: client, stop: context.AfterFunc(t.Context(), func() {}), buf: make([]byte, 4096)}
}

// info is an entry of COMMAND INFO: name, arity, flags, first, last, step, categories, tips, key specifications,
// subcommands.
func info(name, flags string, first int, subs ...string) string {
	b := protocol.AppendArray(nil, 10)
	b = protocol.AppendBulkString(b, name)
	b = protocol.AppendInt(b, -2)
	list := strings.Fields(flags)
	b = protocol.AppendArray(b, len(list))
	for _, f := range list {
		b = protocol.AppendSimple(b, f)
	}
	for _, n := range []int{first, first, 1} {
		b = protocol.AppendInt(b, int64(n))
	}
	for range 3 {
		b = protocol.AppendArray(b, 0)
	}
	b = protocol.AppendArray(b, len(subs))
	return string(b) + strings.Join(subs, "")
}

func TestKeySpec(t *testing.T) {
	c := answering(t, map[string]string{
		"COMMAND INFO GET":    "*1\r\n" + info("get", "readonly fast", 1),
		"COMMAND INFO SET":    "*1\r\n" + info("set", "write denyoom", 1),
		"COMMAND INFO PING":   "*1\r\n" + info("ping", "fast", 0),
		"COMMAND INFO XGROUP": "*1\r\n" + info("xgroup", "", 0, info("xgroup|destroy", "write", 2), info("xgroup|create", "write denyoom", 2)),
		"COMMAND INFO EVAL":   "*1\r\n" + info("eval", "noscript movablekeys", 0),
		"COMMAND INFO RSET":   "*1\r\n*-1\r\n",
		"COMMAND INFO XREAD":  "*1\r\n" + info("xread", "readonly movablekeys", 0),
		"COMMAND INFO BITOP":  "*1\r\n" + info("bitop", "write", 9), // more than there are arguments

		"COMMAND GETKEYS EVAL s 1 k":          "*1\r\n$1\r\nk\r\n",
		"COMMAND GETKEYS EVAL 1 1 1":          "*1\r\n$1\r\n1\r\n",
		"COMMAND GETKEYS EVAL 1~ 1 1":         "*1\r\n$1\r\n1\r\n",
		"COMMAND GETKEYS EVAL 1 1 1~":         "*1\r\n$2\r\n1~\r\n",
		"COMMAND GETKEYS EVAL s 0":            "-ERR The command has no key arguments\r\n",
		"COMMAND GETKEYS XREAD STREAMS a b 0": "*2\r\n$1\r\na\r\n$1\r\nb\r\n",
	})
	for _, x := range []struct {
		command string
		want    keySpec
	}{
		{"GET k", keySpec{1, true}},
		{"SET k v", keySpec{1, false}},
		{"PING", keySpec{0, true}},
		{"XGROUP CREATE k g 0", keySpec{2, false}},
		{"EVAL s 1 k", keySpec{3, false}},
		{"EVAL 1 1 1", keySpec{3, false}}, // the script and the number look like the key
		{"EVAL s 0", keySpec{0, false}},
		{"XREAD STREAMS a b 0", keySpec{2, true}},
		{"BITOP", keySpec{0, false}},
		{"RSET k v", keySpec{1, false}}, // not known to the server: a guess
		{"NOSUCH", keySpec{0, false}},
	} {
		got, err := c.keySpec(strings.Fields(x.command))
		if err != nil || got != x.want {
			t.Errorf("%s: %+v, %v, want %+v", x.command, got, err, x.want)
		}
	}
}

func TestWaitHeap(t *testing.T) {
	rt := &router{routes: &routing{}, cl: &cluster{byAddr: map[string]int{}}}
	rt.adopt(rt.cl.layoutOf([]shard{{nodes: []nodeInfo{{host: "a", port: 1}}, slots: []slotRange{{0, 9}}}}))
	for _, at := range []int64{50, 10, 40, 20, 30} {
		rt.pause([]flight{{index: uint64(at)}, {index: uint64(at + 1)}}, at)
	}
	if next := rt.nextWait(100); next != 10 {
		t.Errorf("the next is due at %d, want 10", next)
	}
	rt.resume(30)
	var order []uint64
	for q := &rt.shards[0].queue; q.n > 0; {
		order = append(order, q.take().index)
	}
	if want := []uint64{10, 11, 20, 21, 30, 31}; !slices.Equal(order, want) {
		t.Errorf("resumed %v, want %v", order, want)
	}
	if next := rt.nextWait(45); next != 40 || rt.settled() {
		t.Errorf("the next is due at %d, want 40", next)
	}
}
