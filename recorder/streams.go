package recorder

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"snag/recording"
)

// watched is what stands of the streams that are watched (snag record --stream), by what the recording
// says of them. A stream is a viewer: what stops it needs no comparison with usual values.
type watched struct {
	standing map[standingKey]wrong
	came     map[string]bool           // streams that have given frames
	asked    map[string]recording.Time // streams that have given none: when they were asked for
	known    map[string]bool           // streams that were wrong for long, and still are
	brief    string                    // what was over before its beginning was written, since tick
}

// standingKey is one thing that is wrong with a stream.
type standingKey struct{ stream, kind string }

type wrong struct {
	since recording.Time
	text  string
}

// mostStanding is how long what goes on counts as noticed. Then its incident ends, so that it does not
// hide the next one, and the stream counts as known to be wrong until nothing is wrong with it.
// Of a URL that never worked, nothing new is learned by waiting.
const (
	mostStanding = 10 * time.Minute
	mostNever    = time.Minute
)

func newWatched() *watched {
	return &watched{standing: map[standingKey]wrong{}, came: map[string]bool{}, asked: map[string]recording.Time{}, known: map[string]bool{}}
}

// streamWrongs are the events of streams that start a judgement, and what they mean. Those of pictures and
// silent audio come only from what decodes.
var streamWrongs = map[string]string{
	recording.EventStreamFreeze: "frozen", recording.EventStreamLate: "frames come late", recording.EventStreamSlow: "its timestamps are slower than the clock",
	recording.EventStreamRateFell: "fewer frames than before", recording.EventStreamBitsFell: "as many frames of far fewer bytes",
	recording.EventStreamGarbled: "its picture has errors", recording.EventStreamBlack: "its picture is black", recording.EventStreamPlain: "its picture is of one brightness",
	recording.EventStreamStill: "its picture does not change", recording.EventStreamSilentAudio: "its audio is silent",
	recording.EventStreamEnded: "ended", recording.EventStreamRefused: "cannot be read", recording.EventStreamChanged: "no audio",
}

// unanswered is how long a server may take to give the first frame. Some take the connection, answer
// nothing and never close it: no event tells of that.
const (
	unanswered    = 10 * time.Second
	neverAnswered = "unanswered" // beside the events' kinds
)

// row processes a stream's row.
func (w *watched) row(s recording.Stream) {
	if _, known := w.asked[s.Name]; s.Side == recording.StreamSidePlayer && s.First == 0 && !w.came[s.Name] && !known {
		w.asked[s.Name] = s.T
	}
}

// take processes an event.
func (w *watched) take(e recording.Event) {
	if e.Subject.Kind != recording.KindStream {
		return
	}
	name, k := e.Subject.Name, standingKey{e.Subject.Name, e.Kind}
	text, known := streamWrongs[e.Kind]
	if why := e.Attrs["why"]; why != "" {
		text += ": " + why
	}
	switch {
	case e.Kind == recording.EventStreamFirstFrame:
		w.came[name] = true
		delete(w.asked, name)
		for _, kind := range []string{neverAnswered, recording.EventStreamEnded, recording.EventStreamRefused, recording.EventStreamChanged} {
			w.over(standingKey{name, kind})
		}
	case !known:
	case e.Kind == recording.EventStreamChanged: // it has no end
		if e.Attrs["what"] != "audio" {
			return
		}
		if e.Attrs["to"] != "none" {
			w.over(k)
			return
		}
		w.standing[k] = wrong{e.T, text}
	case e.End == 0: // also once in each piece
		w.standing[k] = wrong{e.T, text}
	default:
		if _, stands := w.standing[k]; !stands && e.End > e.T { // what lasted no time was the observer's
			w.brief = say(k, wrong{e.T, text})
		}
		w.over(k)
	}
}

// over ends what stands. A stream with which nothing is wrong any more may be reported again.
func (w *watched) over(k standingKey) {
	delete(w.standing, k)
	for other := range w.standing {
		if other.stream == k.stream {
			return
		}
	}
	delete(w.known, k.stream)
}

func say(k standingKey, s wrong) string { return fmt.Sprintf("stream %s: %s", k.stream, s.text) }

// tick is called once a second. It returns what is wrong with a stream that has not been reported for
// long, "" for nothing.
func (w *watched) tick(now recording.Time) string {
	why := w.brief
	w.brief = ""
	var first recording.Time
	for name, at := range w.asked {
		if now.Sub(at) >= unanswered {
			w.standing[standingKey{name, neverAnswered}] = wrong{at, "no frame since it was asked for"}
		}
	}
	for k, s := range w.standing {
		if age := now.Sub(s.since); age > mostStanding || age > mostNever && !w.came[k.stream] {
			w.known[k.stream] = true
		}
		if w.known[k.stream] {
			continue
		}
		if text := say(k, s); first == 0 || s.since < first || s.since == first && text < why {
			why, first = text, s.since
		}
	}
	return why
}

// Without removes streams from a recording. A stream that has been wrong for long would be the first
// symptom of each verdict, and without a culprit of its own no other could be proved.
func Without(r *recording.Recording, streams []string) {
	if len(streams) == 0 {
		return
	}
	r.Streams = slices.DeleteFunc(r.Streams, func(s recording.Stream) bool { return slices.Contains(streams, s.Name) })
	r.StreamFiles = slices.DeleteFunc(r.StreamFiles, func(s recording.StreamFile) bool { return slices.Contains(streams, s.Name) })
	r.Events = slices.DeleteFunc(r.Events, func(e recording.Event) bool {
		return e.Subject.Kind == recording.KindStream && slices.Contains(streams, e.Subject.Name)
	})
	r.Series = slices.DeleteFunc(r.Series, func(s recording.Series) bool {
		return strings.HasPrefix(s.Name, "snag_stream_") && slices.Contains(streams, s.Labels["stream"])
	})
}
