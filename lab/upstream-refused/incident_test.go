package upstreamrefused

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		failed := labtest.Growth(t, s, s.Name("app"), "Tcp", "AttemptFails", 3*time.Second)
		if (v == lab.Healthy) != (failed == 0) || v != lab.Healthy && failed < 20 {
			t.Errorf("%d connections failed", failed)
		}
		served, err := s.Counter(s.Name("backend"), "Tcp", "PassiveOpens")
		if err != nil || (v == lab.Healthy) != (served > 0) {
			t.Errorf("the upstream took %d connections: %v", served, err)
		}
		t.Logf("%d connections failed in 3 s, %d were served", failed, served)
	})
}
