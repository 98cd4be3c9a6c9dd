package net

import (
	"snag/recording"
	"snag/scene"
)

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
