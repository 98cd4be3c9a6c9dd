package kernelhotpath

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// The stream arrives in all variants: nothing is dropped, it only costs.
func TestTruth(t *testing.T) {
	inc := Incident // without its baseline: a test binary is no snag that could record it
	inc.Start = func(s *lab.Stage, v lab.Variant) error {
		s.NoBaseline()
		return start(s, v)
	}
	labtest.Each(t, inc, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		got := labtest.Growth(t, s, s.Name("rx"), "Udp", "InDatagrams", 2*time.Second)
		if got < rate/4 {
			t.Errorf("%s: %d datagrams arrived in 2 s: there is hardly a stream", v, got)
		}
		out, err := s.Output(s.Name("rx"), "nft", "list", "ruleset")
		if err != nil {
			t.Fatal(err)
		}
		rules := strings.Count(out, " drop")
		want := map[lab.Variant]int{lab.Sick: 9000, lab.Distractor: 1}[v]
		if rules != want {
			t.Errorf("%s: %d rules, want %d", v, rules, want)
		}
	})
}
