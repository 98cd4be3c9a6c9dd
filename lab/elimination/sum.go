package elimination

import (
	"fmt"
	"slices"
	"strings"

	"snag/load/elimination"
)

// Sum counts outcomes.
type Sum struct {
	faulty, found, left, struck int // situations in which somebody is guilty
	well, accused               int // in which all is well

	by map[string]int // how often an experiment showed the guilty first
}

// Add counts one.
func (s *Sum) Add(o Outcome) {
	guilty := guiltyOf(o.Situation)
	if len(guilty) == 0 {
		s.well++
		if !o.Right {
			s.accused++
		}
		return
	}
	s.faulty++
	if o.Right {
		s.found++
		if len(o.By) > 0 {
			if s.by == nil {
				s.by = map[string]int{}
			}
			s.by[o.By[0]]++
		}
	}
	if slices.ContainsFunc(o.Left, func(l string) bool { return slices.Contains(guilty, l) }) {
		s.left++
	}
	if len(o.RuledOut) > 0 {
		s.struck++
	}
}

func guiltyOf(situation string) []string {
	for _, s := range Situations {
		if s.Name == situation {
			return s.Guilty
		}
	}
	return nil
}

// String is one line of how many, and one of which experiment showed them.
func (s Sum) String() string {
	text := fmt.Sprintf("faulty: %d; the right suspect found first in %d, left in %d, ruled out in %d. well: %d, a suspect found in %d", s.faulty, s.found, s.left, s.struck, s.well, s.accused)
	var by []string
	for _, e := range elimination.Experiments {
		if n := s.by[e.ID]; n > 0 {
			by = append(by, fmt.Sprintf("%s %d", e.ID, n))
		}
	}
	if len(by) > 0 {
		text += "\nshown by: " + strings.Join(by, ", ")
	}
	return text
}
