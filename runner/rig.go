package runner

import (
	"context"
	"fmt"

	"respbench/report"
	"respbench/workload"
)

// rig measures one workload under one load after the other: for sweeps and ceilings. The server is asked
// and the keyspace written once.
type rig struct {
	*session
	plan  *workload.Plan // redis-benchmark mode
	bench *benchRun      // bench.c mode

	closeMetrics func()
}

// newRig prepares a session. bare leaves out what a server that stores nothing could not answer.
func newRig(ctx context.Context, o *Options, out IO, bare bool) (*rig, error) {
	g := &rig{session: &session{o: o, io: out, env: environment(o.Load.Engine), judged: true}}
	var err error
	if g.closeMetrics, err = g.openMetrics(); err != nil {
		return nil, err
	}
	if err = g.set(ctx, bare); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

func (g *rig) set(ctx context.Context, bare bool) error {
	o := g.o
	err := g.prepare(ctx)
	if err == nil && o.Load.Wait > 0 {
		err = g.awaitServer(ctx)
	}
	if err != nil {
		return err
	}
	if o.Mode == Bench {
		o.Bench.Verify = o.Bench.Verify && !bare
		g.bench, err = g.prepareBench(ctx, bare)
		return err
	}
	opt, err := g.testOptions(ctx)
	if err != nil {
		return err
	}
	plans, err := g.plans(opt)
	if err != nil {
		return err
	}
	if len(plans) != 1 {
		return fmt.Errorf("one test is needed here and -t names %d: choose one, such as -t get", len(plans))
	}
	g.plan = plans[0]
	if bare {
		return nil
	}
	return g.probe(ctx)
}

// measureLoad is one round under a load.
func (g *rig) measureLoad(ctx context.Context, l Load) (*report.Result, error) {
	g.o.Load = l
	if err := raiseFileLimit(&l, g.ep.Name); err != nil {
		return nil, err
	}
	if g.bench == nil {
		return g.watched(ctx, g.newRound(g.plan))
	}
	res, err := g.watched(ctx, g.benchRound(g.bench))
	if err == nil {
		g.describeBench(g.bench, res)
	}
	return res, err
}

func (g *rig) close() {
	g.watch.close()
	g.closeMetrics()
}
