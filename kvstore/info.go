package kvstore

import (
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// info.go is INFO: Redis's names where the meaning is the same, names of our own beside them.

// redisVersion is the version of Redis whose replies are reproduced; clients decide by it what they may send.
const redisVersion = "7.0.15"

var infoSections = []struct {
	name  string // as the heading has it
	write func(s *Server, b *strings.Builder)
	extra bool // only when asked for
}{
	{"Server", (*Server).infoServer, false},
	{"Clients", (*Server).infoClients, false},
	{"Memory", (*Server).infoMemory, false},
	{"Persistence", (*Server).infoPersistence, false},
	{"Stats", (*Server).infoStats, false},
	{"CPU", (*Server).infoCPU, false},
	{"Commandstats", (*Server).infoCommands, true},
	{"Keyspace", (*Server).infoKeyspace, false},
}

func (s *Server) info(c *client, args [][]byte) {
	var b strings.Builder
	for _, section := range infoSections {
		wanted := len(args) == 1 && !section.extra
		for _, a := range args[1:] {
			wanted = wanted || is(a, section.name) || is(a, "all") || is(a, "everything") || is(a, "default") && !section.extra
		}
		if !wanted {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "# %s\r\n", section.name)
		section.write(s, &b)
	}
	s.bulkString(b.String())
}

func line(b *strings.Builder, name string, value any) { fmt.Fprintf(b, "%s:%v\r\n", name, value) }

func (s *Server) infoServer(b *strings.Builder) {
	line(b, "redis_version", redisVersion)
	line(b, "redis_mode", "standalone")
	line(b, "server_name", "kvstore")
	line(b, "kvstore_version", s.opts.Version)
	line(b, "go_version", runtime.Version())
	line(b, "os", runtime.GOOS+" "+runtime.GOARCH)
	line(b, "arch_bits", 64)
	line(b, "multiplexing_api", "gnet")
	line(b, "process_id", os.Getpid())
	line(b, "tcp_port", s.port)
	line(b, "uptime_in_seconds", int(time.Since(s.started).Seconds()))
	line(b, "io_threads_active", 0)
}

func (s *Server) infoClients(b *strings.Builder) {
	slow := 0
	for c := range s.clients {
		if c.sender != nil {
			slow++
		}
	}
	line(b, "connected_clients", len(s.clients))
	line(b, "maxclients", s.opts.MaxClients)
	line(b, "clients_with_waiting_output", slow)
}

func (s *Server) infoMemory(b *strings.Builder) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	mem := s.store.mem.stats()
	line(b, "used_memory", samples[2].Value.Uint64()+uint64(mem.mapped))
	line(b, "used_memory_rss", residentBytes(samples[0].Value.Uint64()-samples[1].Value.Uint64()+uint64(mem.mapped)))
	line(b, "go_heap_bytes", samples[2].Value.Uint64())
	line(b, "mem_allocator", s.opts.Allocator)
	line(b, "mem_blocks", mem.blocks)
	line(b, "mem_blocks_bytes", mem.used)
	line(b, "mem_reserved_bytes", mem.reserved)
	line(b, "mem_data_bytes_estimated", s.dataBytes())
	line(b, "gc_cycles", samples[3].Value.Uint64())
	line(b, "gc_longest_pause_us", int64(longestPause(samples[4].Value.Float64Histogram())*1e6))
	line(b, "maxmemory", 0)
}

// longestPause gives the upper bound of the highest bucket that has a pause, in seconds.
func longestPause(h *metrics.Float64Histogram) (seconds float64) {
	for i, n := range h.Counts {
		if n > 0 {
			seconds = h.Buckets[i+1]
		}
	}
	return seconds
}

// dataBytes estimates the bytes of keys and values of the three engines from some records of each: INFO must stay cheap,
// since every client waits for it.
func (s *Server) dataBytes() (total int64) {
	for _, d := range []*dict{s.store.plain, s.store.tree.dict, s.store.table} {
		const enough = 64
		bytes, seen := int64(0), int64(0)
		for _, slot := range d.segmentOf(0).slots {
			if slot == 0 || slot == deleted {
				continue
			}
			rec := d.mem.at(ref(slot & refMask))
			value, _ := recordValue(rec)
			bytes += int64(len(recordKey(rec)) + len(value))
			if seen++; seen == enough {
				break
			}
		}
		if seen > 0 {
			total += bytes * int64(d.count) / seen
		}
	}
	return total
}

func (s *Server) infoPersistence(b *strings.Builder) {
	line(b, "loading", 0)
	line(b, "aof_enabled", pick(s.log != nil, 1, 0))
	if s.log == nil {
		return
	}
	l := s.log
	err := l.failure()
	line(b, "aof_fsync", l.fsync)
	line(b, "aof_rewrite_in_progress", pick(l.doubling, 1, 0))
	line(b, "aof_rewrites", s.rewrite.sum.done)
	line(b, "aof_rewrites_failed", s.rewrite.sum.failed)
	line(b, "aof_last_bgrewrite_status", pick(s.rewrite.sum.lastErr == nil, "ok", "err"))
	line(b, "aof_last_write_status", pick(err == nil, "ok", "err"))
	if err != nil {
		line(b, "aof_last_write_error", err)
	}
	line(b, "aof_current_size", l.size.Load())
	line(b, "aof_base_size", s.rewrite.base)
	line(b, "aof_synced_size", l.journal.synced.Load())
	line(b, "aof_buffer_length", len(l.tail)+l.backlog())
}

// residentBytes gives what the system says, and without a system that says it what the runtime and the allocator hold.
func residentBytes(held uint64) uint64 {
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return held
	}
	var size, resident uint64
	if _, err := fmt.Sscan(string(data), &size, &resident); err != nil {
		return held
	}
	return resident * uint64(os.Getpagesize())
}

func (s *Server) infoStats(b *strings.Builder) {
	line(b, "total_connections_received", s.counts.connections)
	line(b, "total_commands_processed", s.counts.commands)
	line(b, "total_net_input_bytes", s.counts.bytesIn)
	line(b, "total_net_output_bytes", s.counts.bytesOut)
	line(b, "rejected_connections", s.counts.rejected)
	line(b, "keyspace_hits", s.counts.hits)
	line(b, "keyspace_misses", s.counts.misses)
	line(b, "total_error_replies", s.counts.errors)
}

// infoCPU shows the processor time of the whole process: with the collector's and that of the goroutines of the log.
func (s *Server) infoCPU(b *strings.Builder) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return
	}
	line(b, "used_cpu_sys", fmt.Sprintf("%.6f", float64(u.Stime.Nano())/1e9))
	line(b, "used_cpu_user", fmt.Sprintf("%.6f", float64(u.Utime.Nano())/1e9))
}

// infoCommands counts calls. There is no usec: reading the clock twice would cost a good part of a GET.
func (s *Server) infoCommands(b *strings.Builder) {
	for id, n := range s.counts.calls {
		if n != (callCount{}) {
			line(b, "cmdstat_"+commands[id].name, fmt.Sprintf("calls=%d,rejected_calls=%d,failed_calls=%d", n.calls, n.rejected, n.failed))
		}
	}
}

func (s *Server) infoKeyspace(b *strings.Builder) {
	if n := s.store.keys(); n > 0 {
		fmt.Fprintf(b, "db0:keys=%d,expires=0,avg_ttl=0\r\n", n)
	}
	line(b, "engine_plain_keys", s.store.plain.count)
	line(b, "engine_tree_keys", s.store.tree.count)
	line(b, "engine_table_keys", s.store.table.count)
}
