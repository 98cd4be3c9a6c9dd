package main

import (
	"encoding/json"
	"fmt"
)

// readVerdict reads snag find --json: its symptoms are whom it says to be affected, and its
// culprits, with all that speaks for them, are what it says of a cause.
func readVerdict(all []section, _ span) (a answer, err error) {
	var v struct {
		Symptoms []struct{ Name, Subject, Text string }
		Verdict  []struct {
			Suspect, State, Subject string
			Evidence                []struct{ Side, Text string }
		}
	}
	if err := json.Unmarshal([]byte(all[0].output), &v); err != nil {
		return a, fmt.Errorf("read snag find --json: %w", err)
	}
	for _, s := range v.Symptoms {
		a.harm = append(a.harm, s.Name+": "+s.Subject+": "+s.Text)
	}
	for _, s := range v.Verdict {
		if s.State != "culprit" {
			continue
		}
		text := s.Suspect + ": " + s.Subject
		for _, e := range s.Evidence {
			if e.Side == "for" {
				text += ": " + e.Text
			}
		}
		a.causes = append(a.causes, text)
	}
	return a, nil
}
