package synflood

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		srv := s.Name("server")
		before, _ := actor.LastLine(s.ProcessOf("shop-client").Printed())
		over := labtest.Growth(t, s, srv, "TcpExt", "ListenOverflows", time.Second)
		drops := labtest.Growth(t, s, srv, "TcpExt", "ListenDrops", 4*time.Second)
		line, ok := actor.LastLine(s.ProcessOf("shop-client").Printed())
		if !ok {
			t.Fatal("the clients printed no counts")
		}
		connected := line.Count["connect"] - before.Count["connect"]
		t.Logf("%s: ListenDrops %d, ListenOverflows %d, %d connects in 5 s, the slowest of the last second took %.0f ms", v, drops, over, connected, line.Max["connect"])
		if (v == lab.Sick) != (drops > 100) || over > 20 {
			t.Errorf("%d SYNs dropped, %d overflows", drops, over)
		}
		// 40 per second come, and 300 in the distractor.
		if v == lab.Sick && connected > 150 && line.Max["connect"] < 900 || v != lab.Sick && connected < 100 {
			t.Errorf("%d connects, the slowest took %.0f ms", connected, line.Max["connect"])
		}
	})
}
