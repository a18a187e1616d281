package runner

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// The values of a suite file, each with the message that says what would be right.

// fileKey is one key of a mapping and what takes its value.
type fileKey struct {
	name string
	set  func(*yaml.Node) error
}

// aliased is the node that a possible alias stands for.
func aliased(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func (f *suiteReader) mapping(n *yaml.Node, what string, keys []fileKey) error {
	m := aliased(n)
	if m.Kind != yaml.MappingNode {
		return f.errorAt(n, "%s must be lines of key: value", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		var row *fileKey
		var names []string
		for j := range keys {
			names = append(names, keys[j].name)
			if keys[j].name == k.Value {
				row = &keys[j]
			}
		}
		switch {
		case row == nil:
			return f.errorAt(k, "unknown key %q: %s has %s", k.Value, what, strings.Join(names, ", "))
		case seen[k.Value]:
			return f.errorAt(k, "key %q is there twice", k.Value)
		}
		seen[k.Value] = true
		if err := row.set(m.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// listMost bounds a list: more is a mistake of an alias, not a matrix.
const listMost = 1000

func (f *suiteReader) list(n *yaml.Node, what string, each func(*yaml.Node) error) error {
	l := aliased(n)
	if l.Kind != yaml.SequenceNode || len(l.Content) > listMost {
		return f.errorAt(n, "%s must be a list of at most %d, each behind a dash", what, listMost)
	}
	for _, item := range l.Content {
		if err := each(item); err != nil {
			return err
		}
	}
	return nil
}

// scalar is the text of a value as it stands in the file.
func (f *suiteReader) scalar(n *yaml.Node) (string, bool) {
	s := aliased(n)
	return s.Value, s.Kind == yaml.ScalarNode && s.Tag != "!!null"
}

func (f *suiteReader) text(p *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, ok := f.scalar(n)
		if !ok || v == "" {
			return f.errorAt(n, "must be a text")
		}
		*p = v
		return nil
	}
}

func (f *suiteReader) word(p *string, words ...string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, _ := f.scalar(n)
		for _, w := range words {
			if v == w {
				*p = v
				return nil
			}
		}
		return f.errorAt(n, "%q must be one of %s", v, strings.Join(words, ", "))
	}
}

func (f *suiteReader) yes(p *bool) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, _ := f.scalar(n)
		switch strings.ToLower(v) {
		case "true", "yes", "on":
			*p = true
		case "false", "no", "off":
			*p = false
		default:
			return f.errorAt(n, "%q must be true or false", v)
		}
		return nil
	}
}

// fileInt takes a whole number; 1_000_000 and 1e6 are whole too.
func fileInt[T int | int64 | uint64](f *suiteReader, p *T, low, high int64) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, _ := f.scalar(n)
		plain := strings.ReplaceAll(v, "_", "")
		i, err := strconv.ParseInt(plain, 10, 64)
		if x, bad := strconv.ParseFloat(plain, 64); err != nil && bad == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 {
			i, err = int64(x), nil
		}
		if err != nil || i < low || i > high {
			return f.errorAt(n, "%q must be a whole number from %d to %d", v, low, high)
		}
		*p = T(i)
		return nil
	}
}

// seed takes all 64 bits.
func (f *suiteReader) seed(p *uint64) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, _ := f.scalar(n)
		if whole, err := strconv.ParseUint(v, 10, 64); err == nil {
			*p = whole
			return nil
		}
		return fileInt(f, p, 0, math.MaxInt64)(n) // 1e6, 1_000, and the message
	}
}

// span takes a time: seconds, or a number with its unit.
func (f *suiteReader) span(p *time.Duration, low time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, _ := f.scalar(n)
		text := v
		if text != "" && strings.Trim(text, "0123456789.") == "" {
			text += "s"
		}
		d, err := time.ParseDuration(text)
		switch {
		case err != nil || d < 0:
			return f.errorAt(n, "%q must be a time, such as 1s or 500ms", v)
		case d < low:
			return f.errorAt(n, "%q must be a time above 0", v)
		}
		*p = d
		return nil
	}
}

// pairs takes settings: every value is kept as it is written.
func (f *suiteReader) pairs(p *map[string]string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		m := aliased(n)
		if m.Kind != yaml.MappingNode {
			return f.errorAt(n, "settings must be lines of name: value")
		}
		*p = map[string]string{}
		for i := 0; i+1 < len(m.Content); i += 2 {
			k, v := m.Content[i], m.Content[i+1]
			text, ok := f.scalar(v)
			if _, twice := (*p)[k.Value]; twice {
				return f.errorAt(k, "setting %q is there twice", k.Value)
			}
			if !ok {
				return f.errorAt(v, `setting %s needs a value on its line (empty: "")`, fmt.Sprintf("%q", k.Value))
			}
			(*p)[k.Value] = text
		}
		return nil
	}
}
