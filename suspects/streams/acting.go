package streams

import (
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// swallowing is when the retransmission timer had expired and nothing was acknowledged.
func swallowing(k *scene.Socket, least int) []recording.Interval {
	return whenever(k, func(a, b recording.Socket) bool {
		return b.TCP.Backoff >= backsOff && b.SendQ >= least && b.TCP.BytesAcked == a.TCP.BytesAcked
	})
}

// queueing is when data waited to be sent and the round trip had grown.
func queueing(k *scene.Socket, least int) []recording.Interval {
	return whenever(k, func(a, b recording.Socket) bool {
		return a.SendQ >= least && b.SendQ >= least && b.TCP.RTT >= measure.Bloated && b.TCP.RTT >= measure.BloatedTimes*b.TCP.MinRTT
	})
}

// whenever returns the intervals between neighbouring rows for which holds is true.
func whenever(k *scene.Socket, holds func(a, b recording.Socket) bool) (out []recording.Interval) {
	for i := 1; i < len(k.Rows); i++ {
		if a, b := k.Rows[i-1], k.Rows[i]; a.TCP != nil && b.TCP != nil && holds(a, b) {
			out = append(out, recording.Interval{Start: a.T, End: b.T})
		}
	}
	return out
}
