package streams

import "snag/recording"

// signs are what a stream's events say at the end.
type signs struct {
	let, gone                         bool // the last that is known of its connection
	frames                            bool // one came, ever
	letAt, goneAt                     recording.Time
	no                                bool // it was never let in at the last attempt
	why                               string
	frozen, silent, late, slow, since recording.Time
	skipped                           recording.Time
	// less is since when frames come and lack something, and lacks what.
	less  recording.Time
	lacks State
}

// lacking are the events of a stream whose frames come and lack something.
var lacking = map[string]State{
	recording.EventStreamGarbled: Garbled, recording.EventStreamBlack: Black, recording.EventStreamPlain: Plain, recording.EventStreamStill: Still,
	recording.EventStreamRateFell: LowFPS, recording.EventStreamBitsFell: LowRate,
}

// signsOf reads them, which are by time, up to the end.
func signsOf(events []recording.Event, end recording.Time) signs {
	var g signs
	for _, e := range events {
		stands := e.T
		if e.End != 0 && e.End < end {
			stands = 0
		}
		switch e.Kind {
		case recording.EventStreamPublished:
			g.let, g.gone, g.letAt = true, false, e.T
			continue
		case recording.EventStreamFirstFrame:
			g.let, g.gone, g.frames, g.silent = true, false, true, 0
			g.letAt = max(g.letAt, e.T)
			continue
		case recording.EventStreamEnded, recording.EventStreamRefused:
			g.let, g.gone, g.goneAt, g.why, g.less = false, true, e.T, e.Attrs["why"], 0
			g.no = e.Kind == recording.EventStreamRefused
			g.silent = 0
			continue
		case recording.EventStreamFreeze:
			g.frozen = stands
		case recording.EventStreamLate:
			g.late = stands
		case recording.EventStreamSlow:
			g.slow = stands
		case recording.EventStreamSkipped:
			g.skipped = e.T
		case recording.EventStreamGarbled, recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill, recording.EventStreamRateFell, recording.EventStreamBitsFell:
			switch s := lacking[e.Kind]; {
			case stands != 0 && (g.less == 0 || s <= g.lacks):
				g.less, g.lacks = stands, s
			case stands == 0 && s == g.lacks:
				g.less = 0
			}
		case recording.EventStreamChanged:
			if e.Attrs["what"] == "audio" {
				if g.silent = 0; e.Attrs["to"] == "none" {
					g.silent = e.T
				}
			}
		default:
			continue
		}
		g.since = max(g.since, e.End)
	}
	return g
}
