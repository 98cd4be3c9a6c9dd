package observer

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The streams are well in every variant: only snag is not.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		rx := s.Name("rx")
		if got := labtest.Growth(t, s, rx, "Udp", "InDatagrams", 3*time.Second); got < 300 {
			t.Errorf("%s: %d datagrams arrived in 3 s, of 600", v, got)
		}
		for _, field := range []string{"RcvbufErrors", "NoPorts"} {
			if n, err := s.Counter(rx, "Udp", field); err != nil || n != 0 {
				t.Errorf("%s: Udp %s is %d, %v", v, field, n, err)
			}
		}
	})
}
