package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/suspect"
)

// Queries of a resolver that go without an answer: clients send theirs again as well, and a
// name server far away may leave a few.
const (
	fewUnanswered   = 10
	shareUnanswered = 0.1
	clientsWait     = 1 // s; who asks a name server waits for longer (resolv.conf(5): 5 s)
)

// forwards is a resolver whose own queries are not answered, or late: all who ask it wait.
func forwards(p *pool, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	socket := resolves(p)
	if socket == nil {
		return suspect.Finding{}, false
	}
	for _, a := range queriesOf(p, r) {
		missing := float64(a.Asked) - float64(a.Answered)
		unanswered := a.Measured == 0 && missing >= fewUnanswered && missing >= shareUnanswered*float64(a.Asked)
		if !unanswered && a.wait() < longCall {
			continue
		}
		host := recording.Host(a.server)
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: a.netns, Proto: "udp", Remote: a.server, PID: p.head.Subject.PID, Comm: p.head.Subject.Comm},
			Active: a.active, Related: []recording.Subject{p.head.Subject, socket.Subject},
			Next: fmt.Sprintf("dig @%s . NS +tries=1; tcpdump -ni any host %s and port 53", host, host)}
		e := a.evidence(r)
		e.Grade = suspect.Decisive
		if unanswered {
			f.Text = fmt.Sprintf("%s passes queries on to %s, and %s of %s get no answer", p.named(), host, units.Count(missing), units.Count(float64(a.Asked)))
			f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: missing, Of: float64(a.Asked), Unit: "queries", Text: f.Text}
			f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not answer (its load, its rate limit, the path). In the configuration of %s: a second forwarder.", host, p.head.Subject.Comm)}
		} else {
			if a.Max < clientsWait { // what it answers late is not left without an answer for that
				f.NotTo = []string{scene.FailedAnswers, "error-answers"}
			}
			f.Text = fmt.Sprintf("%s passes queries on to %s, whose answers take %s on average, %s at the longest", p.named(), host, units.Lasting(a.wait()), units.Lasting(a.Max))
			f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: a.wait(), Unit: "s", Text: f.Text}
			f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out what holds %s up (its upstream, its load). In the configuration of %s: a larger cache, prefetch, a second forwarder.", host, p.head.Subject.Comm)}
		}
		f.Evidence = append(f.Evidence, e)
		if k := a.here(s); k != nil {
			f.Related = append(f.Related, k.Subject)
		}
		return f, true
	}
	return suspect.Finding{}, false
}

// resolves is the socket on which a process answers queries itself, nil of one that does not.
func resolves(p *pool) *scene.Socket {
	for _, k := range p.sockets() {
		if k.AnswersNames() {
			return k
		}
	}
	return nil
}
