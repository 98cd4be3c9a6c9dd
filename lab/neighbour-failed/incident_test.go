package neighbourfailed

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := labtest.Growth(t, s, s.Name("gateway"), "Udp", "InDatagrams", 4*time.Second)
		out, err := s.Output(s.Name("tx"), "ip", "neigh", "show", "dev", "eth0")
		if err != nil {
			t.Fatal(err)
		}
		dead := strings.Count(out, "FAILED") + strings.Count(out, "INCOMPLETE")
		switch {
		case v == lab.Sick && (got > 0 || dead != 1):
			t.Errorf("%d datagrams arrived, want none; neighbours:\n%s", got, out)
		case v == lab.Healthy && (got < 400 || dead > 0):
			t.Errorf("%d datagrams arrived, want most; neighbours:\n%s", got, out)
		case v == lab.Distractor && (got < 400 || dead < 3):
			t.Errorf("%d datagrams arrived, want most, and dead neighbours:\n%s", got, out)
		}
	})
}
