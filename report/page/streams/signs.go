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
	// lacks is since when frames come and lack something, by the state that this is; 0: they do not.
	lacks [OK]recording.Time
}

// lack is the first state of what frames lack, and since when; OK for nothing.
func (g *signs) lack() (State, recording.Time) {
	for s, since := range g.lacks {
		if since != 0 {
			return State(s), since
		}
	}
	return OK, 0
}

// lacking are the events of a stream whose frames come and lack something.
var lacking = map[string]State{
	recording.EventStreamGarbled: Garbled, recording.EventStreamBlack: Black, recording.EventStreamPlain: Plain, recording.EventStreamStill: Still, recording.EventStreamSilentAudio: Silent,
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
			g.let, g.gone, g.goneAt, g.why, g.lacks = false, true, e.T, e.Attrs["why"], [OK]recording.Time{}
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
		case recording.EventStreamGarbled, recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill, recording.EventStreamSilentAudio, recording.EventStreamRateFell, recording.EventStreamBitsFell:
			g.lacks[lacking[e.Kind]] = stands
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
