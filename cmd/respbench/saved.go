package main

import (
	"bytes"
	"fmt"
	"os"

	"respbench/report"
)

// saved is what a result file holds: the rounds of one invocation, or a whole suite.
type saved struct {
	path    string
	suite   *report.SuiteResult // nil for an invocation's rounds
	results []*report.Result
}

// readSaved reads a file that --json or suite wrote. The file's own head says which it is.
func readSaved(path string) (s saved, err error) {
	s.path = path
	data, err := os.ReadFile(path)
	if err != nil {
		return s, err
	}
	schema, err := report.SchemaOf(data)
	if err != nil {
		return s, fmt.Errorf("%s is not a result file: %w", path, err)
	}
	switch schema {
	case report.SuiteSchemaName:
		s.suite, err = report.ReadSuiteJSON(bytes.NewReader(data))
	case report.SchemaName:
		s.results, err = report.ReadJSON(bytes.NewReader(data))
	default:
		return s, fmt.Errorf("%s: schema %q: must be %s (--json) or %s (suite)", path, schema, report.SchemaName, report.SuiteSchemaName)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// all are the results of every complete round.
func (s saved) all() []*report.Result {
	if s.suite != nil {
		return s.suite.Results()
	}
	return s.results
}
