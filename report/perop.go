package report

// opMode is the mode of a Result that holds one command of a mix.
const opMode = "mix"

// ofAllOps are the columns of the CSV of bench.c mode that nobody can divide among the commands of a mix.
var ofAllOps = []string{"bytes_out", "bytes_in", "client_us_per_request", "client_cpu_percent", "mismatches", "conflicts"}

// PerOp is a mixed round as one Result for each kind of request, for outputs of a line or a row each: its
// counts and latencies, over the time of the whole round. Empty when there was one kind.
func (r *Result) PerOp() (list []*Result) {
	if len(r.Ops) < 2 {
		return nil
	}
	for _, o := range r.Ops {
		op := *r
		op.Title, op.Mode, op.SetCmd, op.GetCmd = o.Name, opMode, o.Name, ""
		op.Requests, op.ErrorTotal, op.Hits, op.Misses = o.Requests, o.Errors, o.Hits, o.Misses
		op.Conflicts, op.Mismatches, op.Verified, op.BytesIn, op.BytesOut = 0, 0, 0, 0, 0
		op.Latency, op.Response, op.Ops, op.CPU, op.Errors = o.Latency, nil, nil, CPU{}, nil
		list = append(list, &op)
	}
	return list
}
