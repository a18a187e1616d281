package runner

import (
	"context"
	"errors"
	"fmt"
)

// Ceiling measures what this machine's client can do under the load of o against a server that answers
// everything at once, and prints it. The caller runs that server in a process of its own.
func Ceiling(ctx context.Context, o Options, out IO) error {
	o.Output.ServerInfo, o.Load.Ceiling = false, 0
	out = out.besides(o.Output.JSON, o.Output.HDR)
	g, err := newRig(ctx, &o, out, true)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer g.close()
	outs, err := g.openOutputs(ctx)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return interruptedOr(ctx, outs.finish(g.ceiling(ctx)))
}

func (g *rig) ceiling(ctx context.Context) error {
	res, err := g.measureLoad(ctx, g.o.Load)
	if err != nil {
		return err
	}
	if res.ErrorTotal > 0 {
		return fmt.Errorf("the server of the ceiling replied with errors: %s", example(res.Errors))
	}
	mark := ""
	if res.Interrupted {
		mark = " (interrupted)"
	}
	_, err = fmt.Fprintf(g.io.Stdout, "ceiling: %.2f requests per second (%s, -c %d -P %d, %d bytes payload, %d %s)%s\n",
		res.QPS(), printable(res.Title), res.Clients, res.Pipeline, res.PayloadSize, res.Threads, plural(res.Threads, "loop", "loops"), mark)
	if v := res.Verdict; err == nil && v != nil && !g.o.Output.Quiet {
		for _, reason := range v.Reasons {
			fmt.Fprintf(g.io.Stdout, "  %s\n", reason)
		}
		_, err = fmt.Fprintf(g.io.Stdout, "give it to a measurement of the same -c -P -d: --ceiling %.0f\n", res.QPS())
	}
	return errors.Join(err, context.Cause(ctx))
}

// counted is a number with its noun.
func counted(n int, one, many string) string { return fmt.Sprintf("%d %s", n, plural(n, one, many)) }

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
