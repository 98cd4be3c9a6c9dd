package reconnectstorm

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
	"snag/lab/origin"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	if err := origin.Check(); err != nil {
		t.Fatal(err)
	}
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		const window = 3 * time.Second
		org := s.Name("origin")
		resets, err := s.Counter(org, "Tcp", "EstabResets")
		if err != nil {
			t.Fatal(err)
		}
		player := s.ProcessOf("player1")
		watched := strings.Count(player.Printed(), "frame=")
		opens := labtest.Growth(t, s, org, "Tcp", "PassiveOpens", window)
		perSecond := float64(opens) / window.Seconds()
		if v == lab.Sick && perSecond < 200 {
			t.Errorf("only %.0f connects/s: no storm", perSecond)
		}
		if v != lab.Sick && perSecond > 20 {
			t.Errorf("%.0f connects/s: that is a storm", perSecond)
		}
		out, err := s.Output(org, "ss", "-Htan", "state", "time-wait")
		if err != nil {
			t.Fatal(err)
		}
		waiting := strings.Count(out, ":1935")
		if (v == lab.Sick) != (waiting > 500) {
			t.Errorf("%d sockets in TIME-WAIT at the origin", waiting)
		}
		if strings.Count(player.Printed(), "frame=") <= watched {
			t.Error("the player has stopped")
		}
		for n := range edges {
			line, ok := actor.LastLine(s.ProcessOf(fmt.Sprintf("edge-relay%d", n+1)).Printed())
			if !ok {
				t.Fatal("an edge printed no counts")
			}
			t.Logf("edge: %v, a refusal takes %.1f ms", line.Count, line.P50["not-found"])
			if v == lab.Healthy && (line.Count["playing"] != clients || line.Count["connect"] != clients || line.Count["message"] == 0) {
				t.Errorf("the edge does not just play: %v", line.Count)
			}
			if v != lab.Healthy && (line.Count["not-found"] == 0 || line.Count["failed"] > 0) {
				t.Errorf("the edge is not just refused: %v", line.Count)
			}
		}
		// The refusals are orderly: a storm must not pass for resets.
		now, err := s.Counter(org, "Tcp", "EstabResets")
		if err != nil {
			t.Fatal(err)
		}
		if now-resets > opens/20 {
			t.Errorf("%d resets in %d connections", now-resets, opens)
		}
		t.Logf("%.0f connects/s, %d in TIME-WAIT, %d resets", perSecond, waiting, now-resets)
	})
}
