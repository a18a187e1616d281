package workload

// Whoever sends requests to the node of their key has to know which argument the key is, and asks the server once for each
// template: a command as it was written, before anything took the place of its placeholders.

// Templates is the number of the plan's templates; at least one.
func (p *Plan) Templates() int { return p.count }

// Template is the number of request i's template, from 0.
func (p *Plan) Template(i uint64) int {
	c, _ := p.locate(i)
	return c.template
}

// Sample returns the words of a template with some draw in the place of each placeholder, each word cut to limit bytes. It is nil
// when there is no such template.
func (p *Plan) Sample(template, limit int) []string {
	for e := range p.entries {
		for k := range p.entries[e].commands {
			c := &p.entries[e].commands[k]
			if c.template != template {
				continue
			}
			words := make([]string, len(c.args))
			for a := range c.args {
				words[a] = p.sampleWord(c, a, &execution{entry: &p.entries[e]}, limit)
			}
			return words
		}
	}
	return nil
}

func (p *Plan) sampleWord(c *command, arg int, x *execution, limit int) string {
	var word []byte
	for k := range c.args[arg] {
		if len(word) < limit {
			word = p.appendPiece(word, c, &c.args[arg][k], x)
		}
	}
	return string(word[:min(len(word), limit)])
}

// Execution is the run through a command sequence that request i is part of: requests first … first+n-1. For a single command it
// is the request itself.
func (p *Plan) Execution(i uint64) (first uint64, n int) {
	_, x := p.locate(i)
	return x.first, len(x.entry.commands)
}
