package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// errorsPassedOn are the name servers that answer with errors what failing resolvers ask them: those elsewhere by
// their answers, and of this host the sockets, which have findings themselves, with who passes their errors on.
func errorsPassedOn(s *scene.Scene, r *recording.Recording, failing map[scene.NodeID]scene.Symptom) (out []suspect.Finding, here map[scene.NodeID][]recording.Subject) {
	here = map[scene.NodeID][]recording.Subject{}
	for _, p := range poolsOf(s, r) {
		socket, failed := resolves(p), failedFor(p, s)
		if socket == nil || failed == 0 {
			continue
		}
		for _, a := range queriesOf(p, r) {
			if got := float64(a.Failed); got < fewUnanswered || got < explainsFailed*failed && got < explainsFailed*float64(a.Answered) {
				continue
			}
			if k := a.here(s); k != nil {
				if _, ok := failing[k.ID]; ok {
					here[k.ID] = append(here[k.ID], p.head.Subject)
					continue
				}
			}
			out = append(out, a.failingUpstream(p, socket, s, r))
		}
	}
	return out, here
}

// failingUpstream is a name server whose errors a resolver passes on.
func (a *nameServer) failingUpstream(p *pool, socket *scene.Socket, s *scene.Scene, r *recording.Recording) suspect.Finding {
	host := recording.Host(a.server)
	text := fmt.Sprintf("%s passes queries on to %s, and %s of %s answers from there were errors: %s", p.named(), host, units.Count(float64(a.Failed)), units.Count(float64(a.Answered)), a.FailedAs)
	f := suspect.Finding{Subject: a.subject(), Related: append([]recording.Subject{p.head.Subject, socket.Subject}, a.related(s)...), Text: text,
		Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: float64(a.Failed), Unit: "answers", Source: source.Lookups, Origin: "queries", Text: text}},
		Harm:     suspect.Harm{Symptom: scene.FailedAnswers, Amount: float64(a.Failed), Of: float64(a.Answered), Unit: "answers", Text: text},
		Remedy:   suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s fails (its log, its own upstream). In the configuration of %s: a second forwarder.", host, p.head.Subject.Comm)},
		Next:     fmt.Sprintf("dig @%s . NS +tries=1", host)}
	for _, row := range r.Queries {
		if row.Failed > 0 && row.Remote == a.server && p.worker(row.PID) != nil {
			f.Active = append(f.Active, measure.OneSecond(row.T))
		}
	}
	f.Active = intervals.Merge(f.Active, measure.Joined)
	return f
}
