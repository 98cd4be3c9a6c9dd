package verdict

import (
	"sort"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

// weighOne runs one suspect. What experiments say of a service is evidence of the findings on it.
func weighOne(sus *suspect.Suspect, s *scene.Scene, r *recording.Recording, l *ledger.Ledger, n *scope, said []*about) (found []*candidate, settled []Entry) {
	must, rest := sus.Blind(r)
	if len(must) > 0 {
		return nil, []Entry{blindEntry(sus, must, r)}
	}
	unseen, partly := withheld(sus, r)
	var open, cleared []Entry
	for _, f := range greatest(weigh(sus, s, r, l), n) {
		s := f.seen
		if isSelf(f.Subject, r) && sus.Name != observerName {
			continue
		}
		complete(&f, r, rest)
		own := f.Evidence
		with := join(s, &f.Finding, said)
		proof := prove(f.Evidence)
		if proof != confirmed && len(with) == 0 && !n.concerns(f.Subject, f.Related) {
			continue // what is only suspected elsewhere is no answer
		}
		e := Entry{Suspect: sus, Subject: f.Subject, Text: f.Text, Evidence: f.Evidence, Harm: f.Harm,
			Active: f.Active, Since: onset(f.Finding, s), Confidence: confidence(f.Evidence, sus, r)}
		switch proof {
		case confirmed:
			taken(with)
			found = append(found, &candidate{suspect: sus, finding: f.Finding, confidence: e.Confidence, onset: asEarlyAs(e.Since, sus, r), window: s.Window})
		case unproven, conflict:
			taken(with)
			e.State, e.Next = NotSeen, firstOf(f.Next, sus.Next)
			e.Text = suspected + f.Text
			if proof == conflict {
				e.Text = "the instruments disagree: " + f.Text
			}
			open = append(open, e)
		default:
			if count(own, suspect.Against, suspect.Strong)+count(own, suspect.Against, suspect.Decisive) == 0 && seenInSlices(sus, r) {
				continue
			}
			e.State, e.Evidence = Cleared, own // what experiments rule out has an entry of its own
			cleared = append(cleared, e)
		}
	}
	switch {
	case len(open) > 0:
		settled = append(settled, open...)
	case len(found) > 0:
	case partly:
		settled = append(settled, unseen)
	case len(cleared) > 0:
		settled = append(settled, cleared[0])
	case seenInSlices(sus, r):
		settled = append(settled, unseen)
	default:
		settled = append(settled, Entry{Suspect: sus, State: Cleared, Text: "measured, and nothing speaks for it", Confidence: confidence(nil, sus, r)})
	}
	return found, settled
}

// greatest are the findings that are carried on: those that concern the target first, then what is proved, then by
// their harm. Of a process with a hundred connections each may be suspected of more than the one that is proved.
func greatest(findings []weighed, n *scope) []weighed {
	sort.SliceStable(findings, func(i, j int) bool {
		if a, b := n.concerns(findings[i].Subject, findings[i].Related), n.concerns(findings[j].Subject, findings[j].Related); a != b {
			return a
		}
		if a, b := prove(findings[i].Evidence) == confirmed, prove(findings[j].Evidence) == confirmed; a != b {
			return a
		}
		return findings[i].Harm.Amount > findings[j].Harm.Amount
	})
	return findings[:min(len(findings), maxFindings)]
}

// complete names a finding's subject and adds what is missing.
func complete(f *weighed, r *recording.Recording, rest []suspect.Need) {
	s := f.seen
	f.Subject.Name = s.Name(f.Subject)
	measure.AsCaptured(r, &f.Finding)
	f.Active = within(f.Active, s.Window)
	f.Evidence = fromTrace(r, f.Evidence)
	for _, n := range rest {
		f.Evidence = append(f.Evidence, missing(n, r))
	}
	inSlices(f.Evidence, r)
}
