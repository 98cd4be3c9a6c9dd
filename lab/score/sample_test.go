package score

import (
	"slices"
	"testing"

	"snag/lab"
)

func TestSample(t *testing.T) {
	incidents := []lab.Incident{
		{Name: "pause-long", Long: true, Want: lab.Want{Suspect: "pause"}},
		{Name: "pause", Want: lab.Want{Suspect: "pause"}},
		{Name: "pause-too", Want: lab.Want{Suspect: "pause"}},
		{Name: "drop", Want: lab.Want{Suspect: "drop"}},
		{Name: "late", Want: lab.Want{Said: "observer"}},
		{Name: "only-long", Long: true, Want: lab.Want{Suspect: "swap"}},
	}
	keys := func(cases []Case) (out []string) {
		for _, c := range cases {
			out = append(out, c.Key())
		}
		return out
	}
	fixed := []string{"pause-sick", "drop-sick", "late-sick"}
	first := keys(Sample(incidents, 4, 1))
	if !slices.Equal(first[:3], fixed) || len(first) != 7 {
		t.Errorf("%v does not begin with %v, or is not 7 long", first, fixed)
	}
	if again := keys(Sample(incidents, 4, 1)); !slices.Equal(first, again) {
		t.Errorf("the same seed draws %v and %v", first, again)
	}
	drawn := map[string]bool{}
	for seed := range uint64(100) {
		cases := keys(Sample(incidents, 4, seed))
		if slices.Sort(cases); len(slices.Compact(cases)) != 7 {
			t.Fatalf("a case is drawn twice: %v", cases)
		}
		for _, k := range cases {
			drawn[k] = true
		}
	}
	if len(drawn) != 3*len(incidents) {
		t.Errorf("100 seeds drew %d of %d cases", len(drawn), 3*len(incidents))
	}
	if all := Sample(incidents, 99, 1); len(all) != 3*len(incidents) {
		t.Errorf("%d cases, of %d", len(all), 3*len(incidents))
	}
	for i := range incidents {
		incidents[i].Apart = i != 3
	}
	for seed := range uint64(100) {
		runs, made := Sample(incidents, 4, seed), map[string]bool{}
		for _, c := range runs {
			if c.Pair() && (len(c.Incidents) != 2 || c.Incidents[0].Name == c.Incidents[1].Name) {
				t.Fatalf("seed %d: one run of %s", seed, c.Key())
			}
			for _, i := range c.Incidents {
				made[Case{Incidents: []lab.Incident{i}, Variant: c.Variant}.Key()] = true
				if c.Pair() && !i.Apart {
					t.Errorf("seed %d: %s is made beside another", seed, i.Name)
				}
			}
		}
		if len(made) != 7 || len(runs) > 6 { // pause and late are among the fixed, and apart
			t.Fatalf("seed %d: %v in %d runs", seed, made, len(runs))
		}
	}
}
