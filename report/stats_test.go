package report

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readGolden reads one of the tables made by hand from run_bench.hash.sh as maps from column to cell.
func readGolden(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// roundFigures are the rounds of a row: QPS as given, and us/op and elapsed time of a million requests as
// bench.c prints them.
func roundFigures(t *testing.T, row map[string]string) (qps, us, elapsed []float64) {
	t.Helper()
	for _, f := range strings.Fields(row["round_qps"]) {
		v := number(t, f)
		qps = append(qps, v)
		us = append(us, printed(1e6/v))
		elapsed = append(elapsed, printed(1e6/v))
	}
	return qps, us, elapsed
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	// The tables' figures have two decimals; half of the last one may be lost twice.
	if math.Abs(got-want) > 0.01+1e-9 {
		t.Errorf("%s = %.4f, the table has %.2f", what, got, want)
	}
}

func TestMeansAsInTheTables(t *testing.T) {
	rows := readGolden(t, "hash_bench_rounds.csv")
	if len(rows) != 58 {
		t.Fatalf("%d rows, want 58", len(rows))
	}
	for _, r := range rows {
		name := strings.Join([]string{r["report"], r["system"], r["strategy"], r["mode"]}, " ")
		qps, us, elapsed := roundFigures(t, r)
		near(t, name+" QPS", Describe(qps).Mean, number(t, r["mean_qps"]))
		near(t, name+" us/op", Describe(us).Mean, number(t, r["mean_us_per_op"]))
		near(t, name+" elapsed", Describe(elapsed).Mean, number(t, r["mean_elapsed_s"]))
	}
}

func TestTrimmedMeansAndOverheadAsInTheTables(t *testing.T) {
	rows := readGolden(t, "bigkey_trimmed.csv")
	if len(rows) != 12 {
		t.Fatalf("%d rows, want 12", len(rows))
	}
	trimmed := map[string]Trimmed{}
	for _, r := range rows {
		key := strings.Join([]string{r["system"], r["strategy"], r["mode"]}, " ")
		qps, us, _ := roundFigures(t, r)
		got := Trim(qps, us)
		trimmed[key] = got
		near(t, key+" mean QPS", Describe(qps).Mean, number(t, r["mean_qps"]))
		near(t, key+" mean us/op", Describe(us).Mean, number(t, r["mean_us_per_op"]))
		near(t, key+" trimmed QPS", got.QPS, number(t, r["trimmed_mean_qps"]))
		near(t, key+" trimmed us/op", got.MicrosPerOp, number(t, r["trimmed_mean_us_per_op"]))
		near(t, key+" dropped QPS", got.DroppedQPS, number(t, r["dropped_qps"]))
		if fmt.Sprint(got.Dropped+1) != r["dropped_round"] {
			t.Errorf("%s: round %d dropped, the table dropped %s", key, got.Dropped+1, r["dropped_round"])
		}
	}
	overhead := readGolden(t, "bigkey_overhead.csv")
	if len(overhead) != 4 {
		t.Fatalf("%d rows, want 4", len(overhead))
	}
	for _, r := range overhead {
		for _, mode := range []string{"set", "get"} {
			base := trimmed[r["system"]+" "+r["baseline"]+" "+mode]
			mine := trimmed[r["system"]+" "+r["strategy"]+" "+mode]
			near(t, r["strategy"]+" QPS change", ChangeOf(base.QPS, mine.QPS).Percent, number(t, r[mode+"_qps_change"]))
			near(t, r["strategy"]+" us change", ChangeOf(base.MicrosPerOp, mine.MicrosPerOp).Percent, number(t, r[mode+"_us_change"]))
		}
	}
}

// A mean must lie between the smallest and the largest round and not depend on their order.
func TestMeanOfRounds(t *testing.T) {
	a := Describe([]float64{1296000, 1231000, 1078000})
	b := Describe([]float64{1078000, 1296000, 1231000})
	if printed(a.Mean) != 1201666.67 || printed(b.Mean) != 1201666.67 || a.Mean < a.Min || a.Mean > a.Max {
		t.Errorf("means %v and %v, min %v, max %v", a.Mean, b.Mean, a.Min, a.Max)
	}
	if got := printed(Describe([]float64{1, 0, 0}).Mean); got != 0.33 {
		t.Errorf("mean of 1, 0, 0 = %v, want 0.33", got)
	}
}

func TestTrim(t *testing.T) {
	for _, c := range []struct {
		qps     []float64
		dropped int
		mean    float64
	}{
		{[]float64{90, 95, 100, 105, 110, 300, 10}, 5, 85},
		{[]float64{100000, 102000, 98000, 101000, 12000}, 4, 100250},
		{[]float64{90, 100, 100, 110}, 3, 96.67}, // a tie: the later one
		{[]float64{100, 101, 5}, -1, 68.67},
		{[]float64{100, 50}, -1, 75},
		{[]float64{100}, -1, 100},
		{nil, -1, 0},
	} {
		before := slices.Clone(c.qps)
		got := Trim(c.qps, c.qps)
		left := len(c.qps)
		if c.dropped >= 0 {
			left--
		}
		if got.Dropped != c.dropped || printed(got.QPS) != c.mean || got.Left != left || !slices.Equal(before, c.qps) {
			t.Errorf("Trim(%v) = %+v, want %d dropped, mean %v", before, got, c.dropped, c.mean)
		}
	}
}

func TestSpread(t *testing.T) {
	s := Describe([]float64{100000, 102000, 98000, 101000, 12000})
	if printed(s.Mean) != 82600 || printed(s.SD) != 39494.30 || printed(s.CV()) != 47.81 || s.Median != 100000 {
		t.Errorf("mean %v sd %v cv %v median %v", s.Mean, s.SD, s.CV(), s.Median)
	}
	// t(0.975, 4) = 2.776445
	if half := 2.776445 * 39494.3033 / math.Sqrt(5); math.Abs(s.CIHigh-82600-half) > 0.1 || math.Abs(82600-s.CILow-half) > 0.1 {
		t.Errorf("interval %v to %v, want 82600 ± %v", s.CILow, s.CIHigh, half)
	}
	if !s.Scatters() || !slices.Equal(s.OutlierIndexes, []int{4}) {
		t.Errorf("scatters %v, outliers %v", s.Scatters(), s.OutlierIndexes)
	}
	one, two, same := Describe([]float64{100}), Describe([]float64{100, 110}), Describe([]float64{100, 100, 100, 100, 100})
	if one.HasSD || one.HasCI || !two.HasSD || two.HasCI {
		t.Errorf("one value: %+v, two: %+v", one, two)
	}
	if !same.HasCI || same.SD != 0 || same.CILow != 100 || same.CIHigh != 100 || same.Scatters() || same.OutlierIndexes != nil {
		t.Errorf("equal values: %+v", same)
	}
	if none := Describe(nil); none.N != 0 || none.HasSD || none.CV() != 0 {
		t.Errorf("no values: %+v", none)
	}
}

func TestOverlaps(t *testing.T) {
	a, b, c := Describe([]float64{100, 101, 102}), Describe([]float64{101, 102, 103}), Describe([]float64{200, 201, 202})
	if o, ok := a.Overlaps(b); !o || !ok {
		t.Errorf("a and b: %v %v", o, ok)
	}
	if o, ok := a.Overlaps(c); o || !ok {
		t.Errorf("a and c: %v %v", o, ok)
	}
	if _, ok := a.Overlaps(Describe([]float64{1, 2})); ok {
		t.Errorf("an overlap with a sample without an interval")
	}
}

// A zero baseline must give neither NaN nor inf nor "0 %" for a real change.
func TestChange(t *testing.T) {
	for _, c := range []struct {
		base, value float64
		want        string
		changed     bool
	}{
		{0, 0, "0.00%", false}, {0, 100, "n/a (baseline 0)", true}, {100, 0, "-100.00%", true}, {100, 50, "-50.00%", true},
		{2000, 2300, "+15.00%", true}, {100, 100, "0.00%", false}, {100000, 99999.999, "0.00%", false}, {300000, 299999, "0.00%", true},
	} {
		got := ChangeOf(c.base, c.value)
		if got.String() != c.want || got.Changed() != c.changed {
			t.Errorf("from %v to %v: %s, %v", c.base, c.value, got, got.Changed())
		}
	}
}
