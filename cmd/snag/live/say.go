package live

import (
	"fmt"
	"strings"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/watch"
	"snag/recording"
)

// clock is how a time of day is written: UTC, as in everything snag prints.
func clock(t recording.Time) string { return t.Wall().Format("15:04:05") }

// Say tells an event as a person would; "" for what is no news (a value that went
// on rising).
func Say(h watch.Happened) string {
	if h.Phase == figures.Updated {
		return ""
	}
	text := say(h)
	if h.Doubt && text != "" {
		text += "; " + doubt(h) + ": it may be snag's own doing"
	}
	return text
}

func say(h watch.Happened) string {
	ended := h.Phase == figures.Ended
	length := time.Duration(h.Value * float64(time.Second))
	switch h.Kind {
	case recording.EventStreamPublished:
		return "let in"
	case recording.EventStreamFirstFrame:
		return fmt.Sprintf("first frame after %s", span(length))
	case recording.EventStreamFreeze:
		return freeze(h, ended, length)
	case recording.EventStreamLate:
		if ended {
			return fmt.Sprintf("no longer late; it was by %.1f s at the most", h.Value)
		}
		return fmt.Sprintf("late: frames come %.1f s after their time", h.Value)
	case recording.EventStreamSlow:
		if ended {
			return fmt.Sprintf("its clock keeps pace again; it went at %.2f of the wall's", h.Value)
		}
		return fmt.Sprintf("slow: its clock goes at %.2f of the wall's: its source, its server or the way is too slow, and a viewer can't tell which", h.Value)
	case recording.EventStreamGarbled, recording.EventStreamBlack, recording.EventStreamPlain, recording.EventStreamStill:
		return shows(h, ended)
	case recording.EventStreamSilentAudio:
		return silent(h, ended)
	case recording.EventStreamRateFell, recording.EventStreamBitsFell:
		return fell(h, ended)
	case recording.EventStreamSkipped:
		return fmt.Sprintf("skipped: %.0f frames are missing by their timestamps", h.Value)
	case recording.EventStreamJump:
		return fmt.Sprintf("its timestamps jumped by %+.1f s", h.Value)
	case recording.EventStreamRestarted:
		return fmt.Sprintf("its timestamps begin again, at %s s after %s s: a new publisher, its encoder started again, or a server that counts from the start for each reader", watch.Clean(h.To, 40), watch.Clean(h.From, 40))
	case recording.EventStreamChanged:
		return changed(h)
	case recording.EventStreamEnded:
		return "ended: " + why(h)
	case recording.EventStreamRefused:
		return "not let in: " + why(h)
	}
	return h.Kind
}

// SayVerdict reports what the host's recording told of a stream.
func SayVerdict(j watch.Judged) string {
	text := watch.Clean(j.Text, 500)
	if j.Culprit != "" {
		text = fmt.Sprintf("CULPRIT %s (%s): %s", j.Culprit, j.Proof, text)
	}
	return text + "; snag judge " + j.Recording
}

// doubt says what snag itself missed of an event.
func doubt(h watch.Happened) string {
	switch {
	case h.Missed > 0:
		return fmt.Sprintf("snag's capture missed data in %.1f s of it", h.Missed)
	case h.ObserverLate > 0:
		return fmt.Sprintf("snag itself was late by %.1f s then", h.ObserverLate)
	}
	return "snag itself lost data then"
}

// why is a reader's error without the stream, which the line names already.
func why(h watch.Happened) string {
	text := h.Why
	if strings.HasPrefix(text, "read ") {
		if _, rest, ok := strings.Cut(text, ": "); ok {
			text = rest
		}
	}
	return watch.Clean(text, 200)
}

func freeze(h watch.Happened, ended bool, length time.Duration) string {
	of := "frame"
	if !ended {
		if h.Doubt {
			return fmt.Sprintf("no %s from %s", of, clock(h.T))
		}
		text := fmt.Sprintf("FROZEN since %s: no %s for %s", clock(h.T), of, span(length))
		if h.Before {
			text = fmt.Sprintf("FROZEN: let in at %s and no %s since", clock(h.T), of)
		}
		if h.Why != "" {
			text += ": " + watch.Clean(h.Why, 200)
		}
		return text
	}
	text := fmt.Sprintf("frames again: frozen for %s from %s", span(length), clock(h.T))
	if h.Doubt {
		text = fmt.Sprintf("frames again: none seen for %s from %s", span(length), clock(h.T))
	}
	if h.Step.OK {
		text += fmt.Sprintf(", timestamps moved %+.2f s", h.Step.V)
	}
	if h.Burst > 1 {
		text += fmt.Sprintf(", then %d frames at once", h.Burst)
	}
	return text
}

// silent tells of audio that comes and is silent, and for how long it was.
func silent(h watch.Happened, ended bool) string {
	if ended {
		return fmt.Sprintf("its audio is no longer silent; it was for %s, in %.0f seconds that were decoded", span(h.End.Sub(h.T)), h.Value)
	}
	return fmt.Sprintf("its audio is silent since %s, in %.0f seconds that were decoded", clock(h.T), h.Value)
}

// shows reports what the picture is, and for how long it was.
func shows(h watch.Happened, ended bool) string {
	text := map[string]string{recording.EventStreamGarbled: "garbled", recording.EventStreamBlack: "black", recording.EventStreamPlain: "of one brightness", recording.EventStreamStill: "the same"}[h.Kind]
	if ended {
		return fmt.Sprintf("its picture is no longer %s; it was for %s, in %.0f key pictures", text, span(h.End.Sub(h.T)), h.Value)
	}
	if h.Kind == recording.EventStreamStill {
		return fmt.Sprintf("its picture is the same since %s, in %.0f key pictures: its source shows a still picture, or nothing moves before it", clock(h.T), h.Value)
	}
	return fmt.Sprintf("its picture is %s since %s, in %.0f key pictures", text, clock(h.T), h.Value)
}

// fell tells of a rate that fell, in its unit.
func fell(h watch.Happened, ended bool) string {
	what, now, before, unit := "frame rate", rate(h.Value), rate(h.Base), "frames per second"
	if h.Kind == recording.EventStreamBitsFell {
		what, now, before, unit = "bit rate", rate(h.Value/1000), rate(h.Base/1000), "kb/s"
	}
	switch {
	case ended && h.Why != "":
		return fmt.Sprintf("its %s was %s instead of %s %s for %s, until %s", what, now, before, unit, span(h.End.Sub(h.T)), h.Why)
	case ended:
		return fmt.Sprintf("%s is back, after %s at %s instead of %s %s", what, span(h.End.Sub(h.T)), now, before, unit)
	case what == "bit rate":
		return fmt.Sprintf("bit rate fell from %s to %s %s, and as many frames come: the picture is black, frozen or coded far worse, and a viewer can't tell which", before, now, unit)
	}
	return fmt.Sprintf("frame rate fell from %s to %s %s", before, now, unit)
}

func changed(h watch.Happened) string {
	from, to := watch.Clean(h.From, 40), watch.Clean(h.To, 40)
	if to == "" {
		return h.What + " went away"
	}
	return strings.TrimSpace(fmt.Sprintf("%s changed from %s to %s", h.What, from, to))
}

// rowName is a row's stream with what tells it from others of that name.
func rowName(r *watch.Row) string { return named(r.Name, r.Layer) + sent(r.Beside, r.Side) }

// eventName is the same of an event.
func eventName(h watch.Happened) string {
	return named(h.Stream, h.Layer) + sent(h.Beside, h.Side)
}

func sent(beside bool, side string) string {
	if beside && side == recording.StreamSidePublisher {
		return " as published"
	}
	return ""
}

// named is a stream's name with its layer.
func named(stream, layer string) string {
	if layer == "" {
		return stream
	}
	return stream + " @" + layer
}
