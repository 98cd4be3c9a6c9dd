package uplinkthrottledlayers

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/chain"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		s.Break()
		still, err := chain.Still(s, 6*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		waits, err := chain.Waits(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes wait for the edge; %v", v, waits, still)
		if (waits > 50_000) != (v == lab.Sick) {
			t.Errorf("%d bytes wait at the origin for the edge", waits)
		}
		if still["ingest"] > 1500*time.Millisecond || still["origin"] > 1500*time.Millisecond {
			t.Errorf("it stopped before the edge: %v", still)
		}
	})
}
