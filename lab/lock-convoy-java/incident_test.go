package lockconvoyjava

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/lab/threadserver"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		p50, ok := threadserver.LastP50(s.ProcessOf("client").Printed())
		if !ok {
			t.Fatal("the client printed no latency")
		}
		t.Logf("half of the answers take %.0f ms", p50)
		if (v == lab.Sick) != (p50 > 300) {
			t.Errorf("%s: half of the answers take %.0f ms", v, p50)
		}
	})
}
