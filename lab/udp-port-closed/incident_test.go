package udpportclosed

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "NoPorts", 5*time.Second)
		// Of five seconds the port is closed for three, at 200 datagrams per second.
		low, high := map[lab.Variant]uint64{lab.Sick: 200, lab.Distractor: 1}[v], map[lab.Variant]uint64{lab.Sick: 1000, lab.Distractor: 3}[v]
		if got < low || got > high {
			t.Errorf("%s: NoPorts grew by %d, want %d to %d", v, got, low, high)
		}
	})
}
