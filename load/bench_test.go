package load

import (
	"context"
	"testing"
	"time"
)

// BenchmarkRequest is what a request takes when the thread never waits for the service: most of it is the kernel's.
// go test -run - -bench Request -cpuprofile cpu.out ./load; go tool pprof -focus 'load.*step' cpu.out
func BenchmarkRequest(b *testing.B) {
	for _, url := range []string{"tcp://127.0.0.1:1", "udp://127.0.0.1:1", "http://127.0.0.1:1/", "grpc://127.0.0.1:1/s/m"} {
		b.Run(url[:4], func(b *testing.B) {
			to, err := ParseTarget(url, Request{Size: 64, Reply: 64})
			if err != nil {
				b.Fatal(err)
			}
			n, err := NewNull(to)
			if err != nil {
				b.Fatal(err)
			}
			defer n.Close()
			for b.Loop() {
				r, err := Run(context.Background(), Plan{Target: n.Target, Conns: 16, For: time.Second, Timeout: time.Second, Options: SocketOptions{CPU: -1}})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(r.Rate(), "answers/s")
				b.ReportMetric(1e9*r.CPU/float64(r.Done), "CPU-ns/answer")
			}
		})
	}
}

// BenchmarkEngine is what this program itself takes of a request, without a call of the kernel: the order of the
// connections and the histograms.
func BenchmarkEngine(b *testing.B) {
	r := madeRun(Plan{Rate: 40_000, Conns: 64, For: time.Hour}, make([]conn, 64)...)
	for i := range r.conns {
		c := &r.conns[i]
		c.fd, c.at = -1, free
		r.order.add(c, &r.plan)
	}
	for b.Loop() {
		c := r.order.first()
		r.order.remove(c)
		c.due = r.plan.due(c.next)
		c.sent, c.at = max(c.due, c.freeAt), waiting
		note(r.out.Lag, 0)
		r.openChanged(1)
		r.now = c.sent + 100*time.Microsecond
		r.answered(c, 0)
	}
}
