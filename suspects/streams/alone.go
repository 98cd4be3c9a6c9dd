package streams

import (
	"fmt"
	"net/netip"
	"strings"

	"snag/recording"
	"snag/scene"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// Alone is what the frames alone tell of a stream that suffers: why they do not tell
// who is at fault, and the measurement that would. Both are "" for a symptom of
// something else, and where the stream's way was seen to its source.
func Alone(s *scene.Scene, r *recording.Recording, sym scene.Symptom) (why, next string) {
	st := s.StreamAt(sym.Subject)
	if st == nil || st.Ends == "" {
		return "", ""
	}
	f := worstOf(Locate(s, r), st, s.Window.End)
	if f == nil { // frames are missing, and it went on
		return fmt.Sprintf("can't tell from here: who leaves frames out and who loses them look alike at the player; %s", st.Ends), nextOf(st)
	}
	text := "can't tell from here: "
	seen := st.Ends
	if len(st.Way) == 0 {
		seen = "only its frames were seen, and none of its sockets"
	}
	l, isLayered := f.layersOf(s, r)
	rhythm := f.rhythm(r)
	switch {
	case isLayered && l.from != "":
		text += l.hurt() + fmt.Sprintf(": %s, the way between them or %s", l.from, l.to)
	case isLayered && !l.whole && len(l.well) > 0:
		text += l.already(f)
	case isLayered && !l.whole:
		text += l.already(f) + fmt.Sprintf(": %s, its uplink or the encoder", l.first)
	case f.neverSent():
		text += fmt.Sprintf("%s, and its frames of that time never came, not even late: the encoder made none, or its uplink threw them away (a connection or a server that stops gives them afterwards)", f.what(s.Window.End))
	case rhythm.byFrames():
		text += fmt.Sprintf("%s, and %s: an encoder or a transcoder on the way", f.what(s.Window.End), rhythm)
	case f.slow:
		text += "an encoder that is too slow, a link that carries too little and a server that falls behind look alike at the player"
	default:
		text += "an encoder, a link and a server that stop look alike at the player"
	}
	return text + "; " + seen, f.next(s, r)
}

// worstOf is the fault of a stream that lasts longest and whose place is not known.
func worstOf(all []*faulty, st *scene.Stream, end recording.Time) *faulty {
	var worst *faulty
	for _, f := range all {
		if f.stream == st && f.at == atUnknown && (worst == nil || f.seconds(end) > worst.seconds(end)) {
			worst = f
		}
	}
	return worst
}

// neverSent: the clock moved on by as much as the stream stood still, and nothing
// came in a burst. Whatever waits in a socket or in a server comes out at once when
// it goes on, so none of it was there: over TCP, that is. On an uplink that loses (RTP,
// SRT) or was connected anew the frames may have been made all the same.
func (f *faulty) neverSent() bool {
	if p := f.stream.Row.Protocol; p != "rtmp" && p != "rtmps" {
		return false
	}
	longest := 0.0
	for _, i := range f.spans {
		if i.End != 0 {
			longest = max(longest, i.End.Sub(i.Start).Seconds())
		}
	}
	return !f.slow && f.held && f.burst < fewBurst && longest >= 1 && f.step >= skippedWhole*longest
}

// skippedWhole is the share of a freeze that the clock must have moved on by: read
// 20 ms apart, a stop of 2.54 s was a step of 2.52 s.
const skippedWhole = 0.8

// paced confirms, by the frames alone, somebody who makes or paces too few: their
// number a second is even where their bytes are not.
func (f *faulty) paced(s *scene.Scene, r *recording.Recording, out suspect.Finding) suspect.Finding {
	h := f.rhythm(r)
	if !h.byFrames() || f.ratio <= 0 {
		return out
	}
	out.Text = fmt.Sprintf("whoever makes %s makes %.2f s of it a second: it is too slow", f.stream.Subject.Name, f.ratio)
	out.Evidence[0].Origin, out.Evidence[0].Source = "clock", source.At("", source.Sample("snag_stream_media_seconds_total"))
	out.Evidence = append(out.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: h.frames, Unit: "frames/s", Source: source.At("", source.Sample("snag_stream_frames_total"), source.Sample("snag_stream_bytes_total")), Origin: "rhythm", Text: h.String()})
	out.Remedy = sourceOf("the encoder, or a transcoder on the way")
	return out
}

// notByBytes clears what holds bytes back, a link or a server, where frames come
// evenly whatever their size.
func (f *faulty) notByBytes(r *recording.Recording, out suspect.Finding) suspect.Finding {
	if h := f.rhythm(r); h.byFrames() {
		return f.refuted(out, h.String(), source.At("", source.Sample("snag_stream_frames_total"), source.Sample("snag_stream_bytes_total")))
	}
	return out
}

// notHeld clears a server that stood still where the frames of that time never came.
func (f *faulty) notHeld(out suspect.Finding) suspect.Finding {
	if f.neverSent() {
		return f.refuted(out, "the frames of that time never came, not even late: a server that stopped would have had them in its sockets, and sent them at once afterwards", source.Of("stream-freeze dts_step, burst", source.Freezes))
	}
	return out
}

// refuted takes back what was left open.
func (f *faulty) refuted(out suspect.Finding, text string, from source.Source) suspect.Finding {
	out.Text, out.Next = text, ""
	out.Evidence = []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Strong, Value: f.step, Unit: "s", Source: from, Origin: "frames", Text: text}}
	if f.slow {
		out.Evidence[0].Value, out.Evidence[0].Unit = f.ratio, "ratio"
	}
	return out
}

// next is what would tell where a stream stands whose way was not seen to its source.
func (f *faulty) next(s *scene.Scene, r *recording.Recording) string {
	l, ok := f.layersOf(s, r)
	if !ok {
		return nextOf(f.stream)
	}
	place := func(layer string) *scene.Stream {
		for _, st := range s.Streams {
			if st.Row.Name == f.stream.Row.Name && st.Row.Layer == layer {
				return st
			}
		}
		return f.stream
	}
	if l.from == "" {
		return fmt.Sprintf("on %s (%s): snag find --stream %s", nextHost(place(l.first)), l.first, urlOf(place(l.first)))
	}
	from, to := place(l.from), place(l.to)
	return fmt.Sprintf("on %s (%s): snag find --stream %s; on %s (%s): snag find --stream %s",
		nextHost(from), l.from, urlOf(to), nextHost(to), l.to, urlOf(to))
}

// nextOf is the measurement that tells more of a stream: on the host that sends it to
// the last place that was seen.
func nextOf(st *scene.Stream) string {
	next := fmt.Sprintf("on %s: snag find --stream %s", nextHost(st), urlOf(st))
	if len(st.Way) < 2 && st.Row.Layer == "" {
		next += fmt.Sprintf("; from here, if it can be read before that host too: snag watch --layers before=URL,here=%s", urlOf(st))
	}
	return next
}

// nextHost is the host where a stream's way goes on: of the last connection that was
// seen the far end, else whom its URL names.
func nextHost(st *scene.Stream) string {
	if n := len(st.Way); n >= 2 && st.Way[n-1].To != nil && st.Way[n-1].From == nil {
		return recording.Host(st.Way[n-1].To.First().Remote)
	}
	_, rest, ok := strings.Cut(st.Row.URL, "://")
	at, _, _ := strings.Cut(rest, "/")
	at, _, _ = strings.Cut(at, "?")
	for _, host := range []string{recording.Host(at), recording.Host(st.Row.Remote)} {
		addr, err := netip.ParseAddr(host)
		if ok && host != "" && (err != nil || !addr.IsMulticast() && !addr.IsUnspecified()) {
			return host
		}
	}
	return "the host that sends it"
}

func urlOf(st *scene.Stream) string {
	if st.Row.URL == "" {
		return "URL"
	}
	return st.Row.URL
}
