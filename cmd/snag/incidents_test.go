package main

import (
	"slices"
	"strings"
	"testing"

	"snag/lab"
	"snag/lab/all"
	"snag/suspects"
	"snag/suspects/suspect"
)

// A suspect is shown live in the lab, or says that it can't be.
func TestEverySuspectHasAnIncident(t *testing.T) {
	for _, s := range suspects.All {
		if _, err := lab.Find(all.Incidents, s.Name); (err == nil) == s.Fixture {
			t.Errorf("%s: Fixture is %v, and the lab says %v", s.Name, s.Fixture, err)
		}
	}
	for _, i := range all.Incidents {
		if !named(i.Name) {
			t.Errorf("the incident %s is not a suspect", i.Name)
		}
	}
}

// named: an incident has its suspect's name, or that and what is special in it
// (server-stall-jvm).
func named(incident string) bool {
	return slices.ContainsFunc(suspects.All, func(s *suspect.Suspect) bool {
		return incident == s.Name || strings.HasPrefix(incident, s.Name+"-")
	})
}
