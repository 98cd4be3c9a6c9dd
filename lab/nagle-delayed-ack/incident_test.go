package nagledelayedack

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
		acks := labtest.Growth(t, s, s.Name("server"), "TcpExt", "DelayedACKs", 4*time.Second)
		line, ok := actor.LastLine(s.ProcessOf("api-client").Printed())
		if !ok {
			t.Fatal("the client printed no counts")
		}
		p50 := line.P50["request"]
		if late := p50 >= 30; late != (v != lab.Healthy) {
			t.Errorf("a request takes %.1f ms", p50)
		}
		// Every held write is let go by a delayed ACK of the server, one a request.
		if v == lab.Sick && acks < 40 {
			t.Errorf("only %d delayed ACKs in 4 s: it was not they that held the writes", acks)
		}
		t.Logf("request p50 %.1f ms, %d delayed ACKs in 4 s", p50, acks)
	})
}
