package receivertooslow

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The kernel's own counts: who is too slow loses in each second what it can't read, and a
// burst that is too large is lost, though its receiver has read all that was kept.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		rx := s.Name("rx")
		for second := range 3 {
			read, err := s.Counter(rx, "Udp", "InDatagrams")
			if err != nil {
				t.Fatal(err)
			}
			lost := labtest.Growth(t, s, rx, "Udp", "RcvbufErrors", time.Second)
			after, err := s.Counter(rx, "Udp", "InDatagrams")
			if err != nil {
				t.Fatal(err)
			}
			read = after - read
			t.Logf("%s: in second %d it read %d datagrams and lost %d", v, second, read, lost)
			if read < 50 || (v == lab.Sick) != (read < 300 && lost > 250) || (v == lab.Healthy) != (lost == 0) {
				t.Errorf("%s: it read %d datagrams and lost %d", v, read, lost)
			}
		}
	})
}
