package scene

import (
	"fmt"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// Stuck are requests that began to go without an answer inside the window and have none at its
// end.
type Stuck struct {
	Since         recording.Time // when the first of them was asked
	Open          uint64
	Oldest        float64 // s
	Before, After float64 // answers per second, before Since and from then on
}

// Ever more requests are open and ever fewer are answered: a long poll keeps requests open and
// the answers to others come as before.
const (
	stuckFor   = 2   // s
	stuckFew   = 3   // requests
	stuckFall  = 0.5 // of the answers before
	stuckTimes = 4   // as long as any answer took before
)

// Stuck reports whether a service got stuck in the window and has not got over it.
func (v *Service) Stuck() (Stuck, bool) {
	n := len(v.Rows)
	if n == 0 {
		return Stuck{}, false
	}
	last := v.Rows[n-1]
	k := Stuck{Open: last.Open, Oldest: last.Oldest}
	if last.Open < stuckFew || last.Oldest < stuckFor {
		return k, false
	}
	k.Since = last.T.Add(time.Second - time.Duration(last.Oldest*1e9))
	var before, after uint64
	var rowsBefore, rowsAfter int
	grew := uint64(0)
	for _, row := range v.Rows {
		if row.T.Add(time.Second) <= k.Since {
			before += row.N
			rowsBefore++
			if row.Max > last.Oldest/stuckTimes || row.Oldest > last.Oldest/stuckTimes {
				return k, false // it is used to that
			}
			continue
		}
		if row.T < k.Since { // its second has both
			continue
		}
		if row.Open < grew/2 {
			return k, false // some were answered
		}
		grew = max(grew, row.Open)
		after += row.N
		rowsAfter++
	}
	if rowsBefore == 0 || rowsAfter == 0 || before < fewTurns {
		return k, false
	}
	k.Before, k.After = float64(before)/float64(rowsBefore), float64(after)/float64(rowsAfter)
	return k, k.After <= stuckFall*k.Before
}

func (v *Service) stuck(s *Scene) (Symptom, bool) {
	k, ok := v.Stuck()
	if !ok {
		return Symptom{}, false
	}
	return Symptom{
		Name: RequestLatency, Subject: v.Subject, Active: []recording.Interval{{Start: max(k.Since, s.Window.Start), End: s.Window.End}},
		Amount: k.Oldest / 2, Unit: "s", Share: min(1, float64(k.Open)/max(1, k.Before)),
		Text: fmt.Sprintf("%s requests have had no answer for up to %s, and answers fell from %.3g to %.2g per second", units.Count(float64(k.Open)), units.Short(k.Oldest), k.Before, k.After),
	}, true
}
