package encoderstallhls

import (
	"testing"

	"snag/lab"
	"snag/lab/broadcast"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		broadcast.TruthOfHLS(t, s, v, map[lab.Variant]broadcast.Fault{lab.Sick: broadcast.NotSent, lab.Distractor: broadcast.NotPacked})
	})
}
