package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// Queries of a resolver that go without an answer: clients send theirs again as well, and a
// name server far away may leave a few.
const (
	fewUnanswered   = 10
	shareUnanswered = 0.1
	explainsFailed  = 0.5 // of the queries that a resolver fails
	clientsWait     = 1   // s; who asks a name server waits for longer (resolv.conf(5): 5 s)
)

// forwards is a resolver whose own queries are not answered, or late: all who ask it wait.
func forwards(p *pool, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	socket := resolves(p)
	if socket == nil {
		return suspect.Finding{}, false
	}
	failed := failedFor(p, s)
	for _, a := range queriesOf(p, r) {
		missing := a.missing()
		unanswered := a.Measured == 0 && missing >= fewUnanswered && (missing >= shareUnanswered*a.known() || failed > 0 && missing >= explainsFailed*failed)
		if !unanswered && a.answersIn() < longCall {
			continue
		}
		host := recording.Host(a.server)
		f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPeer, Netns: a.netns, Proto: "udp", Remote: a.server, PID: p.head.Subject.PID, Comm: p.head.Subject.Comm},
			Active: a.active, Related: []recording.Subject{p.head.Subject, socket.Subject},
			Next: fmt.Sprintf("dig @%s . NS +tries=1; tcpdump -ni any host %s and port 53", host, host)}
		if unanswered {
			f.Text = fmt.Sprintf("%s passes queries on to %s, and %s of %s get no answer", p.named(), host, units.Count(missing), units.Count(a.known()))
			f.Harm = suspect.Harm{Symptom: scene.DatagramsLost, Amount: missing, Of: a.known(), Unit: "queries", Text: f.Text}
			f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s does not answer (its load, its rate limit, the path). In the configuration of %s: a second forwarder.", host, p.head.Subject.Comm)}
		} else {
			if a.Max < clientsWait { // what it answers late is not left without an answer for that
				f.NotTo = []string{scene.FailedAnswers, "error-answers"}
			}
			f.Text = fmt.Sprintf("%s passes queries on to %s. Its answers take %s on average, %s at the longest", p.named(), host, units.Lasting(a.answersIn()), units.Lasting(a.Max))
			f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: a.answersIn(), Unit: "s", Text: f.Text}
			f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out what holds %s up (its upstream, its load). In the configuration of %s: a larger cache, prefetch, a second forwarder.", host, p.head.Subject.Comm)}
		}
		e := a.passedOn(missing, unanswered)
		against, quick := inTime(p, s, r, failed)
		if quick {
			e.Grade = suspect.Strong
			f.Evidence = append(f.Evidence, against)
		}
		f.Evidence = append(f.Evidence, e)
		if k := a.here(s); k != nil {
			f.Related = append(f.Related, k.Subject)
		}
		return f, true
	}
	return suspect.Finding{}, false
}

// answersIn is how long its answers take on average, s.
func (a *nameServer) answersIn() float64 { return a.Sum / float64(max(a.Answered, 1)) }

// passedOn is the count of the queries that a resolver passes on, and of their answers.
func (a *nameServer) passedOn(missing float64, unanswered bool) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: a.answersIn(), Unit: "s", Source: source.Lookups, Origin: "queries"}
	e.Text = fmt.Sprintf("%s of %s queries to %s were answered, after %s on average, %s at the longest", units.Count(float64(a.Answered)), units.Count(a.known()), a.server, units.Lasting(a.answersIn()), units.Lasting(a.Max))
	if !unanswered {
		return e
	}
	e.Value, e.Unit = missing, "queries"
	if a.GaveUp > 0 {
		e.Text += fmt.Sprintf("; %s were given up, after %s on average", units.Count(float64(a.GaveUp)), units.Hundredths(a.GaveUpSum/float64(a.GaveUp)))
	}
	return e
}

// failedFor is how many queries of clients a resolver failed; 0: none that anybody noticed.
func failedFor(p *pool, s *scene.Scene) (n float64) {
	for _, sym := range s.Symptoms {
		if sym.Name == scene.FailedAnswers && p.worker(sym.Subject.PID) != nil {
			n += sym.Amount
		}
	}
	return n
}

// inTime speaks against an upstream that makes nobody wait: the answers come from a cache, or
// from another one.
func inTime(p *pool, s *scene.Scene, r *recording.Recording, failed float64) (suspect.Evidence, bool) {
	_, mean, answers := tookInside(r, p, s.Window)
	open := p.turns(r, "serve", "", []recording.Interval{s.Window}).Oldest
	if answers == 0 || failed > 0 || mean >= 0.5*longCall || open >= stillOpen || p.suffers(s) {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: mean, Unit: "s", Source: source.Turns, Origin: "turns",
		Text: fmt.Sprintf("its own %s answers took %s all the same: no request waits for that server", units.Count(float64(answers)), units.Lasting(mean))}, true
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
