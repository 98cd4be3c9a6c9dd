package workerqueue

import (
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: 20 clients of 2 workers wait for 20/2 naps of 25 ms (N = X·R), of which
// one is their own; with workers enough, for one.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		least, most := 100.0, 400.0
		switch v {
		case lab.Healthy:
			least, most = 20, 80
		case lab.Distractor:
			least, most = 400, 600
		}
		if p50 < least || p50 > most {
			t.Errorf("half of the answers take %.0f ms, want %.0f to %.0f", p50, least, most)
		}
		used, err := cpu(s.ProcessOf("thread-server").PID)
		if err != nil || used > 1 {
			t.Errorf("the server used %.2f s of CPU time, %v: it is to sleep", used, err)
		}
		t.Logf("half of the answers take %.0f ms; the server used %.2f s of CPU time", p50, used)
	})
}

// cpu is the time that a process has used, s.
func cpu(pid int) (float64, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	st, err := p.Stat()
	return st.CPUTime(), err
}
