package runner

import (
	"sort"

	"respbench/report"
)

// errorCounts counts error replies by text.
type errorCounts map[string]int64

// Texts can hold what differs each time (a key, a slot): beyond maxTexts they are counted
// together, so that memory stays flat.
const (
	maxTexts  = 200
	otherText = "(other errors)"
)

func (e *errorCounts) add(text string) { e.addN(text, 1) }

func (e *errorCounts) addN(text string, n int64) {
	if *e == nil {
		*e = errorCounts{}
	}
	if _, known := (*e)[text]; !known && len(*e) >= maxTexts {
		text = otherText
	}
	(*e)[text] += n
}

func (e errorCounts) sorted() []report.Count {
	list := make([]report.Count, 0, len(e))
	for text, n := range e {
		list = append(list, report.Count{Text: text, N: n})
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].N != list[j].N {
			return list[i].N > list[j].N
		}
		return list[i].Text < list[j].Text
	})
	return list
}
