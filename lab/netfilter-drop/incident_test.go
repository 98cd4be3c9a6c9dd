package netfilterdrop

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

var dropped = regexp.MustCompile(`counter packets (\d+) bytes \d+ drop`)

func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "InDatagrams", 5*time.Second)
		if got < 500 {
			t.Errorf("%s: %d datagrams arrived in 5 s: there is hardly a stream", v, got)
		}
		out, err := s.Output(s.Name("rx"), "nft", "list", "ruleset")
		if err != nil {
			t.Fatal(err)
		}
		drops := 0
		if m := dropped.FindStringSubmatch(out); m != nil {
			drops, _ = strconv.Atoi(m[1])
		}
		low, high := map[lab.Variant]int{lab.Sick: 200, lab.Distractor: 1}[v], map[lab.Variant]int{lab.Sick: 5000, lab.Distractor: 5}[v]
		if drops < low || drops > high {
			t.Errorf("%s: the rule dropped %d packets, want %d to %d", v, drops, low, high)
		}
	})
}
