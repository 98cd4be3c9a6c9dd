package peerreset

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		srv, cli := s.Name("server"), s.Name("clients")
		failedBefore, err := s.Counter(cli, "Tcp", "AttemptFails")
		if err != nil {
			t.Fatal(err)
		}
		resets := labtest.Growth(t, s, srv, "Tcp", "EstabResets", 3*time.Second)
		if (v == lab.Healthy) != (resets == 0) || v != lab.Healthy && resets < 20 {
			t.Errorf("EstabResets grew by %d", resets)
		}
		failed, err := s.Counter(cli, "Tcp", "AttemptFails")
		if err != nil {
			t.Fatal(err)
		}
		if knocks := failed - failedBefore; (v == lab.Distractor) != (knocks >= 20) {
			t.Errorf("AttemptFails grew by %d", knocks)
		}
		t.Logf("%d resets in 3 s", resets)
		if v != lab.Distractor {
			return
		}
		line, ok := actor.LastLine(s.ProcessOf("feed-server").Printed())
		if !ok {
			t.Fatal("the feed's server printed no counts")
		}
		if line.Count["ECONNRESET"]+line.Count["EPIPE"] == 0 {
			t.Errorf("no player left with unread data: %v", line.Count)
		}
	})
}
