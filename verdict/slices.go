package verdict

import (
	"fmt"

	"snag/recording"
	"snag/suspects/suspect"
)

// fromSlices are the measures behind evidence that rests on how long something took or
// on how often it was seen, by its origin. Holds are not among them: an ACK is delayed by
// 200 ms at most (TCP_DELACK_MAX), which is shorter than a slice.
var fromSlices = map[string]string{"turns": "sockets.turns", "queries": "sockets.queries"}

// inSlices takes from evidence what a measure can't tell that was taken in slices of the
// time: what lasts longer than a slice is not in it, so it speaks against nothing.
func inSlices(e []suspect.Evidence, r *recording.Recording) {
	for i := range e {
		c, measured := r.Measured(fromSlices[e[i].Origin])
		if !measured || !c.InSlices() {
			continue
		}
		if e[i].Side == suspect.Against {
			e[i].Grade = suspect.Weak
		}
		if e[i].Doubt == "" {
			e[i].Doubt = fmt.Sprintf("counted in slices, %.0f %% of the time: what takes longer than a slice is not in it", 100*c.Share)
		}
	}
}

// seenInSlices reports whether a measure that shows a suspect was taken in slices of the
// time: its silence alone clears nobody.
func seenInSlices(sus *suspect.Suspect, r *recording.Recording) bool {
	for _, n := range sus.Needs {
		if c, measured := r.Measured(n.Measure); measured && c.InSlices() {
			return true
		}
	}
	return false
}
