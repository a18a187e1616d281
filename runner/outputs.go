package runner

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"strings"

	"respbench/report"
)

// outputs are what is made of all rounds together when the last has ended, however it ended: result files and the
// verdict of the assertions.
type outputs struct {
	s          *session
	json, hdr  *outFile // nil: not asked for
	assertions []*report.Assertion
}

// openOutputs finds out before the first round what cannot be written or understood.
func (s *session) openOutputs(ctx context.Context) (*outputs, error) {
	o := &outputs{s: s}
	out := &s.o.Output
	for _, text := range out.Assert {
		a, err := report.ParseAssertion(text)
		if err != nil {
			return nil, err
		}
		o.assertions = append(o.assertions, a)
	}
	var err error
	if out.JSON != "" {
		o.json, err = createOutFile(ctx, "--json", out.JSON)
	}
	if out.HDR != "" && err == nil {
		o.hdr, err = createOutFile(ctx, "--hdr", out.HDR)
	}
	if o.json != nil && o.hdr != nil {
		err = o.hdr.apart(o.json)
	}
	if err != nil {
		o.drop()
		return nil, err
	}
	return o, nil
}

// finish writes everything. err is how the rounds ended: an error of theirs outranks those of the files and the
// assertions.
func (o *outputs) finish(err error) error {
	if len(o.s.results) == 0 {
		o.drop()
		return err
	}
	for _, step := range []func() error{o.writeJSON, o.writeHDR, o.assert} {
		if failed := step(); err == nil {
			err = failed
		}
	}
	return err
}

func (o *outputs) drop() {
	for _, f := range []*outFile{o.json, o.hdr} {
		if f != nil {
			f.drop()
		}
	}
}

func (o *outputs) writeJSON() error {
	if o.json == nil {
		return nil
	}
	return o.json.finish(func(w io.Writer) error { return report.WriteJSON(w, o.s.results...) })
}

// writeHDR writes the only round's distribution under the name asked for. Of several tests each gets a file of its
// own, with the title before the extension: the format holds one distribution. In an open loop it is the response
// time, which is what a client of the service would have seen.
func (o *outputs) writeHDR() error {
	if o.hdr == nil {
		return nil
	}
	first, rest := o.s.results[0], o.s.results[1:]
	if len(rest) == 0 {
		return o.hdr.finish(func(w io.Writer) error { return report.WriteHGRM(w, distribution(first)) })
	}
	if !o.hdr.temp { // a stream has no further names: one after the other
		return o.hdr.finish(func(w io.Writer) (err error) {
			for _, r := range o.s.results {
				if err == nil {
					err = report.WriteHGRM(w, distribution(r))
				}
			}
			return err
		})
	}
	path := o.s.o.Output.HDR
	o.hdr.drop()
	var failed error
	for _, r := range o.s.results { // one that cannot be written does not cost the others
		f, err := createOutFile(context.Background(), "--hdr", withTitle(path, r.Title))
		if err == nil {
			err = f.finish(func(w io.Writer) error { return report.WriteHGRM(w, distribution(r)) })
		}
		failed = cmp.Or(failed, err)
	}
	return failed
}

func distribution(r *report.Result) *report.Histogram {
	if r.Response != nil {
		return r.Response
	}
	return r.Latency
}

// withTitle puts a title into a file's name: x.hgrm of "MSET (10 keys)" is x.MSET_10_keys.hgrm.
func withTitle(path, title string) string {
	words := strings.FieldsFunc(title, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	})
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "." + strings.Join(words, "_") + ext
}

// assert prints the table of passes and failures, on stderr when stdout is for programs.
func (o *outputs) assert() error {
	if len(o.assertions) == 0 {
		return nil
	}
	outcomes, ok := report.CheckAll(o.assertions, o.s.results)
	w := o.s.io.Stdout
	if o.s.o.Output.CSV || o.s.o.Output.Quiet {
		w = o.s.io.Stderr
	}
	if err := report.AssertionTable(w, outcomes); err != nil {
		return err
	}
	if !ok {
		return &Error{Code: ExitAssertion}
	}
	return nil
}
