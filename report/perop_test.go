package report

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// The lines of a mix's commands have the counts of each, over the time of the whole round.
func TestPerOp(t *testing.T) {
	h := NewHistogram()
	h.RecordN(2e6, 30)
	r := &Result{Mode: "mixed", Requests: 40, Elapsed: 2 * time.Second, BytesOut: 99, Ops: []OpResult{
		{Name: "GET __key__", Requests: 30, Hits: 20, Misses: 10, Latency: h}, {Name: "INCR c", Requests: 10, Errors: 1, Latency: NewHistogram()},
	}}
	ops := r.PerOp()
	if len(ops) != 2 || ops[0].QPS() != 15 || ops[1].ErrorTotal != 1 || ops[0].Misses != 10 || r.Requests != 40 {
		t.Fatalf("%+v", ops)
	}
	var line, row, head bytes.Buffer
	if BenchQuietLine(&line, ops[0]) != nil || BenchCSVRow(&row, ops[0]) != nil || BenchCSVHeader(&head) != nil {
		t.Fatal("not written")
	}
	if want := "mix (GET __key__): elapsed(s)=2.00 QPS=15.00 "; !strings.HasPrefix(line.String(), want) {
		t.Errorf("%q, want %q", line.String(), want)
	}
	names, cells := strings.Split(head.String(), ","), strings.Split(row.String(), ",")
	for i, name := range names {
		switch strings.Trim(name, "\"\n") {
		case "bytes_out", "mismatches":
			if cells[i] != `""` {
				t.Errorf("%s is %s, though it is not known of one command", name, cells[i])
			}
		case "misses":
			if cells[i] != `"10"` {
				t.Errorf("misses %s", cells[i])
			}
		}
	}
	if (&Result{Ops: r.Ops[:1]}).PerOp() != nil {
		t.Error("one kind of request is no mix")
	}
}
