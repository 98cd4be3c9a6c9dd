package processstopped

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		// Seconds in which the player's host took in less than a tenth of the stream.
		dry := 0
		for range 6 {
			if labtest.Growth(t, s, s.Name("source"), "IpExt", "InOctets", time.Second) < 50000 {
				dry++
			}
		}
		if (v == lab.Sick) != (dry >= 2) || v != lab.Sick && dry > 0 {
			t.Errorf("%s: %d of 6 seconds without the stream", v, dry)
		}
	})
}
