package runner

import (
	"context"
	"errors"
	"fmt"

	"respbench/netpoll"
	"respbench/report"
)

// probeCluster finds the nodes and asks each for its configuration, as probe does of one server.
func (s *session) probeCluster(ctx context.Context) (err error) {
	if s.o.Target.Socket != "" {
		return fmt.Errorf("--cluster needs a host and a port: nodes are not reached through a socket file")
	}
	if s.cluster, err = s.newCluster(ctx); err != nil {
		return err
	}
	l := s.cluster.current.Load()
	for _, number := range l.loadNodes(s.o.Target.ReadFrom) {
		n := s.cluster.node(number)
		if err := n.failed.Load(); err != nil {
			return fmt.Errorf("Could not connect to Redis at %w", *err)
		}
		node, err := s.probeNode(ctx, n.endpoint.Load())
		var refused *tlsError
		if errors.As(err, &refused) && n.addr != s.ep.Name {
			refused.node = n.addr
		}
		if err != nil {
			return err
		}
		info := l.infos[number]
		node.ID, node.Addr, node.Role = info.id, n.addr, "primary"
		if info.replica {
			node.Role = "replica"
		}
		s.server.Nodes = append(s.server.Nodes, node)
	}
	if !s.o.Load.Threaded && s.o.Mode == Classic { // as redis-benchmark: a loop for each node
		s.o.Load.Threads, s.o.Load.Threaded = len(s.server.Nodes), true
		s.reserveProcessors()
	}
	s.tellUncovered(l)
	return s.preamble()
}

// tellUncovered says that a part of the cluster is not measured: the tests' keys are made for the slots that are served.
func (s *session) tellUncovered(l *layout) {
	missing := slotCount
	for i := range l.shards {
		if p := &l.shards[i]; len(p.loadNodes(s.o.Target.ReadFrom)) > 0 {
			missing -= len(p.slots)
		}
	}
	if missing > 0 {
		fmt.Fprintf(s.io.Stderr, "WARNING: %d of the cluster's %d slots have no node that is up; tests leave them out, and a command with a key there fails\n",
			missing, slotCount)
	}
}

func (s *session) probeNode(ctx context.Context, ep *netpoll.Endpoint) (node report.ClusterNode, err error) {
	c, err := s.openControlAt(ctx, ep)
	if err != nil {
		return node, err
	}
	defer c.close()
	ep.Prefer(c.conn.RemoteAddr())
	conf, err := s.config(ctx, c, ep)
	return report.ClusterNode{HasConfig: conf.HasConfig, Save: conf.Save, AppendOnly: conf.AppendOnly}, err
}

// preamble is redis-benchmark's list of the nodes. It prints it in front of CSV, too, which then is
// none any more.
func (s *session) preamble() error {
	if s.o.Output.CSV || s.o.Mode != Classic {
		return nil
	}
	word, name := "master", "Master"
	if s.o.Target.ReadFrom != ReadFromPrimaries {
		word, name = "load", "Node"
	}
	out := s.io.Stdout
	if _, err := fmt.Fprintf(out, "Cluster has %d %s nodes:\n\n", len(s.server.Nodes), word); err != nil {
		return err
	}
	for i, n := range s.server.Nodes {
		id := n.ID
		if id != "" {
			id += " "
		}
		role := ""
		if name == "Node" {
			role = " (" + n.Role + ")"
		}
		if _, err := fmt.Fprintf(out, "%s %d%s: %s%s\n", name, i, role, id, n.Addr); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}

// tellRedirects says on stderr what was tried again, unless the report has a line for it.
func (s *session) tellRedirects(res *report.Result) {
	out := &s.o.Output
	if len(res.Redirects) == 0 || out.Additions && !out.CSV && !out.Quiet {
		return
	}
	text := ""
	for _, c := range res.Redirects {
		text += fmt.Sprintf(" %s %d", c.Text, c.N)
	}
	fmt.Fprintf(s.io.Stderr, "WARNING: %s: requests were tried again after%s; none of these counts as a reply\n", res.Title, text)
}
