package memory

import (
	"fmt"

	"snag/recording"
)

// Coverage implements probe.Looker: a row for the probe and for each of its measures.
func (r *running) Coverage(cost float64, failed error) []recording.Coverage {
	whole := recording.Coverage{Probe: name, State: recording.CoverageOK, Cost: cost}
	if failed != nil {
		whole.State, whole.Why = recording.CoverageFailed, failed.Error()
	}
	whole.Lost = r.k.lost() + r.left
	if whole.Lost > 0 && failed == nil {
		whole.State = recording.CoveragePartial
		whole.Why = fmt.Sprintf("%d waits for memory of a millisecond and more have no event: at most %d per second have; all are summed", whole.Lost, mostEvents)
	}
	rows := []recording.Coverage{whole}
	for _, m := range []string{measureReclaim, measureCompaction} {
		c := whole
		c.Probe, c.Cost = m, 0
		if l := r.k.lacks[m]; l != nil {
			c.State, c.Why, c.Cure = recording.CoverageUnavailable, l.Why, l.Cure
		} else if l := r.k.lacks[measureGroup]; l != nil && m == measureReclaim && c.State == recording.CoverageOK {
			c.State, c.Why, c.Cure = recording.CoveragePartial, "of control groups nothing is known: "+l.Why, l.Cure
		}
		rows = append(rows, c)
	}
	return rows
}
