// Package verify reports whether a change helped: the symptom and its cause in a
// recording from before and in one from after, made by the same probes. It judges the
// outcome, never the value that was set. It does no I/O.
//
// Two things are compared. What was felt is the symptom of the verdict, as the
// verdict measures it. The cause is the suspect's own counter (drops, overflows, held
// writes), which knows no floor: a symptom that has just sunk below what people
// notice, while its counter goes on as before, is not called gone.
package verify

import (
	"fmt"

	"snag/remedies/verify/episode"
	"snag/verdict"
)

// Outcome is what became of the symptom.
type Outcome = episode.Outcome

// The outcomes.
const (
	Gone      = episode.Gone
	Reduced   = episode.Reduced
	Unchanged = episode.Unchanged
	Worse     = episode.Worse
	// TooEarly: it comes in episodes, and would not have come again by now. Result.Need
	// is how long to measure.
	TooEarly = episode.TooEarly
	// CantTell: the load differed, something was not measured, or there was too little
	// of it before. Result.Why says which.
	CantTell = episode.CantTell
)

// Figure is one amount with its interval of 95 %.
type Figure = episode.Figure

// Compared is one amount before and after.
type Compared struct {
	What    string  `json:"what"` // stream-freeze, or what the cause's counter counts
	Unit    string  `json:"unit"` // "datagrams/s", "of what was sent" …
	Before  Figure  `json:"before"`
	After   Figure  `json:"after"`
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	// Need is how many seconds to measure, where it is too early; 0: not known.
	Need float64 `json:"need_seconds,omitempty"`
	// sparse: it was there in so few seconds before that it can't tell when trouble came.
	sparse bool
	// backsOff: its counter becomes less by itself.
	backsOff bool
}

// Load is what the subject had to do meanwhile, in both recordings.
type Load struct {
	Unit   string  `json:"unit"` // requests/s, datagrams/s …
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Ratio  float64 `json:"ratio"` // after / before
}

// Result is what verify found.
type Result struct {
	Outcome Outcome `json:"outcome"`
	Why     string  `json:"why,omitempty"`
	// Need is how many seconds to measure, where it is too early.
	Need    float64  `json:"need_seconds,omitempty"`
	Suspect string   `json:"suspect"`
	Subject string   `json:"subject"` // before
	Now     string   `json:"now,omitempty"`
	Felt    Compared `json:"felt"`
	// Cause is nil where the suspect has no counter of its own.
	Cause *Compared `json:"cause,omitempty"`
	// Load is nil where nothing of it was measured in both.
	Load  *Load    `json:"load,omitempty"`
	Notes []string `json:"notes,omitempty"`
}

// Compare reports what became of a culprit of the verdict before.
func Compare(before, after *verdict.Verdict, culprit verdict.Entry, symptom string) Result {
	res := Result{Suspect: culprit.Suspect.Name, Subject: culprit.Subject.Name, Outcome: CantTell}
	if must, _ := culprit.Suspect.Blind(after.Recording); len(must) > 0 {
		c, _ := after.Recording.Measured(must[0].Measure)
		res.Why = fmt.Sprintf("%s was not measured this time: %s", must[0].Measure, firstOf(c.Why, c.State))
		return res
	}
	if short(before.Recording) || short(after.Recording) {
		res.Why = fmt.Sprintf("a recording of less than %d s shows too little of it: give it longer (--for)", leastSeconds)
		return res
	}
	now, note, ok := counterpart(before, after, culprit.Subject)
	if note != "" {
		res.Notes = append(res.Notes, note)
	}
	if !ok {
		res.Why = fmt.Sprintf("%s is not in the new recording: is it running?", culprit.Subject.Name)
		return res
	}
	res.Now = now.Name
	felt := feltOf(culprit, before, symptom)
	k := around(before.Recording, after.Recording)
	res.Felt = compare(felt.in(before, culprit.Subject), felt.moved(before, after).in(after, now), k)
	res.Felt.What, res.Felt.Unit = felt.symptom, felt.unit()
	if own, ok := ownOf(culprit, before, after, now, k); ok {
		res.Cause = &own
	}
	res.Load = loadBeside(before.Recording, after.Recording, culprit.Subject, now, felt)
	res.Outcome, res.Why = together(res)
	if res.Outcome == TooEarly {
		res.Need = res.need()
	}
	return res
}

// need is the time of the cause's counter, which knows better when it came; that of the
// symptom where there is none, or one that counts too seldom.
func (r Result) need() float64 {
	if c := r.Cause; c != nil && c.Need > 0 && (!c.sparse || r.Felt.Need == 0) {
		return c.Need
	}
	return r.Felt.Need
}

// together is one word for both: what was felt counts, and its cause must agree.
func together(r Result) (Outcome, string) {
	out, why := r.Felt.Outcome, r.Felt.Why
	if c := r.Cause; c != nil {
		switch {
		case out.Open() && c.Outcome == Gone && seldom(r.Felt):
			out, why = Gone, fmt.Sprintf("the symptom came now and then only; its cause's counter shows that it is gone (%s)", c.What)
		case out.Open() && c.Outcome.Open():
			if c.Need > 0 && !c.sparse || why == "" {
				out, why = c.Outcome, firstOf(c.Why, why)
			}
		case out.Open() && c.Outcome != Gone:
			// What was felt comes and goes; its counter may still tell.
			out, why = c.Outcome, firstOf(c.Why, fmt.Sprintf("by the cause's counter: %s", c.What))
		case out.Helped() && (c.Outcome == Unchanged || c.Outcome == Worse):
			out, why = Unchanged, fmt.Sprintf("the symptom is less, but its cause goes on as before (%s)", c.What)
		case out == Gone && c.Outcome == TooEarly && c.sparse:
			// The symptom itself tells; its cause agrees as far as it goes.
		case out == Gone && c.Outcome.Open() && c.backsOff && c.After.Value == 0:
			// That it was becoming less tells nothing; there is none of it now.
		case out.Helped() && c.Outcome.Open():
			out, why = c.Outcome, fmt.Sprintf("the symptom is less, but its cause can't be judged (%s): %s", c.What, c.Why)
		case out == Gone && c.Outcome == Reduced:
			out, why = Reduced, fmt.Sprintf("the symptom is gone; its cause is not gone (%s)", c.What)
		}
	}
	l := r.Load
	switch {
	case l == nil && out.Helped():
		return out, firstOf(why, "the load beside it was not measured: that it is the same is for you to say")
	case l != nil && out == TooEarly && l.Ratio < lessLoad:
		return CantTell, fmt.Sprintf("the load differed: %.4g %s now, %.4g before; that there is none of it shows nothing", l.After, l.Unit, l.Before)
	case l == nil || out.Open() || out == Unchanged:
		return out, why
	case out.Helped() && l.Ratio < lessLoad:
		return CantTell, fmt.Sprintf("the load differed: %.4g %s now, %.4g before; less of it is %s too", l.After, l.Unit, l.Before, out)
	case out == Worse && l.Ratio > moreLoad:
		return CantTell, fmt.Sprintf("the load differed: %.4g %s now, %.4g before; more of it is worse too", l.After, l.Unit, l.Before)
	}
	return out, why
}

// seldom reports whether something was felt before and is not now, but had come too seldom
// for that alone to tell.
func seldom(c Compared) bool {
	return c.Before.Value > 0 && c.After.Value <= episode.GoneShare*c.Before.Value
}

// Less or more of the load than this, and what became less or worse may be for that
// alone. A tenth up or down is usual from one half minute of live traffic to the next.
const (
	lessLoad = 0.7
	moreLoad = 1.4
)

// feltOf says how the culprit's harm is measured: by the symptom that the plan names
// where the verdict has it, else by the finding's own harm.
func feltOf(e verdict.Entry, v *verdict.Verdict, symptom string) measure {
	m := measure{suspect: e.Suspect, symptom: e.Harm.Symptom, of: e.Harm.Unit}
	for _, i := range e.Explains {
		if s := v.Symptoms[i]; s.Name == symptom || m.symptom == "" {
			m.symptom, m.of, m.subject = s.Name, s.Unit, &s.Subject
			break
		}
	}
	return m
}

// Pick finds the culprit that a plan was made for: by its suspect and the subject's
// name.
func Pick(v *verdict.Verdict, suspect, subject string) (verdict.Entry, bool) {
	var first *verdict.Entry
	for i := range v.Entries {
		e := &v.Entries[i]
		if e.State != verdict.Culprit || e.Suspect.Name != suspect {
			continue
		}
		if e.Subject.Name == subject {
			return *e, true
		}
		if first == nil {
			first = e
		}
	}
	if first == nil {
		return verdict.Entry{}, false
	}
	return *first, true
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
