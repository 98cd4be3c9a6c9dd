package reversepathfilter

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		drops := labtest.Growth(t, s, s.Name("rx"), "TcpExt", "IPReversePathFilter", 3*time.Second)
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "InDatagrams", 2*time.Second)
		switch {
		case v == lab.Sick && (drops < 200 || got > 10):
			t.Errorf("%d packets failed the check of their source and %d arrived, want most to fail", drops, got)
		case v == lab.Healthy && (drops > 0 || got < 200):
			t.Errorf("%d packets failed the check of their source and %d arrived, want none to fail", drops, got)
		case v == lab.Distractor && (drops < 1 || drops > 5 || got < 200):
			t.Errorf("%d packets failed the check of their source and %d arrived, want a few and most", drops, got)
		}
	})
}
