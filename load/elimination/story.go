package elimination

import (
	"fmt"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/internal/units"
)

// Story is what came of it, to show.
type Story struct {
	First string `json:"first"` // what was found
	// Chapters are the experiments that were done.
	Chapters []Chapter  `json:"experiments"`
	Left     []Standing `json:"left"` // found ones first
	RuledOut []Standing `json:"ruled_out"`
	// Untried are suspects of which nothing was measured.
	Untried []Standing `json:"not_measured"`
	NotDone []NotDone  `json:"not_done"`
}

// Chapter is one experiment.
type Chapter struct {
	Experiment string   `json:"experiment"`
	What       string   `json:"what"`
	Number     string   `json:"number"`
	RulesOut   []string `json:"rules_out"`
	Finds      []string `json:"finds"`
	// Keeps are suspects that it shows to take some of the time, and too little to be found.
	Keeps []string `json:"keeps"`
}

// NotDone is an experiment that was not done, or a part of one, and why.
type NotDone struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Tell makes the story of what was measured.
func Tell(m *Measures) (s Story) {
	all := Judge(m)
	s.First = m.Target + ": " + first(m, all)
	for _, st := range all {
		switch {
		case st.State == RuledOut:
			s.RuledOut = append(s.RuledOut, st)
		case st.State == Open && st.By == "":
			s.Untried = append(s.Untried, st)
		default:
			s.Left = append(s.Left, st)
		}
	}
	sorting.StableBy(s.Left, func(a, b Standing) int { return rank(a) - rank(b) })
	for _, e := range Experiments {
		if m.Did(e.ID) && m.Missing[e.ID] == "" {
			s.Chapters = append(s.Chapters, chapter(e.ID, e.What, e.Number(m), all))
		}
	}
	if m.Server != nil {
		s.Chapters = append(s.Chapters, chapter(OnServer, "the same on the server itself", requestNumber(m.Server), all))
	}
	for _, id := range sorted(m.Missing) {
		s.NotDone = append(s.NotDone, NotDone{whatOf(id), m.Missing[id]})
	}
	return s
}

func rank(s Standing) int {
	if s.State == Found {
		return 0
	}
	return 1
}

func chapter(id, what, number string, all []Standing) Chapter {
	c := Chapter{Experiment: id, What: what, Number: number}
	for _, st := range all {
		switch {
		case st.By == id && st.State == RuledOut:
			c.RulesOut = append(c.RulesOut, st.Suspect)
		case st.By == id && st.State == Found:
			c.Finds = append(c.Finds, st.Suspect)
		case st.By == id:
			c.Keeps = append(c.Keeps, st.Suspect)
		}
	}
	return c
}

func first(m *Measures, all []Standing) string {
	if st, told := Told(all); told {
		return About(st.Suspect) + ". " + sentence(st.Why) + "."
	}
	if m.IsSlow() {
		left := 0
		for _, st := range all {
			if st.State != RuledOut {
				left++
			}
		}
		return fmt.Sprintf("it is slow or fails, and no experiment shows why (%s left). The request: %s.", units.Plural(left, "suspect"), either(requestNumber(m), "none was answered"))
	}
	if m.Fresh == nil && m.Kept == nil {
		return "nothing was measured."
	}
	return "nothing slow was found. The request: " + requestNumber(m) + "."
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func whatOf(id string) string {
	for _, e := range Experiments {
		if e.ID == id {
			return e.What
		}
	}
	return id
}

func sorted(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
