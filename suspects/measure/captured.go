package measure

import (
	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// Captured names where evidence of a capture comes from.
const Captured = "the captured packets"

// OfCapture reports whether a namespace's number stands for a capture.
func OfCapture(r *recording.Recording, netns uint64) bool {
	for _, f := range r.Flows {
		if f.Netns == netns {
			return true
		}
	}
	return false
}

// AsCaptured names the source of a finding's evidence where it was made of captured
// packets by the same rules as of a live socket.
func AsCaptured(r *recording.Recording, f *suspect.Finding) {
	if f.Subject.Netns == 0 || !OfCapture(r, f.Subject.Netns) {
		return
	}
	for i := range f.Evidence {
		if e := &f.Evidence[i]; e.Side != suspect.Missing && !e.Source.OfFile() {
			e.Source = source.File(Captured+", as "+e.Source.String()+" would show it", e.Source.Refs()...)
		}
	}
}
