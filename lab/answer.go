package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Answer is what the lab reads of `snag find --json`: its own reading of the
// documented schema, as any program that depends on it would have.
type Answer struct {
	Version  int             `json:"version"`
	Symptoms []AnswerSymptom `json:"symptoms"`
	Verdict  []AnswerEntry   `json:"verdict"`
	// Abstained says why nobody was named though something is wrong.
	Abstained string   `json:"abstained"`
	Warnings  []string `json:"warnings"`
	// Requests are the parties of the ledger.
	Requests []AnswerRequests `json:"requests"`
}

// AnswerRequests is where the time of a service's or a destination's requests went.
type AnswerRequests struct {
	Role string `json:"role"` // serve or call
	Ref  struct {
		Local string `json:"local"`
	} `json:"subject_ref"`
	Seconds  float64 `json:"seconds"`
	Held     float64 `json:"held"` // held up at a moment, on average
	Accounts []struct {
		Account string  `json:"account"`
		Where   string  `json:"where"`
		Seconds float64 `json:"seconds"`
		InLine  float64 `json:"in_line_seconds"`
	} `json:"accounts"`
}

// AnswerSymptom is one symptom that was named.
type AnswerSymptom struct {
	Name    string  `json:"name"`
	Subject Subject `json:"subject"`
	Text    string  `json:"text"`
}

// AnswerEntry is one suspect with its state.
type AnswerEntry struct {
	Suspect string  `json:"suspect"`
	State   string  `json:"state"`
	Subject Subject `json:"subject"`
	Text    string  `json:"text"`
	// Ref is the subject's parts, where a wanted subject is looked for too: the
	// name of the process stands there even if the sentence leaves it out.
	Ref        Subject `json:"subject_ref"`
	Confidence float64 `json:"confidence"`
	// Elsewhere: it hurts others than what was asked for.
	Elsewhere bool     `json:"elsewhere,omitempty"`
	LeadsTo   []string `json:"leads_to,omitempty"`
	// Remedy is what helps; nil where nothing does.
	Remedy   *AnswerRemedy `json:"remedy,omitempty"`
	Evidence []struct {
		Side  string `json:"side"`
		Grade string `json:"grade"`
	} `json:"evidence"`
}

// AnswerRemedy is what the lab reads of a remedy.
type AnswerRemedy struct {
	Now string `json:"now"` // one command line for a shell, "" for none
}

// Now is the entry's command line that helps at once, "" for none.
func (e AnswerEntry) Now() string {
	if e.Remedy == nil {
		return ""
	}
	return e.Remedy.Now
}

// Suspected reports that something which is rarely seen without the cause speaks
// for it, be it proved or not.
func (e AnswerEntry) Suspected() bool {
	for _, piece := range e.Evidence {
		if piece.Side == "for" && piece.Grade != "weak" {
			return true
		}
	}
	return false
}

// Subject is the text that a wanted subject is looked for in: the subject as it
// stands in the JSON, be it a string or an object.
type Subject string

// UnmarshalJSON keeps a string's content, and any other value as compact JSON.
func (s *Subject) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		*s = Subject(text)
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return err
	}
	*s = Subject(b.String())
	return nil
}

// Short is the subject's name, for a table.
func (s Subject) Short() string {
	var named struct {
		Name string `json:"name"`
	}
	if json.Unmarshal([]byte(s), &named) == nil && named.Name != "" {
		return named.Name
	}
	return string(s)
}

// States of an entry, as the schema names them.
const (
	stateCulprit = "culprit"
	stateCleared = "cleared"
	stateNotSeen = "not-seen"
)

// ParseAnswer reads the JSON document of a verdict.
func ParseAnswer(raw []byte) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(raw, &a); err != nil {
		return a, fmt.Errorf("lab: read the verdict of snag find: %w", err)
	}
	if a.Version != 2 {
		return a, fmt.Errorf("lab: the verdict of snag find has version %d, the lab reads 2", a.Version)
	}
	return a, nil
}

// Culprits in the order of the document. A reader looks at the first one first.
func (a Answer) Culprits() (out []AnswerEntry) {
	for _, e := range a.Verdict {
		if e.State == stateCulprit {
			out = append(out, e)
		}
	}
	return out
}

// DropElsewhere leaves out the culprits that are in a namespace which is not
// among those given.
func (a *Answer) DropElsewhere(here map[uint64]bool) {
	a.Verdict = slices.DeleteFunc(a.Verdict, func(e AnswerEntry) bool {
		return e.State == stateCulprit && e.elsewhere(here)
	})
}

// DropAllElsewhere leaves out every entry that is in such a namespace: of a score
// that ranks all that was suspected.
func (a *Answer) DropAllElsewhere(here map[uint64]bool) {
	a.Verdict = slices.DeleteFunc(a.Verdict, func(e AnswerEntry) bool { return e.elsewhere(here) })
}

func (e AnswerEntry) elsewhere(here map[uint64]bool) bool {
	var in struct {
		Netns uint64 `json:"netns"`
	}
	return json.Unmarshal([]byte(e.Ref), &in) == nil && in.Netns != 0 && !here[in.Netns]
}
