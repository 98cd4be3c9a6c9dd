package streams

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// kinds are the rows in which marks are drawn, by the events that they are.
var kinds = map[string]string{
	recording.EventStreamFreeze: "freeze", recording.EventStreamLate: "late", recording.EventStreamSlow: "slow",
	recording.EventStreamSkipped: "skipped", recording.EventStreamJump: "jump", recording.EventStreamChanged: "changed",
	recording.EventStreamEnded: "ended", recording.EventStreamRefused: "refused", recording.EventStreamPublished: "published",
	recording.EventStreamFirstFrame: "first-frame", recording.EventObserverLate: "observer", recording.EventStreamRestarted: "restarted",
	recording.EventStreamGarbled: "picture", recording.EventStreamBlack: "picture", recording.EventStreamPlain: "picture", recording.EventStreamStill: "picture", recording.EventStreamSilentAudio: "audio",
	recording.EventStreamRateFell: "less", recording.EventStreamBitsFell: "less",
}

// trouble are the kinds that hurt a viewer.
var trouble = map[string]bool{"freeze": true, "late": true, "slow": true, "skipped": true, "jump": true, "ended": true, "refused": true, "audio": true, "picture": true, "less": true}

// timed is a mark with its own time, before it is put on the page's axis.
type timed struct {
	at, end recording.Time // end 0: an instant, or open
	open    bool
	kind    string
	text    string
}

// marksOf are a stream's events in words. Audio that stays away is one mark from when it
// went to when it came back.
func marksOf(events []recording.Event) []timed {
	var out []timed
	silent := -1
	for _, e := range events {
		m := timed{at: e.T, end: e.End, kind: kinds[e.Kind], text: say(e)}
		if e.End <= e.T {
			m.end = 0
		}
		switch {
		case m.kind == "":
			continue
		case e.Kind == recording.EventStreamChanged && e.Attrs["what"] == "audio":
			if e.Attrs["to"] != "none" {
				if silent >= 0 {
					out[silent].end, out[silent].open, silent = e.T, false, -1
				}
				continue
			}
			m.kind, m.open, silent = "audio", true, len(out)
		case m.kind == "freeze" || m.kind == "late" || m.kind == "slow" || m.kind == "picture" || m.kind == "audio" || m.kind == "less":
			m.open = e.End == 0
		case m.kind == "ended" || m.kind == "refused":
			if silent >= 0 {
				out[silent].end, out[silent].open, silent = e.T, false, -1
			}
		}
		out = append(out, m)
	}
	return out
}

// say tells an event in the words of snag watch.
func say(e recording.Event) string {
	length := units.Seconds(time.Duration(e.Value * 1e9))
	a := e.Attrs
	switch e.Kind {
	case recording.EventStreamPublished:
		return "let in"
	case recording.EventStreamFirstFrame:
		return "first frame after " + length
	case recording.EventStreamFreeze:
		return sayFreeze(e, length)
	case recording.EventStreamLate:
		return "late by " + length + " at the most"
	case recording.EventStreamSlow:
		return fmt.Sprintf("slow: its timestamps moved at %.2f of the clock's pace", e.Value)
	case recording.EventStreamSkipped:
		return fmt.Sprintf("%.0f frames are missing by their timestamps", e.Value)
	case recording.EventStreamJump:
		return fmt.Sprintf("its timestamps jumped by %+.1f s", e.Value)
	case recording.EventStreamRestarted:
		return "its timestamps begin again, at " + a["to"] + " s after " + a["from"] + " s"
	case recording.EventStreamGarbled:
		return fmt.Sprintf("its picture was garbled in %.0f key pictures", e.Value)
	case recording.EventStreamSilentAudio:
		return fmt.Sprintf("its audio was silent in %.0f seconds that were decoded", e.Value)
	case recording.EventStreamBlack:
		return fmt.Sprintf("its picture was black in %.0f key pictures", e.Value)
	case recording.EventStreamPlain:
		return fmt.Sprintf("its picture was of one brightness in %.0f key pictures", e.Value)
	case recording.EventStreamStill:
		return fmt.Sprintf("its picture was the same in %.0f key pictures", e.Value)
	case recording.EventStreamRateFell:
		return fmt.Sprintf("%.1f frames came a second, and %s before", e.Value, a["base"])
	case recording.EventStreamBitsFell:
		return fmt.Sprintf("as many frames of far fewer bytes: %.0f kb/s%s", e.Value/1000, before(a["base"]))
	case recording.EventStreamChanged:
		if a["what"] == "audio" && a["to"] == "none" {
			return "no audio came while the video did"
		}
		return fmt.Sprintf("%s changed from %s to %s", a["what"], a["from"], a["to"])
	case recording.EventStreamEnded:
		return "ended: " + reason(a["why"])
	case recording.EventStreamRefused:
		return "not let in: " + reason(a["why"])
	case recording.EventObserverLate:
		return fmt.Sprintf("snag itself was late by %s: it does not count as %s", length, strings.TrimPrefix(a["instead_of"], "stream-"))
	}
	return e.Kind
}

// before is the bit rate that there was, by the event's own figure.
func before(base string) string {
	bits, err := strconv.ParseFloat(base, 64)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(", and %.0f before", bits/1000)
}

func sayFreeze(e recording.Event, length string) string {
	a := e.Attrs
	if e.End == 0 {
		text := "frozen, and still so at the end"
		if a["why"] != "" {
			text += ": " + a["why"]
		}
		return text
	}
	text := "frozen for " + length
	if a["before"] != "" {
		text += " before the first frame"
	}
	if a["dts_step"] != "" {
		text += ", timestamps moved " + a["dts_step"] + " s"
	}
	if a["burst"] != "" && a["burst"] != "1" {
		text += ", then " + a["burst"] + " frames at once"
	}
	if a["why"] != "" {
		text += ": " + a["why"]
	}
	return text
}

// frozenFor are the freezes of a stream and how long they lasted together, up to the end.
func frozenFor(marks []timed, end recording.Time) (n int, seconds float64) {
	for _, m := range marks {
		if m.kind != "freeze" {
			continue
		}
		n++
		until := m.end
		if m.open {
			until = end
		}
		seconds += max(until.Sub(m.at).Seconds(), 0)
	}
	return n, seconds
}

// firstTrouble is the first mark that hurts a viewer; false for none.
func firstTrouble(marks []timed) (timed, bool) {
	for _, m := range marks {
		if trouble[m.kind] {
			return m, true
		}
	}
	return timed{}, false
}
