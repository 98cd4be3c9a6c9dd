package recorded

import (
	"context"
	"slices"
	"time"

	"snag/load/elimination"
	"snag/load/trial"
	"snag/recording"
)

// Eliminate runs the experiments of a plan and writes a row for each. What was measured is returned; began is
// called before each experiment.
func (p Place) Eliminate(ctx context.Context, plan trial.Plan, began func(elimination.Experiment)) (*elimination.Measures, error) {
	p.Sink.Append(recording.Coverage{Probe: recording.MeasureEliminate, State: recording.CoveragePartial, Why: "the recording ends before the experiments do"})
	start := time.Now()
	m, err := trial.Run(ctx, plan, began)
	if err != nil {
		p.Sink.Append(recording.Coverage{Probe: recording.MeasureEliminate, State: recording.CoverageFailed, Why: err.Error(),
			Cure: "a target that can be asked: snag eliminate TARGET shows it without a recording"})
		return nil, err
	}
	rows := Experiments(m, start, p)
	for _, row := range rows {
		p.Sink.Append(row)
	}
	c := recording.Coverage{Probe: recording.MeasureEliminate, State: recording.CoverageOK, Since: p.Clock(start)}
	if i := slices.IndexFunc(rows, func(r recording.Experiment) bool { return r.NotDone != "" && r.NotDone != nothingToLookUp }); i >= 0 {
		c.State, c.Why = recording.CoveragePartial, rows[i].What+": "+rows[i].NotDone
	}
	if len(m.Done) == 0 {
		c.State = recording.CoverageFailed
	}
	p.Sink.Append(c)
	return m, nil
}

// Experiments are the rows of what was measured, one for each experiment that could be done on the target.
// start is when the first one began. They are made after the last, as each suspect is judged by all.
func Experiments(m *elimination.Measures, start time.Time, p Place) (out []recording.Experiment) {
	whole := elimination.Span{Begin: start, End: start}
	for _, at := range m.When {
		if at.End.After(whole.End) {
			whole.End = at.End
		}
	}
	remote := m.Address
	row := func(id, what string, at elimination.Span) recording.Experiment {
		return recording.Experiment{T: p.Clock(at.Begin), End: p.Clock(at.End), Target: m.Target, Proto: m.Network, Netns: p.Netns, Remote: remote, Experiment: id, What: what}
	}
	all := elimination.Judge(m)
	for _, e := range elimination.Experiments {
		if !m.Applies(e) {
			continue
		}
		at, tried := m.When[e.ID]
		if !tried { // its suspects are left at the end of the others
			at = elimination.Span{Begin: whole.End, End: whole.End}
		}
		one := row(e.ID, e.What, at)
		one.NotDone = notDone(m, e.ID)
		if f, ok := e.Figure(m); ok && one.NotDone == "" {
			one.Number, one.Unit, one.Of = &f.Number, f.Unit, f.Of
		}
		one.Shows = e.Number(m)
		if e.ID == elimination.TheRequest {
			one.Limit, one.Slow = m.Slow, m.IsSlow()
			one.Tried, one.Failed = m.Attempts()
		}
		one.Suspects = suspects(all, e.ID)
		out = append(out, one)
	}
	if m.Server != nil {
		one := row(elimination.OnServer, "the same on the server itself", spanOf(m.Server, whole))
		one.Suspects = suspects(all, elimination.OnServer)
		out = append(out, one)
	}
	return out
}

// spanOf is when other measures were made; without their times, when these were.
func spanOf(m *elimination.Measures, these elimination.Span) (s elimination.Span) {
	for _, at := range m.When {
		if s.Begin.IsZero() || at.Begin.Before(s.Begin) {
			s.Begin = at.Begin
		}
		if at.End.After(s.End) {
			s.End = at.End
		}
	}
	if s.Begin.IsZero() {
		return these
	}
	return s
}

// nothingToLookUp is no experiment: it clears no resolver.
const nothingToLookUp = "the target is an address: no name is looked up"

// notDone is why an experiment did not run to its end; "": it did.
func notDone(m *elimination.Measures, id string) string {
	switch why := m.Missing[id]; {
	case why != "":
		return why
	case id == elimination.Lookup && m.Resolve != nil && m.Resolve.Literal:
		return nothingToLookUp
	case !m.Did(id):
		return "an earlier experiment found a suspect (--all goes on)"
	}
	return ""
}

// suspects are those that an experiment judged, and those that it would have.
func suspects(all []elimination.Standing, by string) (out []recording.ExperimentSuspect) {
	for _, st := range all {
		i := slices.IndexFunc(elimination.Suspects, func(s elimination.Suspect) bool { return s.ID == st.Suspect })
		s := elimination.Suspects[i]
		if st.By != by && (st.By != "" || s.By != by) {
			continue
		}
		one := recording.ExperimentSuspect{Suspect: st.Suspect, About: s.About, State: string(st.State), Why: st.Why, Cause: s.Cause, Client: s.Client, Proves: st.Proves, Next: st.Find}
		if one.State == string(elimination.Open) && st.By == "" {
			one.State = recording.NotMeasured
		}
		if st.Cost > 0 {
			one.Cost = &st.Cost
		}
		if s.Cause != "" {
			one.Clears = append([]string{s.Cause}, s.Also...)
		}
		out = append(out, one)
	}
	return out
}
