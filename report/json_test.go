package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// fullResult has every field filled, so that a field which is forgotten somewhere shows.
func fullResult() *Result {
	r := benchResult()
	r.Response, r.Connect = r.Latency.Clone(), histogramOf(80_000, 120_000)
	r.Threaded, r.Interrupted, r.Prefilled, r.Verified, r.OverRange = true, true, 1000, 7000, 1
	r.Latency.Record(HighestNs + 5)
	r.Command = []string{"respbench", "--mode", "mixed"}
	r.Redirects = []Count{{"MOVED", 3}}
	r.CPU.Loops = []LoopCPU{{time.Second, time.Millisecond, 5000, 4000}}
	r.Server.CPU, r.Server.Save = 200*time.Millisecond, "3600 1"
	r.Server.Nodes = []ClusterNode{{"id", "127.0.0.1:7000", "primary", true, "3600 1", "no"}}
	r.Server.Deltas = []Delta{{"evicted_keys", 7}}
	r.Pacing = &Pacing{Offered: 1000, Achieved: 990, Due: 20000, Late: 20, MaxLate: time.Millisecond, QueueMax: 7, Unstarted: 3,
		Lag: 2, MaxLag: time.Millisecond, Arrival: "poisson", Schedule: "1000:20s", Resolution: "coarse"}
	r.Verdict = &Verdict{"client-bound", "try --threads 2", []string{"loop 0 was busy"}}
	r.Series = []Interval{{time.Second, 20000, 12, 10, 20, 1, 2, 3, 4, []string{"rewrite"}}}
	r.Env = Environment{"respbench 1.0", "go1.26", "linux/amd64", "6.1", "EPYC", 2, "performance", "cubic", []string{"retbleed"}, "epoll"}
	r.Notes = []string{"a note"}
	return r
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../docs/result.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFullResultHasNoEmptyField(t *testing.T) {
	v := reflect.ValueOf(*fullResult())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is empty: the tests below would not miss it", v.Type().Field(i).Name)
		}
	}
}

func TestResultFileMatchesSchemaAndComesBack(t *testing.T) {
	full, plain := fullResult(), classicResult()
	var b bytes.Buffer
	if err := WriteJSON(&b, full, plain, &Result{Title: "GET"}); err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(doc); err != nil {
		t.Errorf("%v", err)
	}
	back, err := ReadJSON(&b)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []*Result{full, plain} {
		if !reflect.DeepEqual(back[i], want) {
			t.Errorf("result %d came back as\n%+v\nwant\n%+v", i, back[i], want)
		}
	}
}

// The schema must name every field: a file with one more is refused.
func TestSchemaIsClosed(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, fullResult()); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"title":`, `"headline": "x", "title":`}, {`"elapsed_ns":`, `"elapsed_s":`}, {`"version": 1`, `"version": 2`}, {`"hdr": "HIST`, `"hdr": "X`},
	} {
		changed := strings.Replace(b.String(), change[0], change[1], 1)
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(changed))
		if err != nil {
			t.Fatal(err)
		}
		if schema(t).Validate(doc) == nil {
			t.Errorf("the schema accepts %s", change[1])
		}
	}
}

func TestReadJSONErrors(t *testing.T) {
	var b bytes.Buffer
	if err := WriteJSON(&b, classicResult()); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for _, c := range []struct{ from, to, want string }{
		{good, "hello", "not a result file: byte 1: invalid character 'h'"},
		{good, `{"schema":`, "not a result file: byte 10: unexpected end of JSON input"},
		{good, "[]", "not a result file: it must hold a JSON object, not a JSON array"},
		{`"clients": `, `"clients": 0.5e0, "x": `, "result file: results.clients cannot be a JSON number 0.5e0"},
		{`"latency": {`, `"latency": 7, "x": {`, "result file: results.latency cannot be a JSON number"},
		{good, `{"schema":"x"}`, `not a result file: schema is "x", must be "respbench/result"`},
		{`"version": 1`, `"version": 2`, "result file has version 2, this program reads 1 to 1"},
		{`"count": 20000`, `"count": 20001`, "histogram: count 20001, but the buckets hold 20000"},
		{`"min_ns": 100000`, `"min_ns": 7`, "histogram: min_ns 7 and max_ns 1599925 are not in the first and last bucket"},
		{`"max_ns": 1599925`, `"max_ns": 99`, "histogram: min_ns 100000 and max_ns 99"},
		{`"over_range": 0,`, `"over_range": 1,`, "histogram: over_range 1 is more than the last bucket holds"},
		{`"hdr": "HIST`, `"hdr": "AAAA`, "histogram: encoding not supported"},
		{`"hdr": "HIST`, `"hdr": "!`, "histogram: illegal base64"},
		{good, `{"schema":"respbench/result","version":1,"results":[null]}`, "result file: result 1 is empty"},
	} {
		_, err := ReadJSON(strings.NewReader(strings.Replace(good, c.from, c.to, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s: error %v, want %s", c.to, err, c.want)
		}
	}
	if err := WriteJSON(fullWriter{}, classicResult()); !errors.Is(err, errFull) {
		t.Errorf("WriteJSON returned %v", err)
	}
}

// Our buckets are HDR's: the library finds the same values in the encoded form.
func TestEncodedHistogramIsHDRs(t *testing.T) {
	values := append(lognormal(20000, 9), 0, 2047, 2048, int64(time.Minute), int64(time.Hour))
	theirs := hdr.New(1, HighestNs, 3)
	for _, v := range values {
		if err := theirs.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	text, err := histogramOf(values...).encodeHDR()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := hdr.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !decoded.Equals(theirs) {
		t.Errorf("the decoded histogram differs from the library's own")
	}
}

func FuzzHistogramJSON(f *testing.F) {
	seed, err := json.Marshal(histogramOf(1, 1000, 1_000_000))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte(`{"count":0,"hdr":""}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var h, again Histogram
		if h.UnmarshalJSON(data) != nil {
			return
		}
		out, err := h.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if err := again.UnmarshalJSON(out); err != nil || !again.Equal(&h) {
			t.Errorf("what was read does not come back: %v", err)
		}
	})
}

func TestHGRM(t *testing.T) {
	h := NewHistogram()
	for i := range int64(1000) {
		h.Record((i + 1) * 10_000)
	}
	var b bytes.Buffer
	if err := WriteHGRM(&b, h); err != nil {
		t.Fatal(err)
	}
	golden(t, "latency.hgrm.golden", b.String())
	b.Reset()
	if err := WriteHGRM(&b, NewHistogram()); err != nil || strings.Contains(b.String(), "NaN") {
		t.Errorf("empty: %v\n%s", err, b.String())
	}
	if err := WriteHGRM(fullWriter{}, h); !errors.Is(err, errFull) {
		t.Errorf("WriteHGRM returned %v", err)
	}
}
