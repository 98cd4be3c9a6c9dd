package udpreceivebufferfull

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		rx := s.Name("rx")
		before, err := s.Counter(rx, "Udp", "RcvbufErrors")
		if err != nil {
			t.Fatal(err)
		}
		got := labtest.Growth(t, s, rx, "Udp", "RcvbufErrors", 2*time.Second)
		if (v == lab.Sick) != (got > 100) || (v != lab.Sick && got != 0) {
			t.Errorf("%s: RcvbufErrors grew by %d", v, got)
		}
		if v == lab.Distractor && before == 0 {
			t.Error("no drops from before the window: nothing distracts")
		}
	})
}
