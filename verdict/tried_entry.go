package verdict

import (
	"slices"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// settleTried makes candidates and entries of experiments that no finding of the host's own probes took up.
// Nothing is made of what could not be tried, but for the reason, in the entry of a suspect that was not seen.
func settleTried(sus *suspect.Suspect, s *scene.Scene, r *recording.Recording, all []*about, settled []Entry) (found []*candidate, out []Entry) {
	out = settled
	left := false
	for _, a := range all {
		a.sayUnknown(out)
		switch {
		case a.taken:
		case len(a.left) > 0:
			left = true
			f := a.finding(s)
			if prove(f.Evidence) == confirmed {
				c := &candidate{suspect: sus, finding: f, confidence: confidence(f.Evidence, sus, r), onset: a.whole().Start, window: s.Window}
				found = append(found, c)
				continue
			}
			out = append(out, Entry{Suspect: sus, State: NotSeen, Tried: true, Subject: f.Subject, Text: a.doubt() + f.Text, Evidence: f.Evidence, Harm: f.Harm,
				Active: f.Active, Since: f.Active[0].Start, Confidence: confidence(f.Evidence, sus, r), Next: firstOf(a.next(), sus.Next), Related: f.Related})
		case a.cleared():
			f := a.finding(s)
			out = append(out, Entry{Suspect: sus, State: Cleared, Tried: true, Subject: f.Subject, Text: "ruled out for " + a.target + ": " + f.Text, Evidence: f.Evidence,
				Active: f.Active, Since: a.span.Start, Confidence: confidence(f.Evidence, sus, r)})
		}
	}
	if left { // it is not innocent everywhere
		out = slices.DeleteFunc(out, func(e Entry) bool { return e.State == Cleared && e.Subject.Kind == "" })
	}
	return found, out
}

// finding is what the experiments found, or ruled out, where nothing else did.
func (a *about) finding(s *scene.Scene) suspect.Finding {
	f := suspect.Finding{Subject: a.subject, Active: []recording.Interval{a.span}, Related: []recording.Subject{a.service.subject}, Evidence: a.evidence(), Next: a.next()}
	f.Subject.Name = s.Name(f.Subject)
	if a.cleared() {
		f.Text = whys(a.struck)
		return f
	}
	f.Active = []recording.Interval{a.whole()} // what is found with the last experiment was so at the first
	f.Text = a.left[0].About + " (" + a.target + "): " + whys(a.left)
	f.Harm = a.harm()
	return f
}

// doubt is what an entry begins with that is not proved: nothing was found where a suspect only stays open.
func (a *about) doubt() string {
	if slices.ContainsFunc(a.left, func(p piece) bool { return p.State == recording.FoundBy }) {
		return suspected
	}
	return "not ruled out: "
}

// unprovedByTrial says of a symptom what the experiments found to cause it, which is no proof, and what would be.
func unprovedByTrial(sym scene.Symptom, settled []Entry) (text, next string) {
	for _, e := range settled {
		ofIt := slices.ContainsFunc(append([]recording.Subject{e.Subject}, e.Related...), func(s recording.Subject) bool { return scene.IDOf(s) == scene.IDOf(sym.Subject) })
		strong := slices.ContainsFunc(e.Evidence, func(p suspect.Evidence) bool { return p.Side == suspect.For && p.Grade > suspect.Weak })
		if e.Tried && e.State == NotSeen && ofIt && strong {
			return "the experiments suspect " + e.Suspect.Name + " and cannot prove it: " + strings.TrimPrefix(e.Text, suspected), e.Next
		}
	}
	return "", ""
}

// suspected is what the text of an entry begins with that is not proved.
const suspected = "suspected, not proved: "

// harm is what its requests suffer, and how much of an answer's time the cause takes where that is known.
func (a *about) harm() (h suspect.Harm) {
	sym, ok := a.symptom()
	if !ok {
		return h
	}
	h = suspect.Harm{Symptom: sym.Name, Amount: sym.Amount, Unit: sym.Unit, Text: sym.Text}
	if sym.Name != scene.RequestLatency {
		return h
	}
	cost := 0.0
	for _, p := range a.left {
		if p.Cost != nil {
			cost = max(cost, *p.Cost)
		}
	}
	if cost > 0 {
		h.Amount = min(cost, sym.Amount)
	}
	return h
}

// next is the command that measures what is left.
func (a *about) next() string {
	for _, p := range a.left {
		if p.Next != "" {
			return strings.ReplaceAll(p.Next, "PORT", recording.Port(a.remote))
		}
	}
	return ""
}

// sayUnknown adds why an experiment says nothing to the entry of a suspect that was not seen.
func (a *about) sayUnknown(all []Entry) {
	for i := range all {
		if e := &all[i]; e.State == NotSeen && e.Subject.Kind == "" {
			for _, p := range a.unknown {
				e.Evidence = append(e.Evidence, p.evidence(suspect.Missing))
			}
		}
	}
}
