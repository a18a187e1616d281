//go:build linux

package respbench_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kvstore as an opponent: the same load, from our client, to kvstore and to the real redis-server,
// each on the last processor, the client on the first.

// strategy is one persistence strategy of both servers.
type strategy struct {
	name         string
	kvstore      string // flags of `respbench serve`
	redis        string // flags of redis-server
	reads        bool   // reads are measured, too
	requestsEach int    // a thousandth of the requests per run and depth's share
}

var strategies = []strategy{
	{"none / none", "--persistence none", `--save "" --appendonly no`, true, 1000},
	{"everysec / aof_everysec", "--persistence incremental --fsync everysec", `--save "" --appendonly yes --appendfsync everysec`, false, 1000},
	{"always / aof_always", "--persistence incremental --fsync always", `--save "" --appendonly yes --appendfsync always`, false, 200},
}

// families are kvstore's commands; redis-server always gets SET and GET.
var families = [][2]string{{"SET", "GET"}, {"RSET", "RGET"}, {"HSET", "HGET"}}

// BenchmarkVersus prints medians and ratios, kvstore to redis-server, per strategy, command and
// depth. One iteration is one pair: every run of kvstore stands beside one of redis-server.
func BenchmarkVersus(b *testing.B) {
	redis, err := exec.LookPath("redis-server")
	if err != nil {
		b.Skip("redis-server is not installed")
	}
	kv, ref := map[string][]float64{}, map[string][]float64{}
	for pair := 0; b.Loop(); pair++ {
		for _, s := range strategies {
			sides := []func(){
				func() { versusKvstore(b, s, kv) },
				func() { versusRedis(b, redis, s, ref) },
			}
			sides[pair%2]()
			sides[1-pair%2]()
		}
	}
	b.ReportMetric(0, "ns/op")
	fmt.Printf("\nkvstore / redis-server, c=50, 32-byte values, keyspace 1000000, medians of %d pairs; bare write+fsync of 4 KiB here: %v\n",
		b.N, bareFsync(b))
	fmt.Printf("%-26s %-6s %5s %12s %12s %8s\n", "strategy", "cmd", "P", "kvstore/s", "redis/s", "ratio")
	for _, s := range strategies {
		for _, f := range families {
			for op, cmd := range f {
				if op == 1 && !s.reads {
					continue
				}
				for _, p := range []int{1, 16, 128} {
					a, r := kv[fmt.Sprint(s.name, cmd, p)], ref[fmt.Sprint(s.name, families[0][op], p)]
					fmt.Printf("%-26s %-6s %5d %12.0f %12.0f %8.2f\n", s.name, cmd, p, median(clone(a)), median(clone(r)), median(ratios(a, r)))
				}
			}
		}
	}
}

func clone(v []float64) []float64 { return append([]float64(nil), v...) }

func ratios(a, b []float64) (v []float64) {
	for i := range a {
		v = append(v, a[i]/b[i])
	}
	return v
}

func versusKvstore(b *testing.B, s strategy, into map[string][]float64) {
	dir := b.TempDir()
	args := append([]string{"serve", "--port", "0", "--until-stdin-closes", "--dir", dir}, strings.Fields(s.kvstore)...)
	port, stop := startKvstore(b, args)
	defer stop()
	for _, f := range families {
		versusRuns(b, s, f, port, into)
	}
}

func versusRedis(b *testing.B, redis string, s strategy, into map[string][]float64) {
	dir := b.TempDir()
	port := unusedPort(b)
	args := []string{"--port", strconv.Itoa(port), "--dir", dir, "--bind", "127.0.0.1", "--daemonize", "no", "--logfile", filepath.Join(dir, "log")}
	for _, a := range strings.Fields(s.redis) {
		args = append(args, strings.Trim(a, `"`))
	}
	cmd := exec.Command(redis, args...)
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	waitPort(b, port)
	if cpu := serverCPU(); cpu >= 0 {
		pin(b, cmd.Process.Pid, cpu)
	}
	versusRuns(b, s, families[0], port, into)
}

// versusRuns measures one family's write and, where asked for, read at every depth. A depth has keys
// of its own to write, so that they are new to both servers; what is read was all written before.
func versusRuns(b *testing.B, s strategy, family [2]string, port int, into map[string][]float64) {
	for _, p := range []int{1, 16, 128} {
		requests := map[int]int{1: 50, 16: 400, 128: 1000}[p] * s.requestsEach
		modes := []string{"set", "get"}
		if !s.reads {
			modes = modes[:1]
		}
		for op, mode := range modes {
			key := fmt.Sprint(s.name, family[op], p)
			into[key] = append(into[key], benchRun(b, port, p, requests, mode, family))
		}
	}
}

func benchRun(b *testing.B, port, p, requests int, mode string, family [2]string) float64 {
	prefix := fmt.Sprintf("%s:%d:", family[0], p)
	if mode == "get" {
		prefix = family[0] + ":read:"
	}
	args := strings.Fields(fmt.Sprintf("--port %d --mode %s --requests %d --pipeline %d --keyspace 1000000 --value-size 32 -c 50 --set-cmd %s --get-cmd %s --key-prefix %s --csv",
		port, mode, requests, p, family[0], family[1], prefix))
	cmd := onClientCPU(binary, args)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%v: %v", cmd.Args, err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil || len(rows) != 2 {
		b.Fatalf("%q: %v", out, err)
	}
	for i, name := range rows[0] {
		if name == "qps" {
			v, err := strconv.ParseFloat(rows[1][i], 64)
			if err != nil {
				b.Fatal(err)
			}
			return v
		}
	}
	b.Fatalf("no qps column in %q", rows[0])
	return 0
}

func unusedPort(b *testing.B) int {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().(*net.TCPAddr).Port
}

func waitPort(b *testing.B, port int) {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			c.Close()
			return
		}
	}
	b.Fatalf("nobody listens on port %d", port)
}

// bareFsync is the median of what the disk alone needs.
func bareFsync(b *testing.B) time.Duration {
	f, err := os.Create(filepath.Join(b.TempDir(), "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var v []float64
	for range 50 {
		start := time.Now()
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		v = append(v, float64(time.Since(start)))
	}
	return time.Duration(median(v)).Round(time.Microsecond)
}
