package scene

import (
	"fmt"
	"slices"

	"snag/recording"
)

// Who fails to agree on TLS with this many listeners of a host tries what there is: a
// program's address has one or two to ask.
const manyListeners = 3

// noTLS are the alerts for what is no handshake: somebody speaks another protocol.
var noTLS = []string{"unexpected_message", "decode_error", "record_overflow", "bad_record_mac"}

// StrayAlerts tells of rows of turns whether their TLS alerts are those of a scanner, or of
// who speaks another protocol: these are nobody's failed answers.
func StrayAlerts(r *recording.Recording) func(recording.Turns) bool {
	tried := map[string][]string{}
	for _, row := range r.Turns {
		if _, _, ok := recording.IsTLSAlert(row.FailedAs); !ok || row.Failed == 0 {
			continue
		}
		at := fmt.Sprint(row.Netns, row.Local)
		if !slices.Contains(tried[row.Remote], at) {
			tried[row.Remote] = append(tried[row.Remote], at)
		}
	}
	return func(row recording.Turns) bool {
		alert, _, ok := recording.IsTLSAlert(row.FailedAs)
		return ok && (slices.Contains(noTLS, alert) || len(tried[row.Remote]) >= manyListeners)
	}
}
