package verdict

import (
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/suspect"
)

// withinLag is the share of a stream's standstill that lost packets may have caused: what falls
// within the lag after a loss. TCP sends again what was lost, so that a drop before the standstill
// explains its first seconds, and not those in which nothing more was lost.
// 1 for all other causes, which may last longer than they are seen to act, as a kill does.
func withinLag(f suspect.Finding, sym scene.Symptom, lead suspect.Lead, window recording.Interval) float64 {
	if sym.Name != scene.StreamFreeze || f.Harm.Unit != "packets" || len(f.Active) == 0 || len(sym.Active) == 0 {
		return 1
	}
	var reached []recording.Interval
	for _, i := range f.Active {
		i.Start = i.Start.Add(-slack)
		if i.End != 0 {
			i.End = i.End.Add(lead.Lag)
		}
		reached = append(reached, i)
	}
	stood := intervals.Seconds(sym.Active, window.End)
	if stood <= 0 {
		return 1
	}
	return intervals.Overlap(intervals.Merge(reached, 0), sym.Active, window.End).Seconds() / stood
}
