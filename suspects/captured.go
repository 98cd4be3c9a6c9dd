package suspects

import (
	"strings"

	"snag/recording"
)

// captured names where evidence of a capture comes from.
const captured = "the captured packets"

// ofCapture tells whether a namespace's number stands for a capture.
func ofCapture(r *recording.Recording, netns uint64) bool {
	for _, f := range r.Flows {
		if f.Netns == netns {
			return true
		}
	}
	return false
}

// AsCaptured names the source of a finding's evidence where it was made of captured
// packets by the same rules as of a live socket.
func AsCaptured(r *recording.Recording, f *Finding) {
	if f.Subject.Netns == 0 || !ofCapture(r, f.Subject.Netns) {
		return
	}
	for i := range f.Evidence {
		if e := &f.Evidence[i]; e.Side != Missing && !strings.HasPrefix(e.Source, captured) {
			e.Source = captured + ", as " + e.Source + " would show it"
		}
	}
}
