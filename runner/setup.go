package runner

import (
	"context"

	"respbench/netpoll"
	"respbench/workload"
)

// setUp sends what a plan needs to find on the server, once; in a cluster once to each primary.
func (s *session) setUp(ctx context.Context, p *workload.Plan) error {
	if len(p.Setup) == 0 {
		return nil
	}
	for _, ep := range s.primaries() {
		if err := s.setUpAt(ctx, ep, p.Setup); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) setUpAt(ctx context.Context, ep *netpoll.Endpoint, commands [][]string) error {
	c, err := s.openControlAt(ctx, ep)
	if err != nil {
		return err
	}
	defer c.close()
	for _, args := range commands {
		v, err := c.do(args...)
		switch {
		case err != nil:
			return err
		case isError(v):
			return &serverError{text: v.Str}
		}
	}
	return nil
}

// primaries are the servers that hold data of their own: the one, or those of the cluster.
func (s *session) primaries() []*netpoll.Endpoint { return s.serversOf(ReadFromPrimaries) }

// serversOf are the servers that get requests: the one, or nodes of the cluster.
func (s *session) serversOf(from ReadFrom) (list []*netpoll.Endpoint) {
	if s.cluster == nil {
		return []*netpoll.Endpoint{s.ep}
	}
	for _, number := range s.cluster.current.Load().loadNodes(from) {
		if ep := s.cluster.node(number).endpoint.Load(); ep != nil {
			list = append(list, ep)
		}
	}
	return list
}
