package net

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

const (
	// RTMP's handshake is 1 + 1,536 + 1,536 bytes each way (RTMP 1.0, 5.2); what a server
	// says to refuse, and a client to ask, is under 1 KiB. A second of the leanest video is
	// more.
	rtmpHandshake = 3073
	refusalBytes  = 1024
	// sameAll is the share of the flows that must look so, of leastFlows at least.
	sameAll    = 0.9
	leastFlows = 100
)

// refusedFlows are the peers' flows to a listener as a capture has them, and how many of
// them end as a refusal does: the server closes first, and all that went either way is a
// handshake and a few words. It is told from their packets, each by itself, and not from
// how many they are.
func refusedFlows(r *recording.Recording, l *called, storm []*caller) (refused, all int, up, down uint64) {
	peers := map[string]bool{}
	for _, c := range storm {
		peers[c.peer] = true
	}
	for i := range r.Flows {
		f := &r.Flows[i]
		if f.Proto != "tcp" || measure.Namespace(r, f.Netns) != l.netns || scene.Address(f.Server) != l.local || !peers[recording.Host(f.Client)] {
			continue
		}
		if f.Closed == "open" || f.Closed == "forgotten" || f.Up.Missed+f.Down.Missed > 0 {
			continue // how it ended is not in the capture
		}
		all++
		if f.First == "server" && handshakeAlone(f.Up.Bytes) && handshakeAlone(f.Down.Bytes) {
			refused, up, down = refused+1, up+f.Up.Bytes, down+f.Down.Bytes
		}
	}
	return refused, all, up, down
}

func handshakeAlone(bytes uint64) bool {
	return bytes >= rtmpHandshake && bytes < rtmpHandshake+refusalBytes
}

// stormRefused is what packets say of the storm's connections.
func stormRefused(r *recording.Recording, l *called, storm []*caller) (suspect.Evidence, bool) {
	refused, all, up, down := refusedFlows(r, l, storm)
	if all < leastFlows || float64(refused) < sameAll*float64(all) {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(refused), Unit: "connections", Source: source.File(measure.Captured + ": bytes each way, and who closed first"), Origin: "what each carried",
		Text: fmt.Sprintf("the server closed %s of them itself after %s and %s on average: RTMP's handshake (%s each way) and a refusal, and no frame of a stream",
			units.OfAll(float64(refused), float64(all)), units.Bytes(float64(up)/float64(refused)), units.Bytes(float64(down)/float64(refused)), units.Bytes(rtmpHandshake))}, true
}
