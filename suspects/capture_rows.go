package suspects

import (
	"strings"

	"snag/recording"
	"snag/scene"
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

// sent is what one end of a captured flow sent.
type sent struct {
	flow     recording.Flow
	from, to string
	recording.FlowWay
}

// captureWays are the two directions of each captured flow of a protocol.
func captureWays(r *recording.Recording, proto string) (out []sent) {
	for _, f := range r.Flows {
		if f.Proto != proto {
			continue
		}
		client, server := scene.Address(f.Client), scene.Address(f.Server)
		out = append(out, sent{f, client, server, f.Up}, sent{f, server, client, f.Down})
	}
	return out
}

// lostAndSent is which part of the data that went between these captured ends had to be
// sent again, and of how many segments.
func lostAndSent(r *recording.Recording, take func(recording.Flow) bool) (lost, segments float64) {
	for _, f := range captureWays(r, "tcp") {
		if take(f.flow) {
			lost += float64(f.Resent - min(f.Needless+f.Unheard, f.Resent))
			segments += float64(f.Segments)
		}
	}
	return lost, segments
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
