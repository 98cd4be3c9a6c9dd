package softnetbacklog

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var lost = regexp.MustCompile(`received (\d+) lost (\d+)`)

// The receiver's own count of gaps in the sequence is what the backlog dropped: its
// socket lost nothing.
func TestTruth(t *testing.T) {
	labtest.Each(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		sink := s.ProcessOf("telemetry")
		before, gone := softnet(t), gaps(t, sink)
		full := labtest.Growth(t, s, s.Name("rx"), "Udp", "RcvbufErrors", 5*time.Second)
		after, now := softnet(t), gaps(t, sink)
		dropped, squeezed := after.Dropped-before.Dropped, after.Squeezed-before.Squeezed
		missing := now - gone
		switch v {
		case lab.Sick:
			if dropped < 100 || missing < 100 || full > missing/10 {
				t.Errorf("the backlog dropped %d, the receiver missed %d, its buffer was full %d times", dropped, missing, full)
			}
		default:
			if missing > 20 {
				t.Errorf("%s: the receiver missed %d", v, missing)
			}
			if v == lab.Distractor && squeezed == 0 {
				t.Error("no squeezes: nothing distracts")
			}
		}
	})
}

func softnet(t *testing.T) lab.Softnet {
	t.Helper()
	rows, err := lab.ReadSoftnet()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%d CPUs, %v", len(rows), err)
	}
	return rows[1]
}

// gaps is what the receiver said last.
func gaps(t *testing.T, p *lab.Process) uint64 {
	t.Helper()
	all := lost.FindAllStringSubmatch(p.Printed(), -1)
	if len(all) == 0 {
		t.Fatalf("the receiver said %q", p.Printed())
	}
	n, err := strconv.ParseUint(all[len(all)-1][2], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
