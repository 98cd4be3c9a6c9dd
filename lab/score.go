package lab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Outcome is how a verdict compares with the truth.
type Outcome string

// The outcomes. A false accusation names someone where nobody is to be named, or
// a suspect besides the right ones; wrong names another first; abstained names
// nobody where somebody is to blame; incomplete names the right one and misses
// a symptom or a word that was wanted.
const (
	Right           Outcome = "right"
	Wrong           Outcome = "wrong"
	FalseAccusation Outcome = "false"
	Abstained       Outcome = "abstained"
	Incomplete      Outcome = "incomplete"
)

// Score compares an answer with what is wanted, and says why.
func Score(want Want, a Answer) (Outcome, string, error) {
	subject, err := regexp.Compile(want.Subject)
	if err != nil {
		return "", "", fmt.Errorf("lab: wanted subject %q: %w", want.Subject, err)
	}
	culprits := a.culprits()
	allowed := func(e AnswerEntry) bool { return slices.Contains(want.Also, e.Suspect) }
	isWanted := func(e AnswerEntry) bool {
		return want.Suspect != "" && e.Suspect == want.Suspect &&
			subject.MatchString(string(e.Subject+" "+e.Ref))
	}
	if want.Suspect != "" {
		if len(culprits) == 0 {
			return Abstained, strings.TrimSuffix("nobody was accused; wanted "+want.Suspect+": "+a.Abstained, ": "), nil
		}
		if first := culprits[0]; !isWanted(first) {
			return Wrong, fmt.Sprintf("first is %s on %s; wanted %s on /%s/",
				first.Suspect, first.Subject.Short(), want.Suspect, want.Subject), nil
		}
	}
	for _, c := range culprits {
		if !isWanted(c) && !allowed(c) {
			return FalseAccusation, fmt.Sprintf("%s was accused on %s", c.Suspect, c.Subject.Short()), nil
		}
	}
	for _, name := range want.Symptoms {
		if !slices.ContainsFunc(a.Symptoms, func(s AnswerSymptom) bool { return s.Name == name }) {
			return Incomplete, "the symptom " + name + " was not named", nil
		}
	}
	if want.Said != "" && !a.says(want.Said) {
		return Incomplete, "nothing was said of " + want.Said, nil
	}
	return Right, "", nil
}

func (a Answer) says(suspect string) bool {
	return slices.ContainsFunc(a.Verdict, func(e AnswerEntry) bool {
		return e.Suspect == suspect && e.State != stateCleared && e.State != stateNotSeen
	})
}
