package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"respbench/report"
	"respbench/runner"
	"respbench/workload"
)

// Setters that belong to one row each.

func (s *settings) setTests(v string) error {
	s.tests, s.testsGiven = v, true
	return nil
}

// setPassword takes an empty password as well: an ACL user without one may log in with it, and where it is a variable
// that was never set the server says what is wrong.
func (s *settings) setPassword(v string) error {
	s.opts.Target.Password, s.opts.Target.Auth = v, true
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
		if v == "" || v[0] == '-' || blank || strings.Contains(v, "__") {
			return errors.New("must be one word, such as SET")
		}
		*p = v
		return nil
	}
}

var sizesForm = regexp.MustCompile(`^\d+(-\d+)?(:\d+)?(,\d+(-\d+)?(:\d+)?)*$`)

// setValueSizes takes a plain size, or a range or weighted list, which is kept as typed.
func (s *settings) setValueSizes(v string) error {
	if _, err := digits(v); err == nil || !sizesForm.MatchString(v) {
		s.valueSizes = ""
		if err := whole(&s.dataSize, 0, runner.MaxDataSize)(v); err != nil {
			return errors.New("must be bytes from 0 to 1073741824 (32), a range (64-4096) or weighted sizes (64:90,4096:10)")
		}
		return nil
	}
	if _, err := workload.ParseValueSize(v, runner.MaxDataSize); err != nil {
		return err
	}
	s.valueSizes = v
	return nil
}

// keyDist sets a distribution, kept as typed.
func keyDist(p *string) func(string) error {
	return func(v string) error {
		_, err := workload.ParseKeyDist(v)
		if v == "" {
			err = errors.New("must not be empty")
		}
		*p = v
		return err
	}
}

// condition adds an assertion, kept as typed. A syntax error names the column.
func condition(p *[]string) func(string) error {
	return func(v string) error {
		_, err := report.ParseAssertion(v)
		var syntax *report.AssertionError
		if errors.As(err, &syntax) {
			return fmt.Errorf("column %d: %s", syntax.Column, syntax.Msg)
		}
		*p = append(*p, v)
		return err
	}
}
