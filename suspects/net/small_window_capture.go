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
	// fullAcks is the least number of ACKs that came while all of the window was on its
	// way, from which these tell anything.
	fullAcks = 20
	// keepsUp and lags are the shares of them with the largest window: 983 of 984 where a buffer
	// of 64 KiB was read as it came, 38 of 417 where a reader took 500 kB per second.
	keepsUp = 0.9
	lags    = 0.5
)

// readAsItCame is what a capture on the sender's side tells of a reader that it can't see.
// Whoever leaves data unread offers that much less in its ACKs (RFC 9293, 3.8.6); whose
// window is the same in each had read all before. That is in the windows' values, and not
// in when anything was sent.
func readAsItCame(r *recording.Recording, k *scene.Socket) (suspect.Evidence, bool) {
	if !k.First().Wire {
		return suspect.Evidence{}, false
	}
	for _, w := range captureWays(r, "tcp") {
		if w.from != k.First().Local || w.to != k.First().Remote || w.flow.Netns != k.First().Netns || w.FullAcks < fullAcks {
			continue
		}
		share := float64(w.FullMost) / float64(w.FullAcks)
		e := suspect.Evidence{Value: share, Unit: "ratio", Source: source.File(measure.Captured + ": the windows in the ACKs"), Origin: "windows offered"}
		switch {
		case share >= keepsUp:
			e.Side, e.Grade = suspect.For, suspect.Strong
			e.Text = fmt.Sprintf("in %s that came while all of the window was on its way the receiver offered its largest window again, %s or an eighth less: it leaves nothing unread",
				units.OfAll(float64(w.FullMost), float64(w.FullAcks))+" ACKs", units.Bytes(float64(w.WindowMost)))
		case share < lags:
			e.Side, e.Grade = suspect.Against, suspect.Decisive
			e.Text = fmt.Sprintf("only %s that came while all of the window was on its way offered the largest window, %s: data waits unread in the receiver's socket buffer",
				units.OfAll(float64(w.FullMost), float64(w.FullAcks))+" ACKs", units.Bytes(float64(w.WindowMost)))
		default:
			return suspect.Evidence{}, false
		}
		return e, true
	}
	return suspect.Evidence{}, false
}
