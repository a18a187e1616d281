package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxSequence bounds the commands of a sequence, repeats included.
const maxSequence = 100_000

var errNoCommand = errors.New("empty command: the first word must be a command name")

// Command makes the plan of a command of one's own, as redis-benchmark sends it, or of a sequence as valkey-benchmark does:
// "[N] command args [';' [N] command args]", where N repeats the command. With hasLast, last is the last argument (-x); it is not
// part of the title. The words are sent as they stand but for their placeholders.
func Command(args []string, last []byte, hasLast bool, o TestOptions) (*Plan, error) {
	s := newScanner()
	s.random, s.cluster, s.columns = o.Random, o.Cluster, o.Dataset
	if o.Dataset == nil {
		s.data = payload(0, o.DataSize)
	}
	groups, err := splitSequence(args)
	if err != nil {
		return nil, err
	}
	var commands []command
	for i, g := range groups {
		words := make([][]byte, len(g.words))
		for j, word := range g.words {
			words[j] = []byte(word)
		}
		if hasLast && i == len(groups)-1 {
			words = append(words, last)
		}
		for range g.repeat {
			c, err := scanCommand(s, words)
			if err != nil {
				return nil, err
			}
			commands = append(commands, c)
		}
	}
	o.Seed = testSeed(o.Seed, o.Loop)
	p := classicPlan(strings.Join(args, " "), 0, commands, s, o)
	if o.Dataset != nil && !o.Dataset.used() {
		return nil, errors.New("--dataset: the command has no __field:name__")
	}
	for i := range p.unit {
		p.PayloadSize += p.requestSize(uint64(i))
	}
	return p, nil
}

func scanCommand(s *scanner, words [][]byte) (command, error) {
	args := make([][]piece, len(words))
	for i, word := range words {
		atoms, err := s.scan(word)
		if err != nil {
			return command{}, err
		}
		args[i] = atoms
	}
	c := newCommand(0, args)
	c.miss = missingIsNull(string(words[0]))
	return c, nil
}

// wordGroup is one command of a sequence.
type wordGroup struct {
	words  []string
	repeat int
}

// splitSequence splits at words that are ";" and takes a leading count off each command.
func splitSequence(args []string) ([]wordGroup, error) {
	var groups []wordGroup
	total := 0
	for words := range splitWords(args, ";") {
		if len(words) == 0 {
			continue
		}
		g := wordGroup{words, 1}
		if n, ok := repeatCount(words[0]); ok {
			g = wordGroup{words[1:], n}
		}
		if len(g.words) == 0 || strings.TrimSpace(g.words[0]) == "" {
			return nil, errNoCommand
		}
		if total += g.repeat; total > maxSequence {
			return nil, fmt.Errorf("the sequence has more than %d commands", maxSequence)
		}
		groups = append(groups, g)
	}
	if len(groups) == 0 {
		return nil, errNoCommand
	}
	return groups, nil
}

// splitWords yields the runs of words between separators.
func splitWords(words []string, separator string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for {
			at := slices.Index(words, separator)
			if at < 0 {
				yield(words)
				return
			}
			if !yield(words[:at]) {
				return
			}
			words = words[at+1:]
		}
	}
}

// repeatCount reads a word of digits that does not begin with 0; more than maxSequence counts as just above it.
func repeatCount(word string) (int, bool) {
	if word == "" || word[0] == '0' {
		return 0, false
	}
	n := 0
	for _, c := range []byte(word) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = min(n*10+int(c-'0'), maxSequence+1)
	}
	return n, true
}

// missingIsNull tells whether a null reply to the command means that the key does not exist.
func missingIsNull(name string) bool {
	switch strings.ToUpper(name) {
	case "GET", "RGET", "HGET", "GETEX", "GETDEL", "LPOP", "RPOP", "SPOP", "LINDEX", "SRANDMEMBER", "ZSCORE", "ZRANK", "ZREVRANK":
		return true
	}
	return false
}

// name is the command's first word in upper case.
func (c *command) name() string {
	var name []byte
	for i := range c.args[0] {
		switch p := &c.args[0][i]; p.kind {
		case pieceLiteral:
			name = append(name, p.literal...)
		default:
			name = append(name, '?') // a command name made of a placeholder
		}
	}
	return strings.ToUpper(string(name))
}
