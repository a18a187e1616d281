package runner

import (
	"math"
	"strconv"
	"strings"
	"time"

	"respbench/report"
)

// What a server says of itself with INFO, and what of it changed while it was measured.

// infoFields are the lines of INFO by name.
type infoFields map[string]string

func parseInfo(text string) infoFields {
	f := infoFields{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && !strings.HasPrefix(line, "#") {
			f[name] = value
		}
	}
	return f
}

func (f infoFields) number(name string) (float64, bool) { return figure(f[name]) }

// figure is a number of INFO. Servers that divide by zero write nan and inf there, which no result file can hold.
func figure(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// part is a number inside a value such as "calls=5,usec=12".
func (f infoFields) part(name, key string) (float64, bool) {
	for field := range strings.SplitSeq(f[name], ",") {
		if k, text, ok := strings.Cut(field, "="); ok && k == key {
			return figure(text)
		}
	}
	return 0, false
}

// sumInfo makes one server of several: numbers are added, flags are set when one is, and any other text is
// that of all, joined.
func sumInfo(list []infoFields) infoFields {
	sum := list[0]
	for _, f := range list[1:] {
		for name, value := range f {
			sum[name] = sumField(name, sum[name], value)
		}
	}
	return sum
}

func sumField(name, a, b string) string {
	x, okX := figure(a)
	y, okY := figure(b)
	switch {
	case a == "":
		return b
	case okX && okY && strings.HasSuffix(name, "_in_progress"):
		return strconv.FormatFloat(max(x, y), 'f', -1, 64)
	case okX && okY:
		return strconv.FormatFloat(x+y, 'f', -1, 64)
	case strings.HasPrefix(name, "cmdstat_"):
		return sumParts(a, b)
	case a == b:
		return a
	}
	return a + " " + b
}

// sumParts adds two values such as "calls=5,usec=12", part by part.
func sumParts(a, b string) string {
	other := infoFields{"": b}
	var parts []string
	for field := range strings.SplitSeq(a, ",") {
		key, text, _ := strings.Cut(field, "=")
		x, _ := figure(text)
		y, _ := other.part("", key)
		parts = append(parts, key+"="+strconv.FormatFloat(x+y, 'f', -1, 64))
	}
	return strings.Join(parts, ",")
}

// software is the server's name and version.
func (f infoFields) software() (name, version string) {
	for _, known := range []string{"kvstore", "valkey", "dragonfly", "redis"} {
		if v := f[known+"_version"]; v != "" {
			return known, v
		}
	}
	return f["server_name"], ""
}

// cpu is the CPU time of the whole server and of its main thread, as far as it says.
func (f infoFields) cpu() (all, main time.Duration, ok bool) {
	user, ok1 := f.number("used_cpu_user")
	sys, ok2 := f.number("used_cpu_sys")
	mainUser, _ := f.number("used_cpu_user_main_thread")
	mainSys, _ := f.number("used_cpu_sys_main_thread")
	return secondsOf(user + sys), secondsOf(mainUser + mainSys), ok1 && ok2
}

func secondsOf(s float64) time.Duration { return time.Duration(s * 1e9) }

// infoRow is a figure of INFO whose change is reported.
type infoRow struct {
	name   string
	always bool // also when nothing changed
}

var infoRows = []infoRow{
	{"total_commands_processed", true}, {"keyspace_hits", true}, {"keyspace_misses", true},
	{"evicted_keys", true}, {"expired_keys", true}, {"total_error_replies", false},
	{connectionsReceived, false}, {"rejected_connections", false},
	{"used_memory", true}, {"used_memory_rss", true}, {"used_cpu_user", true}, {"used_cpu_sys", true},
	{"total_forks", false}, {"rdb_saves", false}, {"aof_rewrites", false},
}

const (
	commandsProcessed   = "total_commands_processed"
	connectionsReceived = "total_connections_received"
)

// infoDeltas are the changes from before to after. own is how many commands we sent beside the load in
// between; ops are the commands of the load.
func infoDeltas(before, after infoFields, own int, ops []string) (list []report.Delta) {
	for _, row := range infoRows {
		a, ok1 := before.number(row.name)
		b, ok2 := after.number(row.name)
		d := b - a
		if row.name == commandsProcessed {
			d -= float64(own)
		}
		if ok1 && ok2 && (row.always || d != 0) {
			list = append(list, report.Delta{Name: row.name, Value: d})
		}
	}
	if us, ok := cpuPerCommand(before, after); ok {
		list = append(list, report.Delta{Name: "used_cpu_us_per_command", Value: us})
	}
	return append(list, commandDeltas(before, after, ops)...)
}

func cpuPerCommand(before, after infoFields) (us float64, ok bool) {
	cpu0, _, ok0 := before.cpu()
	cpu1, _, ok1 := after.cpu()
	n0, ok2 := before.number(commandsProcessed)
	n1, ok3 := after.number(commandsProcessed)
	if !ok0 || !ok1 || !ok2 || !ok3 || n1 <= n0 {
		return 0, false
	}
	return float64(cpu1-cpu0) / 1e3 / (n1 - n0), true
}

// commandDeltas are the calls of the load's commands, and the time that each took inside the server.
func commandDeltas(before, after infoFields, ops []string) (list []report.Delta) {
	for _, name := range statNames(after, ops) {
		calls0, _ := before.part(name, "calls")
		calls1, _ := after.part(name, "calls")
		calls := calls1 - calls0
		if calls <= 0 {
			continue
		}
		list = append(list, report.Delta{Name: name + " calls", Value: calls})
		us0, _ := before.part(name, "usec")
		if us1, ok := after.part(name, "usec"); ok {
			list = append(list, report.Delta{Name: name + " usec_per_call", Value: (us1 - us0) / calls})
		}
	}
	return list
}

// statNames are the commandstats lines of the load's commands, those of subcommands too, in the
// load's order. An op is a command with or without its arguments.
func statNames(f infoFields, ops []string) (names []string) {
	seen := map[string]bool{}
	for _, op := range ops {
		words := strings.Fields(strings.ToLower(op))
		if len(words) == 0 {
			continue
		}
		candidates := []string{"cmdstat_" + words[0]}
		if len(words) > 1 {
			candidates = append(candidates, "cmdstat_"+words[0]+"|"+words[1])
		}
		for _, name := range candidates {
			if f[name] != "" && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// persistence is what a server does in the background for its data.
type persistence struct {
	saving, rewriting bool
	saves, rewrites   float64
}

func (f infoFields) persistence() (p persistence) {
	p.saving = f["rdb_bgsave_in_progress"] == "1"
	p.rewriting = f["aof_rewrite_in_progress"] == "1"
	p.saves, _ = f.number("rdb_saves")
	p.rewrites, _ = f.number("aof_rewrites")
	return p
}

// events are what happened between two looks.
func (p persistence) events(now persistence) (list []string) {
	list = append(list, eventsOf("save", p.saving, now.saving, now.saves > p.saves)...)
	return append(list, eventsOf("rewrite", p.rewriting, now.rewriting, now.rewrites > p.rewrites)...)
}

// eventsOf names the beginning and the end of something that a look may also have missed as a whole.
func eventsOf(name string, was, is, counted bool) []string {
	switch {
	case !was && is:
		return []string{name + " began"}
	case was && !is:
		return []string{name + " ended"}
	case !was && !is && counted:
		return []string{name}
	}
	return nil
}
