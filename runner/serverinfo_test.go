package runner

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"respbench/report"
)

const infoBefore = "# Server\r\nredis_version:7.0.15\r\nrun_id:a\r\n\r\n# Stats\r\ntotal_commands_processed:100\r\nkeyspace_hits:5\r\n" +
	"evicted_keys:0\r\nused_memory:5000\r\nused_cpu_user:1.5\r\nused_cpu_sys:0.5\r\n" +
	"cmdstat_get:calls=10,usec=20,usec_per_call=2.00,rejected_calls=0,failed_calls=0\r\nname:with:colons\r\n"

const infoAfter = "redis_version:7.0.15\r\nrun_id:a\r\ntotal_commands_processed:1102\r\nkeyspace_hits:305\r\nevicted_keys:0\r\n" +
	"used_memory:4000\r\nused_cpu_user:2.0\r\nused_cpu_sys:1.002\r\ntotal_forks:1\r\n" +
	"cmdstat_get:calls=510,usec=1520,usec_per_call=2.98,rejected_calls=0,failed_calls=0\r\n" +
	"cmdstat_config|get:calls=5,usec=50\r\ncmdstat_function|load:calls=3,usec=300\r\ncmdstat_set:calls=0,usec=0\r\n"

func TestInfoDeltas(t *testing.T) {
	got := map[string]float64{}
	for _, d := range infoDeltas(parseInfo(infoBefore), parseInfo(infoAfter), 2, []string{"GET", "SET", "FUNCTION LOAD x"}) {
		if _, twice := got[d.Name]; twice {
			t.Errorf("%s is there twice", d.Name)
		}
		got[d.Name] = d.Value
	}
	want := map[string]float64{"total_commands_processed": 1000, "keyspace_hits": 300, "evicted_keys": 0, "used_memory": -1000,
		"used_cpu_user": 0.5, "used_cpu_sys": 0.502, "used_cpu_us_per_command": 1000,
		"cmdstat_get calls": 500, "cmdstat_get usec_per_call": 3, "cmdstat_function|load calls": 3, "cmdstat_function|load usec_per_call": 100}
	for name, v := range want {
		if d := got[name] - v; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", name, got[name], v)
		}
	}
	for name := range got {
		if _, expected := want[name]; !expected {
			t.Errorf("%s: %v is not of the load", name, got[name])
		}
	}
	if name, version := parseInfo(infoBefore).software(); name != "redis" || version != "7.0.15" {
		t.Errorf("software %q %q", name, version)
	}
	if name, _ := parseInfo("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.0\r\n").software(); name != "valkey" {
		t.Errorf("software %q", name)
	}
}

// Figures that are none, as a server that divides by zero writes them, are left out: no result file can hold them.
func TestInfoWithoutFigures(t *testing.T) {
	before := parseInfo("total_commands_processed:1\r\nused_memory:5\r\nused_cpu_user:nan\r\ncmdstat_set:calls=nan,usec=1\r\n")
	after := parseInfo("total_commands_processed:9\r\nused_memory:inf\r\nused_cpu_user:-nan\r\nused_cpu_sys:1e999\r\ncmdstat_set:calls=4,usec=-inf\r\n")
	want := []report.Delta{{Name: commandsProcessed, Value: 8}, {Name: "cmdstat_set calls", Value: 4}}
	if got := infoDeltas(before, after, 0, []string{"SET"}); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if sum := sumInfo([]infoFields{{"x": "nan"}, {"x": "2"}}); sum["x"] != "nan 2" {
		t.Errorf("summed: %q", sum["x"])
	}
}

func TestPersistenceEvents(t *testing.T) {
	states := []persistence{
		{}, {saving: true}, {saving: true}, {saves: 1}, {saves: 2}, {saves: 2, saving: true, rewriting: true}, {saves: 3, rewrites: 1},
	}
	want := [][]string{{"save began"}, nil, {"save ended"}, {"save"}, {"save began", "rewrite began"}, {"save ended", "rewrite ended"}}
	for i := range want {
		if got := states[i].events(states[i+1]); !slices.Equal(got, want[i]) {
			t.Errorf("%+v to %+v: %q, want %q", states[i], states[i+1], got, want[i])
		}
	}
}

// watchedSession has --server-info on.
func watchedSession(t *testing.T, s *testServer, l Load) *session {
	ses := newTestSession(t, s.ln.Addr().String(), l)
	ses.o.Output.ServerInfo = true
	ses.o.Output.Interval = 100 * time.Millisecond
	return ses
}

// INFO is asked before the first request and after the last reply; a save that it shows in between stands in
// the time series.
func TestServerIsWatched(t *testing.T) {
	t.Parallel()
	attempt(t, func() string {
		var loads, asked atomic.Int64
		s := startServer(t, func(*testConn, []string) string {
			loads.Add(1)
			time.Sleep(time.Millisecond)
			return "+OK\r\n"
		})
		s.info = func() string {
			n := asked.Add(1)
			if n == 1 && loads.Load() > 0 {
				t.Error("the load began before INFO was asked")
			}
			return fmt.Sprintf("redis_version:7.0.15\r\ntotal_commands_processed:%d\r\nused_cpu_user:%d\r\nused_cpu_sys:0\r\nrdb_bgsave_in_progress:%d\r\n",
				loads.Load()+n, n, n%2)
		}
		res := measureRound(t, watchedSession(t, s, Load{Clients: 2, Duration: 1500 * time.Millisecond, Requests: unlimited}), nil)
		if res.Server.Software != "redis" || len(res.Server.Deltas) == 0 {
			t.Fatalf("server %+v, notes %q", res.Server, res.Notes)
		}
		if d := res.Server.Deltas[0]; d.Name != commandsProcessed || d.Value != float64(res.Requests) {
			t.Errorf("%+v, want the %d requests of the load alone", d, res.Requests)
		}
		if res.Server.CPU == 0 {
			t.Error("used_cpu of INFO is not the server's CPU time")
		}
		var events []string
		for i, step := range res.Series {
			events = append(events, step.Events...)
			if len(step.Events) > 0 && (i < 8 || i > 13) {
				return fmt.Sprintf("events %q in step %d of 0.1 s, after about a second", step.Events, i)
			}
		}
		if len(events) == 0 {
			return "no event in the time series"
		}
		return ""
	})
}

// Where INFO is forbidden, there is one note and no failure, in one round and the next.
func TestInfoForbidden(t *testing.T) {
	t.Parallel()
	s := startServer(t, always("+OK\r\n"))
	ses := watchedSession(t, s, Load{Clients: 2, Requests: 100})
	res := measureRound(t, ses, nil)
	if n := notesWith(res, "no INFO from"); n != 1 || res.Requests != 100 || len(res.Server.Deltas) != 0 {
		t.Errorf("%d notes of INFO in %q, server %+v", n, res.Notes, res.Server)
	}
	if res = measureRound(t, ses, nil); notesWith(res, "no INFO from") != 0 {
		t.Errorf("the note again: %q", res.Notes)
	}
}

func notesWith(res *report.Result, part string) (n int) {
	for _, note := range res.Notes {
		if strings.Contains(note, part) {
			n++
		}
	}
	return n
}

// A cluster's nodes are reported as one server.
func TestInfoOfSeveralNodes(t *testing.T) {
	a := parseInfo("redis_version:7.0.15\r\nrun_id:a\r\nhits:5\r\ncpu:0.5\r\nrdb_bgsave_in_progress:1\r\ncmdstat_get:calls=5,usec=12,usec_per_call=2.4\r\n")
	b := parseInfo("redis_version:7.0.15\r\nrun_id:b\r\nhits:7\r\ncpu:0.25\r\nrdb_bgsave_in_progress:1\r\ncmdstat_get:calls=1,usec=8\r\ncmdstat_set:calls=3,usec=3\r\n")
	sum := sumInfo([]infoFields{a, b})
	for name, want := range map[string]string{"redis_version": "7.0.15", "run_id": "a b", "hits": "12", "cpu": "0.75", "rdb_bgsave_in_progress": "1",
		"cmdstat_set": "calls=3,usec=3"} {
		if sum[name] != want {
			t.Errorf("%s: %q, want %q", name, sum[name], want)
		}
	}
	if calls, _ := sum.part("cmdstat_get", "calls"); calls != 6 {
		t.Errorf("%q", sum["cmdstat_get"])
	}
}

// A server may tell how many connections it has received before it gets to accept the last ones of the round, which
// are open and wait: they were received before the measured part.
func TestConnectionsThatWaitToBeAccepted(t *testing.T) {
	after := infoFields{connectionsReceived: "62"}
	for opened, want := range map[string]float64{"11": 1, "": 50} { // one is somebody else's; not asked: as the server tells
		rw := &roundWatch{r: &round{load: Load{Clients: 50}}}
		if opened != "" {
			rw.opened = infoFields{connectionsReceived: opened}
		}
		before := infoFields{connectionsReceived: "12"}
		rw.countConnections(before)
		if list := infoDeltas(before, after, 0, nil); len(list) != 1 || list[0].Value != want {
			t.Errorf("opened %q: %+v, want %v connections", opened, list, want)
		}
	}
}
