package runner

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Suite files. The library parses YAML into nodes, which know their places; every key is a row here, so that
// a mistake is told with its line, its column and what would be right. A suite file is complete in itself:
// what it leaves out has the built-in default, whatever the environment says.

// ReadSuite reads a suite file; name is for messages. base has the defaults.
func ReadSuite(r io.Reader, name string, base SuiteSpec) (*SuiteSpec, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f := &suiteReader{name: name, lines: strings.Split(string(data), "\n"), spec: base}
	var root yaml.Node
	err = yaml.Load(data, &root)
	if f.empty() || err == nil && len(root.Content) == 0 {
		return nil, fmt.Errorf("%s: the file is empty (respbench suite --print-file shows a whole one)", name)
	}
	if err != nil {
		return nil, f.syntaxError(err)
	}
	if err := f.top(root.Content[0]); err != nil {
		return nil, err
	}
	if err := f.spec.Validate(); err != nil {
		return nil, f.placed(err)
	}
	return &f.spec, nil
}

// WriteSuite writes a suite as a file that ReadSuite reads back the same.
func WriteSuite(w io.Writer, s *SuiteSpec) error {
	data, err := yaml.Dump(s)
	if err != nil {
		return fmt.Errorf("suite file: %w", err)
	}
	_, err = w.Write(append([]byte(suiteHeader), data...))
	return err
}

const suiteHeader = `# A suite of respbench: every strategy of every system with every workload, rounds interleaved.
#   respbench suite --file THIS
# server: kvstore (settings are flags of "respbench serve"), redis (program: redis-server, valkey-server or a
# path; settings are its configuration) or running (address: HOST:PORT). op: set, get or mixed.
`

// suiteReader reads one file.
type suiteReader struct {
	name  string
	lines []string
	spec  SuiteSpec

	workloads, systems []*yaml.Node // where they are in the file
	strategies         [][]*yaml.Node
}

// empty tells whether there is nothing but comments.
func (f *suiteReader) empty() bool {
	return !slices.ContainsFunc(f.lines, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && line[0] != '#'
	})
}

func (f *suiteReader) top(n *yaml.Node) error {
	s := &f.spec
	return f.mapping(n, "the suite", []fileKey{
		{"title", f.text(&s.Title)},
		{"rounds", fileInt(f, &s.Rounds, 1, math.MaxInt32)},
		{"warmup", fileInt(f, &s.Warmup, 0, math.MaxInt32)},
		{"rest", f.span(&s.Rest, 0)},
		{"retries", fileInt(f, &s.Retries, 0, maxRetries)},
		{"ready", f.span(&s.Ready, 1)},
		{"seed", f.seed(&s.Seed)},
		{"clients", fileInt(f, &s.Clients, 1, MaxClients)},
		{"threads", fileInt(f, &s.Threads, 1, MaxThreads)},
		{"pipeline", fileInt(f, &s.Pipeline, 1, math.MaxInt32)},
		{"engine", f.word(&s.Engine, "epoll", "gnet")},
		{"out", f.text(&s.Out)},
		{"dir", f.text(&s.Dir)},
		{"lang", f.word(&s.Lang, "en", "zh")},
		{"workloads", func(n *yaml.Node) error {
			s.Workloads = nil
			return f.list(n, "workloads", f.workload)
		}},
		{"systems", func(n *yaml.Node) error {
			s.Systems = nil
			return f.list(n, "systems", f.system)
		}},
	})
}

func (f *suiteReader) workload(n *yaml.Node) error {
	w := SuiteWorkload{Requests: 1_000_000, Keyspace: 1_000_000, ValueSize: 32, SetRatio: 50}
	err := f.mapping(n, "a workload", []fileKey{
		{"name", f.text(&w.Name)},
		{"op", f.word(&w.Op, "set", "get", "mixed")},
		{"requests", fileInt(f, &w.Requests, 1, math.MaxInt64)},
		{"keyspace", fileInt(f, &w.Keyspace, 1, int64(MaxKeyspace))},
		{"value-size", fileInt(f, &w.ValueSize, 0, MaxDataSize)},
		{"set-ratio", fileInt(f, &w.SetRatio, 0, 100)},
		{"key-dist", f.text(&w.KeyDist)},
		{"prefill", f.yes(&w.Prefill)},
		{"verify", f.yes(&w.Verify)},
	})
	if w.Op == "" && err == nil {
		err = f.errorAt(n, "a workload needs an op: set, get or mixed")
	}
	if w.Op != "mixed" {
		w.SetRatio = 0
	}
	f.spec.Workloads = append(f.spec.Workloads, w)
	f.workloads = append(f.workloads, n)
	return err
}

func (f *suiteReader) system(n *yaml.Node) error {
	s := SuiteSystem{SetCmd: "SET", GetCmd: "GET"}
	var places []*yaml.Node
	err := f.mapping(n, "a system", []fileKey{
		{"name", f.text(&s.Name)},
		{"server", f.word(&s.Server, ServerKVStore, ServerRedis, ServerRunning)},
		{"program", f.text(&s.Program)},
		{"address", f.text(&s.Address)},
		{"port", fileInt(f, &s.Port, 0, 65535)},
		{"set-cmd", f.text(&s.SetCmd)},
		{"get-cmd", f.text(&s.GetCmd)},
		{"baseline", f.text(&s.Baseline)},
		{"strategies", func(n *yaml.Node) error {
			return f.list(n, "strategies", func(n *yaml.Node) error {
				places = append(places, n)
				return f.strategy(n, &s)
			})
		}},
	})
	if s.Server == ServerRedis && s.Program == "" {
		s.Program = redisProgram
	}
	f.spec.Systems = append(f.spec.Systems, s)
	f.systems, f.strategies = append(f.systems, n), append(f.strategies, places)
	return err
}

func (f *suiteReader) strategy(n *yaml.Node, s *SuiteSystem) error {
	st := SuiteStrategy{}
	err := f.mapping(n, "a strategy", []fileKey{
		{"name", f.text(&st.Name)},
		{"detail", f.text(&st.Detail)},
		{"persists", f.yes(&st.Persists)},
		{"settings", f.pairs(&st.Settings)},
	})
	s.Strategies = append(s.Strategies, st)
	return err
}

// placed gives a mistake that Validate found its line.
func (f *suiteReader) placed(err error) error {
	var e *specError
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	switch {
	case e.workload >= 0 && e.workload < len(f.workloads):
		return f.errorAt(f.workloads[e.workload], "%s", e.text)
	case e.system >= 0 && e.strategy >= 0:
		return f.errorAt(f.strategies[e.system][e.strategy], "%s", e.text)
	case e.system >= 0:
		return f.errorAt(f.systems[e.system], "%s", e.text)
	}
	return fmt.Errorf("%s: %s", f.name, e.text)
}

// syntaxError is what the library says of a file that is no YAML.
func (f *suiteReader) syntaxError(err error) error {
	var one *yaml.LoadError
	if errors.As(err, &one) && one.Mark.Line > 0 {
		return f.errorOn(one.Mark.Line, one.Mark.Column, "%s", one.Message)
	}
	return fmt.Errorf("%s: %s", f.name, plainYAML.Replace(err.Error()))
}

// plainYAML takes the library's inside out of its messages.
var plainYAML = strings.NewReplacer("go-yaml load error: ", "", "yaml: ", "", "construct errors: ", "", "<unknown position>: ", "",
	"expected single document, found multiple", "must be a single document: there is a second one behind a line ---")

func (f *suiteReader) errorAt(n *yaml.Node, format string, args ...any) error {
	return f.errorOn(n.Line, n.Column, format, args...)
}

// errorOn is a message with its place and the line that it is about.
func (f *suiteReader) errorOn(line, column int, format string, args ...any) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s:%d:%d: ", f.name, line, column)
	fmt.Fprintf(&b, format, args...)
	if line >= 1 && line <= len(f.lines) {
		text := strings.TrimRight(f.lines[line-1], "\r")
		number := fmt.Sprintf("%5d | ", line)
		fmt.Fprintf(&b, "\n%s%s", number, text)
		if column >= 1 && column <= len(text)+1 {
			fmt.Fprintf(&b, "\n%*s%s^", len(number), "| ", blanks(text[:column-1]))
		}
	}
	return errors.New(b.String())
}

// blanks is as wide as a text on the screen, tabs and all.
func blanks(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}
