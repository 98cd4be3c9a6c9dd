package live

import (
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"snag/internal/shown"
	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

// JSON writes what happens as lines of JSON (watch.schema.json, docs/watch.md).
type JSON struct {
	Group string // the key of the label by which the summary groups streams; "" for none

	mu  sync.Mutex
	enc *json.Encoder
}

// NewJSON writes to w.
func NewJSON(w io.Writer) *JSON {
	enc := json.NewEncoder(shown.JSON(w))
	enc.SetEscapeHTML(false)
	return &JSON{enc: enc}
}

type eventLine struct {
	Type      string       `json:"type"` // event
	T         string       `json:"t"`
	Stream    string       `json:"stream"`
	Layer     string       `json:"layer,omitempty"`
	Side      string       `json:"side,omitempty"`
	Labels    watch.Labels `json:"labels,omitempty"`
	Event     string       `json:"event"`
	Phase     string       `json:"phase"`
	Start     string       `json:"start"`
	End       string       `json:"end,omitempty"`
	Value     *float64     `json:"value"`
	Unit      string       `json:"unit,omitempty"`
	Before    float64      `json:"before,omitempty"`
	Threshold float64      `json:"threshold_seconds,omitempty"`
	DTSStep   *float64     `json:"dts_step_seconds,omitempty"`
	Burst     int          `json:"burst_frames,omitempty"`
	Pattern   string       `json:"pattern,omitempty"`
	What      string       `json:"what,omitempty"`
	From      string       `json:"from,omitempty"`
	To        string       `json:"to,omitempty"`
	Why       string       `json:"why,omitempty"`
	Late      float64      `json:"observer_late_seconds,omitempty"`
	Missed    float64      `json:"observer_missed_seconds,omitempty"`
	Doubt     bool         `json:"doubt,omitempty"`
	Text      string       `json:"text"`
}

// Event writes an event; values that only went on are left out.
func (j *JSON) Event(h watch.Happened) {
	if h.Phase == figures.Updated {
		return
	}
	l := eventLine{
		Type: "event", T: stamp(toldAt(h)), Stream: h.Stream, Layer: h.Layer, Side: h.Side, Labels: h.Labels,
		Event: strings.TrimPrefix(h.Kind, "stream-"), Phase: h.Phase.String(),
		Start: stamp(h.T), Unit: h.Unit, Before: h.Base, Threshold: h.Threshold,
		DTSStep: pointer(h.Step), Burst: h.Burst, Pattern: string(h.Pattern),
		What: h.What, From: watch.Clean(h.From, 80), To: watch.Clean(h.To, 80), Why: watch.Clean(h.Why, 300),
		Late: h.ObserverLate, Missed: h.Missed, Doubt: h.Doubt, Text: Say(h),
	}
	if h.Unit != "" {
		l.Value = &h.Value
	}
	if h.End != 0 {
		l.End = stamp(h.End)
	}
	j.write(l)
}

type figuresLine struct {
	Type       string       `json:"type"` // figures
	T          string       `json:"t"`
	Stream     string       `json:"stream"`
	Layer      string       `json:"layer,omitempty"`
	Side       string       `json:"side,omitempty"`
	Labels     watch.Labels `json:"labels,omitempty"`
	NamedBy    string       `json:"named_by,omitempty"`
	Publisher  string       `json:"publisher,omitempty"`
	Matched    *int         `json:"matched_runs,omitempty"`
	Compared   *int         `json:"compared_runs,omitempty"`
	Rivals     int          `json:"rivals,omitempty"`
	State      string       `json:"state"`
	Since      string       `json:"since,omitempty"`
	Why        string       `json:"why,omitempty"`
	Seconds    float64      `json:"seconds"`
	Video      *sumLine     `json:"video"`
	Audio      *sumLine     `json:"audio"`
	Gap        *float64     `json:"gap_seconds"`
	Missing    *int         `json:"missing_frames"`
	Drift      *float64     `json:"drift_seconds"`
	Pace       *float64     `json:"dts_per_wall"`
	Skew       *float64     `json:"skew_seconds"`
	GOPSeconds *float64     `json:"gop_seconds"`
	GOPFrames  *int         `json:"gop_frames"`
	GOPVaries  *float64     `json:"gop_varies_frames"`
	FPSDTS     *float64     `json:"fps_dts"`
	Picture    string       `json:"picture,omitempty"`
	Sound      string       `json:"sound,omitempty"`
	Codec      string       `json:"video_codec,omitempty"`
	Width      int          `json:"width,omitempty"`
	Height     int          `json:"height,omitempty"`
	AudioCodec string       `json:"audio_codec,omitempty"`
	Lost       *uint64      `json:"packets_lost_total"`
	TooLate    *uint64      `json:"packets_late_total"`
	Continuity *uint64      `json:"continuity_errors_total"`
	Jitter     *float64     `json:"jitter_seconds"`
	Playlist   *float64     `json:"playlist_age_seconds"`
	Slowness   *float64     `json:"segment_slowness"`
	Freezes    uint64       `json:"freezes_total"`
	Late       float64      `json:"observer_late_seconds"`
	Doubt      bool         `json:"doubt"`
}

type sumLine struct {
	Frames  int      `json:"frames"`
	Keys    int      `json:"keyframes"`
	Bytes   int64    `json:"bytes"`
	FPS     *float64 `json:"fps"`
	Bitrate *float64 `json:"bits_per_second"`
}

// Figures writes one line a stream: its sums over the last five seconds.
func (j *JSON) Figures(s *watch.Snapshot) {
	for _, r := range Sorted(s, "") {
		f := &r.Second
		l := figuresLine{
			Type: "figures", T: stamp(s.T), Stream: r.Name, Layer: r.Layer, State: r.State.String(), Why: r.Why,
			Pace: pointer(f.Pace), Skew: pointer(f.Skew),
			GOPSeconds: pointer(figures.Value{V: f.GOP.Seconds, OK: f.GOP.Frames > 0}),
			GOPVaries:  pointer(f.GOP.Varies), FPSDTS: pointer(f.Video.FPSDTS), Picture: r.Picture, Sound: r.Sound,
			Codec: watch.Clean(r.Params[stream.Video].Codec, 20), Width: r.Params[stream.Video].Width, Height: r.Params[stream.Video].Height,
			AudioCodec: watch.Clean(r.Params[stream.Audio].Codec, 20),
			TooLate:    counter(r, stream.PacketsLate, "rtp", "rtsp", "ps"), Slowness: pointer(f.Transport.Gauge[stream.SegmentSlowness]),
			Lost: counter(r, stream.PacketsLost, "rtp", "rtsp", "ps"), Continuity: counter(r, stream.ContinuityErrors, "mpegts", "hls"),
			Jitter: pointer(f.Transport.Gauge[stream.Jitter]), Playlist: pointer(f.Transport.Gauge[stream.PlaylistAge]),
			Freezes: r.Freezes, Late: f.Late, Doubt: f.Doubt || f.Five.Doubt,
		}
		l.Side, l.Labels = r.Side, r.Labels
		if f.GOP.Frames > 0 {
			l.GOPFrames = &f.GOP.Frames
		}
		if r.Unnamed {
			l.NamedBy = cmp.Or(r.Kin.By, "address")
			l.Publisher, l.Rivals = r.Kin.Publisher, r.Kin.Rivals
			if r.Kin.By == "frames" {
				l.Matched, l.Compared = &r.Kin.Matched, &r.Kin.Runs
			}
		}
		if r.Since != 0 {
			l.Since = stamp(r.Since)
		}
		// What the last seconds were of a stream that ended is no figure of it now.
		if r.Measured() && f.Five.Length > 0 && f.Total.Connected > 0 {
			l.Seconds, l.Video, l.Audio, l.Drift = f.Five.Length, sum(f.Five.Video), sum(f.Five.Audio), pointer(f.Five.Drift)
			l.Gap, l.Missing = &f.Five.Gap, &f.Five.Missing
		}
		j.write(l)
	}
}

// counter is what a transport counts; nil where the protocol has no such thing, or
// the stream was never read.
func counter(r *watch.Row, c stream.Count, by ...string) *uint64 {
	n := r.Second.Total.Count[c]
	if n == 0 && (r.Second.Total.Connected == 0 || !slices.Contains(by, r.Protocol)) {
		return nil
	}
	return &n
}

func sum(s figures.Sum) *sumLine {
	return &sumLine{s.Frames, s.Keys, s.Bytes, pointer(s.FPS), pointer(s.Bitrate)}
}

type summaryLine struct {
	Type    string         `json:"type"` // summary
	T       string         `json:"t"`
	Streams int            `json:"streams"`
	States  map[string]int `json:"states"`
	Left    int            `json:"not_watched"`
	Freezes uint64         `json:"freezes_total"`
	CPU     *float64       `json:"own_cpu_ratio"`
	Memory  *int64         `json:"own_memory_bytes"`
	Late    float64        `json:"own_late_seconds"`
	Worst   float64        `json:"own_worst_late_seconds"`
	GroupBy string         `json:"group_by,omitempty"`
	Groups  []groupLine    `json:"groups,omitempty"`
}

type groupLine struct {
	Value   string         `json:"value"`
	Streams int            `json:"streams"`
	States  map[string]int `json:"states"`
}

// Summary writes how all of it stands.
func (j *JSON) Summary(s *watch.Snapshot) {
	l := summaryLine{
		Type: "summary", T: stamp(s.T), Streams: len(s.Rows), States: byName(s.States), Left: s.Left, Freezes: s.Freeze,
		CPU: pointer(s.Own.CPU), Late: s.Own.Late.Seconds(), Worst: s.Own.Worst.Seconds(),
	}
	if s.Own.Memory > 0 {
		l.Memory = &s.Own.Memory
	}
	if j.Group != "" {
		l.GroupBy = j.Group
		for _, g := range groupsOf(Sorted(s, ""), j.Group) {
			l.Groups = append(l.Groups, groupLine{g.value, len(g.rows), byName(g.states)})
		}
	}
	j.write(l)
}

func byName(states [watch.States]int) map[string]int {
	out := map[string]int{}
	for state := range watch.States {
		if n := states[state]; n > 0 {
			out[state.String()] = n
		}
	}
	return out
}

type verdictLine struct {
	Type       string       `json:"type"` // verdict
	T          string       `json:"t"`
	Stream     string       `json:"stream"`
	Layer      string       `json:"layer,omitempty"`
	Labels     watch.Labels `json:"labels,omitempty"`
	Onset      string       `json:"onset,omitempty"`
	Culprit    string       `json:"culprit,omitempty"`
	Subject    string       `json:"subject,omitempty"`
	Confidence *float64     `json:"confidence,omitempty"`
	Text       string       `json:"text"`
	Recording  string       `json:"recording"`
}

// Verdict writes what the host's recording told of a stream.
func (j *JSON) Verdict(v watch.Judged) {
	l := verdictLine{
		Type: "verdict", T: time.Now().UTC().Format(time.RFC3339Nano), Stream: v.Stream, Layer: v.Layer, Labels: v.Labels,
		Culprit: v.Culprit, Subject: watch.Clean(v.Subject, 200), Text: watch.Clean(v.Text, 2000), Recording: v.Recording,
	}
	if v.Onset != 0 {
		l.Onset = stamp(v.Onset)
	}
	if v.Culprit != "" {
		l.Confidence = &v.Confidence
	}
	j.write(l)
}

// Note writes what the watch says of itself.
func (j *JSON) Note(text string) {
	j.write(struct {
		Type string `json:"type"` // note
		T    string `json:"t"`
		Text string `json:"text"`
	}{"note", time.Now().UTC().Format(time.RFC3339Nano), text})
}

func (j *JSON) write(line any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	// A reader that went away ends the watch by SIGPIPE; NaN and infinities are
	// kept out by the figures.
	_ = j.enc.Encode(line)
}

// toldAt is when an event is news: of what began, when that was known; at its end, where
// it has one.
func toldAt(h watch.Happened) recording.Time {
	switch {
	case h.Phase != figures.Instant && h.At != 0:
		return h.At
	case h.Phase == figures.Ended && h.End != 0:
		return h.End
	}
	return h.T
}

func stamp(t recording.Time) string { return t.Wall().Format(time.RFC3339Nano) }

func pointer(v figures.Value) *float64 {
	if !v.OK {
		return nil
	}
	return &v.V
}
