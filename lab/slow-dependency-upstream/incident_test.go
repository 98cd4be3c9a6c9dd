package slowupstream

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: an answer takes as long as the upstream does, or as nginx holds it back.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		if v != lab.Healthy && (p50 < 300 || p50 > 900) || v == lab.Healthy && p50 > 200 {
			t.Errorf("half of the answers take %.0f ms", p50)
		}
	})
}
