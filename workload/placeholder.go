package workload

import (
	"bytes"
	"fmt"
)

// The placeholders that an argument may contain. Which of them mean anything depends on the options: __rand_int__ only with -r,
// {tag} only in a cluster; otherwise the text goes to the server as it stands, as redis-benchmark does it.

const tagPlaceholder = "{tag}"

const (
	randomPlaceholder = "__rand_int__"
	keyPlaceholder    = "__key__"
	dataPlaceholder   = "__data__"
	columnPrefix      = "__field:"
	columnSuffix      = "__"
)

// sharedPlaceholders are valkey's numbers that all places of an execution share.
var sharedPlaceholders = [9]string{
	"__rand_1st__", "__rand_2nd__", "__rand_3rd__", "__rand_4th__", "__rand_5th__",
	"__rand_6th__", "__rand_7th__", "__rand_8th__", "__rand_9th__",
}

// Streams of a plan. Those of the __rand_int__ places follow, one each.
const (
	streamOp     = 0 // which entry of a mix
	streamKey    = 1 // which key
	streamShared = 2 // __rand_1st__ … __rand_9th__
	streamFree   = streamShared + len(sharedPlaceholders)
)

// scanner turns the text of arguments into pieces.
type scanner struct {
	random  bool     // replace __rand_…
	cluster bool     // replace {tag}
	data    []piece  // what __data__ becomes; nil leaves the text
	key     bool     // replace __key__
	columns *Dataset // replace __field:name__
	streams int      // streams given out so far
	numbers int      // __rand_int__ seen in this execution
}

func newScanner() *scanner { return &scanner{streams: streamFree} }

// scan splits one argument, which must not change from now on. Only a bad __field:…__ is an error.
func (s *scanner) scan(arg []byte) ([]piece, error) {
	var atoms []piece
	for start := 0; ; {
		at, length, found, err := s.next(arg, start)
		if err != nil {
			return nil, err
		}
		if length == 0 {
			if rest := arg[start:]; len(rest) > 0 || atoms == nil {
				atoms = append(atoms, piece{literal: rest})
			}
			return atoms, nil
		}
		if at > start {
			atoms = append(atoms, piece{literal: arg[start:at]})
		}
		atoms = append(atoms, found...)
		start = at + length
	}
}

// next finds the first placeholder at or behind start; length is 0 when there is none.
func (s *scanner) next(text []byte, start int) (at, length int, found []piece, err error) {
	for at = start; at < len(text); at++ {
		skip := bytes.IndexAny(text[at:], "_{")
		if skip < 0 {
			break
		}
		at += skip
		if length, found, err = s.match(text[at:]); length > 0 || err != nil {
			return at, length, found, err
		}
	}
	return 0, 0, nil, nil
}

// match compiles the placeholder that text begins with; 0 when it begins with none.
func (s *scanner) match(text []byte) (int, []piece, error) {
	switch {
	case text[0] == '{':
		if s.cluster && hasPrefix(text, tagPlaceholder) {
			return len(tagPlaceholder), []piece{{kind: pieceTag}}, nil
		}
	case !hasPrefix(text, "__"):
	case s.random && hasPrefix(text, randomPlaceholder):
		p := piece{kind: pieceNumber, index: s.streams, nth: s.numbers}
		s.streams++
		s.numbers++
		return placeholderLen, []piece{p}, nil
	case s.key && hasPrefix(text, keyPlaceholder):
		return len(keyPlaceholder), []piece{{kind: pieceKey}}, nil
	case s.data != nil && hasPrefix(text, dataPlaceholder):
		return len(dataPlaceholder), s.data, nil
	case s.columns != nil && hasPrefix(text, columnPrefix):
		return s.column(text)
	case s.random:
		for i, name := range sharedPlaceholders {
			if hasPrefix(text, name) {
				return placeholderLen, []piece{{kind: pieceNumber, index: streamShared + i, nth: -1}}, nil
			}
		}
	}
	return 0, nil, nil
}

func (s *scanner) column(text []byte) (int, []piece, error) {
	text = text[len(columnPrefix):]
	end := bytes.Index(text, []byte(columnSuffix))
	if end < 0 {
		return 0, nil, nil
	}
	name := string(text[:end])
	col, err := s.columns.column(name)
	if err != nil {
		return 0, nil, fmt.Errorf("%s%s%s: %w", columnPrefix, name, columnSuffix, err)
	}
	return len(columnPrefix) + len(name) + len(columnSuffix), []piece{{kind: pieceColumn, index: col}}, nil
}

func hasPrefix(text []byte, prefix string) bool {
	return len(text) >= len(prefix) && string(text[:len(prefix)]) == prefix
}
