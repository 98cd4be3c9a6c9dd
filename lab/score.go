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
func Score(want Want, a Answer) (Outcome, string, error) { return ScoreTogether([]Want{want}, a) }

// ScoreTogether compares an answer with what is wanted of several incidents at the
// same time: each culprit must be named, in any order, and nobody else.
func ScoreTogether(wants []Want, a Answer) (Outcome, string, error) {
	var causes []cause
	for _, w := range wants {
		c, err := w.cause()
		if err != nil {
			return "", "", err
		}
		causes = append(causes, c)
	}
	culprits := a.Culprits()
	if outcome, why := named(causes, culprits, a.Abstained); outcome != Right {
		return outcome, why, nil
	}
	for _, c := range culprits {
		if !anyOf(causes, func(k cause) bool { return k.Is(c) || k.allows(c) }) {
			return FalseAccusation, fmt.Sprintf("%s was accused on %s", c.Suspect, c.Subject.Short()), nil
		}
	}
	for _, k := range causes {
		for _, name := range k.Symptoms {
			if !slices.ContainsFunc(a.Symptoms, func(s AnswerSymptom) bool { return slices.Contains(strings.Split(name, "|"), s.Name) }) {
				return Incomplete, "the symptom " + name + " was not named", nil
			}
		}
		if k.Said != "" && !a.Says(k.Said) {
			return Incomplete, "nothing was said of " + k.Said, nil
		}
	}
	return Right, "", nil
}

// named reports whether the culprits begin with the right one, and whether each
// that is to blame is among them.
func named(causes []cause, culprits []AnswerEntry, abstained string) (Outcome, string) {
	var toBlame []cause
	for _, k := range causes {
		if k.Suspect != "" {
			toBlame = append(toBlame, k)
		}
	}
	switch {
	case len(toBlame) == 0:
		return Right, ""
	case len(culprits) == 0:
		return Abstained, strings.TrimSuffix("nobody was accused; wanted "+toBlame[0].Suspect+": "+abstained, ": ")
	case !anyOf(toBlame, func(k cause) bool { return k.Is(culprits[0]) }):
		return Wrong, fmt.Sprintf("first is %s on %s; wanted %s on /%s/",
			culprits[0].Suspect, culprits[0].Subject.Short(), toBlame[0].Suspect, toBlame[0].Subject)
	}
	for _, k := range toBlame {
		if !slices.ContainsFunc(culprits, k.Is) {
			return Incomplete, fmt.Sprintf("%s on /%s/ was not named", k.Suspect, k.Subject)
		}
	}
	return Right, ""
}

// cause is a Want whose subject can be looked for.
type cause struct {
	Want
	subject *regexp.Regexp
}

func (w Want) cause() (cause, error) {
	subject, err := regexp.Compile(w.Subject)
	if err != nil {
		return cause{}, fmt.Errorf("lab: wanted subject %q: %w", w.Subject, err)
	}
	return cause{w, subject}, nil
}

// Is reports whether an entry is the wanted suspect on the wanted subject.
func (k cause) Is(e AnswerEntry) bool {
	return k.Suspect != "" && e.Suspect == k.Suspect && k.subject.MatchString(string(e.Subject+" "+e.Ref))
}

func (k cause) allows(e AnswerEntry) bool { return slices.Contains(k.Also, e.Suspect) }

func anyOf(causes []cause, is func(cause) bool) bool { return slices.ContainsFunc(causes, is) }

// Is reports whether an entry is the wanted suspect on the wanted subject.
func (w Want) Is(e AnswerEntry) (bool, error) {
	k, err := w.cause()
	return err == nil && k.Is(e), err
}

// Allows reports whether an entry is wanted or may be a culprit besides.
func (w Want) Allows(e AnswerEntry) (bool, error) {
	k, err := w.cause()
	return err == nil && (k.Is(e) || k.allows(e)), err
}

// Says reports whether a suspect was spoken of in any state but cleared and
// not-seen.
func (a Answer) Says(suspect string) bool {
	return slices.ContainsFunc(a.Verdict, func(e AnswerEntry) bool {
		return e.Suspect == suspect && e.State != stateCleared && e.State != stateNotSeen
	})
}
