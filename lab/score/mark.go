package score

import (
	"slices"

	"snag/lab"
)

// Mark is what one answer to one case is worth.
type Mark struct {
	Key     string      `json:"key"`
	Name    string      `json:"incident"`
	Variant lab.Variant `json:"variant"`
	Level   lab.Level   `json:"level"`
	// Causes are the suspects that were to be named; none where nobody is to be.
	Causes  []string    `json:"causes,omitempty"`
	Outcome lab.Outcome `json:"outcome"`
	Why     string      `json:"why,omitempty"`
	// AC1 and AC3 are the shares of the causes that are the first, and among the
	// first three, of what was ranked (with two causes, AC1 asks for one of them).
	AC1 float64 `json:"ac1"`
	AC3 float64 `json:"ac3"`
	// Subject is the share of the causes that were accused on the right subject.
	// Where what is right is a word about snag itself (SaidOnly), there is none.
	Subject   float64 `json:"subject"`
	SaidOnly  bool    `json:"said_only,omitempty"`
	Abstained bool    `json:"abstained"`
	// False names who was accused and is innocent, once each.
	False []string `json:"false,omitempty"`
	// Claims are the accusations with their confidence.
	Claims []Claim `json:"claims,omitempty"`
	// Seconds from the start of snag find to its verdict; 0: not known.
	Seconds float64 `json:"seconds,omitempty"`
}

// Claim is one accusation: how sure it was, and whether it was right.
type Claim struct {
	Suspect    string  `json:"suspect"`
	Confidence float64 `json:"confidence"`
	Right      bool    `json:"right"`
}

// Failed is the mark of a run that gave no recording.
func Failed(c Case, why string) Mark {
	m := begin(c)
	m.Outcome, m.Why = lab.Failed, why
	return m
}

func begin(c Case) Mark {
	m := Mark{Key: c.Key(), Name: c.Name(), Variant: c.Variant, Level: c.Level}
	if c.Variant != lab.Sick {
		return m
	}
	for _, w := range c.Wants() {
		switch {
		case w.Suspect != "":
			m.Causes = append(m.Causes, w.Suspect)
		case w.Said != "":
			m.Causes, m.SaidOnly = append(m.Causes, w.Said), true
		}
	}
	return m
}

// MarkOf marks an answer.
func MarkOf(c Case, a lab.Answer) (Mark, error) {
	m := begin(c)
	wants := c.Wants()
	var err error
	if m.Outcome, m.Why, err = lab.ScoreTogether(wants, a); err != nil {
		return m, err
	}
	m.Abstained = m.Outcome == lab.Abstained
	for _, e := range a.Culprits() {
		right := false
		for _, w := range wants {
			ok, err := w.Allows(e)
			if err != nil {
				return m, err
			}
			right = right || ok
		}
		m.Claims = append(m.Claims, Claim{e.Suspect, e.Confidence, right})
		if name := e.Suspect + " on " + e.Subject.Short(); !right && !slices.Contains(m.False, name) {
			m.False = append(m.False, name)
		}
	}
	if len(m.Causes) == 0 {
		return m, nil
	}
	if m.SaidOnly {
		if a.Says(m.Causes[0]) {
			m.AC1, m.AC3 = 1, 1
		}
		return m, nil
	}
	ranked := Rank(a)
	m.AC1, m.AC3 = among(ranked, m.Causes, 1), among(ranked, m.Causes, 3)
	m.Subject, err = onSubject(a, wants)
	return m, err
}

// among is AC@k of one case: the share of the causes that are among the first k,
// of as many as k can hold.
func among(ranked, causes []string, k int) float64 {
	hits := 0
	for _, c := range causes {
		if slices.Contains(ranked[:min(k, len(ranked))], c) {
			hits++
		}
	}
	return float64(hits) / float64(min(k, len(causes)))
}

// onSubject is the share of what is wanted that was accused on its subject: a
// suspect's first accusation counts, as it would for a person.
func onSubject(a lab.Answer, wants []lab.Want) (float64, error) {
	right, all := 0, 0
	for _, w := range wants {
		if w.Suspect == "" {
			continue
		}
		all++
		for _, e := range a.Culprits() {
			if e.Suspect != w.Suspect {
				continue
			}
			ok, err := w.Is(e)
			if err != nil {
				return 0, err
			}
			if ok {
				right++
			}
			break
		}
	}
	if all == 0 {
		return 0, nil
	}
	return float64(right) / float64(all), nil
}
