package verdict

import (
	"fmt"
	"slices"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/suspect"
)

// symptom is that its requests take longer than what was called slow, or fail; false: they do not, or the
// figures are this host's own.
func (x *service) symptom() (sym scene.Symptom, ok bool) {
	row := x.request()
	if row == nil || !row.Slow || x.busy != "" {
		return sym, false
	}
	sym = scene.Symptom{Subject: x.subject, Onset: row.T, Active: []recording.Interval{x.whole()}, Share: 1, Side: string(ledger.Calls), Tried: true}
	if row.Number != nil && *row.Number >= row.Limit {
		sym.Name, sym.Amount, sym.Unit = scene.RequestLatency, *row.Number, "s"
		sym.Text = fmt.Sprintf("half of the requests to %s took %s or more, and more than %s was called slow (snag eliminate)", x.target, units.Short(*row.Number), units.Short(row.Limit))
		return sym, true
	}
	sym.Name, sym.Amount, sym.Unit = scene.ConnectionErrors, float64(max(1, row.Failed)), "connections"
	if row.Proto == "udp" {
		sym.Name, sym.Unit = scene.DatagramsLost, "datagrams"
	}
	sym.Text = fmt.Sprintf("no request to %s was answered (snag eliminate)", x.target)
	if row.Tried > 0 {
		sym.Share = float64(row.Failed) / float64(row.Tried)
		sym.Text = fmt.Sprintf("%d of %s to %s got no answer (snag eliminate)", row.Failed, units.Plural(row.Tried, "request"), x.target)
	}
	return sym, true
}

// addTried adds what the experiments saw their requests suffer. Late answers that the ledger has already are
// the same ones.
func addTried(s *scene.Scene, all []*service) {
	for _, x := range all {
		sym, ok := x.symptom()
		if !ok || sym.Name == scene.RequestLatency && latencyOf(s, scene.IDOf(sym.Subject)) >= 0 {
			continue
		}
		s.Symptoms = append(s.Symptoms, sym)
	}
}

// notTheMedian reports that a cause is not why half of an experiment's requests or more were late: another
// experiment ruled it out, or it acted in less than half of the time.
func notTheMedian(f suspect.Finding, sym scene.Symptom, window recording.Interval) bool {
	if slices.ContainsFunc(f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against && e.Origin == originTried }) {
		return true
	}
	acted := intervals.Overlap(intervals.Merge(slices.Clone(f.Active), 0), sym.Active, window.End)
	return len(f.Active) > 0 && acted < intervals.Total(sym.Active, window.End)/2
}

// triedTellsNothing says why the experiments say nothing of a service; "": they do, or there were none.
func triedTellsNothing(s *scene.Scene, r *recording.Recording) string {
	for _, x := range tried(s, r) {
		if x.busy != "" {
			return fmt.Sprintf("the experiments on %s say nothing of it: %s", x.target, x.busy)
		}
		if x.request() == nil {
			return fmt.Sprintf("the experiments on %s did not get to its request: how long it takes is not known", x.target)
		}
	}
	if c, ok := r.Measured(recording.MeasureEliminate); !ok && c.State == recording.CoverageFailed {
		return "the experiments failed: " + c.Why
	}
	return ""
}
