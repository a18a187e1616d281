package runner

import (
	"bytes"
	"context"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// fixedServer answers each size bytes with reply, with one buffer a connection and no allocation.
func fixedServer(t *testing.T, size int, reply string) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	const most = 4096
	out := make([]byte, 0, most*len(reply))
	for range most {
		out = append(out, reply...)
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				in := make([]byte, most*size)
				owed := 0
				for {
					n, err := c.Read(in)
					if err != nil {
						return
					}
					if bytes.Contains(in[:n], []byte("CONFIG")) { // the probe, on a connection of its own
						if _, err := io.WriteString(c, "-ERR no CONFIG here\r\n"); err != nil {
							return
						}
						continue
					}
					owed += n
					if _, err := c.Write(out[:owed/size*len(reply)]); err != nil {
						return
					}
					owed %= size
				}
			}()
		}
	}()
	return ln.Addr().(*net.TCPAddr).Port
}

// TestNoAllocationPerRequest runs a short and a long round and compares what they allocated.
func TestNoAllocationPerRequest(t *testing.T) {
	const (
		set  = len("*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000000\r\n$3\r\nVXK\r\n")
		rset = len("*3\r\n$4\r\nRSET\r\n$11\r\nbench:key:0\r\n$3\r\nVXK\r\n")
	)
	ok, conflicts := fixedServer(t, set, "+OK\r\n"), fixedServer(t, 2*rset, "+OK\r\n-ERR key already exists\r\n")
	for _, row := range []struct {
		name string
		port int
		with func(*Options)
	}{
		{"closed", ok, func(*Options) {}},
		{"P=16", ok, func(o *Options) { o.Load.Pipeline = 16 }},
		{"paced", ok, func(o *Options) { o.Load.Pipeline, o.Load.Rate.PerSecond = 16, 1e6 }},
		{"conflicts", conflicts, func(o *Options) { // a request in two, so that no reply is as the one before
			o.Mode, o.Load.Pipeline = Bench, 16
			o.Bench = BenchOptions{Op: "set", SetCmd: "RSET", GetCmd: "RGET", KeyPrefix: "bench:key:", Keyspace: 1, ValueSize: 3}
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			mallocs := func(n int64) uint64 {
				o := Options{Target: Target{Host: "127.0.0.1", Port: row.port}, Seed: 1, Output: Output{Quiet: true, Precision: 3}}
				o.Load = Load{Clients: 20, Threads: 1, Pipeline: 1, Requests: n, ConnectTimeout: 5 * time.Second, Timeout: 30 * time.Second}
				o.Classic = ClassicOptions{Tests: []string{"set"}, Random: true, Keyspace: 100000, DataSize: 3}
				row.with(&o)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if err := Main(context.Background(), o, IO{Stdout: io.Discard, Stderr: io.Discard, Log: zerolog.Nop()}); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.Mallocs - before.Mallocs
			}
			mallocs(1000) // pools and goroutines of the first run
			short, long := mallocs(1000), mallocs(101_000)
			if extra := int64(long) - int64(short); extra > 1000 { // the set-up is not quite the same each time
				t.Errorf("100000 requests more made %d allocations more", extra)
			}
		})
	}
}
