package runner

import (
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"respbench/netpoll"
)

// affinityHandler notes where its loop may run.
type affinityHandler struct {
	netpoll.Handler
	cpu *atomic.Int64
}

func (h affinityHandler) Tick(now int64) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil && set.Count() == 1 {
		for i := range 1024 {
			if set.IsSet(i) {
				h.cpu.Store(int64(i))
			}
		}
	}
	h.Handler.Tick(now)
}

// --cpu pins loop i to the i-th processor of the list, in turn; one that is not there is told by name.
func TestLoopsArePinned(t *testing.T) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for i := 0; len(cpus) < min(may.Count(), 2); i++ {
		if may.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	s := startServer(t, always("+OK\r\n"))
	ses := newTestSession(t, s.ln.Addr().String(), Load{Clients: 3, Threads: 3, Requests: 100, CPUs: cpus})
	var seen []*atomic.Int64
	measureRound(t, ses, func(r *round) {
		r.around = func(h netpoll.Handler) netpoll.Handler {
			at := new(atomic.Int64)
			at.Store(-1)
			seen = append(seen, at)
			return affinityHandler{h, at}
		}
	})
	for i, at := range seen {
		if want := int64(cpus[i%len(cpus)]); at.Load() != want {
			t.Errorf("loop %d runs on %d, want %d alone", i, at.Load(), want)
		}
	}
	if err := checkCPUs([]int{cpus[0], 1000}); err == nil || err.Error() != "invalid --cpu 1000: this process may use "+describeCPUs(&may) {
		t.Errorf("%v", err)
	}
	var set unix.CPUSet
	for _, i := range []int{0, 1, 2, 5, 7, 8} {
		set.Set(i)
	}
	if got := describeCPUs(&set); got != "0-2,5,7-8" {
		t.Errorf("%q", got)
	}
}
