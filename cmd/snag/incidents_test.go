package main

import (
	"slices"
	"strings"
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
		if !named(i) {
			t.Errorf("the incident %s is named after no suspect, and its verdict is of none", i.Name)
		}
	}
}

// named: an incident has its suspect's name, that and what is special in it
// (server-stall-jvm), or one that people use for it (slow-dns) and a verdict wanted
// that is a suspect's.
func named(i lab.Incident) bool {
	return slices.ContainsFunc(suspects.All, func(s *suspects.Suspect) bool {
		return i.Name == s.Name || strings.HasPrefix(i.Name, s.Name+"-") || i.Want.Suspect == s.Name
	})
}
