package report

import "math"

// The two tables of redis-benchmark's report, as rows. Both follow the iterators of the HDR library that
// redis-benchmark uses; the bounds are on our finer grid, rounded up to the microsecond that is printed,
// so that "N samples took at most this long" is true as printed and no bound appears twice.

// distRow says that Count samples are at most Bound ns.
type distRow struct {
	percent float64
	bound   int64
	count   int64
}

// step is the printed resolution: three decimals of a millisecond.
const step = int64(1000)

// coarse is the top of the bucket of ns in a histogram with the given significant figures, then rounded
// up to the step.
func coarse(ns int64, precision int) int64 {
	sub := int64(2) // sub-buckets per octave pair: the power of two that holds 2·10^precision
	for p := int64(2 * math.Pow10(min(max(precision, 0), 3))); sub < p; {
		sub *= 2
	}
	width := int64(1)
	for us := ns / step; us/width >= sub; {
		width *= 2
	}
	width *= step
	return (ns + width - 1) / width * width
}

// percentileRows are the rows of the table by percentile: one at 0 %, then one each time the distance to
// 100 % has halved, left out where the count did not change, and 100 % at the end.
func percentileRows(h *Histogram, precision int) []distRow {
	var rows []distRow
	next, seen, total := 0.0, int64(0), h.Count()
	from, to := h.used()
	for i := from; i < to; {
		bound := coarse(h.inside(i), precision)
		for ; i < to && coarse(h.inside(i), precision) == bound; i++ {
			seen += h.counts[i]
		}
		reached := 100 * float64(seen) / float64(total)
		if seen == 0 || next > reached {
			continue
		}
		rows = append(rows, distRow{next, bound, seen})
		for next <= reached && seen < total {
			next = nextTick(next, 1)
		}
	}
	return append(rows, distRow{100, coarse(h.Max(), precision), total})
}

// cumulativeRows are the rows of the linear table: 0.1 ms steps to 2.1 ms, then 1 ms steps, left out
// where the count did not change. The first row is always there, and the last holds all samples.
func cumulativeRows(h *Histogram) []distRow {
	var rows []distRow
	level, seen, total := firstLevel, int64(0), h.Count()
	emit := func() {
		if len(rows) == 0 || rows[len(rows)-1].count != seen {
			rows = append(rows, distRow{percent(seen, total), level, seen})
		}
	}
	from, to := h.used()
	for i := from; i < to; i++ {
		if c := h.counts[i]; c > 0 {
			if low := max(bucketLow(min(i, slots-1)), h.min); low > level {
				emit()
				level = levelFor(low)
			}
			if i == slots {
				level = levelFor(h.max)
			}
			seen += c
		}
	}
	if total > 0 {
		emit()
	}
	return rows
}

const (
	firstLevel = int64(100_000)   // ns
	lastTenth  = int64(2_100_000) // the 0.1 ms step that follows 2 ms is still taken
)

// levelFor is the first level that is not below ns.
func levelFor(ns int64) int64 {
	if ns <= lastTenth {
		return max((ns+firstLevel-1)/firstLevel, 1) * firstLevel
	}
	const ms = 1_000_000
	return lastTenth + (ns-lastTenth+ms-1)/ms*ms
}
