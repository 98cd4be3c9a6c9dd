package suspects

import (
	"fmt"

	"snag/recording"
	"snag/scene"
)

// sizesInCapture is what a capture tells of a sender that stands still: which size of
// packet never arrived, which did, and whether a hop said why.
func sizesInCapture(r *recording.Recording, k *scene.Socket) (out []Evidence) {
	if !k.First().Wire {
		return nil
	}
	for _, f := range captureWays(r, "tcp") {
		if f.flow.Netns != k.First().Netns || f.from != k.First().Local || f.to != k.First().Remote || f.flow.T != k.First().T || f.Stuck == 0 {
			continue
		}
		if f.MTU > 0 && f.Stuck > f.MTU {
			out = append(out, Evidence{Side: For, Grade: Decisive, Value: float64(f.MTU), Unit: "bytes", Source: captured + ": ICMP fragmentation needed", Origin: "icmp",
				Text: fmt.Sprintf("a hop said %s times that it takes packets of %s bytes at most, and the sender goes on with packets of %s: the message does not reach it", count(float64(f.TooBig)), count(float64(f.MTU)), count(float64(f.Stuck)))})
		}
		if f.Passed > 0 && f.Passed < smallSegment {
			out = append(out, Evidence{Side: For, Grade: Strong, Value: float64(f.Passed), Unit: "bytes", Source: captured + ": SACK", Origin: "size",
				Text: fmt.Sprintf("packets of %s bytes were sent again and again for nothing, while %s bytes behind them arrived (SACK): what is small comes through", count(float64(f.Stuck)), count(float64(f.Passed)))})
		}
	}
	return out
}
