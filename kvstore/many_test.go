package kvstore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// 200 clients work at once, each on keys of its own and each in pipelines, while others send garbage, stop in the middle of a
// command, do not read, or go away. Each worker gets exactly its own values. Run with -race as well.
func TestManyClients(t *testing.T) {
	for _, o := range []Options{
		{},
		{Persistence: PersistIncremental, Fsync: FsyncEverySec, rewriteMin: 64 << 10, Allocator: Malloc},
		{Persistence: PersistIncremental, Fsync: FsyncAlways, rewriteMin: 64 << 10},
	} {
		t.Run("fsync="+o.Persistence+o.Fsync, func(t *testing.T) {
			if o.Persistence != "" {
				o.Dir = t.TempDir()
			}
			s := startServer(t, o)
			stop := make(chan struct{})
			var nuisances, workers sync.WaitGroup
			for i := range 20 {
				nuisances.Add(1)
				go func() {
					defer nuisances.Done()
					nuisance(s.addr, i, stop)
				}()
			}
			errs := make(chan error, 200)
			for i := range 200 {
				workers.Add(1)
				go func() {
					defer workers.Done()
					errs <- worker(s.addr, i)
				}()
			}
			workers.Wait()
			close(stop)
			nuisances.Wait()
			for range 200 {
				if err := <-errs; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func worker(addr string, id int) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(4 * patience))
	in := bufio.NewReader(c)
	for round := range 20 {
		var send, want strings.Builder
		for k := range 16 {
			key := fmt.Sprintf("w%d:%d", id, k)
			value := strings.Repeat(fmt.Sprint(id, round, k), 1+round)
			send.WriteString(command3("SET", key, value) + command3("HSET", key, value) + command3("GET", key) + command3("HGET", key))
			bulk := fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
			want.WriteString("+OK\r\n+OK\r\n" + bulk + bulk)
		}
		if _, err := io.WriteString(c, send.String()); err != nil {
			return err
		}
		got := make([]byte, want.Len())
		if _, err := io.ReadFull(in, got); err != nil {
			return fmt.Errorf("worker %d: %w", id, err)
		}
		if string(got) != want.String() {
			return fmt.Errorf("worker %d, round %d: got %.200q", id, round, got)
		}
	}
	return nil
}

func nuisance(addr string, id int, stop chan struct{}) {
	rng := rand.New(rand.NewPCG(uint64(id), 1))
	for {
		select {
		case <-stop:
			return
		default:
		}
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		c.SetDeadline(time.Now().Add(time.Second))
		switch rng.IntN(4) {
		case 0:
			junk := make([]byte, rng.IntN(5000))
			for i := range junk {
				junk[i] = byte(rng.Uint32())
			}
			c.Write(junk)
		case 1:
			io.WriteString(c, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\nhalf")
		case 2:
			io.WriteString(c, strings.Repeat("INFO\r\n", 10)+strings.Repeat("PING\r\n", 1000))
		case 3:
			io.WriteString(c, "*2\r\n$3\r\nGET\r\n$-7\r\n")
			io.Copy(io.Discard, c)
		}
		c.Close()
	}
}

// go-redis, with what it says when it connects, in both versions of the protocol.
func TestGoRedis(t *testing.T) {
	s := startServer(t, Options{RequirePass: "secret"})
	for _, proto := range []int{2, 3} {
		t.Run(fmt.Sprint("resp=", proto), func(t *testing.T) {
			ctx := context.Background()
			c := redis.NewClient(&redis.Options{Addr: s.addr, Protocol: proto, Password: "secret", ClientName: "test"})
			defer c.Close()
			check := func(name string, got any, err error, want any) {
				t.Helper()
				if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: got %v, %v, want %v", name, got, err, want)
				}
			}
			check("FLUSHALL", c.FlushAll(ctx).Val(), nil, "OK")
			check("SET", c.Set(ctx, "k", "v", 0).Val(), nil, "OK")
			v, err := c.Get(ctx, "k").Result()
			check("GET", v, err, "v")
			if err := c.Get(ctx, "none").Err(); err != redis.Nil {
				t.Errorf("GET of nothing: %v", err)
			}
			n, err := c.HSet(ctx, "h", "f", "v").Result()
			check("HSET", n, err, 1)
			m, err := c.HGetAll(ctx, "h").Result()
			check("HGETALL", m, err, "map[f:v]")
			n, err = c.ZAdd(ctx, "z", redis.Z{Score: 1.5, Member: "m"}).Result()
			check("ZADD", n, err, 1)
			z, err := c.ZPopMin(ctx, "z").Result()
			check("ZPOPMIN", z, err, "[{1.5 m}]")
			l, err := c.RPush(ctx, "l", "a", "b").Result()
			check("RPUSH", l, err, 2)
			r, err := c.LRange(ctx, "l", 0, -1).Result()
			check("LRANGE", r, err, "[a b]")
			id, err := c.XAdd(ctx, &redis.XAddArgs{Stream: "x", ID: "1-1", Values: []string{"f", "v"}}).Result()
			check("XADD", id, err, "1-1")
			size, err := c.DBSize(ctx).Result()
			check("DBSIZE", size, err, 4)
			info, err := c.Info(ctx, "server").Result()
			if err != nil || !strings.Contains(info, "redis_version:7.") {
				t.Errorf("INFO: %q, %v", info, err)
			}
			replies, err := c.Pipelined(ctx, func(p redis.Pipeliner) error {
				for range 100 {
					p.Incr(ctx, "n")
				}
				return nil
			})
			check("pipeline", replies[99].(*redis.IntCmd).Val(), err, 100)
		})
	}
}

// GET, and SET of a key that is there, allocate nothing; neither does SET with the log.
func TestHotPathDoesNotAllocate(t *testing.T) {
	for _, o := range []Options{{}, {Allocator: Malloc}, {Persistence: PersistIncremental, Dir: t.TempDir()}} {
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var c client
		batch := []byte(strings.Repeat(command3("SET", "key:000000000001", strings.Repeat("v", 32))+command3("GET", "key:000000000001")+
			command3("HSET", "key", "value")+command3("HGET", "key")+command3("RGET", "key"), 100))
		run := func() {
			if n := s.execute(&c, batch); n != len(batch) {
				t.Fatalf("%d of %d bytes", n, len(batch))
			}
			s.out = s.out[:0]
			if s.log != nil {
				s.log.tail = s.log.tail[:0]
			}
		}
		run()
		if n := testing.AllocsPerRun(100, run); n != 0 {
			t.Errorf("%s %s: %v allocations for 500 commands, want 0", s.opts.Allocator, s.opts.Persistence, n)
		}
		if s.lock != nil {
			s.lock.Close()
		}
	}
}

// With mypool a large store is no work for the collector: the heap stays small, and no pause is long.
func TestPoolIsNoWorkForTheCollector(t *testing.T) {
	keys := 1_000_000
	if testing.Short() {
		keys = 100_000
	}
	s := newServer(Options{Allocator: MyPool})
	defer func() { s.store.mem.release() }()
	before := readPauses()
	key, value := make([]byte, 0, 32), []byte(strings.Repeat("v", 32))
	for i := range keys {
		key = fmt.Appendf(key[:0], "key:%012d", i)
		s.putString(key, value)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 64<<20 {
		t.Errorf("the Go heap has %d MiB", m.HeapAlloc>>20)
	}
	if perKey := s.store.mem.stats().reserved / int64(keys); perKey > 120 {
		t.Errorf("%d bytes a key of 16 and a value of 32", perKey)
	}
	after := readPauses()
	for i := range after.Counts {
		after.Counts[i] -= before.Counts[i]
	}
	if longest := longestPause(after); longest > 0.1 {
		t.Errorf("a pause of %v s", longest)
	}
	debug.FreeOSMemory()
}

func readPauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	h := *sample[0].Value.Float64Histogram()
	h.Counts = append([]uint64(nil), h.Counts...)
	return &h
}

func BenchmarkPipeline(b *testing.B) {
	for _, persistence := range []string{PersistNone, PersistIncremental} {
		for _, cmd := range []string{"SET", "GET", "RSET", "RGET", "HSET", "HGET"} {
			b.Run("cmd="+cmd+"/persistence="+persistence, func(b *testing.B) {
				o := Options{Persistence: persistence, Dir: b.TempDir()}
				s, err := New(o)
				if err != nil {
					b.Fatal(err)
				}
				const keys, batch = 1_000_000, 128
				rng := rand.New(rand.NewPCG(1, 1))
				var inputs [][]byte
				for range 64 {
					var in []byte
					for range batch {
						args := []string{cmd, fmt.Sprintf("key:%012d", rng.IntN(keys))}
						if strings.HasSuffix(cmd, "SET") {
							args = append(args, strings.Repeat("v", 32))
						}
						in = append(in, command3(args...)...)
					}
					inputs = append(inputs, in)
				}
				for i := range keys {
					s.putString(fmt.Appendf(nil, "key:%012d", i), make([]byte, 32))
				}
				var c client
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					s.execute(&c, inputs[i%len(inputs)])
					s.out = s.out[:0]
					if s.log != nil {
						s.log.tail = s.log.tail[:0]
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/command")
				s.store.mem.release()
			})
		}
	}
}

// BenchmarkReplay replays logs as SET leaves them: with new keys, and with random keys of a million. The file is read from memory.
func BenchmarkReplay(b *testing.B) {
	const records, keys = 2_000_000, 1_000_000
	for _, random := range []bool{false, true} {
		b.Run(fmt.Sprintf("random=%v", random), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			data := []byte(logMagic)
			for i := range records {
				if random {
					i = rng.IntN(keys)
				}
				data = appendRecord(data, opSet, fmt.Appendf(nil, "key:%012d", i), make([]byte, 32))
			}
			file := &crashFile{fs: newCrashFS(1), data: data}
			for b.Loop() {
				s := newServer(Options{Allocator: MyPool})
				if _, err := replay(file, s.apply, func(_, _ int64) error { return nil }); err != nil {
					b.Fatal(err)
				}
				s.store.mem.release()
			}
			b.ReportMetric(float64(b.N)*records/b.Elapsed().Seconds(), "records/s")
		})
	}
}
