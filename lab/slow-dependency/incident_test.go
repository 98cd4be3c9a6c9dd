package slowdependency

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		if (v == lab.Sick) != (p50 >= 400) || v != lab.Sick && p50 > 100 {
			t.Errorf("%s: half of the answers take %.0f ms", v, p50)
		}
		// What lies between is no reason: the path answers a ping of TCP at once.
		out, err := s.Output(s.Name("api"), "ss", "-Htni", "dst", "10.78.5.2:5432")
		if err != nil || !strings.Contains(out, "minrtt:0.") || strings.Contains(out, "retrans:") {
			t.Errorf("the connections to the backend: %v\n%s", err, out)
		}
	})
}
