package main

import (
	"testing"

	"snag/lab"
	"snag/lab/all"
	"snag/suspects"
)

// A suspect is shown live in the lab, or says that it can't be.
func TestEverySuspectHasAnIncident(t *testing.T) {
	for _, s := range suspects.All {
		if _, err := lab.Find(all.Incidents, s.Name); (err == nil) == s.Fixture {
			t.Errorf("%s: Fixture is %v, and the lab says %v", s.Name, s.Fixture, err)
		}
	}
	for _, i := range all.Incidents {
		if suspects.ByName(i.Name) == nil {
			t.Errorf("the incident %s is no suspect", i.Name)
		}
	}
}
