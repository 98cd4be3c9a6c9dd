package listenoverflow

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
		srv := s.Name("server")
		overflows := labtest.Growth(t, s, srv, "TcpExt", "ListenOverflows", 3*time.Second)
		if (v == lab.Sick) != (overflows >= 30) || (v != lab.Sick && overflows != 0) {
			t.Errorf("ListenOverflows grew by %d", overflows)
		}
		line, ok := actor.LastLine(s.ProcessOf("playlist-cli").Printed())
		if !ok {
			t.Fatal("the clients printed no counts")
		}
		// A lost SYN is sent again after a second (RFC 6298, 2.1).
		if late := line.Max["connect"] >= 900; late != (v == lab.Sick) {
			t.Errorf("the slowest connect of the last second took %.1f ms", line.Max["connect"])
		}
		if v == lab.Distractor && line.P50["answer"] < 300 {
			t.Errorf("answers take %.1f ms: nothing distracts", line.P50["answer"])
		}
		if resets, err := s.Counter(srv, "Tcp", "EstabResets"); err != nil || resets != 0 {
			t.Errorf("%d resets (%v): that is another cause", resets, err)
		}
		t.Logf("%d overflows; last second: connect p50 %.1f ms, answer p50 %.1f ms", overflows, line.P50["connect"], line.P50["answer"])
	})
}
