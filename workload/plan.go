package workload

import "math"

// Plan says what request i of a round is; i counts over all connections and begins at 0. A Plan does not change after it is
// built and may be used by all loops at once.
type Plan struct {
	// Title is what redis-benchmark prints for the test: its name, or the words of the command.
	Title string
	// PayloadSize is the number of the report's line "N bytes payload".
	PayloadSize int
	// Requests is how many requests the plan has by its nature (Prefill, Probe); 0 = as many as are asked for.
	Requests int64
	// Setup are commands to be sent once to each node before the round; they are neither counted nor measured.
	Setup [][]string

	ops     []string
	entries []entry // what an execution may be; one, unless it is a mix
	unit    int     // requests per unit
	keys    keys
	values  values
	prefix  []byte // of __key__
	streams []stream
	data    *Dataset
	count   int  // commands of all entries
	tag     bool // some argument holds {tag}
	known   bool // some reply must be the key's value

	template *template // for requests that keep their length
	keyed    *keyed    // for bench mode with small values
}

// entry is a command, or a sequence of commands that belong together, with its share of the units.
type entry struct {
	upTo     uint64 // a unit whose draw is at most this, and above the entry before, is of this entry
	commands []command
	numbers  int // __rand_int__ places of the whole execution
}

// execution is one run through the commands of an entry: all its requests share numbers, key and row.
type execution struct {
	entry   *entry
	first   uint64 // index of its first request: the counter of its draws
	ordinal uint64 // it is the ordinal-th of its kind, for whatever goes in sequence
	key     uint64 // number of its key, once it is drawn
	drawn   bool
}

// locate finds the command of request i and the execution that it belongs to.
func (p *Plan) locate(i uint64) (*command, execution) {
	e, at := p.find(i)
	if at == 0 && len(e.commands) == 1 {
		return &e.commands[0], execution{entry: e, first: i, ordinal: i}
	}
	return &e.commands[at], execution{entry: e, first: i - at, ordinal: (i - at) / uint64(len(e.commands))}
}

// command finds the command of request i.
func (p *Plan) command(i uint64) *command {
	e, at := p.find(i)
	return &e.commands[at]
}

// find finds the entry of request i and which of the entry's commands it is.
func (p *Plan) find(i uint64) (*entry, uint64) {
	if p.unit == 1 {
		if len(p.entries) == 1 {
			return &p.entries[0], 0
		}
		return p.pick(i), 0
	}
	unit, pos := i/uint64(p.unit), i%uint64(p.unit)
	e := p.pick(unit)
	return e, pos % uint64(len(e.commands))
}

func (p *Plan) pick(unit uint64) *entry {
	draw := p.streams[streamOp].at(unit)
	e := 0
	for draw > p.entries[e].upTo {
		e++
	}
	return &p.entries[e]
}

// Ops are the kinds of requests, by their command names; at least one.
func (p *Plan) Ops() []string { return p.ops }

// Op is the index into Ops of request i.
func (p *Plan) Op(i uint64) int {
	return p.command(i).op
}

// Unit is the number of requests that belong together, such as those of MULTI … EXEC: requests n·Unit to n·Unit+Unit-1 go to one
// connection in one pipeline. It is 1 for single commands.
func (p *Plan) Unit() int { return p.unit }

// FixedLen tells whether all units have the same length on the wire.
func (p *Plan) FixedLen() bool {
	return len(p.entries) == 1 && p.entries[0].size() >= 0
}

// HasTag tells whether requests hold a {tag} that SetTag replaces.
func (p *Plan) HasTag() bool { return p.tag }

// size is the length of the whole execution on the wire; -1 when it changes.
func (e *entry) size() int {
	total := 0
	for i := range e.commands {
		if e.commands[i].size < 0 {
			return -1
		}
		total += e.commands[i].size
	}
	return total
}

// finish completes a plan whose entries and sources are set: streams, flags, fast paths.
func (p *Plan) finish(seed uint64, streams int) *Plan {
	p.streams = make([]stream, streams)
	for f := range p.streams {
		p.streams[f] = newStream(seed, f)
	}
	p.entries[len(p.entries)-1].upTo = math.MaxUint64
	for e := range p.entries {
		for c := range p.entries[e].commands {
			p.entries[e].commands[c].template = p.count
			p.count++
			p.entries[e].commands[c].short = p.shortSize(&p.entries[e].commands[c])
			p.known = p.known || p.entries[e].commands[c].known
			for _, pc := range p.entries[e].commands[c].pieces {
				p.tag = p.tag || pc.kind == pieceTag
			}
		}
	}
	p.template = newTemplate(p)
	p.keyed = newKeyed(p)
	return p
}
