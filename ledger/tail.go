package ledger

import (
	"snag/recording"
	"snag/scene"
)

// fewPieces are how many writes an answer has at the most: whoever writes more often sends a
// stream, on which nobody waits for an answer.
const fewPieces = 3

// tails are how long the last bytes of a service's answers were held after they had been
// written, request-seconds: an answer in two small writes is with its caller when the
// acknowledgement of the first lets the second go.
func tails(r *recording.Recording, v *scene.Service, answered uint64) (seconds float64) {
	writes := uint64(0)
	at := v.Rows[0]
	for _, row := range r.Holds {
		if row.Netns == at.Netns && row.Local == at.Local {
			writes += row.Writes
			seconds += row.HoldSum
		}
	}
	if writes > fewPieces*answered {
		return 0
	}
	return seconds
}
