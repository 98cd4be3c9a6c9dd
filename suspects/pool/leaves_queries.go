package pool

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// quickName is within what a name server answers that is not held up, s, and mostlyThere the share of the seconds with
// queries in which it answers somebody.
const (
	quickName   = 0.1
	mostlyThere = 0.6
)

// leavesQueries is a name server that answers some queries at once and others not at all, though it got them, and gets
// an answer to each that it asks others itself: a limit of its own (ratelimit of unbound, rate-limit of BIND), or a
// list of clients that it answers.
func leavesQueries(s *scene.Scene, r *recording.Recording) (out []suspect.Finding) {
	for _, v := range scene.Services(s, r, "serve") {
		failed, of, as := v.Failed()
		if v.Subject.Proto != "udp" || !strings.HasPrefix(as, "no DNS ") || failed < fewUnanswered || failed < shareUnanswered*of {
			continue
		}
		answered, took, there, came, open := 0.0, 0.0, 0, 0, 0.0
		f := suspect.Finding{Subject: v.Subject}
		for _, row := range v.Rows {
			answered, took = answered+float64(row.N), took+row.Sum
			if float64(row.N+row.Failed+row.Open)-open > 0 {
				came++
			}
			if row.N > 0 {
				there++
			}
			open = float64(row.Open)
		}
		for _, sym := range s.Symptoms { // a query is known to have no answer 5 s after it was asked
			if sym.Name == scene.FailedAnswers && scene.IDOf(sym.Subject) == scene.IDOf(v.Subject) {
				f.Active = sym.Active
			}
		}
		p := answersFor(s, r, v)
		if p == nil || answered < failed/4 || took > quickName*answered || float64(there) < mostlyThere*float64(came) || p.stopped(r, s.Window) || dropped(p) {
			continue
		}
		asked, missing := 0.0, 0.0
		for _, a := range queriesOf(p, r) {
			asked, missing = asked+a.known(), missing+a.missing()
		}
		if missing > 0.1*failed {
			continue
		}
		f.Related = append(p.related(), p.head.Subject)
		f.Text = fmt.Sprintf("it left %s of %s queries without an answer, and answered the others at once: a limit of its own, or a list of clients that it answers", units.Count(failed), units.Count(failed+answered))
		f.Evidence = []suspect.Evidence{
			{Side: suspect.For, Grade: suspect.Strong, Value: failed, Unit: "queries", Source: source.Turns, Origin: "turns",
				Text: fmt.Sprintf("%s of %s queries had no answer in 5 s, the others after %s on average", units.Count(failed), units.Count(failed+answered), units.Lasting(took/max(1, answered)))},
			{Side: suspect.For, Grade: suspect.Strong, Value: missing, Unit: "queries", Source: source.Lookups, Origin: "queries",
				Text: fmt.Sprintf("its socket dropped none, and %s of the %s queries that it asked others itself went without an answer: it waited for nobody", units.Count(missing), units.Count(asked))},
		}
		if asked == 0 { // whom it may have waited for is not known
			f.Evidence[1] = suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: 0, Unit: "queries", Source: source.Of("ss -lun d"), Origin: "sockets", Text: "its socket dropped none"}
		}
		f.Harm = suspect.Harm{Symptom: scene.FailedAnswers, Amount: failed, Of: failed + answered, Unit: "queries", Text: f.Text}
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("%s: a higher limit of queries per second (ratelimit and ip-ratelimit of unbound, rate-limit of BIND), or the clients in its access list.", v.Subject.Comm),
			Program: "Clients that keep answers for as long as they are valid."}
		f.Next = fmt.Sprintf("unbound-control stats_noreset | grep -i ratelimit; rndc stats; dig @%s NAME +tries=1   # again and again", recording.Host(v.Subject.Local))
		out = append(out, f)
	}
	return out
}

// answersFor is the pool that answers for a service; nil: none is seen.
func answersFor(s *scene.Scene, r *recording.Recording, v *scene.Service) *pool {
	for _, p := range poolsOf(s, r) {
		for _, pid := range v.PIDs {
			if p.worker(pid) != nil || p.head.Subject.PID == pid {
				return p
			}
		}
	}
	return nil
}

// dropped reports whether queries were lost before it could read them.
func dropped(p *pool) bool {
	for _, k := range p.sockets() {
		if k.AnswersNames() && k.DropsGrew() > 0 {
			return true
		}
	}
	return false
}
