package workerqueueprocesses

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: 8 clients of 2 workers wait for some naps of 50 ms, of which one is their
// own; with workers enough, for one.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		least, most := 100.0, 500.0
		switch v {
		case lab.Healthy:
			least, most = 50, 110
		case lab.Distractor:
			least, most = 400, 700
		}
		if p50 < least || p50 > most {
			t.Errorf("half of the answers take %.0f ms, want %.0f to %.0f", p50, least, most)
		}
	})
}
