package spinlock

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// TestTruth: with more workers at a lock that spins, the client is answered less.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		before := answers(s)
		s.Break()
		time.Sleep(4 * time.Second)
		after := answers(s)
		t.Logf("%d answers per second before, %d after", before, after)
		if before == 0 || (v == lab.Sick) != (3*after < 2*before) {
			t.Errorf("%s: %d answers per second with two workers, %d with more", v, before, after)
		}
	})
}

// answers of the client's last second.
func answers(s *lab.Stage) int {
	last := 0
	for _, line := range strings.Split(s.ProcessOf("client").Printed(), "\n") {
		var n int
		if _, err := fmt.Sscanf(line, "answers %d ", &n); err == nil {
			last = n
		}
	}
	return last
}
