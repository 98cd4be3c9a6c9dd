package net

import (
	"cmp"
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
	if f.LargestAcked >= f.Stuck {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(f.LargestAcked), Unit: "bytes", Source: source.File(measure.Captured + ": sizes and ACKs"), Origin: "size",
			Text: fmt.Sprintf("packets of %s bytes of this very connection had been acknowledged: the path takes them", units.Count(float64(f.LargestAcked)))})
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
			Text: fmt.Sprintf("it stopped with its first packets of %s bytes, none over %s had come before; meanwhile the same host acknowledged packets of %s bytes from %s: what is small comes through",
				units.Count(float64(f.Stuck)), units.Count(float64(f.LargestAcked)), units.Count(float64(small.LargestAcked)), small.from)}}
	}
	return nil
}

// vanishedLarge are senders whose packets of one size left the capture on their side again and again and
// never came to the one on the other side, to which all smaller ones came.
func vanishedLarge(r *recording.Recording) (out []suspect.Finding) {
	ways := captureWays(r, "tcp")
	for _, w := range ways {
		if w.Stuck == 0 || w.LargestAcked >= w.Stuck {
			continue
		}
		for _, o := range ways {
			if o.flow.Netns == w.flow.Netns || o.from != w.from || o.to != w.to || o.Packets == 0 || o.Largest >= w.Stuck || o.Packets >= w.Packets {
				continue
			}
			out = append(out, vanished(w, o))
			break
		}
	}
	return out
}

func vanished(w, o sent) suspect.Finding {
	since := cmp.Or(w.StuckSince, w.flow.T)
	stood := w.flow.End.Sub(since).Seconds()
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindFlow, Netns: w.flow.Netns, Proto: "tcp", Local: w.from, Remote: w.to},
		Active: []recording.Interval{{Start: since, End: max(w.flow.End, since)}},
		Text:   fmt.Sprintf("packets of %s bytes from %s do not come to %s, smaller ones do: a hop takes only smaller packets, and the message that says so is lost", units.Count(float64(w.Stuck)), w.from, w.to),
		Next:   fmt.Sprintf("on %s: ping -M do -c 3 -s %d %s", recording.Host(w.from), max(w.Stuck-28, 0), recording.Host(w.to))}
	for _, netns := range []uint64{w.flow.Netns, o.flow.Netns} {
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindPeer, Netns: netns, Proto: "tcp", Remote: scene.Address(w.flow.Server)})
	}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Decisive, Value: float64(w.Stuck), Unit: "bytes", Source: source.File("the captured packets of both ends: sizes"), Origin: "both ends",
		Text: fmt.Sprintf("packets of %s bytes left one capture again and again and none arrived in the other, while %s packets of up to %s bytes did", units.Count(float64(w.Stuck)), units.Count(float64(o.Packets)), units.Count(float64(o.Largest)))}}
	f.Remedy = suspect.Remedy{Permanently: letICMPThrough}
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: stood, Unit: "s", Text: fmt.Sprintf("%s stopped for %s", w.from, units.Lasting(stood))}
	return f
}
