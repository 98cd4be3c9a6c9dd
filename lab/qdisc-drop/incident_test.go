package qdiscdrop

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var sent = regexp.MustCompile(`dropped (\d+), overlimits (\d+)`)

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		d0, o0 := shaper(t, s)
		time.Sleep(2 * time.Second)
		d1, o1 := shaper(t, s)
		if (v == lab.Sick) != (d1 > d0+100) || v != lab.Sick && d1 != 0 {
			t.Errorf("%s: tbf dropped %d, then %d", v, d0, d1)
		}
		if v == lab.Distractor && o1 < o0+50 {
			t.Errorf("overlimits %d, then %d: nothing is shaped, so nothing distracts", o0, o1)
		}
	})
}

func shaper(t *testing.T, s *lab.Stage) (dropped, overlimits int) {
	t.Helper()
	out, err := s.Output(s.Name("tx"), "tc", "-s", "qdisc", "show", "dev", "eth0")
	if err != nil {
		t.Fatal(err)
	}
	m := sent.FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no counters in %q", out)
	}
	dropped, _ = strconv.Atoi(m[1])
	overlimits, _ = strconv.Atoi(m[2])
	return dropped, overlimits
}
