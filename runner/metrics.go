package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// --metrics: the running figures in Prometheus's text format, on /metrics of a small HTTP server. A scrape
// reads what the loops have handed over; it never asks a loop.

// scrapeLimit bounds a scrape that does not end.
const scrapeLimit = 5 * time.Second

// openMetrics listens, so that an address in use is told before the run; closing ends the server.
func (s *session) openMetrics() (closing func(), err error) {
	addr := s.o.Output.Metrics
	if addr == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--metrics: cannot listen on %s: %s", addr, plainError(err))
	}
	s.figures = &figures{}
	metrics.ExposeMetadata(true) // the # TYPE of each
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.figures.metrics().WritePrometheus(w)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: scrapeLimit, WriteTimeout: scrapeLimit}
	go func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			s.logLine("--metrics: " + plainError(err))
		}
	}()
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
		defer cancel()
		_ = srv.Shutdown(ctx) // a scrape that is under way may end
	}, nil
}

// metrics is the figures as they are now.
func (f *figures) metrics() *metrics.Set {
	set := metrics.NewSet()
	for _, t := range f.counts() {
		label := `{test="` + labelValue(t.title) + `"}`
		counter := func(name string, n int64) { set.GetOrCreateCounter(name + label).AddInt64(n) }
		counter("respbench_requests_total", t.requests)
		counter("respbench_errors_total", t.errors)
		counter("respbench_received_bytes_total", t.bytesIn)
		counter("respbench_sent_bytes_total", t.bytesOut)
	}
	v := f.view()
	if v.title == "" {
		return set
	}
	test := `test="` + labelValue(v.title) + `"`
	gauge := func(name, more string, value float64) {
		set.NewGauge(name+"{"+test+more+"}", func() float64 { return value })
	}
	gauge("respbench_clients", "", float64(v.clients))
	gauge("respbench_pipeline", "", float64(v.pipeline))
	if v.lasted > 0 {
		gauge("respbench_requests_per_second", "", perSecond(v.last.Requests, v.lasted))
	}
	if v.offered > 0 {
		gauge("respbench_offered_requests_per_second", "", v.offered)
	}
	if v.last.Requests == 0 { // no reply, no latency: 0 would be the best of all
		return set
	}
	for _, q := range []struct {
		name string
		d    time.Duration
	}{{"0.5", v.last.P50}, {"0.99", v.last.P99}, {"0.999", v.last.P999}, {"1", v.last.Max}} {
		gauge("respbench_latency_seconds", `,quantile="`+q.name+`"`, q.d.Seconds())
	}
	return set
}

// labelValue is a title as a label's value, on one line.
func labelValue(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(printable(s))
}
