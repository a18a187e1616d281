package runner

import (
	"sort"
	"strings"

	"respbench/report"
)

// errorCounts counts error replies by text.
type errorCounts map[string]int64

// Texts can hold what differs each time (a key, a slot): of each code, the first word, so many texts
// are counted by themselves and the others together. So memory stays flat, and the code of every
// error is known. Codes are few; those of a server that invents them are counted together.
const (
	maxTextsPerCode = 20
	maxTexts        = 1000
	otherTexts      = " (other texts)"
	otherText       = "(other errors)"
)

func (e *errorCounts) add(text string) { e.addN(text, 1) }

func (e *errorCounts) addN(text string, n int64) {
	if *e == nil {
		*e = errorCounts{}
	}
	text = named(text)
	if _, known := (*e)[text]; !known {
		text = e.room(text)
	}
	(*e)[text] += n
}

// room is the text that a new one is counted under.
func (e *errorCounts) room(text string) string {
	code, _, _ := strings.Cut(text, " ")
	same := 0
	for known := range *e {
		if c, _, _ := strings.Cut(known, " "); c == code {
			same++
		}
	}
	switch {
	case same >= maxTextsPerCode:
		return code + otherTexts
	case len(*e) >= maxTexts:
		return otherText
	}
	return text
}

func (e errorCounts) total() (n int64) {
	for _, k := range e {
		n += k
	}
	return n
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

// example gives the most frequent of the counted texts that a server sent, in one line; the counts are sorted.
func example(list []report.Count) string {
	for _, c := range list {
		if c.Text != otherText && !strings.HasSuffix(c.Text, otherTexts) {
			return report.OneLine(c.Text)
		}
	}
	return list[0].Text
}
