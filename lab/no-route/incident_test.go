package noroute

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		dropped := labtest.Growth(t, s, s.Name("router"), "IpExt", "InNoRoutes", 4*time.Second)
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "InDatagrams", 2*time.Second)
		switch {
		case v == lab.Sick && (dropped < 200 || got > 0):
			t.Errorf("%d packets had no route and %d arrived, want all to have none", dropped, got)
		case v == lab.Healthy && (dropped > 0 || got < 200):
			t.Errorf("%d packets had no route and %d arrived, want none and most", dropped, got)
		case v == lab.Distractor && (dropped < 1 || dropped > 5 || got < 200):
			t.Errorf("%d packets had no route and %d arrived, want a few and most", dropped, got)
		}
	})
}
