package main

import (
	"errors"
	"regexp"
	"strings"

	"respbench/runner"
)

// Setters that belong to one row each.

func (s *settings) setTests(v string) error {
	s.tests, s.testsGiven = v, true
	return nil
}

func (s *settings) setServerInfo(v string) error {
	s.serverInfoGiven = true
	return onOff(&s.serverInfo)(v)
}

func (s *settings) setMaxDocs(v string) error {
	var n number
	err := whole(&n, 1, 1<<62)(v)
	s.opts.Classic.MaxDocs = n.v
	return err
}

func (s *settings) setOnError(v string) error {
	s.onErrorGiven = true
	policies := []runner.ErrorPolicy{runner.StopOnError, runner.CountErrors}
	return choice(&s.onError, []string{"stop", "count"}, policies)(v)
}

// commandName sets the name of a command: one printable word without a placeholder.
func commandName(p *string) func(string) error {
	return func(v string) error {
		blank := strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' })
		if v == "" || blank || strings.Contains(v, "__") {
			return errors.New("must be one word, such as SET")
		}
		*p = v
		return nil
	}
}

var sizesForm = regexp.MustCompile(`^\d+(-\d+)?(:\d+)?(,\d+(-\d+)?(:\d+)?)*$`)

// setValueSizes takes a plain size, which is checked here, or a range or weighted list, which is the workload's to
// check in detail.
func (s *settings) setValueSizes(v string) error {
	if _, err := digits(v); err == nil || !sizesForm.MatchString(v) {
		s.valueSizes = ""
		if err := whole(&s.dataSize, 0, runner.MaxDataSize)(v); err != nil {
			return errors.New("must be bytes from 0 to 1073741824 (32), a range (64-4096) or weighted sizes (64:90,4096:10)")
		}
		return nil
	}
	s.valueSizes = v
	return nil
}

var keyDistForm = regexp.MustCompile(`^(uniform|sequential|zipf:[0-9.]+|gaussian:[0-9.]+|hotspot:[0-9.]+%:[0-9.]+%)$`)

// keyDist sets the name of a distribution; its figures are the workload's to check.
func keyDist(p *string) func(string) error {
	return func(v string) error {
		if !keyDistForm.MatchString(v) {
			return errors.New("must be uniform, sequential, zipf:S, gaussian:SD or hotspot:KEYS%:OPS%, such as zipf:0.99")
		}
		*p = v
		return nil
	}
}
