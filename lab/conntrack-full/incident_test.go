package conntrackfull

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		before, err := s.Conntrack(s.Name("server"), "drop")
		if err != nil {
			t.Fatal(err)
		}
		early, err := s.Conntrack(s.Name("server"), "early_drop")
		if err != nil {
			t.Fatal(err)
		}
		opened := labtest.Growth(t, s, s.Name("server"), "Tcp", "PassiveOpens", 5*time.Second)
		after, err := s.Conntrack(s.Name("server"), "drop")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d connections in 5 s, %d packets dropped, %d entries made room", v, opened, after-before, early)
		switch {
		case v == lab.Sick && (after-before < 10 || opened > 10):
			t.Error("want packets of new connections dropped, and hardly a connection")
		case v == lab.Healthy && (after > 0 || opened < 20):
			t.Error("want no packet dropped, and connections")
		case v == lab.Distractor && (after > 2 || early < 20):
			t.Error("want no packet dropped, and entries that made room")
		}
	})
}
