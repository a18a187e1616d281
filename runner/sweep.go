package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"respbench/report"
)

// A sweep measures one window after the other, each with a higher rate, more clients or a deeper pipeline.
// With an objective it searches the highest load that holds it: a climb by a constant factor from below
// what a closed loop reaches, then bisection. A window that fails is measured again before it is believed:
// one stall of a busy machine must not end the climb.

// SweepOptions say what is changed from window to window. Everything else is in Options.
type SweepOptions struct {
	Variable  string    // "rate", "clients" or "pipeline"
	Ladder    []float64 // the values, ascending; empty: chosen
	Objective string    // --find-max: search the highest value that holds this assertion; empty: measure the ladder
	Window    time.Duration
	Warmup    time.Duration // before each window
	SVG, HTML string        // files; empty = none
}

// The search.
const (
	climbFrom   = 0.5  // of what a closed loop reaches
	climbBy     = 1.25 // per step, for rates
	doubleBy    = 2    // per step, for clients and pipeline
	climbSteps  = 8
	fallSteps   = 10   // halvings, when the first step fails
	closeEnough = 1.05 // between what holds and what fails
	bisections  = 6
)

// Ladders that are chosen: of what a closed loop reaches, and powers of two.
var (
	rateLadder  = []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1, 1.1}
	rateFoot    = []float64{0.1, 0.25} // below the search, so that the curve has a beginning
	countLadder = []float64{1, 2, 4, 8, 16, 32, 64, 128}
)

// Sweep carries out a sweep and prints the curve. Its errors are as Main's; an objective that no load holds
// is exit code 5.
func Sweep(ctx context.Context, o Options, so SweepOptions, out IO) error {
	w := &sweep{so: so, res: &report.SweepResult{Variable: so.Variable, Objective: so.Objective, Command: o.CommandLine}}
	if so.Objective != "" {
		var err error
		if w.objective, err = report.ParseAssertion(so.Objective); err != nil {
			return fmt.Errorf("--find-max: %w", err)
		}
	}
	if err := w.openFiles(ctx, o.Output.JSON); err != nil {
		err = interruptedOr(ctx, err)
		tellNothing(err, out, "anything was measured")
		return err
	}
	out = out.besides(o.Output.JSON, so.SVG, so.HTML)
	o.Output.JSON, o.Output.HDR, o.Output.Assert = "", "", nil
	g, err := newRig(ctx, &o, out, false)
	if err == nil {
		defer g.close()
		w.rig, w.load = g, o.Load
		err = w.run(ctx)
	}
	return interruptedOr(ctx, w.finish(ctx, out, err))
}

// sweep is a sweep under way.
type sweep struct {
	*rig
	so        SweepOptions
	load      Load // as the options have it
	objective *report.Assertion
	reach     float64 // requests per second of a closed loop; 0 = not measured
	res       *report.SweepResult

	files []sweepFile
}

// run measures the ladder, or searches.
func (w *sweep) run(ctx context.Context) error {
	if w.so.Variable == "rate" && (len(w.so.Ladder) == 0 || w.objective != nil) {
		if err := w.estimate(ctx); err != nil {
			return err
		}
	}
	ladder := w.so.Ladder
	switch {
	case w.objective != nil && w.so.Variable == "rate" && len(ladder) == 0:
		ladder = w.scaled(rateFoot)
	case len(ladder) == 0 && w.so.Variable == "rate":
		ladder = w.scaled(rateLadder)
	case len(ladder) == 0 && w.objective == nil:
		ladder = countLadder
	}
	for _, v := range ladder {
		if _, err := w.window(ctx, v); err != nil {
			return err
		}
	}
	if w.objective == nil {
		return nil
	}
	return w.search(ctx)
}

// scaled are shares of what a closed loop reaches, as round rates.
func (w *sweep) scaled(shares []float64) (rates []float64) {
	for _, s := range shares {
		rates = append(rates, roundRate(s*w.reach))
	}
	return rates
}

// roundRate has three figures; a rate of more pretends a precision that no window has.
func roundRate(v float64) float64 {
	if v <= 0 {
		return 0
	}
	step := math.Pow(10, math.Floor(math.Log10(v))-2)
	return math.Round(v/step) * step
}

// estimate measures a closed loop: what the search starts from.
func (w *sweep) estimate(ctx context.Context) error {
	l := w.load
	l.Requests, l.Duration, l.Warmup = unlimited, w.so.Window, w.so.Warmup
	res, err := w.measureLoad(ctx, l)
	if err != nil {
		return err
	}
	if res.Requests == 0 {
		return errors.New("the server answered nothing within a window: try a longer --duration")
	}
	w.reach = res.QPS()
	w.say("closed loop: %.0f requests per second", w.reach)
	return nil
}

// window measures one value, once, and again when it fails the objective. holds is true without an objective.
func (w *sweep) window(ctx context.Context, v float64) (holds bool, err error) {
	for _, known := range w.res.Points {
		if known.Load == v && known.Holds != nil {
			return *known.Holds, nil
		}
	}
	p := report.SweepPoint{Load: v}
	for holds = false; !holds && p.Tries < w.tries(); {
		if p.Result, err = w.measureLoad(ctx, w.loadOf(v)); err != nil {
			return false, err
		}
		if ctx.Err() != nil { // half a window is no point of the curve
			return false, context.Cause(ctx)
		}
		p.Tries++
		holds, p.Objective = w.check(p.Result)
	}
	if w.objective != nil {
		p.Holds = &holds
	}
	w.res.Points = append(w.res.Points, p)
	w.say("%s", pointLine(w.so.Variable, &p))
	return holds, nil
}

func (w *sweep) tries() int {
	if w.objective == nil {
		return 1
	}
	return 2
}

// loadOf is the load of a window.
func (w *sweep) loadOf(v float64) Load {
	l := w.load
	l.Requests, l.Duration, l.Warmup = unlimited, w.so.Window, w.so.Warmup
	switch w.so.Variable {
	case "rate":
		l.Rate = Rate{PerSecond: v}
	case "clients":
		l.Clients = int(v)
	case "pipeline":
		l.Pipeline = int(v)
	}
	return l
}

// check holds a window against the objective. A rate that the server did not take fails whatever its
// latencies were: those of the requests that were not begun are not among them.
func (w *sweep) check(res *report.Result) (holds bool, figures []string) {
	if w.objective == nil {
		return true, nil
	}
	if res.Requests == 0 { // of nothing every objective would hold
		return false, []string{"nothing was measured"}
	}
	o := w.objective.Check(res)
	holds, figures = o.OK, []string{o.Assertion + ": " + o.Value}
	if p := res.Pacing; p != nil && p.Achieved < keptShare*p.Offered {
		holds = false
		figures = append(figures, fmt.Sprintf("achieved %.1f%% of the offered load", 100*p.Achieved/p.Offered))
	}
	if res.ErrorTotal > 0 {
		holds = false
		figures = append(figures, fmt.Sprintf("%d error replies", res.ErrorTotal))
	}
	return holds, figures
}

func (w *sweep) say(format string, args ...any) {
	if !w.o.Output.Quiet {
		fmt.Fprintf(w.io.Stderr, format+"\n", args...)
	}
}

func pointLine(variable string, p *report.SweepPoint) string {
	h := p.Result.Response
	if h == nil {
		h = p.Result.Latency
	}
	figures := "nothing was measured"
	if p.Result.Requests > 0 {
		figures = fmt.Sprintf("%.0f requests per second, p99 %.3f ms", p.Result.QPS(), float64(h.Percentile(99))/1e6)
	}
	text := fmt.Sprintf("%s %.6g: %s", variable, p.Load, figures)
	switch {
	case p.Holds == nil:
	case *p.Holds:
		text += ", holds"
	default:
		text += ", fails"
	}
	if p.Tries > 1 {
		text += fmt.Sprintf(" at try %d", p.Tries)
	}
	return text
}

// finish prints the curve, however far it came, and writes the files.
func (w *sweep) finish(ctx context.Context, out IO, err error) error {
	if len(w.res.Points) == 0 {
		w.dropFiles()
		tellNothing(interruptedOr(ctx, err), out, "a window was complete")
		return err
	}
	w.res.Interrupted = err != nil || ctx.Err() != nil
	w.noteLimit()
	w.noteUneven()
	failed := w.noteErrors()
	steps := []func() error{func() error { return report.SweepTable(out.Stdout, w.res) }}
	for _, f := range w.files {
		steps = append(steps, f.write)
	}
	for _, step := range steps {
		if wrong := step(); err == nil {
			err = wrong
		}
	}
	for _, p := range w.res.Points {
		if err == nil && p.Result.Mismatches > 0 {
			err = &Error{Code: ExitMismatch}
		}
	}
	switch {
	case err != nil:
	case w.objective != nil && w.res.Max == 0:
		err = &Error{Code: ExitAssertion}
	case w.objective == nil && failed: // with an objective they fail their window
		err = &Error{Code: ExitError}
	}
	return err
}

// noteErrors says which error replies were counted, if any.
func (w *sweep) noteErrors() bool {
	var errs errorCounts
	for _, p := range w.res.Points {
		for _, e := range p.Result.Errors {
			errs.addN(e.Text, e.N)
		}
	}
	list := errs.sorted()
	if len(list) > 0 {
		w.res.Notes = append(w.res.Notes, fmt.Sprintf("error replies: %d, most often %s", errs.total(), example(list)))
	}
	return len(list) > 0
}

// noteLimit says when the client, and not the server, ended the curve.
func (w *sweep) noteLimit() {
	for _, p := range w.res.Points {
		if p.Result.Verdict != nil && p.Result.Verdict.Word == clientBound {
			w.res.Notes = append(w.res.Notes, fmt.Sprintf("at %s %.6g the client was the limit, not the server", w.so.Variable, p.Load))
			return
		}
	}
}

// noteUneven says when a load failed the objective below one that holds it, which a server alone seldom does.
func (w *sweep) noteUneven() {
	if w.objective == nil || w.objective.WantsMore() {
		return
	}
	for _, p := range w.res.Points {
		if p.Holds != nil && !*p.Holds && p.Load < w.res.Max {
			w.res.Notes = append(w.res.Notes, fmt.Sprintf("%s %.6g failed although %.6g holds: something else ran meanwhile, or the windows are too short (--duration)",
				w.so.Variable, p.Load, w.res.Max))
			return
		}
	}
}

// sweepFile is an output of a sweep beside the table.
type sweepFile struct {
	file  *outFile
	write func() error
}

func (w *sweep) openFiles(ctx context.Context, json string) error {
	for _, f := range []struct {
		option, path string
		write        func(io.Writer, *report.SweepResult) error
	}{{"--json", json, report.WriteSweepJSON}, {"--svg", w.so.SVG, report.SweepSVG}, {"--html", w.so.HTML, report.SweepHTML}} {
		if f.path == "" {
			continue
		}
		file, err := createOutFile(ctx, f.option, f.path)
		if err != nil {
			w.dropFiles()
			return err
		}
		var earlier []*outFile
		for _, e := range w.files {
			earlier = append(earlier, e.file)
		}
		w.files = append(w.files, sweepFile{file, func() error {
			return file.finish(func(out io.Writer) error { return f.write(out, w.res) })
		}})
		if err := file.apart(earlier...); err != nil {
			w.dropFiles()
			return err
		}
	}
	return nil
}

func (w *sweep) dropFiles() {
	for _, f := range w.files {
		f.file.drop()
	}
}
