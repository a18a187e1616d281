package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Result files. One file holds the rounds of one invocation. Its schema is docs/result.schema.json; the
// version grows when a field changes its meaning or goes away, not when one is added.

const (
	// SchemaName is the "schema" field of a result file.
	SchemaName = "respbench/result"
	// SchemaVersion is the "version" field of the files that WriteJSON writes.
	SchemaVersion = 1
)

// resultFile is the file as a whole.
type resultFile struct {
	Schema  string        `json:"schema"`
	Version int           `json:"version"`
	Results []*resultJSON `json:"results"`
}

// resultJSON is a Result with the figures that follow from it, so that a reader need not compute them.
type resultJSON struct {
	*Result
	QPS          float64 `json:"qps"`
	MicrosPerOp  float64 `json:"us_per_op"`
	OKCount      int64   `json:"ok"`
	ClientMicros float64 `json:"client_us_per_request"`
	ClientCore   float64 `json:"client_cpu_percent"`
	HitRatio     float64 `json:"hit_ratio"`
}

// HitRatio is hits / (hits + misses), and 0 when nothing was read.
func (r *Result) HitRatio() float64 { return ratio(float64(r.Hits), float64(r.Hits+r.Misses)) }

// WriteJSON writes a result file.
func WriteJSON(w io.Writer, results ...*Result) error {
	f := resultFile{Schema: SchemaName, Version: SchemaVersion, Results: []*resultJSON{}}
	for _, r := range results {
		f.Results = append(f.Results, &resultJSON{
			Result: r, QPS: r.QPS(), MicrosPerOp: r.MicrosPerOp(), OKCount: r.OK(),
			ClientMicros: r.ClientMicros(), ClientCore: r.ClientCore(), HitRatio: r.HitRatio(),
		})
	}
	return writeFile(w, "result", f)
}

// writeFile writes one of our JSON files; kind names it in errors.
func writeFile(w io.Writer, kind string, file any) error {
	data, err := json.MarshalIndent(file, "", " ")
	if err != nil {
		return fmt.Errorf("%s file: %w", kind, err)
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// readFile reads one back. The head comes first: a file of another kind or version is told by its name and not by a
// broken field.
func readFile(r io.Reader, kind, schema string, version int, file any) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var head struct {
		Schema  string `json:"schema"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return fmt.Errorf("not a %s file: %w", kind, jsonFault(err))
	}
	if head.Schema != schema {
		return fmt.Errorf("not a %s file: schema is %q, must be %q", kind, head.Schema, schema)
	}
	if head.Version < 1 || head.Version > version {
		return fmt.Errorf("%s file has version %d, this program reads 1 to %d", kind, head.Version, version)
	}
	if err := json.Unmarshal(data, file); err != nil {
		return fmt.Errorf("%s file: %w", kind, jsonFault(err))
	}
	return nil
}

// SchemaOf is the "schema" field of a JSON file, by which our files are told apart.
func SchemaOf(data []byte) (string, error) {
	var head struct {
		Schema string `json:"schema"`
	}
	err := json.Unmarshal(data, &head)
	return head.Schema, jsonFault(err)
}

// jsonFault words an error of encoding/json for a reader of the file: where it is, and no types of Go's.
func jsonFault(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it must hold a JSON object, not a JSON %s", kind.Value)
	case errors.As(err, &kind):
		path := slices.DeleteFunc(strings.Split(kind.Field, "."), func(name string) bool {
			return name != "" && unicode.IsUpper(rune(name[0])) // an embedded struct, which has no name in the file
		})
		return fmt.Errorf("%s cannot be a JSON %s", strings.Join(path, "."), kind.Value)
	}
	return err
}

// ReadJSON reads a result file back, histograms and all.
func ReadJSON(r io.Reader) ([]*Result, error) {
	var f resultFile
	if err := readFile(r, "result", SchemaName, SchemaVersion, &f); err != nil {
		return nil, err
	}
	var results []*Result
	for i, j := range f.Results {
		if j == nil || j.Result == nil {
			return nil, fmt.Errorf("result file: result %d is empty", i+1)
		}
		results = append(results, j.Result)
	}
	return results, nil
}
