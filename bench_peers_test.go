//go:build linux

package respbench_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A tool is a load generator and its flags for the same load: n SETs of 32 bytes on 100000 random keys.
type tool struct {
	name string
	args func(port, pipeline, clients, n int) []string
}

func classicArgs(port, pipeline, clients, n int) []string {
	return strings.Fields(fmt.Sprintf("-p %d -t set -r 100000 -d 32 -P %d -c %d -n %d -q", port, pipeline, clients, n))
}

func memtierArgs(port, pipeline, clients, n int) []string {
	return strings.Fields(fmt.Sprintf("-p %d --ratio 1:0 -d 32 --key-maximum 100000 --key-pattern R:R --pipeline %d -t 1 -c %d -n %d --hide-histogram",
		port, pipeline, clients, n/clients))
}

// installedTools are ours and whichever peers are on this machine.
func installedTools() []tool {
	list := []tool{{binary, classicArgs}}
	for _, t := range []tool{{"redis-benchmark", classicArgs}, {"valkey-benchmark", classicArgs}, {"memtier_benchmark", memtierArgs}} {
		if path, err := exec.LookPath(t.name); err == nil {
			list = append(list, tool{path, t.args})
		}
	}
	return list
}

// onClientCPU is a command pinned to the client's processor.
func onClientCPU(name string, args []string) *exec.Cmd {
	if cpu := clientCPU(); cpu >= 0 {
		name, args = "taskset", append([]string{"-c", strconv.Itoa(cpu), name}, args...)
	}
	return exec.Command(name, args...)
}

// runTool runs one tool in a process of its own: wall and CPU time of the whole process.
func runTool(tb testing.TB, t tool, port, pipeline, clients, n int) sample {
	tb.Helper()
	cmd := onClientCPU(t.name, t.args(port, pipeline, clients, n))
	var said bytes.Buffer // the null server's CONFIG is none, which the tools warn of
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		tb.Fatalf("%s: %v\n%s", t.name, err, said.Bytes())
	}
	wall := time.Since(start)
	ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return sample{n, wall, time.Duration(ru.Utime.Nano() + ru.Stime.Nano())}
}

// BenchmarkPeers runs every installed tool in turn against `serve --null`, in an order that
// rotates, and prints medians and the ratios to ours. One iteration is one round of all tools.
func BenchmarkPeers(b *testing.B) {
	port := nullServer(b)
	tools := installedTools()
	if len(tools) == 1 {
		b.Skip("none of redis-benchmark, valkey-benchmark, memtier_benchmark is installed")
	}
	const clients = 50
	depths := []int{1, 16, 128}
	samples := map[string][]sample{}
	for round := 0; b.Loop(); round++ {
		for _, p := range depths {
			for i := range tools {
				t := tools[(i+round)%len(tools)]
				key := fmt.Sprint(t.name, p)
				samples[key] = append(samples[key], runTool(b, t, port, p, clients, peerRequests(p)))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	var out strings.Builder
	fmt.Fprintf(&out, "\n%-20s %5s %14s %14s %16s %16s\n", "tool (c=50)", "P", "requests/s", "CPU us/req", "rate: ours / its", "CPU: ours / its")
	for _, p := range depths {
		for _, t := range tools {
			ours, its := samples[fmt.Sprint(binary, p)], samples[fmt.Sprint(t.name, p)]
			fmt.Fprintf(&out, "%-20s %5d %14.0f %14.3f %16.2f %16.2f\n", baseName(t.name), p,
				medianOf(its, sample.rate), medianOf(its, sample.cpuPerRequest)/1e3,
				medianRatio(ours, its, sample.rate), medianRatio(ours, its, sample.cpuPerRequest))
		}
	}
	fmt.Print(out.String())
}

// peerRequests makes a run long beside the start of a process.
func peerRequests(pipeline int) int {
	return map[int]int{1: 200_000, 16: 3_000_000, 128: 12_000_000}[pipeline]
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

func medianOf(list []sample, f func(sample) float64) float64 {
	var v []float64
	for _, s := range list {
		v = append(v, f(s))
	}
	return median(v)
}

// medianRatio is the median of the ratios of runs that stood beside each other.
func medianRatio(a, b []sample, f func(sample) float64) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		v = append(v, f(a[i])/f(b[i]))
	}
	slices.Sort(v)
	return median(v)
}
