package main

import (
	"math"
	"time"

	"respbench/runner"
)

// The headings of the help, in order.
const (
	groupServer  = "Server"
	groupTLS     = "TLS"
	groupCluster = "Cluster"
	groupLoad    = "Load"
	groupTests   = "Tests and commands (redis-benchmark)"
	groupBench   = "Set and get over a keyspace (bench.c); any of these chooses this mode"
	groupPace    = "Time and pace"
	groupOutput  = "Output"
	groupFaults  = "Faults and limits"
	groupMachine = "Machine"
	groupOther   = "Other"
)

// section is the rows under one heading.
type section struct {
	group string
	rows  []row
}

func (s *settings) sections() []section {
	return []section{
		{groupServer, s.serverRows()},
		{groupTLS, s.tlsRows()},
		{groupCluster, s.clusterRows()},
		{groupLoad, s.loadRows()},
		{groupTests, s.testRows()},
		{groupBench, s.benchRows()},
		{groupPace, s.paceRows()},
		{groupOutput, s.outputRows()},
		{groupFaults, s.faultRows()},
		{groupMachine, s.machineRows()},
		{groupOther, s.otherRows()},
	}
}

// rows is the table of all options, bound to s.
func (s *settings) rows() []row {
	var all []row
	for _, part := range s.sections() {
		for _, r := range part.rows {
			r.group = part.group
			switch part.group {
			case groupTests:
				r.in = classicOnly
			case groupBench:
				r.in = benchOnly
			}
			all = append(all, r)
		}
	}
	s.observe(all)
	return all
}

func (s *settings) serverRows() []row {
	t := &s.opts.Target
	return []row{
		{short: "h", long: "host", arg: "host", set: host(&t.Host), noun: "host",
			text: "Server's name or address (default 127.0.0.1)"},
		{short: "p", long: "port", arg: "port", set: wholeInt(&t.Port, 1, maxPort), noun: "port",
			text: "Server's port (default 6379)"},
		{short: "s", arg: "path", set: text(&t.Socket), noun: "path",
			text: "Server's unix socket (instead of -h and -p)"},
		{short: "u", arg: "uri", set: func(v string) error { return parseURI(v, t) }, secret: true,
			text: "redis://[[user:]password@]host[:port][/db]; rediss:// is TLS;\nalso valkey:// and valkeys://"},
		{short: "a", arg: "password", set: s.setPassword, secret: true,
			text: "AUTH on each connection (or set REDISCLI_AUTH)"},
		{long: "askpass", set: onOff(&s.askpass), text: "Ask for the password on the terminal"},
		{long: "user", arg: "name", set: text(&t.User), noun: "user",
			text: "AUTH with this ACL user; needs a password"},
		{long: "dbnum", arg: "db", set: wholeInt(&t.DB, 0, maxDB), text: "SELECT this database (default 0)"},
		{short: "3", set: onOff(&t.RESP3), text: "RESP3: HELLO 3 on each connection"},
		{long: "enable-tracking", set: onOff(&t.Tracking), text: "CLIENT TRACKING on, on each connection"},
		{long: "mptcp", set: onOff(&t.MPTCP), text: "Multipath TCP"},
		{long: "source", arg: "ip,ip", set: addresses(&t.Sources),
			text: "Connect from these local addresses in turn: more ports"},
		{long: "embedded", set: onOff(&s.embedded),
			text: "Start a server of our own on a free port, measure it, stop it"},
	}
}

func (s *settings) tlsRows() []row {
	t := &s.opts.Target.TLS
	return []row{
		{long: "tls", set: onOff(&t.Enabled), text: "Use TLS"},
		{long: "sni", arg: "name", set: text(&t.ServerName), noun: "name",
			text: "Server name to ask for; the certificate must hold it"},
		{long: "cacert", arg: "file", set: text(&t.CACert), noun: "file",
			text: "Trusted certificates (default: the system's)"},
		{long: "cacertdir", arg: "dir", set: text(&t.CACertDir), noun: "directory",
			text: "Directory of trusted certificates"},
		{long: "insecure", set: onOff(&t.Insecure), text: "Do not verify the server's certificate"},
		{long: "cert", arg: "file", set: text(&t.Cert), noun: "file", text: "Client certificate"},
		{long: "key", arg: "file", set: text(&t.Key), noun: "file", text: "Client's private key"},
		{long: "tls-ciphers", arg: "list", set: text(&t.Ciphers), noun: "list",
			text: "TLS 1.2 cipher suites by OpenSSL name, joined by colons"},
		{long: "tls-ciphersuites", arg: "list", hidden: true,
			set: refused("--tls-ciphersuites", "Go's TLS 1.3 chooses its cipher suites itself")},
	}
}

func (s *settings) clusterRows() []row {
	t := &s.opts.Target
	readFrom := []runner.ReadFrom{runner.ReadFromPrimaries, runner.ReadFromReplicas, runner.ReadFromAll}
	return []row{
		{long: "cluster", set: onOff(&t.Cluster), text: "The server is a node of a cluster: use all of them"},
		{long: "rfr", arg: "no|yes|all", set: choice(&t.ReadFrom, []string{"no", "yes", "all"}, readFrom),
			text: "Read from primaries, from replicas, or from all (default no)"},
	}
}

func (s *settings) loadRows() []row {
	return []row{
		{short: "c", arg: "clients", set: whole(&s.clients, 0, runner.MaxClients),
			text: "Parallel connections (default 50; bench.c mode 1)"},
		{short: "n", arg: "requests", set: whole(&s.requests, 1, math.MaxInt64),
			text: "Requests in all, exactly (default 100000; bench.c mode 1000000)"},
		{short: "P", arg: "requests", set: whole(&s.pipeline, 0, math.MaxInt32),
			text: "Requests in flight on a connection (default 1; bench.c mode 64)"},
		{short: "d", arg: "bytes", set: dataSize(&s.dataSize, s.warn),
			text: "Size of a value (default 3; bench.c mode 32)"},
		{short: "r", arg: "keys", set: whole(&s.keyspace, 0, math.MaxInt64),
			text: "Random keys, members and scores below this number: replaces\n" +
				"__rand_int__ (12 digits) in tests and commands"},
		{long: "seed", arg: "n", set: unsigned(&s.opts.Seed, &s.seedGiven),
			text: "Same seed, same requests; 0 is one too (default: from the clock)"},
		{long: "threads", arg: "n", set: whole(&s.threads, 0, math.MaxInt64), text: "Event loops (default 1, at most 500)"},
		{short: "k", arg: "0|1", set: whole(&s.keepAlive, math.MinInt64, math.MaxInt64),
			text: "1 = keep alive, 0 = connect anew after each batch (default 1)"},
		{long: "reconnect", arg: "n", set: whole(&s.reconnect, 1, math.MaxInt64),
			text: "Connect anew after this many requests of a connection"},
	}
}

func (s *settings) testRows() []row {
	c := &s.opts.Classic
	return []row{
		{short: "t", arg: "tests", set: s.setTests,
			text: "Only these tests, joined by commas (default: all)"},
		{short: "x", set: onOff(&s.readStdin), text: "Last argument of the command from stdin"},
		{short: "I", set: onOff(&c.Idle), text: "Only open the connections, and wait"},
		{short: "l", set: onOff(&s.opts.Output.Loop), text: "Repeat for ever"},
		{short: "e", hidden: true, set: func(string) error {
			s.warn("-e option has no effect. We now immediately exit on error to avoid false results.")
			return nil
		}},
		{long: "sequential", set: onOff(&c.Sequential),
			text: "With -r: keys in order instead of at random"},
		{long: "dataset", arg: "file", set: text(&c.Dataset), noun: "file",
			text: "CSV or TSV file for __field:name__ in a command"},
		{long: "maxdocs", arg: "n", set: s.setMaxDocs, text: "At most so many rows of --dataset"},
		{long: "num-functions", arg: "n", set: wholeInt(&c.NumFunctions, 1, 1e6),
			text: "Functions in the library of test function_load (default 10)"},
		{long: "num-keys-in-fcall", arg: "n", set: wholeInt(&c.NumFcallKeys, 0, 1e6),
			text: "Keys of test fcall (default 1)"},
	}
}

func (s *settings) benchRows() []row {
	b := &s.opts.Bench
	prefill := []runner.Prefill{runner.PrefillAuto, runner.PrefillAlways, runner.PrefillNever}
	return []row{
		{long: "mode", arg: "set|get|mixed", set: word(&b.Op, "set", "get", "mixed"), text: "What to send (default mixed)"},
		{long: "requests", arg: "n", set: whole(&s.requests, 1, math.MaxInt64), text: "As -n (default 1000000)"},
		{long: "pipeline", arg: "n", set: whole(&s.pipeline, 1, math.MaxInt32), text: "As -P (default 64)"},
		{long: "keyspace", arg: "n", set: whole(&s.keyspace, 1, runner.MaxKeyspace),
			text: "As -r: keys are PREFIX0 ... PREFIX(n-1) (default 100000)"},
		{long: "value-size", arg: "bytes", set: s.setValueSizes,
			text: "As -d (default 32); also 64-4096, or weighted 64:90,4096:10"},
		{long: "set-ratio", arg: "percent", set: wholeInt(&b.SetRatio, 0, 100), text: "Share of writes in mixed mode (default 50)"},
		{long: "set-cmd", arg: "command", set: commandName(&b.SetCmd), noun: "command", text: "Write with this command (default SET)"},
		{long: "get-cmd", arg: "command", set: commandName(&b.GetCmd), noun: "command", text: "Read with this command (default GET)"},
		{long: "key-prefix", arg: "text", set: anyText(&b.KeyPrefix), text: "Start of every key (default bench:key:)"},
		{long: "verify-get", set: onOff(&b.Verify), text: "Compare every byte read with what the key must hold"},
		{long: "prefill", arg: "auto|always|never", set: choice(&b.Prefill, []string{"auto", "always", "never"}, prefill),
			text: "Write the keyspace before reading it: when keys are missing\n(get mode only), always, or never (default auto)"},
		{long: "key-dist", arg: "how", set: keyDist(&b.KeyDist),
			text: "uniform (default), zipf:S, gaussian:SD, sequential or\nhotspot:K%:O%"},
		{long: "compressible", arg: "ratio", set: ratio(&b.Compressible), text: "Share of each value that repeats, 0 to 1 (default 0)"},
		{long: "mix", arg: "weight:command", set: listOf(&b.Mix), noun: "command",
			text: "One command of several, repeatable: '8:GET __key__'"},
	}
}

func (s *settings) paceRows() []row {
	l := &s.opts.Load
	return []row{
		{long: "duration", arg: "time", set: duration(&l.Duration, time.Millisecond),
			text: "Run so long (10, 0.5, 1m30s) instead of counting to -n"},
		{long: "warmup", arg: "time", set: duration(&l.Warmup, 0), text: "Send so long before the measured part begins"},
		{long: "rps", arg: "rate", set: rates(l), noun: "rate",
			text: "Open loop: so many requests a second in all, whatever the\n" +
				"server does; 10k:60s,20k:60s steps; 1k..50k:60s ramps;\n" +
				"0 = no limit, as without it"},
		{long: "arrival", arg: "fixed|poisson", set: word(&s.arrival, "fixed", "poisson"), text: "Gaps between requests of --rps (default fixed)"},
	}
}

func (s *settings) outputRows() []row {
	o := &s.opts.Output
	return []row{
		{short: "q", set: onOff(&o.Quiet), text: "One line a test"},
		{long: "csv", set: onOff(&o.CSV), text: "CSV"},
		{long: "precision", arg: "digits", set: whole(&s.precision, math.MinInt64, math.MaxInt64),
			text: "Significant digits of the latency tables, 0 to 4 (default 3)"},
		{long: "json", arg: "file", set: text(&o.JSON), noun: "file", text: "Everything about the run as JSON"},
		{long: "hdr", arg: "file", set: text(&o.HDR), noun: "file", text: "Latency distribution as .hgrm; with --rps of the response time"},
		{long: "progress", set: onOff(&o.Progress), text: "Progress line although stdout is no terminal"},
		{long: "live", set: onOff(&o.Live), text: "Draw the running figures in place, on a terminal"},
		{long: "interval", arg: "time", set: duration(&o.Interval, 10*time.Millisecond), text: "Step of the time series (default 1s)"},
		{long: "metrics", arg: "host:port", set: listenAddress(&o.Metrics), noun: "address", text: "Prometheus metrics while running"},
		{long: "server-info", set: s.setServerInfo, text: "INFO before and after (default on for the full report and --json)"},
		{long: "assert", arg: "condition", set: condition(&o.Assert), noun: "condition",
			text: "Exit code 5 unless it holds, repeatable: 'p99<2ms'"},
		{long: "log-level", arg: "level", set: word(&s.logLevel, "trace", "debug", "info", "warn", "error", "off"),
			text: "Diagnostics on stderr: trace debug info warn error off\n(default warn)"},
	}
}

func (s *settings) faultRows() []row {
	l := &s.opts.Load
	return []row{
		{long: "on-error", arg: "stop|count", set: s.setOnError, text: "At an error reply: end the run (default), or count it and\ngo on (default in bench.c mode); exit code 1 either way"},
		{long: "connect-timeout", arg: "time", set: duration(&l.ConnectTimeout, 0), text: "TCP, TLS and AUTH of a connection (default 5; 0 = for ever)"},
		{long: "timeout", arg: "time", set: duration(&l.Timeout, 0), text: "Silence on a busy connection (default 30; 0 = for ever)"},
		{long: "wait", arg: "time", set: duration(&l.Wait, 0), text: "Wait so long for a server that refuses or is loading"},
	}
}

func (s *settings) machineRows() []row {
	l := &s.opts.Load
	return []row{
		{long: "engine", arg: "epoll|gnet", set: word(&l.Engine, "epoll", "gnet"), text: "Event loop (default epoll on Linux, gnet elsewhere)"},
		{long: "cpu", arg: "list", set: cpuList(&l.CPUs), text: "Pin the event loops to these processors: 0,2-3"},
		{long: "ceiling", arg: "rate|file", set: s.setCeiling, noun: "ceiling",
			text: "What this client can do, for the verdict: a rate, or the\nfile that the subcommand ceiling wrote"},
		{long: "spin-us", arg: "n", set: microseconds(&l.Spin), text: "Poll busily so long before waiting (default 0)"},
	}
}

func (s *settings) otherRows() []row {
	return []row{
		{long: "help", set: func(string) error { return errHelp }, text: "This help (also -h alone, or last)"},
		{short: "v", long: "version", set: func(string) error { return errVersion }, text: "Version"},
		{long: "rdma", hidden: true, set: refused("--rdma", "there is no RDMA in Go's standard library")},
		{long: "fuzz", hidden: true, set: refused("--fuzz", "this is a benchmark, not a fuzzer")},
		{long: "fuzz-mode", arg: "mode", hidden: true, set: refused("--fuzz-mode", "this is a benchmark, not a fuzzer")},
		{long: "fuzz-loglevel", arg: "level", hidden: true, set: refused("--fuzz-loglevel", "this is a benchmark, not a fuzzer")},
	}
}
