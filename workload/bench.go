package workload

import (
	"fmt"
	"math"
	"strings"
)

// BenchOptions are the workload of bench.c mode: keys prefix+number, the number in [0, Keyspace).
type BenchOptions struct {
	Op           string // "set", "get" or "mixed"
	Keyspace     int64  // 1 to 10^12
	Size         ValueSize
	Compressible float64 // share of each value that a compressor can remove, 0 to 1; 0 = printable text
	SetRatio     int     // percent of SETs in mixed mode
	SetCmd       string
	GetCmd       string
	KeyPrefix    string
	Seed         uint64
	Dist         KeyDist
}

// probeKeys is how many keys Probe asks for.
const probeKeys = 1000

// Bench makes the plan of bench.c mode.
func Bench(o BenchOptions) (*Plan, error) {
	switch o.Op {
	case "set":
		return benchPlan(o, 100)
	case "get":
		return benchPlan(o, 0)
	case "mixed":
		if o.SetRatio < 0 || o.SetRatio > 100 {
			return nil, fmt.Errorf("invalid --set-ratio %d: must be 0 to 100", o.SetRatio)
		}
		return benchPlan(o, o.SetRatio)
	}
	return nil, fmt.Errorf("invalid --mode %q: must be set, get or mixed", o.Op)
}

// Prefill makes the plan that writes each key of the keyspace once, in order.
func Prefill(o BenchOptions) (*Plan, error) {
	o.Dist = Sequential
	p, err := benchPlan(o, 100)
	if err == nil {
		p.Requests = o.Keyspace
	}
	return p, err
}

// Probe makes the plan that reads at most 1000 keys spread evenly over the keyspace, to see whether they are there.
func Probe(o BenchOptions) (*Plan, error) {
	o.Dist = KeyDist{}
	p, err := benchPlan(o, 0)
	if err == nil {
		p.Requests = min(probeKeys, o.Keyspace)
		p.keys = spread(uint64(o.Keyspace), uint64(p.Requests))
	}
	return p, err
}

// benchPlan makes the plan with that percentage of writes.
func benchPlan(o BenchOptions, setRatio int) (*Plan, error) {
	if o.Keyspace < 1 || o.Keyspace > maxNumber {
		return nil, fmt.Errorf("invalid --keyspace %d: must be 1 to %d", o.Keyspace, int64(maxNumber))
	}
	for _, c := range []struct{ option, name string }{{"--set-cmd", o.SetCmd}, {"--get-cmd", o.GetCmd}} {
		if c.name == "" || strings.ContainsAny(c.name, " \t\r\n") || c.name == keyPlaceholder {
			return nil, fmt.Errorf("invalid %s %q: must be one command name", c.option, c.name)
		}
	}
	p := &Plan{
		Title:       strings.ToUpper(o.Op),
		PayloadSize: o.Size.Max(),
		unit:        1,
		keys:        o.Dist.over(o.Keyspace),
		values:      newValues(valuePool(o.Compressible), o.KeyPrefix, o.Size),
		prefix:      []byte(o.KeyPrefix),
	}
	key := []piece{{kind: pieceKey}}
	if setRatio > 0 {
		c := newCommand(len(p.ops), [][]piece{{literalPiece(o.SetCmd)}, key, {{kind: pieceValue}}})
		c.writes = true
		p.add(o.SetCmd, c)
	}
	if setRatio < 100 {
		c := newCommand(len(p.ops), [][]piece{{literalPiece(o.GetCmd)}, key})
		c.miss, c.known = true, true
		p.add(o.GetCmd, c)
	}
	if len(p.entries) > 1 {
		p.entries[0].upTo = cumulative([]uint64{uint64(setRatio), uint64(100 - setRatio)})[0]
	}
	return p.finish(o.Seed, streamFree), nil
}

// add appends an entry of one command.
func (p *Plan) add(op string, c command) {
	p.ops = append(p.ops, op)
	p.entries = append(p.entries, entry{upTo: math.MaxUint64, commands: []command{c}})
}
