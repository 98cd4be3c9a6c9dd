package unixbacklog

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: by the clients' own account, who comes to a full backlog is refused at once.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(3 * time.Second)
		line, ok := actor.LastLine(s.ProcessOf("gateway").Printed())
		if !ok {
			t.Fatal("the clients printed no counts")
		}
		refused := line.Count["connect-failed"]
		if (v == lab.Sick) != (refused > 0) {
			t.Errorf("%d connects were refused", refused)
		}
		if line.Max["connect-failed"] > 100 {
			t.Errorf("a refusal took %.0f ms: it is to come at once", line.Max["connect-failed"])
		}
		if v == lab.Distractor && line.P50["answer"] < 300 {
			t.Errorf("answers take %.1f ms: nothing distracts", line.P50["answer"])
		}
		t.Logf("%d refused; answer p50 %.1f ms", refused, line.P50["answer"])
	})
}
