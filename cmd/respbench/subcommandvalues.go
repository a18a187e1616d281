package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// Numbers and times of the suite's and compare's own flags are as strict as the benchmark's: pflag's values would read
// 010 as eight and 0x5 as five, and refuse 5 where a time is asked for.

// strictInt is a whole number in decimal digits.
type strictInt struct{ p *int }

func (v strictInt) String() string { return strconv.Itoa(*v.p) }
func (v strictInt) Type() string   { return "int" }

func (v strictInt) Set(text string) error {
	n, err := digits(text)
	if err != nil || int64(int(n)) != n {
		return errors.New("must be a whole number")
	}
	*v.p = int(n)
	return nil
}

// strictSeed is a seed of 64 bits in decimal digits.
type strictSeed struct{ p *uint64 }

func (v strictSeed) String() string { return strconv.FormatUint(*v.p, 10) }
func (v strictSeed) Type() string   { return "uint" }

func (v strictSeed) Set(text string) error {
	var given bool
	return unsigned(v.p, &given)(text)
}

// strictTime is a time: seconds, or a number with its unit.
type strictTime struct{ p *time.Duration }

func (v strictTime) String() string { return v.p.String() }
func (v strictTime) Type() string   { return "duration" }

func (v strictTime) Set(text string) error { return duration(v.p, 0)(text) }

// filled is a text that is not empty when it is given: the empty variable of a script must not switch off what its name asks for.
type filled struct{ p *string }

func (v filled) String() string { return *v.p }
func (v filled) Type() string   { return "string" }

func (v filled) Set(text string) error {
	if text == "" {
		return errors.New("must not be empty")
	}
	*v.p = text
	return nil
}

func intVar(fs *pflag.FlagSet, p *int, name, short, usage string) {
	fs.VarP(strictInt{p}, name, short, usage)
}
