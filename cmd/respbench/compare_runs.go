package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"respbench/report"
)

// Two ways to run, in turn: A B B A A B B A. What drifts in time then helps neither. Each run is a process
// of its own, with a heap and a scheduler that no earlier run has left its traces in.

// side is one of the two.
type side struct {
	name     string
	args     []string
	results  []*report.Result
	complete int
}

// newSide takes options as words, or as one text that is split as a shell would.
func newSide(name string, words []string) (side, error) {
	if len(words) == 1 {
		var err error
		if words, err = splitWords(words[0]); err != nil {
			return side{}, usagef("the options of %s: %s", name, err)
		}
	}
	switch i := slices.IndexFunc(words, func(w string) bool { return w == "--json" || strings.HasPrefix(w, "--json=") }); {
	case len(words) == 0:
		return side{}, usagef("the options of %s are empty", name)
	case i >= 0:
		return side{}, usagef("the options of %s have --json, which compare needs for itself", name)
	}
	return side{name: name, args: words}, nil
}

// splitWords splits at blanks; quotes and backslashes keep them, as in a shell.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	escaped := false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, inWord = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 || escaped {
		return nil, errors.New("a quote or a backslash has no end")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// pairedRuns is the whole series.
type pairedRuns struct {
	sides  *[2]side
	runs   int
	rest   time.Duration
	stderr io.Writer
}

// all runs one pair that does not count, and then the pairs.
func (p *pairedRuns) all(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "respbench-compare-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	for pair := range p.runs + 1 {
		name := "warm-up"
		if pair > 0 {
			name = fmt.Sprintf("run %d/%d", pair, p.runs)
		}
		order := []int{0, 1}
		if pair%2 == 0 { // the pair that does not count is number 0: the first that does begins with A
			order = []int{1, 0}
		}
		for i, which := range order {
			s := &p.sides[which]
			results, err := runOnce(ctx, s, filepath.Join(dir, "run.json"), uint64(pair)+1)
			if err != nil {
				return fmt.Errorf("%s of %s: %w", name, s.name, err)
			}
			if pair > 0 {
				s.results = append(s.results, results...)
				s.complete++
			}
			did, of := 2*pair+i+1, 2*(p.runs+1)
			left := time.Since(began) / time.Duration(did) * time.Duration(of-did)
			fmt.Fprintf(p.stderr, "%s of %s: %s", name, s.name, ratesOf(results))
			if did == of {
				fmt.Fprintln(p.stderr)
				return nil
			}
			fmt.Fprintf(p.stderr, "; about %v left\n", left.Round(time.Second))
			if err := pause(ctx, p.rest); err != nil {
				return err
			}
		}
	}
	return nil
}

func ratesOf(results []*report.Result) string {
	var parts []string
	for _, r := range results {
		parts = append(parts, fmt.Sprintf("%s %.2f QPS", r.Title, r.QPS()))
	}
	return strings.Join(parts, ", ")
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return context.Cause(ctx)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// runOnce is one run in a child. Both runs of a pair have the same seed, and so the same requests, unless the
// options say otherwise: what is typed comes later and wins.
func runOnce(ctx context.Context, s *side, file string, seed uint64) ([]*report.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var said bytes.Buffer
	args := append([]string{ownName, "--json", file, "--seed", fmt.Sprint(seed)}, s.args...)
	cmd := &exec.Cmd{Path: self, Args: args, Stdout: io.Discard, Stderr: &said}
	if err := startBound(cmd); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGINT) })
	err = cmd.Wait()
	stop()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%s\n%s", err, strings.TrimSpace(said.String()))
	}
	one, err := readSaved(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(one.results) == 0 { // --help, for one
		err = errors.New("it measured nothing")
	}
	return one.results, err
}
