package main

import (
	"fmt"
	"io"
	"math"
	"time"

	"respbench/report"
	"respbench/runner"
)

// Defaults of redis-benchmark 7.4, and of bench.c. Where bench.c has no word of its own (-c) it has one connection.
const (
	defaultHost    = "127.0.0.1"
	defaultPort    = 6379
	defaultTimeout = 30 * time.Second
	defaultConnect = 5 * time.Second

	classicClients  = 50
	classicRequests = 100000
	classicDataSize = 3

	benchClients   = 1
	benchRequests  = 1000000
	benchPipeline  = 64
	benchKeyspace  = 100000
	benchValueSize = 32
	benchSetRatio  = 50

	maxDB = math.MaxInt32
)

// settings is what the command line said, before the mode is known and defaults are filled in.
type settings struct {
	program program
	opts    runner.Options

	clients, pipeline, requests number
	dataSize, keyspace, threads number
	precision, reconnect        number
	keepAlive                   number
	valueSizes                  string
	tests                       string
	testsGiven                  bool
	readStdin                   bool
	askpass                     bool
	embedded                    bool
	seedGiven                   bool
	serverInfo, serverInfoGiven bool
	arrival                     string
	onError                     runner.ErrorPolicy
	onErrorGiven                bool
	logLevel                    string
	ceiling                     *report.Result // of --ceiling FILE

	chooser  string          // the option that chose bench.c mode, as typed
	classic  string          // an option that only redis-benchmark mode has, as typed
	target   string          // an option that names the server, as typed
	given    map[string]bool // the options seen, by row.name
	warnings []string        // lines for stderr, once parsing has succeeded
}

func newSettings(p program) *settings {
	s := &settings{program: p, logLevel: "warn", arrival: "fixed", given: map[string]bool{}}
	s.opts.Target.Host, s.opts.Target.Port = defaultHost, defaultPort
	s.opts.Load.ConnectTimeout, s.opts.Load.Timeout = defaultConnect, defaultTimeout
	s.opts.Output.Additions = !p.dropIn
	s.opts.Output.Interval = time.Second
	s.opts.Classic.NumFunctions, s.opts.Classic.NumFcallKeys = 10, 1
	s.opts.Bench = runner.BenchOptions{
		Op: "mixed", SetRatio: benchSetRatio,
		SetCmd: "SET", GetCmd: "GET", KeyPrefix: "bench:key:",
	}
	return s
}

func (s *settings) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

// printWarnings writes the lines in redis-benchmark's form.
func (s *settings) printWarnings(w io.Writer) {
	for _, line := range s.warnings {
		fmt.Fprintf(w, "WARNING: %s\n", line)
	}
}

// observe wraps every row's setter, so that the scope of the options seen is known after parsing.
func (s *settings) observe(rows []row) {
	for i := range rows {
		r := &rows[i]
		set := r.set
		r.set = func(text string) error {
			if err := set(text); err != nil {
				return err
			}
			s.given[r.name()] = true
			switch {
			case r.in == benchOnly && s.chooser == "":
				s.chooser = r.typed()
			case r.in == classicOnly && s.classic == "":
				s.classic = r.typed()
			}
			if r.group == groupServer && namesServer[r.name()] && s.target == "" {
				s.target = r.typed()
			}
			return nil
		}
	}
}

// namesServer are the options that --embedded excludes.
var namesServer = map[string]bool{"host": true, "port": true, "s": true, "u": true}
