package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"respbench/report"
)

// The files of a suite. Each is written beside its place and renamed, after every measurement: a reader sees
// the last complete state, and a full disk leaves that as it was. The result file has everything; the others
// follow from it. The suite file beside them says what was to be measured, so that --resume needs no flags.

// Names of the files around the time of the run's start. Those of run_bench.hash.sh come first.
const (
	fileDetail   = "hash_bench_detail_%s.csv"
	fileSummary  = "hash_bench_summary_%s.csv"
	fileTrimmed  = "hash_bench_trimmed_%s.csv"
	fileReportMD = "report_%s.md"
	fileReport   = "report_%s.html"
	fileResult   = "result_%s.json"
	fileSuite    = "suite_%s.yaml"
)

const stampForm = "20060102_150405"

// SuiteFiles are the files of one run.
type SuiteFiles struct {
	dir, stamp string
	earlier    *report.SuiteResult // what is there already; nil for a new run
	failed     map[failureKey][]string
}

// failureKey is a round whose failures are kept although it is measured again.
type failureKey struct {
	cell   string
	number int
	warmup bool
}

// NewSuiteFiles are the files of a run that begins at a time; nothing is touched yet.
func NewSuiteFiles(dir string, at time.Time) *SuiteFiles {
	return &SuiteFiles{dir: dir, stamp: at.Format(stampForm)}
}

var stampOf = regexp.MustCompile(`_(\d{8}_\d{6})\.[a-z]+$`)

// ResumeSuite finds the files of an earlier run by one of them, such as its detail file. Rounds that failed
// or were interrupted will be measured again; those that are complete stay.
func ResumeSuite(path string) (*SuiteFiles, *SuiteSpec, error) {
	m := stampOf.FindStringSubmatch(path)
	if m == nil {
		return nil, nil, fmt.Errorf("--resume %s: the name must be that of a suite's file, such as hash_bench_detail_20260307_062549.csv", path)
	}
	f := &SuiteFiles{dir: filepath.Dir(path), stamp: m[1]}
	if _, err := os.Stat(path); err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	spec, err := ReadSuiteFile(f.Path(fileSuite), SuiteSpec{})
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	r, err := os.Open(f.Path(fileResult))
	if err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	defer r.Close()
	if f.earlier, err = report.ReadSuiteJSON(r); err != nil {
		return nil, nil, fmt.Errorf("--resume %s: %w", f.Path(fileResult), err)
	}
	if err := f.fits(spec); err != nil {
		return nil, nil, fmt.Errorf("--resume: %w", err)
	}
	f.dropIncomplete()
	spec.Out = f.dir // the folder may have been moved, or we be elsewhere
	return f, spec, nil
}

// ReadSuiteFile reads a suite file; base has the defaults.
func ReadSuiteFile(path string, base SuiteSpec) (*SuiteSpec, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return ReadSuite(r, path, base)
}

// mayChange are the parameters that a suite file may be given before it is gone on with: they change no round.
var mayChange = []string{"ROUNDS", "RETRIES"}

// fits checks that the result is of this suite, and measured in the same way.
func (f *SuiteFiles) fits(spec *SuiteSpec) error {
	other := fmt.Errorf("%s is not a result of %s", f.Path(fileResult), f.Path(fileSuite))
	for _, now := range spec.parameters() {
		for _, was := range f.earlier.Parameters {
			if was.Name == now.Name && was.Value != now.Value && !slices.Contains(mayChange, now.Name) {
				return fmt.Errorf("%w: %s is %s there and %s here", other, now.Name, was.Value, now.Value)
			}
		}
	}
	if len(f.earlier.Systems) > len(spec.Systems) {
		return other
	}
	for i, sys := range f.earlier.Systems {
		if sys.Name != spec.Systems[i].Name || len(sys.Strategies) != len(spec.Systems[i].Strategies) {
			return other
		}
		for j, st := range sys.Strategies {
			if st.Name != spec.Systems[i].Strategies[j].Name || len(st.Modes) != len(spec.Workloads) {
				return other
			}
			for k, m := range st.Modes {
				if m.Mode != spec.Workloads[k].Name {
					return other
				}
				for _, r := range m.Rounds {
					if !r.Warmup && r.Number > spec.Rounds {
						return fmt.Errorf("%s has %d rounds, and rounds in %s is %d: it may be raised only", f.Path(fileResult), f.earlier.Rounds, f.Path(fileSuite), spec.Rounds)
					}
				}
			}
		}
	}
	return nil
}

// dropIncomplete forgets the rounds that are to be measured again, but not why they failed.
func (f *SuiteFiles) dropIncomplete() {
	f.failed = map[failureKey][]string{}
	for i := range f.earlier.Systems {
		sys := &f.earlier.Systems[i]
		for j := range sys.Strategies {
			st := &sys.Strategies[j]
			for k := range st.Modes {
				m := &st.Modes[k]
				m.Rounds = slices.DeleteFunc(m.Rounds, func(r report.Round) bool {
					again := r.Result == nil || r.Result.Interrupted
					if again {
						f.failed[failureKey{sys.Name + " " + st.Name + " " + m.Mode, r.Number, r.Warmup}] = r.Failures
					}
					return again
				})
			}
		}
	}
	f.earlier.Interrupted = false
	f.earlier.Notes = append(f.earlier.Notes, "this run was gone on with (--resume) after it had ended before its time, or with failed rounds")
	f.earlier.Notes = slices.Compact(f.earlier.Notes)
}

// complete is the number of measurements that are there already.
func (f *SuiteFiles) complete() (n int) {
	for _, sys := range f.earlier.Systems {
		for _, st := range sys.Strategies {
			for _, m := range st.Modes {
				n += len(m.Rounds)
			}
		}
	}
	return n
}

func (f *SuiteFiles) failures(cell string, number int, warmup bool) []string {
	return f.failed[failureKey{cell, number, warmup}]
}

// Path is the path of a file by its form.
func (f *SuiteFiles) Path(form string) string {
	return filepath.Join(f.dir, fmt.Sprintf(form, f.stamp))
}

// Paths are all files that a run writes, the reports first.
func (f *SuiteFiles) Paths() (list []string) {
	for _, form := range []string{fileReportMD, fileReport, fileDetail, fileSummary, fileTrimmed, fileResult, fileSuite} {
		list = append(list, f.Path(form))
	}
	return list
}

// resuming is the command line that goes on with the run.
func (f *SuiteFiles) resuming() string {
	return report.ShellLine([]string{"respbench", "suite", "--resume", f.Path(fileDetail)})
}

// begin makes the folders and the suite file: what cannot be written must show before the first round.
func (f *SuiteFiles) begin(spec *SuiteSpec) error {
	for _, folder := range []struct{ option, path string }{{"--out", f.dir}, {"--dir", spec.Dir}} {
		if folder.path == "" {
			continue
		}
		if err := os.MkdirAll(folder.path, 0o755); err != nil {
			return fmt.Errorf("%s: %w", folder.option, err)
		}
	}
	if f.earlier != nil {
		return nil
	}
	for { // another run may have begun in the same second
		w, err := os.OpenFile(f.Path(fileSuite), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if errors.Is(err, os.ErrExist) {
			at, _ := time.ParseInLocation(stampForm, f.stamp, time.Local) // we made it
			f.stamp = at.Add(time.Second).Format(stampForm)
			continue
		}
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		err = WriteSuite(w, spec)
		if closing := w.Close(); err == nil {
			err = closing
		}
		if err != nil {
			os.Remove(w.Name())
			return fmt.Errorf("--out: %w", err)
		}
		return nil
	}
}

// write writes all files anew. At the first that cannot be written it ends; the result file is the first.
func (f *SuiteFiles) write(s *report.SuiteResult, lang string) error {
	o := report.ReportOptions{Lang: lang}
	for _, file := range []struct {
		form  string
		write func(io.Writer) error
	}{
		{fileResult, func(w io.Writer) error { return report.WriteSuiteJSON(w, s) }},
		{fileDetail, func(w io.Writer) error { return report.SuiteDetailCSV(w, s) }},
		{fileSummary, func(w io.Writer) error { return report.SuiteSummaryCSV(w, s) }},
		{fileTrimmed, func(w io.Writer) error { return report.SuiteTrimmedCSV(w, s) }},
		{fileReportMD, func(w io.Writer) error { return report.SuiteMarkdown(w, s, o) }},
		{fileReport, func(w io.Writer) error { return report.SuiteHTML(w, s, o) }},
	} {
		out, err := createOutFile(context.Background(), "--out", f.Path(file.form))
		if err == nil {
			err = out.finish(file.write)
		}
		if err != nil {
			return fmt.Errorf("%w; the files have the rounds before (%s)", err, f.resuming())
		}
	}
	return nil
}
