package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"
	"unicode"

	"respbench/runner"
)

// Values are strict: decimal digits with an optional minus, 64 bits, in range. redis-benchmark's atoi turns "1e6"
// into 1 and 5000000000 into 705032704 without a word; here both are told.

// number is an option's value that remembers whether it was given, since its default depends on the mode.
type number struct {
	v     int64
	given bool
}

// or is the value, or the mode's default.
func (n number) or(def int64) int64 {
	if n.given {
		return n.v
	}
	return def
}

// digits parses a strict decimal number.
func digits(text string) (int64, error) {
	body := strings.TrimPrefix(text, "-")
	if body == "" || strings.Trim(body, "0123456789") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseInt(text, 10, 64)
}

// whole sets a number from low to high.
func whole(n *number, low, high int64) func(string) error {
	return func(text string) error {
		v, err := digits(text)
		switch {
		case errors.Is(err, strconv.ErrRange): // "at least 1" would not say what is wrong with 20 digits
			return fmt.Errorf("must be a whole number from %d to %d", low, high)
		case err != nil || v < low || v > high:
			return wrongRange(low, high)
		}
		*n = number{v, true}
		return nil
	}
}

// wholeInt is whole for a plain int.
func wholeInt(p *int, low, high int64) func(string) error {
	var n number
	set := whole(&n, low, high)
	return func(text string) error {
		if err := set(text); err != nil {
			return err
		}
		*p = int(n.v)
		return nil
	}
}

func wrongRange(low, high int64) error {
	switch {
	case high == math.MaxInt64 && low == math.MinInt64:
		return errors.New("must be a whole number")
	case high == math.MaxInt64:
		return fmt.Errorf("must be a whole number, at least %d", low)
	}
	return fmt.Errorf("must be a whole number from %d to %d", low, high)
}

// unsigned sets a 64-bit seed.
func unsigned(p *uint64, given *bool) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil || strings.Trim(text, "0123456789") != "" {
			return fmt.Errorf("must be a whole number from 0 to %d", uint64(math.MaxUint64))
		}
		*p, *given = v, true
		return nil
	}
}

// text sets a name or a path. `--json --csv` is a forgotten path, not a file called "--csv".
func text(p *string) func(string) error {
	return func(s string) error {
		switch {
		case s == "":
			return errors.New("must not be empty")
		case s[0] == '-' && s != "-":
			return errors.New("must not begin with a dash; is the value missing?")
		case strings.ContainsFunc(s, unicode.IsControl):
			return errors.New("must not contain control characters")
		}
		*p = s
		return nil
	}
}

// anyText sets a string.
func anyText(p *string) func(string) error {
	return func(s string) error {
		*p = s
		return nil
	}
}

// onOff sets a switch; `--csv=false` is possible.
func onOff(p *bool) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("must be true or false")
		}
		*p = v
		return nil
	}
}

// choice sets one of some words.
func choice[T any](p *T, words []string, values []T) func(string) error {
	return func(s string) error {
		for i, w := range words {
			if s == w {
				*p = values[i]
				return nil
			}
		}
		return errors.New("must be one of " + strings.Join(words, ", "))
	}
}

// word is choice for a string that is kept as typed.
func word(p *string, words ...string) func(string) error { return choice(p, words, words) }

// listOf appends each use of a repeatable option.
func listOf(p *[]string) func(string) error {
	return func(s string) error {
		if strings.TrimSpace(s) == "" {
			return errors.New("must not be empty")
		}
		*p = append(*p, s)
		return nil
	}
}

// duration sets a time: a plain number is seconds, and Go's form ("250ms", "1m30s") is understood.
func duration(p *time.Duration, low time.Duration) func(string) error {
	return func(s string) error {
		d, err := parseDuration(s)
		if err == errTooLong {
			return err
		}
		if err != nil || d < low {
			return fmt.Errorf("must be seconds (10, 0.5) or a time with unit (250ms, 1m30s), at least %v", low)
		}
		*p = d
		return nil
	}
}

// longest is a hundred years: times are added to each other and to the clock, in 64 bits of nanoseconds.
const longest = 100 * 365 * 24 * time.Hour

var errTooLong = fmt.Errorf("must be at most %.0fh", longest.Hours())

func parseDuration(s string) (d time.Duration, err error) {
	if s != "" && strings.Trim(s, "0123456789.") == "" {
		if n, err := strconv.ParseFloat(s, 64); err == nil && n > longest.Seconds() {
			return 0, errTooLong
		}
		s += "s"
	}
	if strings.HasPrefix(s, "+") {
		return 0, strconv.ErrSyntax
	}
	if d, err = time.ParseDuration(s); err == nil && d > longest {
		return 0, errTooLong
	}
	return d, err
}

// microseconds sets a duration given as a number of microseconds.
func microseconds(p *time.Duration) func(string) error {
	var n number
	set := whole(&n, 0, int64(time.Minute/time.Microsecond))
	return func(s string) error {
		err := set(s)
		*p = time.Duration(n.v) * time.Microsecond
		return err
	}
}

// ratio sets a share from 0 to 1.
func ratio(p *float64) func(string) error {
	return func(s string) error {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return errors.New("must be a number from 0 to 1")
		}
		*p = v
		return nil
	}
}

// maxCPU is the highest processor number that Linux's affinity mask of 1024 bits holds.
const maxCPU = 1023

// cpuList sets processor numbers: "0,2-3".
func cpuList(p *[]int) func(string) error {
	return func(s string) error {
		var list []int
		for part := range strings.SplitSeq(s, ",") {
			low, high, ok := span(part)
			if !ok || low > high || high > maxCPU {
				return errors.New("must be processor numbers such as 0,2-3")
			}
			for c := low; c <= high; c++ {
				list = append(list, int(c))
			}
		}
		*p = list
		return nil
	}
}

// span parses "3" or "3-5".
func span(s string) (low, high int64, ok bool) {
	a, b, ranged := strings.Cut(s, "-")
	low, err := digits(a)
	high = low
	if ranged && err == nil {
		high, err = digits(b)
	}
	return low, high, err == nil && low >= 0
}

// addresses sets a list of local IP addresses.
func addresses(p *[]string) func(string) error {
	return func(s string) error {
		list := strings.Split(s, ",")
		for _, a := range list {
			if net.ParseIP(a) == nil {
				return fmt.Errorf("%q is no IP address", a)
			}
		}
		*p = list
		return nil
	}
}

// listenAddress sets "host:port"; the host may be empty.
func listenAddress(p *string) func(string) error {
	return func(s string) error {
		_, port, err := net.SplitHostPort(s)
		n, bad := digits(port)
		if err != nil || bad != nil || n < 0 || n > maxPort {
			return errors.New("must be host:port, such as 127.0.0.1:9100 or :9100")
		}
		*p = s
		return nil
	}
}

const maxPort = 65535

// host sets a host name. `-h -p 6380` is a forgotten name, not a host called "-p".
func host(p *string) func(string) error {
	return func(s string) error {
		if s == "" || s[0] == '-' {
			return errors.New("must be a name or an address; -h alone, or last, is help")
		}
		if strings.ContainsFunc(s, blankOrControl) {
			return errors.New("must be a name or an address, without blanks")
		}
		if strings.Contains(s, "://") {
			return errors.New("must be a name or an address; a URI goes to -u")
		}
		if name, port, err := net.SplitHostPort(s); err == nil {
			return fmt.Errorf("must be a name or an address alone, with the port in -p: -h %s -p %s", name, port)
		}
		*p = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
		return nil
	}
}

// blankOrControl are the characters that no host's name has.
func blankOrControl(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }

// refused is an option that this program cannot offer; why is the end of the sentence.
func refused(typed, why string) func(string) error {
	return func(string) error { return usagef("%s is not supported: %s", typed, why) }
}

// dataSize sets -d, which redis-benchmark clamps instead of refusing.
func dataSize(n *number, warn func(string, ...any)) func(string) error {
	return func(s string) error {
		v, err := digits(s)
		if err != nil {
			return wrongRange(0, runner.MaxDataSize)
		}
		size := min(max(v, 1), runner.MaxDataSize)
		if size != v && v != 0 {
			warn("Data size %d is out of range, using %d.", v, size)
		}
		*n = number{size, true}
		return nil
	}
}
