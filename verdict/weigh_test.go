package verdict

import (
	"testing"

	"snag/suspects/source"
	. "snag/suspects/suspect" //nolint:revive // the table reads better
)

func TestProve(t *testing.T) {
	piece := func(side Side, grade Grade, from string) Evidence {
		return Evidence{Side: side, Grade: grade, Source: source.Of(from)}
	}
	for name, c := range map[string]struct {
		evidence []Evidence
		want     proof
	}{
		"nothing":                      {nil, nothing},
		"one decisive":                 {[]Evidence{piece(For, Decisive, "a")}, confirmed},
		"decisive against":             {[]Evidence{piece(Against, Decisive, "a"), piece(For, Strong, "b"), piece(For, Strong, "c")}, refuted},
		"instruments disagree":         {[]Evidence{piece(Against, Decisive, "a"), piece(For, Decisive, "b")}, conflict},
		"one strong":                   {[]Evidence{piece(For, Strong, "a")}, unproven},
		"two strong":                   {[]Evidence{piece(For, Strong, "a"), piece(For, Strong, "b")}, confirmed},
		"two strong of one origin":     {[]Evidence{{Side: For, Grade: Strong, Source: source.Of("a"), Origin: "x"}, {Side: For, Grade: Strong, Source: source.Of("b"), Origin: "x"}}, unproven},
		"two strong, two against":      {[]Evidence{piece(For, Strong, "a"), piece(For, Strong, "b"), piece(Against, Strong, "c"), piece(Against, Strong, "d")}, unproven},
		"weak never confirms":          {[]Evidence{piece(For, Weak, "a"), piece(For, Weak, "b"), piece(For, Weak, "c"), piece(For, Weak, "d")}, nothing},
		"missing is not against":       {[]Evidence{piece(For, Decisive, "a"), piece(Missing, Decisive, "b")}, confirmed},
		"weak against does not refute": {[]Evidence{piece(For, Decisive, "a"), piece(Against, Weak, "b")}, confirmed},
	} {
		if got := prove(c.evidence); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// A process with many connections, of each of which more harm is suspected, leaves room for the one that is proved.
func TestWhatIsProvedIsCarriedOn(t *testing.T) {
	var all []weighed
	for range 3 * maxFindings {
		all = append(all, weighed{Finding: Finding{Harm: Harm{Amount: 100}, Evidence: []Evidence{{Side: Against, Grade: Strong}}}})
	}
	all = append(all, weighed{Finding: Finding{Text: "proved", Harm: Harm{Amount: 5}, Evidence: []Evidence{{Side: For, Grade: Decisive}}}})
	got := greatest(all, nil)
	if len(got) != maxFindings || got[0].Text != "proved" {
		t.Errorf("%d findings, first %q", len(got), got[0].Text)
	}
}
