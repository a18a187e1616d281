package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"respbench/protocol"
	"respbench/workload"
)

// Which argument of a command is its first key? The server knows: COMMAND INFO tells the position,
// and where that depends on the other arguments (EVAL, XREAD) COMMAND GETKEYS tells the key.

// routing is how the requests of one round find their nodes. It is made before the loops start.
type routing struct {
	plan   *workload.Plan
	tagged bool // requests hold {tag}: any slot of a connection's node will do
	keyed  bool // requests have a slot, and with it a node, of their own
	groups bool // some requests follow others on the same connection
	key    []int
	inside []bool // by template: it stands between MULTI and EXEC
	from   ReadFrom
}

// keySampleBytes of a word are enough to find keys; values may be large.
const keySampleBytes = 256

// newRouting asks for each template of the plan.
func (cl *cluster) newRouting(ctx context.Context, r *round) (*routing, error) {
	p := r.plan
	rt := &routing{plan: p, tagged: p.HasTag(), groups: p.Unit() > 1}
	c, err := cl.s.openControl(ctx)
	if err != nil {
		return nil, err
	}
	defer c.close()
	reads, inside := true, false
	for t := range p.Templates() {
		words := p.Sample(t, keySampleBytes)
		spec, err := c.keySpec(words)
		if err != nil {
			return nil, err
		}
		name := strings.ToUpper(words[0])
		rt.inside = append(rt.inside, inside && name != "EXEC")
		inside = name == "MULTI" || inside && name != "EXEC" && name != "DISCARD"
		rt.key = append(rt.key, spec.key)
		rt.keyed = rt.keyed || spec.key > 0 && !rt.tagged
		reads = reads && spec.reads
	}
	rt.keyed = rt.keyed || len(r.schedule) > 0 // what is due does not wait for a node that suits
	if reads {
		rt.from = r.target.ReadFrom
	}
	return rt, nil
}

// keySpec is what there is to know of a command.
type keySpec struct {
	key   int  // the argument that is the first key; 0 = it has none
	reads bool // it changes nothing
}

// keySpec asks the server. Of a command that the server does not know, or will not tell, the first
// argument is taken for the key: redirects put right what that gets wrong.
func (c *control) keySpec(words []string) (keySpec, error) {
	guess := keySpec{key: min(len(words)-1, 1)}
	v, err := c.do("COMMAND", "INFO", words[0])
	if err != nil {
		return guess, err
	}
	if isError(v) || len(v.Elems) == 0 || len(v.Elems[0].Elems) < 6 {
		return guess, nil
	}
	info := v.Elems[0].Elems
	if sub := subcommand(info, words); sub != nil {
		info = sub
	}
	movable := hasFlag(info, "movablekeys")
	spec := keySpec{key: int(info[3].Int), reads: hasFlag(info, "readonly")}
	if movable {
		if spec.key, err = c.movableKey(words); err != nil {
			return guess, err
		}
	}
	if spec.key <= 0 || spec.key >= len(words) {
		spec.key = 0
		spec.reads = spec.reads || !movable && !hasFlag(info, "write")
	}
	return spec, nil
}

func hasFlag(info []protocol.Value, flag string) bool {
	return slices.ContainsFunc(info[2].Elems, func(v protocol.Value) bool { return v.Str == flag })
}

// subcommand finds "xgroup|create" in the description of XGROUP (Redis 7).
func subcommand(info []protocol.Value, words []string) []protocol.Value {
	if len(info) < 10 || len(words) < 2 {
		return nil
	}
	want := strings.ToLower(words[0] + "|" + words[1])
	for _, sub := range info[9].Elems {
		if len(sub.Elems) >= 6 && sub.Elems[0].Str == want {
			return sub.Elems
		}
	}
	return nil
}

// movableKey finds the argument that GETKEYS takes for the first key. Where several arguments have
// its text, the right one is that whose change changes the answer.
func (c *control) movableKey(words []string) (int, error) {
	key, err := c.firstKey(words)
	if err != nil || key == nil {
		return 0, err
	}
	var same []int
	for i := 1; i < len(words); i++ {
		if words[i] == *key {
			same = append(same, i)
		}
	}
	if len(same) == 1 {
		return same[0], nil
	}
	for _, i := range same {
		changed := slices.Clone(words)
		changed[i] += "~"
		key, err := c.firstKey(changed)
		if err != nil {
			return 0, err
		}
		if key != nil && *key == changed[i] {
			return i, nil
		}
	}
	return 0, nil
}

// firstKey is nil when the command has no key, or the server does not tell.
func (c *control) firstKey(words []string) (*string, error) {
	v, err := c.do(append([]string{"COMMAND", "GETKEYS"}, words...)...)
	if err != nil || isError(v) || len(v.Elems) == 0 {
		return nil, err
	}
	return &v.Elems[0].Str, nil
}

// slot is the slot of request i; noSlot when it has none, or when a tag decides.
func (rt *routing) slot(i uint64, scratch *[]byte) int16 {
	if rt.tagged {
		return noSlot
	}
	arg := rt.key[rt.plan.Template(i)]
	if arg == 0 {
		return noSlot
	}
	*scratch = rt.plan.AppendArg((*scratch)[:0], i, arg)
	return int16(keySlot(*scratch))
}

// group is the requests from i on that stay together, and their slot: that of the first one with a
// key.
func (rt *routing) group(i uint64, scratch *[]byte) (n int, slot int16) {
	if !rt.groups {
		return 1, rt.slot(i, scratch)
	}
	_, n = rt.plan.Execution(i)
	slot = noSlot
	for k := range n {
		if slot = rt.slot(i+uint64(k), scratch); slot != noSlot {
			break
		}
	}
	return n, slot
}

const noSlot = -1

// route prepares the round for a cluster: how requests are routed, and how many loops can be used.
// A loop that sends requests to the node of their key needs a connection to every node.
func (r *round) route(ctx context.Context) (err error) {
	if r.routes, err = r.cluster.newRouting(ctx, r); err != nil {
		return err
	}
	nodes := len(r.cluster.current.Load().loadNodes(r.routes.from))
	if r.load.Clients < nodes {
		return fmt.Errorf("--cluster: %d nodes get load: -c %d is too few, needs at least %d clients", nodes, r.load.Clients, nodes)
	}
	if r.routes.keyed {
		r.load.Threads = min(r.load.Threads, r.load.Clients/nodes)
	}
	return nil
}
