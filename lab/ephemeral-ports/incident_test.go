package ephemeralports

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/actor"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		time.Sleep(2 * time.Second)
		line, ok := actor.LastLine(s.ProcessOf("report-app").Printed())
		if !ok {
			t.Fatal("the client printed no counts")
		}
		out, err := s.Output(s.Name("client"), "ss", "-Htan", "state", "time-wait", "dst", "10.77.11.2:3306")
		if err != nil {
			t.Fatal(err)
		}
		held := strings.Count(out, "\n")
		t.Logf("%s: %d ports in TIME-WAIT towards 10.77.11.2:3306, requests %v", v, held, line.Count)
		if failed := line.Count["EADDRNOTAVAIL"] > 0; failed != (v == lab.Sick) {
			t.Errorf("requests %v", line.Count)
		}
		if (v == lab.Sick) != (held >= 450 && held <= 500) {
			t.Errorf("%d ports of 500 are held", held)
		}
	})
}
