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

// stuckOf is the captured direction of a sender that stands still.
func stuckOf(ways []sent, k *scene.Socket) (sent, bool) {
	if !k.First().Wire {
		return sent{}, false
	}
	for _, f := range ways {
		if f.flow.Netns == k.First().Netns && f.from == k.First().Local && f.to == k.First().Remote && f.flow.T == k.First().T && f.Stuck > 0 {
			return f, true
		}
	}
	return sent{}, false
}

// sizesInCapture is what a capture tells of a sender that stands still: which size of
// packet never arrived, which did, and whether a hop said why.
func sizesInCapture(r *recording.Recording, k *scene.Socket) (out []suspect.Evidence) {
	ways := captureWays(r, "tcp")
	f, ok := stuckOf(ways, k)
	if !ok {
		return nil
	}
	if f.MTU > 0 && f.Stuck > f.MTU {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Decisive, Value: float64(f.MTU), Unit: "bytes", Source: source.File(measure.Captured + ": ICMP fragmentation needed"), Origin: "icmp",
			Text: fmt.Sprintf("a hop said %s times that it takes packets of %s bytes at most, and the sender goes on with packets of %s: the message does not reach it", units.Count(float64(f.TooBig)), units.Count(float64(f.MTU)), units.Count(float64(f.Stuck)))})
	}
	if f.MTU > 0 && f.Stuck <= f.MTU {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(f.MTU), Unit: "bytes", Source: source.File(measure.Captured + ": ICMP fragmentation needed"), Origin: "icmp",
			Text: fmt.Sprintf("a hop said that it takes packets of %s bytes at most, and the sender made them no larger: it is not their size", units.Count(float64(f.MTU)))})
	}
	if f.Passed > 0 && f.Passed < smallSegment {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(f.Passed), Unit: "bytes", Source: source.File(measure.Captured + ": SACK"), Origin: "size",
			Text: fmt.Sprintf("packets of %s bytes were sent again and again for nothing, while %s bytes behind them arrived (SACK): what is small comes through", units.Count(float64(f.Stuck)), units.Count(float64(f.Passed)))})
	}
	return append(out, meanwhile(ways, f)...)
}

// meanwhile looks at the other captured connections between the same two hosts: what
// came through after this one stood still.
func meanwhile(ways []sent, f sent) []suspect.Evidence {
	var small, large *sent
	for i := range ways {
		o := &ways[i]
		if o.flow.Netns != f.flow.Netns || recording.Host(o.from) != recording.Host(f.from) || recording.Host(o.to) != recording.Host(f.to) ||
			o.from == f.from || o.LargestAcked == 0 || o.LastAck <= f.StuckSince {
			continue
		}
		if o.LargestAcked >= f.Stuck {
			large = o
		} else if o.LargestAcked < smallSegment {
			small = o
		}
	}
	acks := source.File(measure.Captured + ": sizes and ACKs")
	switch {
	case large != nil:
		return []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Strong, Value: float64(large.LargestAcked), Unit: "bytes", Source: acks, Origin: "other connection",
			Text: fmt.Sprintf("meanwhile packets of %s bytes from %s were acknowledged by the same host: the path takes them", units.Count(float64(large.LargestAcked)), large.from)}}
	case small != nil && f.LargestAcked < f.Stuck:
		return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(small.LargestAcked), Unit: "bytes", Source: acks, Origin: "other connection",
			Text: fmt.Sprintf("it stood still with its first packets of %s bytes, none over %s had come before; meanwhile the same host acknowledged packets of %s bytes from %s: what is small comes through",
				units.Count(float64(f.Stuck)), units.Count(float64(f.LargestAcked)), units.Count(float64(small.LargestAcked)), small.from)}}
	}
	return nil
}
