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
		srv, cli := s.Name("server"), s.Name("players")
		failedBefore, err := s.Counter(cli, "Tcp", "AttemptFails")
		if err != nil {
			t.Fatal(err)
		}
		resets := labtest.Growth(t, s, srv, "Tcp", "EstabResets", 3*time.Second)
		if (v == lab.Sick) != (resets >= 20) || (v != lab.Sick && resets != 0) {
			t.Errorf("EstabResets grew by %d", resets)
		}
		failed, err := s.Counter(cli, "Tcp", "AttemptFails")
		if err != nil {
			t.Fatal(err)
		}
		if knocks := failed - failedBefore; (v == lab.Distractor) != (knocks >= 20) {
			t.Errorf("AttemptFails grew by %d", knocks)
		}
		line, ok := actor.LastLine(s.ProcessOf("feed-server").Printed())
		if !ok {
			t.Fatal("the server printed no counts")
		}
		for _, no := range []string{"ECONNRESET", "EPIPE"} {
			if (v == lab.Sick) != (line.Count[no] > 0) {
				t.Errorf("the server met %d %s", line.Count[no], no)
			}
		}
		t.Logf("%d resets in 3 s; server: %v", resets, line.Count)
	})
}
