package cpusaturated

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The client's own stopwatch: the sick server is late, and it is not once the
// batch job is gone. The median says little: the kernel lets who slept run first.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		client := s.ProcessOf("api-client")
		time.Sleep(3 * time.Second)
		sick := labtest.LastNumber(t, client.Printed(), `p99_ms ([0-9.]+)`)
		if v != lab.Sick {
			return
		}
		t.Logf("p99 %.1f ms beside the batch job", sick)
		s.Stop(s.ProcessOf("report-batch"))
		time.Sleep(4 * time.Second)
		if after := labtest.LastNumber(t, client.Printed(), `p99_ms ([0-9.]+)`); sick < 2*after {
			t.Errorf("p99 %.1f ms beside the batch job, %.1f ms without it: no harm to be seen", sick, after)
		}
	})
}
