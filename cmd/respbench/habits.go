package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// pflag reads `-host x` as `-h ost` followed by the command `x`. redis-benchmark's users would measure the wrong
// server without a word, so argv is walked once before pflag sees it, with the same rules pflag has.

// secretMask stands for a password in anything that is printed or kept.
const secretMask = "***"

// optionValue is a value that pflag will find on the command line.
type optionValue struct {
	flag   *pflag.Flag
	word   int // index into args
	offset int // of the value inside the word
}

// walkOptions goes over the option part of args. It returns where every value stands, or an error for a word that
// pflag would take for something else than was meant. Unknown options are left for pflag to report.
func walkOptions(fs *pflag.FlagSet, args []string) ([]optionValue, error) {
	var values []optionValue
	for i := 0; i < len(args); i++ {
		word := args[i]
		if len(word) < 2 || word[0] != '-' || word == "--" {
			return values, nil // the command begins
		}
		if err := misread(fs, word); err != nil {
			return values, err
		}
		v, next := valueOf(fs, word)
		if v.flag == nil {
			continue
		}
		v.word = i
		if next {
			i++
			v.word, v.offset = i, 0
		}
		if v.word < len(args) {
			values = append(values, v)
		}
	}
	return values, nil
}

// misread refuses a long name behind one dash, and a letter behind two.
func misread(fs *pflag.FlagSet, word string) error {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	long := strings.HasPrefix(word, "--")
	switch {
	case long && len(name) == 1 && fs.ShorthandLookup(name) != nil:
		return invalidOption("--"+name, noSuchOption("--"+name, "-"+name))
	case !long && len(name) > 1 && fs.Lookup(name) != nil:
		return invalidOption("-"+name, noSuchOption("-"+name, "--"+name))
	}
	return nil
}

// valueOf finds the flag of a word that takes a value; next says that the value is the following word.
func valueOf(fs *pflag.FlagSet, word string) (v optionValue, next bool) {
	if name, long := strings.CutPrefix(word, "--"); long {
		name, _, has := strings.Cut(name, "=")
		if f := fs.Lookup(name); f != nil && f.NoOptDefVal == "" {
			return optionValue{flag: f, offset: len("--") + len(name) + len("=")}, !has
		}
		return optionValue{}, false
	}
	for i := 1; i < len(word); i++ {
		f := fs.ShorthandLookup(word[i : i+1])
		if f == nil {
			return optionValue{}, false
		}
		if f.NoOptDefVal != "" {
			continue
		}
		offset := i + 1
		if offset < len(word) && word[offset] == '=' {
			offset++
		}
		return optionValue{flag: f, offset: offset}, i+1 == len(word)
	}
	return optionValue{}, false
}

// withoutSecrets is a copy of args in which the values of secret options are masked.
func withoutSecrets(args []string, values []optionValue, rows []row) []string {
	out := append([]string(nil), args...)
	for _, v := range values {
		if r := find(rows, v.flag.Name); r != nil && r.secret {
			out[v.word] = out[v.word][:v.offset] + secretMask
		}
	}
	return out
}
