package drawn

import (
	"fmt"
	"regexp"
	"slices"

	"snag/lab"
	"snag/lab/referee"
	"snag/lab/score"
)

// Class is what a run is for the score.
type Class string

// The classes. Of an incident the clients noticed something; of an unnoticed fault they
// did not, and nobody may be accused, as in a healthy run. A loud run is one of a noisy
// family whose clients noticed the noise: it is not healthy, and has no known cause. A void
// run tells nothing: its healthy form did not work, or is missing. A failed run gave no
// recording.
const (
	Incident  Class = "incident"
	Unnoticed Class = "unnoticed fault"
	Well      Class = "healthy"
	Loud      Class = "noticed noise"
	Void      Class = "void"
	Broken    Class = "failed"
)

// Mark is what one answer to one run is worth.
type Mark struct {
	Key    string `json:"key"`
	Seed   uint64 `json:"seed"`
	Family string `json:"family"`
	Kind   Kind   `json:"kind"`
	Origin Origin `json:"origin"`
	Fault  string `json:"fault,omitempty"`
	// Lasting is that of the first family's fault.
	Lasting Lasting `json:"lasting,omitempty"`
	Class   Class   `json:"class"`
	Noticed string  `json:"noticed,omitempty"` // by the clients, in words
	Two     bool    `json:"two,omitempty"`     // families with a fault at the same time
	// Wanted are the causes of an incident, each with the suspects of which any is right.
	Wanted [][]string `json:"wanted,omitempty"`
	// AC1, AC3 and Subject are shares of the causes, as in package score.
	AC1     float64 `json:"ac1"`
	AC3     float64 `json:"ac3"`
	Subject float64 `json:"subject"`
	// NothingWrong: no culprit, and no word that something is wrong. Abstained: no
	// culprit, and it says that something is wrong.
	NothingWrong bool          `json:"nothing_wrong"`
	Abstained    bool          `json:"abstained"`
	First        string        `json:"first,omitempty"` // culprit, with its subject
	False        []string      `json:"false,omitempty"`
	Claims       []score.Claim `json:"claims,omitempty"`
	// Booked is of an incident of one family whose requests it made longer all the time.
	Booked *Booked `json:"booked,omitempty"`
	// Healed is of a run with --remedies whose fault went on.
	Healed *Healed `json:"healed,omitempty"`
}

// truth is one that a culprit is compared with.
type truth struct {
	Truth
	subject *regexp.Regexp
}

// compile makes the subject wanted a regular expression.
func (t *Truth) compile(key, family string) (truth, error) {
	subject, err := regexp.Compile(t.Subject)
	if err != nil {
		return truth{}, fmt.Errorf("%s: the subject wanted of %s: %w", key, family, err)
	}
	return truth{*t, subject}, nil
}

// accepts reports whether an accusation is of this fault, or true beside it.
func (t truth) accepts(e lab.AnswerEntry) bool { return t.is(e) || slices.Contains(t.Also, e.Suspect) }

func (t truth) named(e lab.AnswerEntry) bool { return slices.Contains(t.Suspects, e.Suspect) }

func (t truth) is(e lab.AnswerEntry) bool {
	return t.named(e) && t.subject.MatchString(string(e.Subject+" "+e.Ref))
}

// begin marks what is known of a run before anybody has answered: its class, and what is
// to be named. Without is the same draw's run without the fault, or without the noise; nil
// where there is none.
func begin(k Kept, without *Kept) (Mark, []truth, error) {
	first := Part{}
	if len(k.Parts) > 0 {
		first = k.Parts[0]
	}
	m := Mark{Key: k.Key, Seed: k.Seed, Family: first.Family, Kind: first.Kind, Origin: first.Origin, Two: len(k.Parts) > 1}
	if first.Truth != nil && k.Faulty {
		m.Fault, m.Lasting = first.Truth.Fault, first.Truth.Lasting
	}
	switch {
	case k.Error != "":
		m.Class, m.Noticed = Broken, k.Error
		return m, nil, nil
	case !k.Faulty && without == nil:
		m.Class = Well
		return m, nil, nil
	case without == nil || without.Error != "" || len(without.Parts) != len(k.Parts):
		m.Class, m.Noticed = Void, "the run to compare it with is missing"
		return m, nil, nil
	case !k.Faulty:
		m.Class = Well
		if h := referee.Compare(without.Parts[0].Figures, first.Figures); h.Void != "" {
			m.Class, m.Noticed = Void, h.Void
		} else if h.Noticed {
			m.Class, m.Noticed = Loud, h.String()
		}
		return m, nil, nil
	}
	m.Class = Unnoticed
	var truths []truth
	for i, p := range k.Parts {
		h := referee.Compare(without.Parts[i].Figures, p.Figures)
		if h.Void != "" {
			m.Class, m.Noticed = Void, h.Void
			return m, nil, nil
		}
		if !h.Noticed {
			continue
		}
		t, err := p.Truth.compile(k.Key, p.Family)
		if err != nil {
			return m, nil, err
		}
		truths = append(truths, t)
		m.Class, m.Wanted = Incident, append(m.Wanted, p.Truth.Suspects)
		if m.Noticed != "" {
			m.Noticed += "; "
		}
		m.Noticed += h.String()
	}
	return m, truths, nil
}

// answered completes a mark by an answer.
func (m Mark) answered(truths []truth, a lab.Answer) Mark {
	culprits := a.Culprits()
	m.NothingWrong = len(culprits) == 0 && a.Abstained == ""
	m.Abstained = len(culprits) == 0 && a.Abstained != ""
	for i, e := range culprits {
		name := e.Suspect + " on " + e.Subject.Short()
		if i == 0 {
			m.First = name
		}
		right := slices.ContainsFunc(truths, func(t truth) bool { return t.accepts(e) })
		m.Claims = append(m.Claims, score.Claim{Suspect: e.Suspect, Confidence: e.Confidence, Right: right})
		if !right && !slices.Contains(m.False, name) {
			m.False = append(m.False, name)
		}
	}
	if len(truths) == 0 {
		return m
	}
	ranked := score.Rank(a)
	m.AC1, m.AC3, m.Subject = among(ranked, truths, 1), among(ranked, truths, 3), onSubject(culprits, truths)
	return m
}

// among is AC@k: the share of the causes that are among the first k, of as many as k can
// hold.
func among(ranked []string, truths []truth, k int) float64 {
	hits := 0
	for _, t := range truths {
		if slices.ContainsFunc(ranked[:min(k, len(ranked))], func(s string) bool { return slices.Contains(t.Suspects, s) }) {
			hits++
		}
	}
	return float64(min(hits, k)) / float64(min(k, len(truths)))
}

// onSubject is the share of the causes whose first accusation is on the right subject.
func onSubject(culprits []lab.AnswerEntry, truths []truth) float64 {
	right := 0
	for _, t := range truths {
		i := slices.IndexFunc(culprits, t.named)
		if i >= 0 && slices.ContainsFunc(culprits, func(e lab.AnswerEntry) bool { return e.Suspect == culprits[i].Suspect && t.is(e) }) {
			right++
		}
	}
	return float64(right) / float64(len(truths))
}
