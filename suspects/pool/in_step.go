package pool

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// fewInStep: of fewer answers, or calls, the mean tells nothing.
const fewInStep = 20

// inStep is a service whose answers took longer for a while, and the calls that grew with them: by
// as much, in the same seconds. It holds of calls however short, for two counters that know
// nothing of each other give the same time twice.
type inStep struct {
	active      []recording.Interval
	usual, slow sumOf // its own answers
	calls       struct{ usual, slow float64 }
}

// sumOf is how long so many took, s.
type sumOf struct {
	n   uint64
	sum float64
}

func (a sumOf) mean() float64 { return a.sum / float64(max(a.n, 1)) }

// slowWhile finds the seconds in which the answers of a pool took longer than at other times.
func slowWhile(p *pool, s *scene.Scene, r *recording.Recording) (*inStep, bool) {
	t := &inStep{}
	for _, sym := range s.Symptoms {
		if sym.Name == scene.RequestLatency && sym.Unit == "s" && (p.worker(sym.Subject.PID) != nil || sym.Subject.PID == p.head.Subject.PID) { // who listens for them
			t.active = append(t.active, sym.Active...)
		}
	}
	t.active = intervals.Merge(t.active, 0)
	for _, row := range r.Turns {
		if row.Role == "serve" && p.worker(row.PID) != nil {
			t.add(&t.usual, &t.slow, row.T, row.N, max(0, row.Sum-row.Wait))
		}
	}
	return t, t.grew(t.usual, t.slow)
}

func (t *inStep) add(usual, slow *sumOf, at recording.Time, n uint64, sum float64) {
	to := usual
	if slices.ContainsFunc(t.active, func(i recording.Interval) bool { return at >= i.Start && at < i.End }) {
		to = slow
	}
	to.n, to.sum = to.n+n, to.sum+sum
}

// grew reports that some took longer in the slow seconds.
func (t *inStep) grew(usual, slow sumOf) bool {
	return usual.n >= fewInStep && slow.n >= fewInStep && slow.mean() > usual.mean()
}

// queries reports whether the answers of a name server grew with those of the service.
func (t *inStep) queries(a *nameServer, r *recording.Recording) bool {
	var usual, slow sumOf
	for _, row := range r.Queries {
		if row.Remote == a.server && a.process.worker(row.PID) != nil {
			t.add(&usual, &slow, row.T, row.Answered, row.Sum)
		}
	}
	t.calls.usual, t.calls.slow = usual.mean(), slow.mean()
	return t.grew(usual, slow) && t.alike()
}

// to reports whether the calls to a peer grew with the answers of the service: what each answer
// needs of them.
func (t *inStep) to(d *dependency, r *recording.Recording) bool {
	var usual, slow sumOf
	for _, row := range r.Turns {
		if row.Role == "call" && row.Remote == d.remote && d.process.worker(row.PID) != nil {
			t.add(&usual, &slow, row.T, row.N, row.Sum)
		}
	}
	t.calls.usual, t.calls.slow = usual.sum/float64(t.usual.n), slow.sum/float64(t.slow.n)
	return t.grew(usual, slow) && t.alike()
}

// alike: the calls take several times as long as before, and that is what the answers take longer.
func (t *inStep) alike() bool {
	return t.calls.slow >= slowerBy*t.calls.usual && agrees(t.calls.slow-t.calls.usual, t.slow.mean()-t.usual.mean())
}

func (t *inStep) evidence(what string, from source.Source) suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: t.calls.slow - t.calls.usual, Unit: "s", Source: from, Origin: suspect.InStep,
		Text: fmt.Sprintf("in the seconds in which its %s answers took %s inside, %s took %s; at other times %s and %s: both grew by the same", units.Count(float64(t.slow.n)),
			units.Short(t.slow.mean()), what, units.Short(t.calls.slow), units.Short(t.usual.mean()), units.Short(t.calls.usual))}
}

func (t *inStep) harm(whom string) suspect.Harm {
	each := t.slow.mean() - t.usual.mean()
	return suspect.Harm{Symptom: scene.RequestLatency, Amount: each, Unit: "s",
		Text: fmt.Sprintf("%s of each answer's %s is that %s takes longer than at other times", units.Short(each), units.Short(t.slow.mean()), whom)}
}

// namesInStep is the process whose queries to a name server took longer when its answers did,
// though no query takes what anybody would call long.
func namesInStep(p *pool, all []*nameServer, s *scene.Scene, r *recording.Recording) (suspect.Finding, bool) {
	t, ok := slowWhile(p, s, r)
	if !ok {
		return suspect.Finding{}, false
	}
	for _, a := range all {
		if a.Measured > 0 || !t.queries(a, r) {
			continue
		}
		host := recording.Host(a.server)
		return suspect.Finding{Subject: a.subject(), Active: t.active, Related: slices.Concat([]recording.Subject{p.head.Subject}, p.related(), a.related(s)),
			Text:     fmt.Sprintf("%s waits for the name server %s%s, which answers in %s instead of %s", p.named(), host, a.whose(s), units.Short(t.calls.slow), units.Short(t.calls.usual)),
			Evidence: []suspect.Evidence{t.evidence("a query to "+a.server, source.Lookups.And(source.AllTurns))},
			Harm:     t.harm("the name server " + host),
			Remedy:   a.slowRemedy(), Next: a.next()}, true
	}
	return suspect.Finding{}, false
}
