package pmtublackhole

import (
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := labtest.Growth(t, s, s.Name("server"), "Tcp", "InSegs", 5*time.Second)
		tooBig, err := s.Counter(s.Name("router"), "Ip", "FragFails")
		if err != nil {
			t.Fatal(err)
		}
		told, err := s.Counter(s.Name("client"), "Icmp", "InDestUnreachs")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d segments in 5 s; %d were too big, %d messages said so", v, got, tooBig, told)
		switch {
		case v == lab.Sick && (tooBig < 4 || told > 0 || got > 30):
			t.Error("want segments too big, no message that says so, and nothing to come through")
		case v == lab.Healthy && (tooBig < 1 || told < 1 || got < 100):
			t.Error("want the first segments too big, a message that says so, and a stream")
		case v == lab.Distractor && (told < 1 || got > 30):
			t.Error("want the message to have come, and nothing to come through")
		}
	})
}
