package main

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"respbench/runner"
	"respbench/workload"
)

// options turns what was typed into the runner's options: the mode, its defaults, and what does not go together.
// Nothing is opened or read here but certificate files.
func (s *settings) options(ctx context.Context, command []string) (runner.Options, error) {
	o := &s.opts
	if err := s.chooseMode(command); err != nil {
		return *o, err
	}
	if s.embedded && s.target != "" {
		return *o, usagef("--embedded does not go with %s: it measures a server of its own", s.target)
	}
	if s.requests.given && o.Load.Duration > 0 {
		return *o, usagef("options -n and --duration are mutually exclusive")
	}
	if o.Mode == runner.Bench {
		s.fillBench()
	} else {
		s.fillClassic()
	}
	s.fillCommon()
	s.checkCeiling()
	s.warnIgnored()
	if err := s.takePassword(ctx); err != nil {
		return *o, err
	}
	if err := o.Validate(); err != nil {
		return *o, usagef("%s", err)
	}
	return *o, s.checkTLS()
}

// chooseMode decides between redis-benchmark's mode and bench.c's. A command or a test beside an option of bench.c
// mode is a contradiction that must not be resolved silently.
func (s *settings) chooseMode(command []string) error {
	o := &s.opts
	if s.chooser == "" {
		o.Mode = runner.Classic
		return s.takeCommand(command)
	}
	o.Mode = runner.Bench
	switch {
	case s.classic != "":
		return usagef("%s does not go with %s, which chooses bench.c mode", s.classic, s.chooser)
	case len(command) > 0:
		return usagef("the command %q does not go with %s, which chooses bench.c mode", command[0], s.chooser)
	}
	return nil
}

// copiedDashes are what word processors make of "-": hyphens, dashes and the minus sign. No command begins with one.
const copiedDashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"

// takeCommand keeps the user's own command, or else the list of tests.
func (s *settings) takeCommand(command []string) error {
	c := &s.opts.Classic
	if len(command) > 0 {
		if strings.TrimSpace(command[0]) == "" {
			return usagef("the command is empty")
		}
		if strings.IndexAny(command[0], copiedDashes) == 0 {
			return usagef("%s begins with a dash that is not %q: was it copied from a text?", quoted(command[0]), "-")
		}
		c.Command = command
		if s.testsGiven {
			s.warn("Option -t is ignored.")
		}
		return nil
	}
	if s.testsGiven {
		return s.takeTests()
	}
	return nil
}

// takeTests splits -t. An unknown name is told, not skipped in silence, and a list without a known name ends the run.
func (s *settings) takeTests() error {
	known := workload.TestNames()
	var unknown []string
	for name := range strings.SplitSeq(strings.ToLower(s.tests), ",") {
		name = strings.TrimSpace(name)
		switch {
		case slices.Contains(known, name):
			s.opts.Classic.Tests = append(s.opts.Classic.Tests, name)
		case name != "":
			unknown = append(unknown, name)
		}
	}
	list := strings.Join(known, ", ")
	if len(s.opts.Classic.Tests) == 0 {
		return usagef("invalid tests %s for -t: there are %s", quoted(s.tests), list)
	}
	for i, name := range unknown {
		unknown[i] = quoted(name)
	}
	switch len(unknown) {
	case 0:
	case 1:
		s.warn("Unknown test %s is ignored. There are: %s.", unknown[0], list)
	default:
		s.warn("Unknown tests %s are ignored. There are: %s.", strings.Join(unknown, ", "), list)
	}
	return nil
}

func (s *settings) fillClassic() {
	o := &s.opts
	o.Load.Clients = int(s.clients.or(classicClients))
	o.Load.Requests = s.requests.or(classicRequests)
	o.Load.Pipeline = int(s.pipeline.or(1))
	o.Load.OnError = runner.StopOnError
	o.Classic.DataSize = int(s.dataSize.or(classicDataSize))
	o.Classic.Random = s.keyspace.given
	o.Classic.Keyspace = max(s.keyspace.v, 1) // -r 0 has the one key of number 0, as in redis-benchmark
	if o.Classic.Keyspace > runner.MaxKeyspace {
		o.Classic.Keyspace = runner.MaxKeyspace
		s.warn("Too many keys for the 12 digits of __rand_int__, limiting -r to %d.", int64(runner.MaxKeyspace))
	}
}

func (s *settings) fillBench() {
	o := &s.opts
	o.Load.Clients = int(s.clients.or(benchClients))
	o.Load.Requests = s.requests.or(benchRequests)
	o.Load.Pipeline = int(s.pipeline.or(benchPipeline))
	o.Load.OnError = runner.CountErrors
	o.Bench.Keyspace = s.keyspace.or(benchKeyspace)
	o.Bench.ValueSize = int(s.dataSize.or(benchValueSize))
	o.Bench.ValueSizes = s.valueSizes
}

func (s *settings) fillCommon() {
	o := &s.opts
	l := &o.Load
	l.Clients, l.Pipeline = max(l.Clients, 1), max(l.Pipeline, 1) // 0 means 1, as in redis-benchmark
	l.Threaded = s.threads.v > 0
	l.Threads = int(min(max(s.threads.v, 1), runner.MaxThreads))
	if s.threads.v > runner.MaxThreads {
		s.warn("Too many threads, limiting threads to %d.", runner.MaxThreads)
	}
	if paced := l.Rate.PerSecond > 0 || len(l.Schedule) > 0; l.Pipeline > runner.MaxTracked && (paced || o.Target.Cluster) {
		l.Pipeline = runner.MaxTracked
		s.warn("Too deep a pipeline for --rps or --cluster, limiting -P to %d.", l.Pipeline)
	}
	l.Reconnect = s.reconnect.v
	if s.keepAlive.given && s.keepAlive.v == 0 {
		l.Reconnect, l.PerBatch = int64(l.Pipeline), true
	}
	if l.Reconnect > 0 {
		s.warn("Keepalive disabled. You probably need 'echo 1 > /proc/sys/net/ipv4/tcp_tw_reuse' for Linux and " +
			"'sudo sysctl -w net.inet.tcp.msl=1000' for Mac OS X in order to use a lot of clients/requests")
	}
	s.fillDuration()
	if l.Duration > 0 {
		l.Requests = math.MaxInt64
	}
	if s.onErrorGiven {
		l.OnError = s.onError
	}
	l.Poisson = s.arrival == "poisson"
	o.Output.Precision = precision(s.precision)
	full := o.Output.Additions && !o.Output.Quiet && !o.Output.CSV
	o.Output.ServerInfo = s.serverInfo
	if !s.serverInfoGiven {
		o.Output.ServerInfo = o.Output.JSON != "" || full
	}
	if !s.seedGiven {
		o.Seed = uint64(time.Now().UnixNano())
	}
}

// fillDuration lets steps and ramps last as long as they say, and warns when that is shorter than asked for.
func (s *settings) fillDuration() {
	l := &s.opts.Load
	var length time.Duration
	var offered float64
	for _, step := range l.Schedule {
		length += step.For
		offered += step.For.Seconds() * (step.From + step.To) / 2
	}
	switch {
	case length == 0:
	case l.Duration > length:
		s.warn("The schedule of --rps ends after %v, before --duration %v.", length, l.Duration)
	case l.Duration == 0 && s.requests.given && float64(s.requests.v) > offered+1:
		s.warn("The schedule of --rps ends after %v and %.0f requests, before -n %d.", length, offered, s.requests.v)
	case l.Duration == 0 && !s.requests.given:
		l.Duration = length
	}
}

// warnIgnored names the options that have no effect because another one is missing.
func (s *settings) warnIgnored() {
	o := &s.opts
	c := &o.Classic
	classic := o.Mode == runner.Classic
	if classic {
		s.warnPlaceholders()
	} else {
		s.warnIgnoredInBench()
	}
	for _, i := range []struct {
		ignored      bool
		name, beside string
	}{
		{o.Target.ReadFrom != runner.ReadFromPrimaries && !o.Target.Cluster, "--rfr", "--cluster"},
		{classic && c.Sequential && !c.Random, "--sequential", "-r"},
		{classic && c.MaxDocs > 0 && c.Dataset == "", "--maxdocs", "--dataset"},
		{classic && c.Dataset != "" && len(c.Command) == 0, "--dataset", "a command"},
		{classic && s.readStdin && len(c.Command) == 0, "-x", "a command"},
		{o.Load.Poisson && o.Load.Rate.PerSecond == 0 && len(o.Load.Schedule) == 0, "--arrival", "--rps"},
		{s.serverInfoGiven && s.serverInfo && (o.Output.Quiet || o.Output.CSV) && o.Output.JSON == "", "--server-info", "the full report or --json"},
		{len(o.Load.CPUs) > 0 && o.Load.Engine == "gnet", "--cpu", "--engine epoll"},
		{o.Load.Spin > 0 && o.Load.Engine == "gnet", "--spin-us", "--engine epoll"},
	} {
		if i.ignored {
			s.warn("Option %s is ignored without %s.", i.name, i.beside)
		}
	}
}

// placeholder is what an option replaces in a command; the longest name of a field is the user's.
var placeholder = regexp.MustCompile(`__(?:rand_int|rand_[1-9](?:st|nd|rd|th)|field:[^ ]+?)__`)

// warnPlaceholders names the first placeholder that goes to the server as it stands, so that all requests have one key. The
// peers say nothing of it.
func (s *settings) warnPlaceholders() {
	c := &s.opts.Classic
	if s.program.dropIn {
		return
	}
	for _, word := range c.Command {
		for _, name := range placeholder.FindAllString(word, -1) {
			switch field := strings.HasPrefix(name, "__field:"); {
			case field && c.Dataset == "":
				s.warn("%s is sent as it stands without --dataset.", quoted(name))
				return
			case !field && !c.Random:
				s.warn("%s is sent as it stands without -r.", quoted(name))
				return
			}
		}
	}
}

// warnIgnoredInBench names the options that have no effect because of the mode or of --mix. Not --get-cmd in set mode, nor the
// reverse: scripts give both to each mode.
func (s *settings) warnIgnoredInBench() {
	b := &s.opts.Bench
	mix := len(b.Mix) > 0
	for _, i := range []struct {
		ignored    bool
		name, with string
	}{
		{mix && s.given["set-ratio"], "--set-ratio", "--mix, which has weights of its own"},
		{mix && s.given["set-cmd"], "--set-cmd", "--mix"},
		{mix && s.given["get-cmd"], "--get-cmd", "--mix"},
		{!mix && b.Op != "mixed" && s.given["set-ratio"], "--set-ratio", "--mode " + b.Op},
		{!mix && b.Op == "set" && b.Verify, "--verify-get", "--mode set, which reads nothing"},
	} {
		if i.ignored {
			s.warn("Option %s is ignored with %s.", i.name, i.with)
		}
	}
}

// precision is --precision as redis-benchmark clamps it: above 4 is 4, below 0 is the default.
func precision(n number) int {
	const standard, highest = 3, 4
	if !n.given || n.v < 0 {
		return standard
	}
	return int(min(n.v, highest))
}
