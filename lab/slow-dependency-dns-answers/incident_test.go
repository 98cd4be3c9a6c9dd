package slowdnsanswers

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: an answer takes as long as the name server does, which answers; the dead one
// of the distractor is asked by the job only.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		if v == lab.Sick && (p50 < 400 || p50 > 800) || v != lab.Sick && p50 > 200 {
			t.Errorf("half of the answers take %.0f ms", p50)
		}
		if v == lab.Distractor && !strings.Contains(s.ProcessOf("named-dead").Printed(), "queries") {
			t.Error("the job asked nobody")
		}
	})
}
