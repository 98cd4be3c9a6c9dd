package serverstalllayers

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
		still, err := chain.Still(s, 7*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %v", v, still)
		const stood, flows = 2 * time.Second, 1500 * time.Millisecond
		if (still["edge"] > stood) != (v != lab.Healthy) {
			t.Errorf("the edge got hardly anything for %s", still["edge"])
		}
		if v == lab.Sick && still["ingest"] > flows {
			t.Errorf("the ingest got hardly anything for %s: it was not the origin", still["ingest"])
		}
		if v == lab.Distractor && still["ingest"] < stood {
			t.Errorf("the ingest got hardly anything for %s only: it was not the encoder", still["ingest"])
		}
	})
}
