package verify

import (
	"fmt"
	"strings"

	"snag/suspects"
	"snag/verdict"
)

// Level is how much of a symptom a recording has, over all who suffer it: of what is
// counted the amount each second; of what is intense (seconds more for each request, a
// share) its mean over the time. unit picks one where a symptom has several; "" is the
// first that is there. suspect is the cause whose doing it is to be; "": any.
//
// 0 is said only where a cause of that symptom was looked for and measured.
func Level(v *verdict.Verdict, symptom, unit, suspect string) (amount float64, of string, err error) {
	m := measure{symptom: symptom, of: unit}
	length := v.Recording.Length().Seconds()
	if length <= 0 {
		return 0, unit, fmt.Errorf("the recording of %s is empty", symptom)
	}
	for _, s := range v.Symptoms {
		if s.Name != symptom || s.Reported {
			continue
		}
		if m.of == "" {
			m.of = s.Unit
		}
		if s.Unit != m.of {
			continue
		}
		share := 1 / length
		if m.intense() {
			share = 1
			if active := v.Scene.Window; len(s.Active) > 0 {
				total := 0.0
				for _, i := range s.Active {
					total += i.Length(active.End).Seconds()
				}
				share = min(total/length, 1)
			}
		}
		amount += s.Amount * share
	}
	if amount > 0 {
		return amount, m.of, nil
	}
	return 0, m.of, seen(v, symptom, suspect)
}

// LevelUnit is the unit of Level's amount of a symptom that is counted in a unit.
func LevelUnit(symptom, unit string) string {
	if unit == "" {
		return ""
	}
	m := measure{symptom: symptom, of: unit}
	if m.intense() {
		return unit
	}
	return unit + "/s"
}

// seen reports whether a symptom that is not there would have been seen: one of the
// causes that lead to it was measured.
func seen(v *verdict.Verdict, symptom, suspect string) error {
	var lacking []string
	for _, s := range suspects.All {
		if suspect != "" && s.Name != suspect {
			continue
		}
		for _, l := range s.LeadsTo {
			if l.To != symptom {
				continue
			}
			must, _ := s.Blind(v.Recording)
			if len(must) == 0 {
				return nil
			}
			lacking = append(lacking, must[0].Measure)
		}
	}
	if lacking == nil {
		return fmt.Errorf("no cause that snag knows shows as %s (snag suspects lists them)", strings.TrimSpace(symptom+" of "+suspect))
	}
	c, _ := v.Recording.Measured(lacking[0])
	return fmt.Errorf("%s was not measured: %s: %s", symptom, lacking[0], firstOf(c.Why, c.State))
}
