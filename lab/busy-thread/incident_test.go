package busythread

import (
	"slices"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The client's own stopwatch: where the server has a long task, one answer in a hundred
// of a second in which it ran takes as long as that, and half of them are as quick as
// ever. The task comes every 0.5 to 1.5 s, so that a second may have none of it.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		client := s.ProcessOf("stock-client")
		time.Sleep(4 * time.Second)
		p50 := labtest.LastNumber(t, client.Printed(), `p50_ms ([0-9.]+)`)
		p99 := slices.Max(labtest.Numbers(t, client.Printed(), `p99_ms ([0-9.]+)`))
		if (v == lab.Sick) != (p99 >= 150) || p50 > 60 {
			t.Errorf("p50 %.1f ms, p99 %.1f ms", p50, p99)
		}
		t.Logf("%s: p50 %.1f ms, p99 %.1f ms", v, p50, p99)
	})
}
