package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"respbench/report"
)

// The subcommand that renders saved results again.

var reportFormats = []string{"text", "csv", "md", "html", "json"}

func newReportCommand() *cobra.Command {
	var format, table, lang, before, pictures string
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Render saved results again, and merge those of one run",
		Long: "Renders a file that --json or suite wrote, to stdout. Several files of --json are parts of one run, or its repetitions:\n" +
			"tests of the same name are merged, counts added and histograms merged, never averaged.",
		Example: "  respbench report --format md result.json\n" +
			"  respbench report --format html --lang zh results/result_20260307_062549.json > report.html\n" +
			"  respbench report --format md --before results/result_20260306_090030.json results/result_20260307_062549.json\n" +
			"  respbench report host1.json host2.json host3.json",
		Args: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				return helped(cmd, usagef("report needs a file that --json or suite wrote"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case !slices.Contains(reportFormats, format):
				return helped(cmd, usagef("invalid value %q for --format: must be one of %s", format, strings.Join(reportFormats, ", ")))
			case !slices.Contains([]string{"detail", "summary", "trimmed"}, table):
				return helped(cmd, usagef("invalid value %q for --table: must be detail, summary or trimmed", table))
			case !slices.Contains(report.Languages, lang):
				return helped(cmd, usagef("invalid value %q for --lang: must be %s", lang, strings.Join(report.Languages, " or ")))
			}
			s, err := readMerged(files)
			if err != nil {
				return helped(cmd, err)
			}
			o := report.ReportOptions{Lang: lang}
			if before != "" {
				if o.Before, err = readBefore(before, s); err != nil {
					return helped(cmd, err)
				}
			}
			if pictures != "" {
				return helped(cmd, writePictures(pictures, s, o))
			}
			if s.suite != nil {
				return writeSuite(cmd.OutOrStdout(), s.suite, format, table, o)
			}
			return writeResults(cmd.OutOrStdout(), s.results, format, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&format, "format", "text", strings.Join(reportFormats, ", "))
	f.StringVar(&table, "table", "detail", "of a suite as csv: detail, summary or trimmed")
	f.StringVar(&lang, "lang", "en", strings.Join(report.Languages, " or "))
	f.Var(filled{&pictures}, "pictures", "write a suite's pictures as SVG files into this folder, and nothing else")
	f.Var(filled{&before}, "before", "an earlier suite's result file to compare a suite with")
	return cmd
}

// helped gives a mistake the hint at the subcommand's help.
func helped(cmd *cobra.Command, err error) error {
	var usage *usageError
	if errors.As(err, &usage) {
		usage.help = " " + cmd.Name()
	}
	return err
}

// noWords is for subcommands that have options only.
func noWords(cmd *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	return helped(cmd, usagef("unexpected word %q: %s has options only", words[0], cmd.Name()))
}

func readBefore(path string, s saved) (*report.SuiteResult, error) {
	old, err := readSaved(path)
	switch {
	case err != nil:
		return nil, err
	case old.suite == nil || s.suite == nil:
		return nil, usagef("--before needs two suites' result files (respbench compare takes others)")
	}
	was := map[string]bool{}
	for _, r := range old.suite.Results() {
		was[r.Title] = true
	}
	if !slices.ContainsFunc(s.suite.Results(), func(r *report.Result) bool { return was[r.Title] }) {
		return nil, fmt.Errorf("%s and %s have no strategy and mode in common", path, s.path)
	}
	return old.suite, nil
}

// readMerged reads the files; of several the tests of the same name become one result each.
func readMerged(files []string) (s saved, err error) {
	var parts [][]*report.Result
	for i, path := range files {
		if slices.Contains(files[:i], path) {
			return s, usagef("%s is there twice: its figures would be counted twice", path)
		}
		one, err := readSaved(path)
		switch {
		case err != nil:
			return one, err
		case len(files) == 1:
			return one, nil
		case one.suite != nil:
			return one, usagef("%s is a suite's file, which is not merged with others (--before compares it with another)", path)
		}
		parts = append(parts, one.results)
	}
	s.results, err = mergeByTest(slices.Concat(parts...))
	return s, err
}

// mergeByTest merges the results of each test, in the order of their first appearance.
func mergeByTest(all []*report.Result) (merged []*report.Result, err error) {
	type test struct{ title, mode string }
	var order []test
	groups := map[test][]*report.Result{}
	for _, r := range all {
		t := test{r.Title, r.Mode}
		if groups[t] == nil {
			order = append(order, t)
		}
		groups[t] = append(groups[t], r)
	}
	for _, t := range order {
		m, err := report.Merge(groups[t]...)
		if err != nil {
			return nil, err
		}
		merged = append(merged, m)
	}
	return merged, nil
}

// writePictures writes each picture of a suite into a file of its own.
func writePictures(dir string, s saved, o report.ReportOptions) error {
	if s.suite == nil {
		return usagef("--pictures needs a suite's result file; --format html has the pictures of others")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("--pictures: %w", err)
	}
	for _, p := range report.SuitePictures(s.suite, o) {
		if err := os.WriteFile(filepath.Join(dir, p.Name), []byte(p.SVG), 0o644); err != nil {
			return fmt.Errorf("--pictures: %w", err)
		}
	}
	return nil
}

func writeSuite(w io.Writer, s *report.SuiteResult, format, table string, o report.ReportOptions) error {
	switch format {
	case "csv":
		return map[string]func(io.Writer, *report.SuiteResult) error{
			"detail": report.SuiteDetailCSV, "summary": report.SuiteSummaryCSV, "trimmed": report.SuiteTrimmedCSV}[table](w, s)
	case "md":
		return report.SuiteMarkdown(w, s, o)
	case "html":
		return report.SuiteHTML(w, s, o)
	case "json":
		return report.WriteSuiteJSON(w, s)
	}
	return report.SuiteText(w, s, o)
}

func writeResults(w io.Writer, results []*report.Result, format string, o report.ReportOptions) error {
	switch format {
	case "csv":
		return writeResultsCSV(w, results)
	case "md":
		return report.Markdown(w, results, o)
	case "html":
		return report.HTML(w, results, o)
	case "json":
		return report.WriteJSON(w, results...)
	}
	for _, r := range results {
		text := report.Text
		if r.Mode != "" {
			text = report.BenchText
		}
		if err := text(w, r); err != nil {
			return err
		}
		if err := report.Additions(w, r); err != nil {
			return err
		}
	}
	return nil
}

// writeResultsCSV writes redis-benchmark's columns, or those of bench.c mode. A file holds one kind.
func writeResultsCSV(w io.Writer, results []*report.Result) error {
	head, row := report.CSVHeader, report.CSVRow
	if len(results) > 0 && results[0].Mode != "" {
		head, row = report.BenchCSVHeader, report.BenchCSVRow
	}
	if err := head(w); err != nil {
		return err
	}
	for _, r := range results {
		if (r.Mode != "") != (results[0].Mode != "") {
			return fmt.Errorf("%q and %q have different columns: render their files one by one", results[0].Title, r.Title)
		}
		if err := row(w, r); err != nil {
			return err
		}
	}
	return nil
}
