package diskstall

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The client's own stopwatch: the sick server is late, and it is not once the
// backup is gone.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		client := s.ProcessOf("ledger-client")
		time.Sleep(3 * time.Second)
		sick := labtest.LastNumber(t, client.Printed(), `p50_ms ([0-9.]+)`)
		if v != lab.Sick {
			return
		}
		s.Stop(s.ProcessOf("nightly-backup"))
		time.Sleep(5 * time.Second)
		if after := labtest.LastNumber(t, client.Printed(), `p50_ms ([0-9.]+)`); sick < 3*after {
			t.Errorf("p50 %.1f ms beside the backup, %.1f ms without it: no harm to be seen", sick, after)
		}
	})
}
