package verdict

import (
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// Judge weighs every suspect of the catalogue against a recording.
func Judge(r *recording.Recording) *Verdict { return judge(r, suspects.All) }

func judge(r *recording.Recording, all []*suspect.Suspect) *Verdict {
	v := &Verdict{Recording: r}
	v.Warnings = append(v.Warnings, r.Manifest.Notes...)
	v.Warnings = append(v.Warnings, r.Damage...)
	v.Warnings = append(v.Warnings, happened(r)...)

	found, settled, g := judgeParts(v, all)
	g.settle()
	v.abstain(g, settled)

	for _, c := range found {
		v.Entries = append(v.Entries, c.entry(g))
	}
	v.Entries = append(v.Entries, settled...)
	v.clearNobody()
	sortEntries(v.Entries)
	number(v.Entries, found)
	v.hold()
	v.warnOfCut()
	if len(r.Parts) == 0 {
		behind(v)
	}
	return v
}

// judgeParts weighs the suspects, of a recording of several hosts on each, and
// connects what they found.
func judgeParts(v *Verdict, all []*suspect.Suspect) ([]*candidate, []Entry, *graph) {
	r := v.Recording
	if len(r.Parts) == 0 {
		s := scene.Build(r)
		v.Scene, v.Ledger = s, ledger.Build(s, r)
		delays := addFelt(s, v.Ledger)
		v.scope = newScope(s, r, v.Ledger)
		on := tried(s, r)
		addTried(s, on)
		found, settled := weighAll(s, r, v.Ledger, v.scope, on, all)
		addFaint(s, v.Ledger, found, delays)
		v.Symptoms = symptoms(s, r, v.Ledger, v.scope, found)
		g := connect(s, found, v.Symptoms, delays)
		g.scope = v.scope
		g.amongFiles(r)
		return found, settled, g
	}
	return judgeHosts(v, all)
}

// behind names the series behind each piece of evidence, for whoever draws them.
func behind(v *Verdict) {
	find := source.NewIndex(v.Recording)
	for _, e := range v.Entries {
		for i := range e.Evidence {
			e.Evidence[i].Series = find.Selectors(e.Evidence[i].Source, e.Subject)
		}
	}
}
