package scene

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// A plateau is flat: seconds differ by no more than flat (standard deviation over
// mean; a healthy bulk transfer on a busy machine has 0.2 and more), for
// plateauFloor at least, while data waits all the time and a window or a buffer,
// not the path, held it for limitedShare of the time.
const (
	flat         = 0.1
	plateauFloor = 5 * time.Second
	limitedShare = 0.5
	// Below this rate it is a program that writes now and then.
	plateauRate = 10_000 // bytes/s
)

// plateaus: connections whose throughput stays at a level while more is offered,
// though the reader keeps up. A reader that takes its time is no plateau: a
// player reads as fast as it plays.
func plateaus(s *Scene, _ *recording.Recording) []Symptom {
	var out []Symptom
	for _, k := range s.Sockets {
		if k.First().Proto != "tcp" || k.Listening() || !keepsUp(k.Peer) {
			continue
		}
		if sym, ok := plateau(k); ok {
			out = append(out, onset(sym, s))
		}
	}
	return out
}

// keepsUp: the other end is on this host and nothing waits unread there.
func keepsUp(peer *Socket) bool {
	if peer == nil {
		return false
	}
	unread := 0
	for _, row := range peer.Rows {
		if row.RecvQ > 0 {
			unread++
		}
	}
	return 4*unread <= len(peer.Rows)
}

func plateau(k *Socket) (Symptom, bool) {
	var rates []float64
	var limited, seconds float64
	var active []recording.Interval
	for i := 1; i < len(k.Rows); i++ {
		a, b := k.Rows[i-1], k.Rows[i]
		if a.State != "ESTABLISHED" || a.TCP == nil || b.TCP == nil || a.SendQ == 0 || b.SendQ == 0 || b.T <= a.T {
			continue
		}
		d := b.T.Sub(a.T).Seconds()
		rates = append(rates, (float64(b.TCP.BytesAcked)-float64(a.TCP.BytesAcked))/d)
		limited += b.TCP.RwndLimited - a.TCP.RwndLimited + b.TCP.SndbufLimited - a.TCP.SndbufLimited
		seconds += d
		active = append(active, recording.Interval{Start: a.T, End: b.T})
	}
	active = intervals.Merge(active, 0)
	if len(rates) < 4 || intervals.Total(active, k.Last().T) < plateauFloor || limited < limitedShare*seconds {
		return Symptom{}, false
	}
	mean, spread := 0.0, 0.0
	for _, v := range rates {
		mean += v / float64(len(rates))
	}
	for _, v := range rates {
		spread += (v - mean) * (v - mean) / float64(len(rates))
	}
	if mean < plateauRate || math.Sqrt(spread) > flat*mean {
		return Symptom{}, false
	}
	share := min(1, limited/seconds)
	return Symptom{
		Name: ThroughputPlateau, Subject: k.Subject, Active: active, Amount: share, Unit: "ratio", Share: share / 2,
		Text: fmt.Sprintf("%s for %s with data waiting all the time: a window or a buffer held it for %s of that, and its reader keeps up",
			units.Bytes(mean)+"/s", units.Seconds(intervals.Total(active, k.Last().T)), units.Percent(share)),
	}, true
}
