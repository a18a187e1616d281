package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// The exchange formats of a Histogram. In JSON it carries its exact figures and the standard compressed
// HDR form (V2, base64), which the HDR libraries of other languages read. The .hgrm text is what the
// HdrHistogram plotters read; it is written here because the library's own has fewer decimals than Java's.

// histogramJSON is a Histogram in a result file.
type histogramJSON struct {
	Count       int64            `json:"count"`
	OverRange   int64            `json:"over_range"`
	MinNs       int64            `json:"min_ns"`
	MaxNs       int64            `json:"max_ns"`
	MeanNs      float64          `json:"mean_ns"`
	StdDevNs    float64          `json:"stddev_ns"`
	SumNs       uint64           `json:"sum_ns"`
	Percentiles map[string]int64 `json:"percentiles_ns"`
	HDR         string           `json:"hdr"`
}

// jsonPercentiles are the percentiles that a result file spells out; any other can be read off the HDR form.
var jsonPercentiles = []float64{50, 75, 90, 95, 99, 99.9, 99.99, 99.999}

// MarshalJSON is the histogram's form in result files; see docs/result.schema.json.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	encoded, err := h.encodeHDR()
	if err != nil {
		return nil, err
	}
	j := histogramJSON{
		Count: h.total, OverRange: h.OverRange(), MinNs: h.Min(), MaxNs: h.max, MeanNs: h.Mean(),
		StdDevNs: h.StdDev(), SumNs: h.sum, HDR: encoded, Percentiles: map[string]int64{},
	}
	for _, p := range jsonPercentiles {
		j.Percentiles[fmt.Sprintf("p%v", p)] = h.Percentile(p)
	}
	return json.Marshal(j)
}

// encodeHDR is the compressed V2 form in base64. Values above the range are in the last bucket.
func (h *Histogram) encodeHDR() (string, error) {
	counts := append([]int64(nil), h.counts[:slots]...)
	counts[slots-1] += h.counts[slots]
	s := &hdr.Snapshot{LowestTrackableValue: 1, HighestTrackableValue: HighestNs, SignificantFigures: 3, Counts: counts}
	text, err := hdr.Import(s).Encode(hdr.V2CompressedEncodingCookieBase)
	return string(text), err
}

// UnmarshalJSON reads what MarshalJSON wrote and refuses figures that contradict each other.
func (h *Histogram) UnmarshalJSON(data []byte) error {
	var j histogramJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	decoded, err := hdr.Decode([]byte(j.HDR))
	if err != nil {
		return fmt.Errorf("histogram: %w", err)
	}
	s := decoded.Export()
	if s.LowestTrackableValue != 1 || s.SignificantFigures != 3 {
		return fmt.Errorf("histogram: lowest value %d with %d digits, must be 1 with 3", s.LowestTrackableValue, s.SignificantFigures)
	}
	read := NewHistogram()
	for i, c := range s.Counts {
		if i >= slots && c != 0 {
			return errors.New("histogram: a value is above the range of one hour")
		}
		if c != 0 {
			read.counts[i] = c
			read.total += c
		}
	}
	if read.counts[slots-1] < j.OverRange || j.OverRange < 0 {
		return fmt.Errorf("histogram: over_range %d is more than the last bucket holds", j.OverRange)
	}
	read.counts[slots-1] -= j.OverRange
	read.counts[slots] = j.OverRange
	if err := read.restore(&j); err != nil {
		return err
	}
	*h = *read
	return nil
}

// restore takes over the exact figures, which buckets cannot give, after a check against the buckets.
func (h *Histogram) restore(j *histogramJSON) error {
	if h.total != j.Count {
		return fmt.Errorf("histogram: count %d, but the buckets hold %d", j.Count, h.total)
	}
	if h.total == 0 {
		return nil
	}
	h.min, h.max, h.sum = j.MinNs, j.MaxNs, j.SumNs
	if j.MinNs < 0 || j.MaxNs < j.MinNs {
		return fmt.Errorf("histogram: min_ns %d and max_ns %d", j.MinNs, j.MaxNs)
	}
	from, to := h.used()
	inside := int64(0)
	for i := from; i < to; i++ {
		inside += h.counts[i]
	}
	if inside != h.total || h.counts[from] == 0 || h.counts[to-1] == 0 {
		return fmt.Errorf("histogram: min_ns %d and max_ns %d are not in the first and last bucket that hold samples", j.MinNs, j.MaxNs)
	}
	return nil
}

// WriteHGRM writes the percentile distribution in the .hgrm text form of HdrHistogram, values in
// milliseconds, five rows per half distance to 100 %.
func WriteHGRM(w io.Writer, h *Histogram) error {
	b := fmt.Appendf(nil, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	next, seen := 0.0, int64(0)
	from, to := h.used()
	for i := from; i < to; i++ {
		if h.counts[i] == 0 {
			continue
		}
		seen += h.counts[i]
		for reached := percent(seen, h.total); next <= reached && next < 100; next = nextTick(next, 5) {
			b = fmt.Appendf(b, "%12.6f %2.12f %10d %14.2f\n", millis(h.inside(i)), next/100, seen, 1/(1-next/100))
			if seen == h.total {
				break
			}
		}
	}
	b = fmt.Appendf(b, "%12.6f %2.12f %10d\n", millis(h.max), 1.0, h.total)
	b = fmt.Appendf(b, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", h.Mean()/1e6, h.StdDev()/1e6)
	b = fmt.Appendf(b, "#[Max     = %12.6f, Total count    = %12d]\n", millis(h.max), h.total)
	b = fmt.Appendf(b, "#[Buckets = %12d, SubBuckets     = %12d]\n", octaves-1, 2*subCount)
	_, err := w.Write(b)
	return err
}

// nextTick is the percentile after p with the given number of ticks per half of the distance to 100 %.
func nextTick(p float64, ticks int) float64 {
	halvings := int(math.Log2(100/(100-p))) + 1
	return p + 100/(math.Pow(2, float64(halvings))*float64(ticks))
}
