package verdict

import (
	"snag/ledger"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// The conversions of harm to one scale, which is that of ledger.Delay.Held: how many requests,
// connections, sockets or viewers are held up at a moment, on average.
const (
	// Whoever gets no answer, or no connection, asks again after a second or so: TCP's first
	// retransmission of a SYN comes after one (RFC 6298, 2), and so do most programs.
	untilAgain = 1 // s
	// Failures are of an unknown number of clients, who may ask again at once: one of them is
	// without an answer at most. The same holds of a socket that loses datagrams, a viewer of
	// a stream that stands still, and a log that nobody writes.
	mostUnknown = 1
	// CPU time that is burnt keeps nobody waiting by itself.
	burntHeld = 0.1
	// Nothing that was felt is worth nothing.
	leastHeld = 0.05
)

// heldUp is what a symptom is worth on that scale.
func heldUp(sym scene.Symptom, l *ledger.Ledger, window recording.Interval) float64 {
	if sym.Held > 0 {
		return sym.Held
	}
	length := window.Length(window.End).Seconds()
	if length <= 0 {
		return max(leastHeld, sym.Share)
	}
	return max(leastHeld, converted(sym, l, length))
}

func converted(sym scene.Symptom, l *ledger.Ledger, length float64) float64 {
	switch sym.Name {
	case scene.ConnectionErrors, scene.FailedAnswers:
		return min(mostUnknown, sym.Amount*untilAgain/length)
	case scene.ConnectLatency:
		if sym.Unit == "s" {
			return min(mostUnknown, sym.Amount/length)
		}
		return min(mostUnknown, sym.Amount*untilAgain/length)
	case scene.StreamFreeze, scene.StreamEnded, scene.StreamRefused, scene.StreamAudioLost, scene.StreamRateFell, scene.StreamThin, scene.LogSilence:
		return min(mostUnknown, sym.Amount/length)
	case scene.DatagramsLost, scene.StreamLate:
		return min(mostUnknown, lasting(sym.Active, length))
	case scene.ThroughputPlateau:
		return sym.Amount * min(mostUnknown, lasting(sym.Active, length))
	case scene.RequestLatency:
		for _, p := range l.Parties {
			if scene.IDOf(p.Subject) == scene.IDOf(sym.Subject) && sym.Unit == "s" {
				return min(p.Open, sym.MayBe()*p.Rate*sym.Amount)
			}
		}
	case scene.CPUBurn:
		return burntHeld
	}
	return sym.Share
}

// lasting is the share of a window that intervals cover; none are all of it.
func lasting(active []recording.Interval, length float64) float64 {
	if len(active) == 0 {
		return 1
	}
	return intervals.Seconds(active, 0) / length
}
