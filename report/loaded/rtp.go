package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"snag/internal/units"
	"snag/load/rtp"
)

// RTP is what came of sending media.
type RTP struct{ *rtp.Result }

// noAnswer says what such a load can't tell.
const noAnswer = "no answer: what arrived is known only to the receiver"

// Text writes what was sent first, then how late, and what the receiver said.
func (r RTP) Text(w io.Writer) {
	p := r.Plan
	fmt.Fprintf(w, "%s: %s sent %s of %s asked, in %s packets/s and %s frames/s\n", p.Name, units.Plural(p.Senders, "sender"),
		units.LineRate(r.Bitrate()/8), units.LineRate(p.Shape.Bitrate*float64(p.Senders)/8), units.Count(perSecond(r.Packets, r.Took.Seconds())), units.Count(perSecond(r.Frames, r.Took.Seconds())))
	if why := r.Honest(); why != "" {
		fmt.Fprintf(w, "NOT AS ASKED: %s\n", why)
	}
	heads(w)
	wideRow(w, "first packet of a frame late", r.FrameLag)
	wideRow(w, "each packet late", r.PacketLag)
	wideRow(w, "a frame's packets took", r.Burst)
	fmt.Fprintln(w)
	for _, kind := range slices.Sorted(maps.Keys(r.Refused)) {
		fmt.Fprintf(w, "%s packets refused: %s\n", units.Count(float64(r.Refused[kind])), kind)
	}
	if r.Unsent > 0 {
		fmt.Fprintf(w, "%s packets were due and not sent when the time was over\n", units.Count(float64(r.Unsent)))
	}
	fmt.Fprintln(w, r.heard())
}

func perSecond(n int64, seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return float64(n) / seconds
}

// heard says what the receivers reported.
func (r RTP) heard() string {
	h := r.Reports
	if h == nil {
		return noAnswer
	}
	text := fmt.Sprintf("%s by RTCP on %s: %s of %s packets lost (%s), jitter %s, at most %s", units.Plural(int(h.N), "receiver report"), units.Plural(h.Senders, "sender"),
		units.Count(float64(h.Lost)), units.Count(float64(h.Of)), units.Percent(ratio(h.Lost, h.Of)), short(float64(h.Jitter.ValueAtQuantile(50))/1e9), short(float64(h.Jitter.Max())/1e9))
	if h.RoundTrip.TotalCount() > 0 {
		text += fmt.Sprintf(", round trip %s", short(float64(h.RoundTrip.ValueAtQuantile(50))/1e9))
	}
	return text
}

func ratio(n, of int64) float64 {
	if of <= 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// JSON is one object; all times are in seconds.
func (r RTP) JSON(w io.Writer) error {
	p := r.Plan
	out := map[string]any{
		"version": 1, "target": p.Name, "senders": p.Senders, "seconds": r.Took.Seconds(), "bitrate_asked": p.Shape.Bitrate * float64(p.Senders), "bitrate": r.Bitrate(),
		"fps": p.Shape.FPS, "frames": r.Frames, "packets": r.Packets, "bytes": r.Bytes, "refused": r.Refused, "unsent": r.Unsent, "not_as_asked": r.Honest(),
		"frame_late": seconds(r.FrameLag), "packet_late": seconds(r.PacketLag), "frame_took": seconds(r.Burst), "receiver_reports": nil,
	}
	if h := r.Reports; h != nil {
		out["receiver_reports"] = map[string]any{"reports": h.N, "senders": h.Senders, "lost": h.Lost, "packets": h.Of, "jitter": seconds(h.Jitter), "round_trip": seconds(h.RoundTrip)}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
