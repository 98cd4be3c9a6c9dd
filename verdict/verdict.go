// Package verdict weighs what the suspects found: which of them are culprits,
// which are consequences of another, which only contribute, which are risks
// without a symptom, which are cleared, and which could not be seen. It does no
// I/O. The rules and their reasons: docs/verdict.md.
package verdict

import (
	"slices"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// State is where a suspect ends.
type State string

// The states.
const (
	Culprit      State = "culprit"
	Consequence  State = "consequence"
	Contributing State = "contributing"
	Risk         State = "risk"
	Cleared      State = "cleared"
	NotSeen      State = "not-seen"
)

// Link is one step of the chain from a root to its symptoms.
type Link struct {
	Name    string // suspect or symptom
	Subject recording.Subject
	Text    string
	Onset   recording.Time
	// Coincidence of this link's onsets with the one before, "" where it is not
	// a matter of time.
	Coincidence string
	// InTime is the same in numbers; nil for the first link and where there were
	// no onsets to compare.
	InTime *Coincidence
	// Telling: there were enough onsets, and the cause left enough of the window
	// free, for the coincidence to mean something.
	Telling bool
}

// Entry is one suspect on one subject with its state; a suspect without findings
// has one entry without a subject.
type Entry struct {
	ID      string // unique in this verdict, and the same whenever it is judged: "nagle-delayed-ack#4c1f09" (idOf)
	Suspect *suspect.Suspect
	State   State
	// Elsewhere: neither it nor the harm that it explains is the target's, which the user named.
	Elsewhere  bool
	Subject    recording.Subject
	Text       string
	Confidence float64 // 0–1
	// Held is how many requests, connections or viewers it held up at a moment, on average;
	// culprits are ordered by it.
	Held float64
	// Holding is the same of requests whose time was booked; nil where none was, or nothing that it claims.
	Holding  *Holding
	Since    recording.Time
	Active   []recording.Interval
	Evidence []suspect.Evidence
	Harm     suspect.Harm
	// ExplainedBy is the ID of the entry that leads to this one; "" for none.
	ExplainedBy string
	// LeadsTo names the suspects and symptoms that this entry was found to lead to.
	LeadsTo []string
	Chain   []Link
	// Explains are the symptoms that it leads to, itself or through others, as
	// indices of the verdict's.
	Explains []int
	Remedy   suspect.Remedy
	// Settings and Calls are the remedy as data, empty where the finding has none.
	Settings []suspect.Setting
	Calls    []suspect.Call
	Next     string // the next measurement, a command
	// Tried: experiments of snag eliminate show it, of Subject alone and for their time.
	Tried bool
	// Related are other parties that the finding named (suspect.Finding).
	Related []recording.Subject

	from *candidate // nil for what was settled without weighing
	host *host      // nil where the recording is of one, and of what is settled of all
	// ofStream is what it has to do with a stream that was asked for.
	ofStream int
}

// Verdict is the answer.
type Verdict struct {
	Recording *recording.Recording
	Scene     *scene.Scene
	// Ledger is where the time of requests went; nil where the recording is of several
	// hosts.
	Ledger   *ledger.Ledger
	Symptoms []scene.Symptom
	// Entries: culprits first, those of a stream that was asked for before others, by what they hold
	// up; then contributing, consequence and risk; then those
	// that are elsewhere in the same order; then not seen and cleared.
	Entries []Entry
	// Abstained says why no culprit is named though there are symptoms, or though snag
	// itself did not see enough to say so; "" if one is named or nothing is wrong.
	Abstained string
	// Next is the one measurement that would tell, when Abstained.
	Next string
	// Warnings: what weakens the whole verdict (observer late, damage).
	Warnings []string

	scope *scope  // nil where the user named nothing
	parts []*host // where the recording is of several hosts, or times
	hosts []*host // then, of each symptom; nil where it is nobody's in particular
}

// With returns the entries in that state.
func (v *Verdict) With(s State) []Entry {
	var out []Entry
	for _, e := range v.Entries {
		if e.State == s {
			out = append(out, e)
		}
	}
	return out
}

// Here returns the entries in that state that concern the target.
func (v *Verdict) Here(s State) []Entry {
	return slices.DeleteFunc(v.With(s), func(e Entry) bool { return e.Elsewhere })
}

// Elsewhere returns what was found that does not concern the target.
func (v *Verdict) Elsewhere() []Entry {
	return slices.DeleteFunc(slices.Clone(v.Entries), func(e Entry) bool { return !e.Elsewhere })
}
