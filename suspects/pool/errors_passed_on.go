package pool

import (
	"fmt"
	"maps"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// failingPeer is a service that a pool asks and that answers it with errors.
type failingPeer struct {
	first            recording.Turns // one of its rows
	failed, answered float64
	as               string
	active           []recording.Interval
}

// failingPeers are the services that explain a pool's own error answers: all together half of them or more. Those of
// which few answers were errors explain nothing.
func failingPeers(p *pool, r *recording.Recording, failed float64) (out []*failingPeer) {
	stray := scene.StrayAlerts(r)
	by := map[string]*failingPeer{}
	for _, row := range r.Turns {
		if row.Role != "call" || row.Proto == "udp" || row.Remote == "others" || p.worker(row.PID) == nil {
			continue
		}
		k := fmt.Sprint(row.Netns, row.Remote)
		if by[k] == nil {
			by[k] = &failingPeer{first: row}
		}
		a := by[k]
		a.answered += float64(row.N + row.Untimed)
		if row.Failed > 0 && !stray(row) {
			a.failed, a.as = a.failed+float64(row.Failed), row.FailedAs
			a.active = append(a.active, measure.OneSecond(row.T))
		}
	}
	sum := 0.0
	for _, k := range slices.Sorted(maps.Keys(by)) {
		if a := by[k]; a.failed >= fewUnanswered && a.failed >= scene.LeastFailed(a.as)*a.answered {
			a.active = intervals.Merge(a.active, measure.Joined)
			sum, out = sum+a.failed, append(out, a)
		}
	}
	if sum < explainsFailed*failed {
		return nil
	}
	return out
}

// errorsOfPeers are the services whose errors a pool passes on: those elsewhere as findings, those of this host, which
// have findings themselves, by their sockets, with who passes their errors on.
func errorsOfPeers(s *scene.Scene, r *recording.Recording, failing map[scene.NodeID]scene.Symptom) (out []suspect.Finding, here map[scene.NodeID][]recording.Subject) {
	here = map[scene.NodeID][]recording.Subject{}
	for _, p := range poolsOf(s, r) {
		failed := failedFor(p, s)
		if failed == 0 {
			continue
		}
		for _, a := range failingPeers(p, r, failed) {
			if l := s.Callee(a.first); l == nil {
				out = append(out, a.finding(p, s))
			} else if _, ok := failing[l.ID]; ok {
				here[l.ID] = append(here[l.ID], p.head.Subject)
			}
		}
	}
	return out, here
}

func (a *failingPeer) finding(p *pool, s *scene.Scene) suspect.Finding {
	at, who := a.first.Remote, p.head.Subject
	text := fmt.Sprintf("%s passes requests on to %s, and %s of %s answers from there were errors: %s", p.named(), at, units.Count(a.failed), units.Count(max(a.failed, a.answered)), a.as)
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: a.first.Netns, Proto: "tcp", Remote: at, PID: who.PID, Comm: who.Comm},
		Related: append([]recording.Subject{who}, p.related()...), Active: a.active, Text: text,
		Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: a.failed, Unit: "answers", Source: source.FirstBytes, Origin: "answers of " + at, Text: text}},
		Harm:     suspect.Harm{Symptom: scene.FailedAnswers, Amount: a.failed, Of: max(a.failed, a.answered), Unit: "answers", Text: text},
		Remedy:   suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s fails: its log says, or sudo snag find on that host.", at)},
		Next:     "on " + recording.Host(at) + ": sudo snag find",
		NotBy:    []string{"error-answers"}} // two of them fail, and neither for the other
	for _, sym := range s.Symptoms { // the listeners on which the pool answers
		if sym.Name == scene.FailedAnswers && p.worker(sym.Subject.PID) != nil {
			f.Related = append(f.Related, sym.Subject)
		}
	}
	return f
}
