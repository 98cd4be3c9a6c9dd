package suspects

import (
	"testing"

	"snag/recording"
)

// Every suspect says what a reader of the catalogue needs, once.
func TestTheCatalogueIsWhole(t *testing.T) {
	measures := map[string]bool{recording.Compared: true}
	for _, m := range recording.Measures {
		measures[m] = true
	}
	seen := map[string]bool{}
	for _, s := range All {
		if seen[s.Name] {
			t.Errorf("%s is listed twice", s.Name)
		}
		seen[s.Name] = true
		if s.Title == "" || s.About == "" || !s.Remedy.Given() || s.Verified == "" || s.Next == "" || len(s.For) == 0 || len(s.Against) == 0 || s.Weigh == nil && s.WeighBooked == nil {
			t.Errorf("%s: title, about, remedy, verified, next, for, against and Weigh must all be there", s.Name)
		}
		// The observer hurts nobody but the verdict.
		if len(s.LeadsTo) == 0 && s.Name != "observer" {
			t.Errorf("%s leads to nothing: no user would feel it", s.Name)
		}
		must := false
		for _, n := range s.Needs {
			must = must || n.Must
			if !measures[n.Measure] {
				t.Errorf("%s needs %q, which no probe measures", s.Name, n.Measure)
			}
			for _, other := range s.InFiles[n.Measure] {
				if !measures[other] {
					t.Errorf("%s takes %q, which no reader measures", s.Name, other)
				}
			}
			if n.Why == "" {
				t.Errorf("%s: say what %s shows it", s.Name, n.Measure)
			}
		}
		if !must {
			t.Errorf("%s can never be blind: no need is a must", s.Name)
		}
	}
	for _, s := range All {
		for _, l := range s.LeadsTo {
			if l.Lag < 0 {
				t.Errorf("%s leads to %s before it acts", s.Name, l.To)
			}
		}
	}
}
