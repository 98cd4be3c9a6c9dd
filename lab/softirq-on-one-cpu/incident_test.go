package softirqononecpu

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// All packets of the receiver's interface are received on CPU 1, whichever CPU
// sends them; that it can't keep up is what its backlog drops. (How long it works is
// not asserted: other programs share this machine.)
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		before := rows(t)
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "InDatagrams", 3*time.Second)
		after := rows(t)
		if n := after[1].Processed - before[1].Processed; n < got*9/10 {
			t.Errorf("CPU 1 received %d packets of the %d datagrams", n, got)
		}
		dropped := after[1].Dropped - before[1].Dropped
		if (v == lab.Sick) != (dropped > 200) {
			t.Errorf("%s: CPU 1 dropped %d packets", v, dropped)
		}
	})
}

func rows(t *testing.T) []lab.Softnet {
	t.Helper()
	out, err := lab.ReadSoftnet()
	if err != nil || len(out) < 2 {
		t.Fatalf("%d CPUs, %v", len(out), err)
	}
	return out
}
