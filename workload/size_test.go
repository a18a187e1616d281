package workload

import (
	"math"
	"strings"
	"testing"
)

func TestValueSizes(t *testing.T) {
	tests := map[string]struct {
		mean     float64
		min, max int
	}{
		"32":                  {32, 32, 32},
		"0":                   {0, 0, 0},
		"0-0":                 {0, 0, 0},
		"64-264":              {164, 64, 264},
		"64:90,4096:10":       {64*0.9 + 409.6, 64, 4096},
		"1:1,2:1,3:2":         {2.25, 1, 3},
		"10-20:3,1000-1030:1": {15*0.75 + 1015*0.25, 10, 1030},
	}
	for text, want := range tests {
		s, err := ParseValueSize(text, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		v := newValues(printablePool(), "bench:key:", s)
		var sum, squares float64
		const n = 20_000
		largest, smallest := 0, math.MaxInt
		for i := range uint64(n) {
			size := v.size(i)
			sum += float64(size)
			squares += float64(size) * float64(size)
			largest, smallest = max(largest, size), min(smallest, size)
		}
		mean := sum / n
		deviation := math.Sqrt(max(squares/n-mean*mean, 0) / n)
		if math.Abs(mean-want.mean) > 5*deviation+1e-9 || largest != want.max || s.Max() != want.max || smallest != want.min {
			t.Errorf("%s: mean %.2f, want %.2f; sizes %d to %d, Max %d", text, mean, want.mean, smallest, largest, s.Max())
		}
	}
}

func TestParseValueSizeErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":              "bad size",
		"x":             "bad size",
		"-1":            "bad size",
		"5-":            "bad size",
		"9-5":           "bad size",
		"2000":          "within 0 to 1000",
		"1-2000":        "within 0 to 1000",
		"64:0,32:1":     "bad weight",
		"64:x,32:1":     "bad weight",
		"64:-1,32:1":    "bad weight",
		"64:1,32":       "has no weight",
		"64:5000000000": "bad weight",
	} {
		if _, err := ParseValueSize(text, 1000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestCumulative(t *testing.T) {
	for _, weights := range [][]uint64{{1}, {1, 1}, {1, 2, 3}, {maxWeight, 1}, {1, maxWeight, maxWeight}, {99, 1}} {
		upTo := cumulative(weights)
		var total, before float64
		for _, w := range weights {
			total += float64(w)
		}
		for i, w := range weights {
			end := (float64(upTo[i]) + 1) / 0x1p64
			if share := end - before; math.Abs(share-float64(w)/total) > 1e-9 {
				t.Errorf("%v: share %d is %v", weights, i, share)
			}
			before = end
		}
		if upTo[len(upTo)-1] != math.MaxUint64 {
			t.Errorf("%v: some draws belong to nobody", weights)
		}
	}
}
