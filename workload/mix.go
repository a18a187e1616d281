package workload

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MixOptions are what a mix of weighted commands depends on.
type MixOptions struct {
	Keyspace     int64 // of __key__ and __rand_int__; 1 to 10^12
	Dist         KeyDist
	Size         ValueSize // of __data__
	Compressible float64   // as in BenchOptions
	KeyPrefix    string    // __key__ is this and a number
	Seed         uint64
	Cluster      bool // {tag} is replaced
}

// maxUnit bounds the commands of a mix's unit.
const maxUnit = 10_000

// Mix makes the plan of a workload of weighted commands. An entry is "W:COMMAND args" with a positive integer W, or without "W:" for
// weight 1. Arguments are separated by blanks and may be quoted as in redis-cli. A ";" of its own separates the commands of a
// sequence, such as "1:MULTI ; INCR __key__ ; EXEC", that goes to the server as one unit. In all arguments __key__ is the key of
// the execution, __data__ the value that belongs to it, __rand_int__ a number for each place.
//
// Weights count executions: with "3:GET __key__" and "1:MULTI ; … ; EXEC" there are three GETs to a transaction. As all units have
// the same number of requests, single commands then come in groups of as many as the transaction has.
func Mix(entries []string, o MixOptions) (*Plan, error) {
	if len(entries) == 0 {
		return nil, errors.New("--mix: no command")
	}
	if o.Keyspace < 1 || o.Keyspace > maxNumber {
		return nil, fmt.Errorf("invalid keyspace %d: must be 1 to %d", o.Keyspace, int64(maxNumber))
	}
	p := &Plan{
		Title:       "MIX",
		PayloadSize: o.Size.Max(),
		unit:        1,
		keys:        o.Dist.over(o.Keyspace),
		values:      newValues(valuePool(o.Compressible), o.KeyPrefix, o.Size),
		prefix:      []byte(o.KeyPrefix),
	}
	s := newScanner()
	s.random, s.key, s.cluster, s.data = true, true, o.Cluster, []piece{{kind: pieceValue}}
	weights := make([]uint64, len(entries))
	for i, text := range entries {
		weight, err := p.addMixEntry(text, s)
		if err != nil {
			return nil, fmt.Errorf("--mix %q: %w", text, err)
		}
		n := len(p.entries[i].commands)
		weights[i] = weight * uint64(n) // a unit holds unit/n executions
		if p.unit = leastCommonMultiple(p.unit, n); p.unit > maxUnit {
			return nil, fmt.Errorf("--mix: the sequences' lengths have no common multiple up to %d", maxUnit)
		}
	}
	for i, upTo := range cumulative(weights) {
		p.entries[i].upTo = upTo
	}
	return p.finish(o.Seed, s.streams), nil
}

func leastCommonMultiple(a, b int) int {
	gcd, rest := a, b
	for rest > 0 {
		gcd, rest = rest, gcd%rest
	}
	return a / gcd * b
}

// addMixEntry compiles one entry and returns its weight.
func (p *Plan) addMixEntry(text string, s *scanner) (weight uint64, err error) {
	weight = 1
	if before, after, found := strings.Cut(text, ":"); found && !strings.ContainsAny(before, " \t\"'") {
		if weight, err = parseWeight(before); err != nil {
			return 0, err
		}
		text = after
	}
	words, err := splitQuoted(text)
	if err != nil {
		return 0, err
	}
	groups, err := splitSequence(words)
	if err != nil {
		return 0, err
	}
	e := entry{upTo: math.MaxUint64}
	s.numbers = 0
	for _, g := range groups {
		args := make([][]byte, len(g.words))
		for i, word := range g.words {
			args[i] = []byte(word)
		}
		for range g.repeat {
			c, err := scanCommand(s, args)
			if err != nil {
				return 0, err
			}
			if c.args[0][0].kind != pieceLiteral {
				return 0, errNoCommand
			}
			c.op = p.opIndex(strings.Join(g.words, " "))
			c.known = len(c.args) == 2 && isPiece(c.args[1], pieceKey) && slices.Contains([]string{"GET", "RGET", "HGET"}, c.name())
			c.writes = len(c.args) == 3 && isPiece(c.args[1], pieceKey) && isPiece(c.args[2], pieceValue)
			e.commands = append(e.commands, c)
		}
	}
	e.numbers = s.numbers
	p.entries = append(p.entries, e)
	return weight, nil
}

// opIndex returns the index of an op, and makes it one if it is not.
func (p *Plan) opIndex(op string) int {
	at := slices.Index(p.ops, op)
	if at < 0 {
		at = len(p.ops)
		p.ops = append(p.ops, op)
	}
	return at
}

// isPiece tells whether an argument is one piece of that kind.
func isPiece(arg []piece, kind pieceKind) bool { return len(arg) == 1 && arg[0].kind == kind }

// splitQuoted splits text at blanks. In 'single quotes' everything stands for itself but \'; in "double quotes" \n \r \t \a \b \xHH
// mean what they do in redis-cli, and any other escaped character itself.
func splitQuoted(text string) ([]string, error) {
	var words []string
	for at := 0; ; {
		for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) >= 0 {
			at++
		}
		if at == len(text) {
			return words, nil
		}
		var word []byte
		for at < len(text) && strings.IndexByte(" \t\r\n", text[at]) < 0 {
			quote := text[at]
			if quote != '"' && quote != '\'' {
				word = append(word, quote)
				at++
				continue
			}
			n, quoted := unquote(text[at+1:], quote)
			if n < 0 {
				return nil, fmt.Errorf("the quote at column %d is not closed", at+1)
			}
			word = append(word, quoted...)
			at += n + 1
		}
		words = append(words, string(word))
	}
}

// unquote reads text up to the closing quote and returns the bytes read; -1 when there is none.
func unquote(text string, quote byte) (n int, word []byte) {
	for n < len(text) {
		c := text[n]
		n++
		if c == quote {
			return n, word
		}
		if c == '\\' && n < len(text) && (quote == '"' || text[n] == '\'') {
			if text[n] == 'x' && n+3 <= len(text) {
				if v, err := strconv.ParseUint(text[n+1:n+3], 16, 8); err == nil {
					word, n = append(word, byte(v)), n+3
					continue
				}
			}
			c = text[n]
			if at := strings.IndexByte("nrtab", c); at >= 0 && quote == '"' {
				c = "\n\r\t\a\b"[at]
			}
			n++
		}
		word = append(word, c)
	}
	return -1, nil
}
