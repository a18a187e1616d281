package runner

import (
	"strconv"

	"respbench/protocol"
	"respbench/report"
	"respbench/workload"
)

// verifier compares every byte of every reply to a read with what the key must hold.
type verifier struct {
	on         bool
	missIsBad  bool // the keyspace was written before: a miss is a mismatch
	verified   int64
	mismatches int64
	samples    []report.Mismatch
}

const (
	maxSamples  = 5
	sampleBytes = 32 // shown of a value, from the wrong byte on
)

// piece compares a part of the body of the reply to request c.first.
func (v *verifier) piece(c *client, p *workload.Plan, off int64, piece []byte) {
	if !v.on || !p.Verifies(c.first) || c.bad {
		return
	}
	if i := p.ValueMatches(c.first, off, piece); i >= 0 {
		c.bad = true
		if len(v.samples) < maxSamples {
			v.sample(c, p, int(off)+i, piece[i:])
		}
	}
}

// complete judges the whole reply.
func (v *verifier) complete(c *client, p *workload.Plan, r *protocol.Reply) {
	if !p.Verifies(c.first) || c.class == classError {
		return
	}
	wasBad := c.bad
	c.bad = false
	if r.Null && !v.missIsBad {
		return
	}
	v.verified++
	switch {
	case r.Null:
		v.add(c, p, -2, nil)
	case wasBad:
		v.mismatches++
	case r.Kind != protocol.BulkString:
		v.add(c, p, -3, wireStart(r))
	case r.Len != int64(p.ValueLen(c.first)):
		v.add(c, p, -1, nil)
	}
}

// wireStart is how a reply that is no bulk string begins on the wire.
func wireStart(r *protocol.Reply) []byte {
	b := []byte(r.Kind.String())
	switch r.Kind {
	case protocol.Integer, protocol.Bool, protocol.Array, protocol.Map, protocol.Set:
		return strconv.AppendInt(b, r.Int, 10)
	case protocol.Verbatim:
		return strconv.AppendInt(b, r.Len, 10)
	}
	return append(b, r.Text...)
}

func (v *verifier) add(c *client, p *workload.Plan, offset int, got []byte) {
	v.mismatches++
	if len(v.samples) < maxSamples {
		v.sample(c, p, offset, got)
	}
}

func (v *verifier) sample(c *client, p *workload.Plan, offset int, got []byte) {
	want := p.AppendValue(nil, c.first)
	if offset > 0 && offset < len(want) {
		want = want[offset:]
	}
	v.samples = append(v.samples, report.Mismatch{Key: string(p.AppendKey(nil, c.first)), Offset: offset,
		Expected: string(want[:min(len(want), sampleBytes)]), Got: string(got[:min(len(got), sampleBytes)])})
}
