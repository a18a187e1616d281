package runner

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// PlanSuite writes what RunSuite would do, without doing any of it. It has a line a cell, never one a round.
func PlanSuite(w io.Writer, spec *SuiteSpec, servers SuiteServers, files *SuiteFiles) error {
	for i := range spec.Systems {
		if err := servers.Check(&spec.Systems[i]); err != nil {
			return err
		}
	}
	b := bufio.NewWriter(w)
	cells, requests, prefilled := 0, 0.0, 0.0
	for i := range spec.Systems {
		sys := &spec.Systems[i]
		fmt.Fprintf(b, "%s (%s %s)\n", sys.Name, sys.SetCmd, sys.GetCmd)
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			name := st.Name
			if st.Detail != "" {
				name += " (" + st.Detail + ")"
			}
			fmt.Fprintf(b, "  %s\n    %s\n", name, servers.Describe(sys, st))
		}
	}
	for i := range spec.Workloads {
		w := &spec.Workloads[i]
		fmt.Fprintf(b, "workload %s: %d requests of %s, keyspace %d, value size %d, pipeline %d, clients %d, threads %d%s\n", w.Name, w.Requests, w.Op,
			w.Keyspace, w.ValueSize, spec.Pipeline, spec.Clients, spec.Threads, w.additions())
	}
	rounds := float64(spec.Rounds) + float64(spec.Warmup)
	for i := range spec.Systems {
		for range spec.Systems[i].Strategies {
			for k := range spec.Workloads {
				cells++
				requests += rounds * float64(spec.Workloads[k].Requests)
				if spec.Workloads[k].Prefill {
					prefilled += rounds * float64(spec.Workloads[k].Keyspace)
				}
			}
		}
	}
	fmt.Fprintf(b, "%s in each of %s after %s, each on a fresh server, %v apart: %.0f in all, %.0f requests, %.0f keys prefilled\n",
		counted(cells, "measurement", "measurements"), counted(spec.Rounds, "round", "rounds"),
		counted(spec.Warmup, "warm-up round", "warm-up rounds"), spec.Rest.Round(time.Millisecond), rounds*float64(cells), requests, prefilled)
	if files.earlier != nil {
		fmt.Fprintf(b, "%d of them are there already\n", files.complete())
	}
	fmt.Fprintf(b, "seeds %d to %d; a failed round is tried %s more\n", spec.Seed+1, spec.Seed+uint64(spec.Rounds), counted(spec.Retries, "time", "times"))
	fmt.Fprintf(b, "files: %s\n", strings.Join(files.Paths(), " "))
	return b.Flush()
}

// additions are what a workload does besides.
func (w *SuiteWorkload) additions() (text string) {
	if w.Prefill {
		text += ", prefilled"
	}
	if w.Verify {
		text += ", every reply compared"
	}
	if w.KeyDist != "" {
		text += ", keys " + w.KeyDist
	}
	return text
}
