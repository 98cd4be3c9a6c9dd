package slowdns

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: an answer takes the resolver's timeout where the first name server is dead,
// and as long where the handler itself does; whom the server asks is its own resolv.conf's.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		s.AwaitOutput(s.ProcessOf("client"), "a second of answers", func(printed string) bool {
			return strings.Count(printed, "answers") >= 2
		})
		time.Sleep(time.Second)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		if v == lab.Healthy && p50 > 200 || v != lab.Healthy && (p50 < 2000 || p50 > 3000) {
			t.Errorf("half of the answers take %.0f ms", p50)
		}
		if !strings.Contains(s.ProcessOf("named1").Printed(), "queries") {
			t.Error("the first name server was not asked")
		}
		if asked := strings.Contains(s.ProcessOf("named2").Printed(), "queries"); asked != (v == lab.Sick) {
			t.Errorf("the second name server was asked: %v", asked)
		}
	})
}
