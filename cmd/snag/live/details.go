package live

import (
	"fmt"
	"strings"
	"time"

	"snag/internal/shown"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
)

// Details draws one stream: what it is, its curves, its last events.
func (t *Table) Details(s *watch.Snapshot, r *watch.Row) string {
	var l lines
	l.styled(t.style(styleTitle, rowName(r)))
	l.add(" %s, %s", stateAndTime(s, r), since(r))
	if r.Why != "" {
		l.wrap(t.Width-2, r.Why+retry(s, r))
	}
	if r.Judged != nil {
		l.wrap(t.Width-2, "By this host's recording of "+clock(r.Judged.Onset)+": "+SayVerdict(*r.Judged))
	}
	if told := watch.Triage(*s, *r); told != "" && r.Judged == nil {
		l.wrap(t.Width-2, told+". From the viewer's side no more can be found out: snag find --stream URL on the server, or --layers, would.")
	}
	l.add("")
	l.add("   %s", r.Shown)
	l.add("   over %s, asked for by %s", r.Protocol, watch.Clean(r.From, 60))
	if len(r.Labels) > 0 {
		l.wrap(t.Width-2, " labels "+r.Labels.String())
	}
	if r.Remote != "" {
		l.add("   read from %s, by %s", r.Remote, r.Local)
	}
	if r.Unnamed {
		l.wrap(t.Width-2, " "+watch.Why(r.Kin))
	}
	l.add("   video %s; audio %s", video(r.Params[stream.Video]), audio(r.Params[stream.Audio]))
	if r.First != 0 && r.Asked != 0 {
		l.add("   asked %s, first frame %s later; a freeze is %s without a frame", clock(r.Asked), span(r.First.Sub(r.Asked)), limit(r))
	}
	if r.Figure && r.First != 0 {
		t.figures(&l, r)
	}
	l.add("")
	l.styled(t.style(styleTitle, "LAST EVENTS"))
	for i := len(r.Recent) - 1; i >= 0; i-- {
		if h := r.Recent[i]; Say(h) != "" {
			l.add("   %s  %s", clock(h.T), Say(h))
		}
	}
	if len(r.Recent) == 0 {
		l.add("   none yet")
	}
	return l.page(t.Width, t.Height, t.style(styleDim, " esc back   ↑↓ next stream   q quit"))
}

func (t *Table) figures(l *lines, r *watch.Row) {
	f := &r.Second
	w := 30 // two seconds a column
	if t.Width >= 92 {
		w = 60
	}
	l.add("")
	if watch.Segmented(r.Entry) { // segments come at once: their arrival is no rate
		l.add("   fps    %6s by timestamps", rateOf(f.Video.FPS))
	} else {
		l.add("   fps    %6s by arrival, %s by timestamps", rateOf(f.Video.FPS), number(f.Video.FPSDTS, "%.1f"))
	}
	l.add("          %s  60 s, full is %s", spark(r.FPS, w, fullRate(r), least), rate(float64(fullRate(r))))
	l.add("   drift  %6s s", signed(f.Drift))
	l.add("          %s  60 s, full is %.1f s", spark(r.Drift, w, max(1, highest(r.Drift)), most), max(1, highest(r.Drift)))
	l.add("   rate   video %s kb/s, audio %s kb/s; longest gap %s s",
		kilobits(f.Video.Bitrate), kilobits(f.Audio.Bitrate), number(f.Gap, "%.2f"))
	l.add("   clock  %s of the wall's; audio against video %s s", number(f.Pace, "%.2f"), signed(f.Skew))
	g := f.GOP
	if g.Frames > 0 {
		l.add("   GOP    %d frames, %.2f s, varies by %s frames", g.Frames, g.Seconds, number(g.Varies, "%.0f"))
	}
	frozen := f.Total.Frozen
	if f.Frozen && f.Standing.OK {
		frozen += f.Standing.V
	}
	l.add("   so far %d frames, %d missing, %d freezes (%.1f s), let in %d×",
		f.Total.Frames[stream.Video]+f.Total.Frames[stream.Audio], f.Total.Missing, r.Freezes, frozen, f.Total.Connected)
	if c := f.Total.Count; c[stream.PacketsLost]+c[stream.PacketsLate]+c[stream.PacketsReordered] > 0 || f.Transport.Gauge[stream.Jitter].OK {
		l.add("   RTP    %d packets lost, %d late, %d out of order; jitter %s s", c[stream.PacketsLost], c[stream.PacketsLate],
			c[stream.PacketsReordered], number(f.Transport.Gauge[stream.Jitter], "%.4f"))
	}
	if c := f.Total.Count; c[stream.ContinuityErrors] > 0 || f.Transport.Gauge[stream.PCRJitter].OK {
		l.add("   TS     %d continuity errors; PCR jitter %s s", c[stream.ContinuityErrors], number(f.Transport.Gauge[stream.PCRJitter], "%.4f"))
	}
	if age := f.Transport.Gauge[stream.PlaylistAge]; age.OK {
		l.add("   HLS    playlist %.1f s old; segments took %s of their length to load; a player has %s s left",
			age.V, number(f.Transport.Gauge[stream.SegmentSlowness], "%.2f"), number(f.Buffer, "%.1f"))
	}
	if n := f.Total.Count[stream.ReceiverDropped]; n > 0 {
		l.add("   snag's own socket dropped %d packets: snag's fault, not the stream's", n)
	}
	if n := f.Total.Count[stream.CaptureLost]; n > 0 {
		l.add("   the capture missed %d bytes of it: snag's fault, not the stream's", n)
	}
	if f.Missed {
		l.add("   the capture missed data of it just now: gap, fps and what is missing may be snag's own doing")
	} else if f.Doubt {
		l.add("   snag itself was %.2f s late in this second: gap and fps may be its own doing", f.Late)
	}
}

// lines is a page that is being written.
type lines []string

func (l *lines) add(format string, args ...any) { *l = append(*l, shown.Sprintf(format, args...)) }

// styled adds a title.
func (l *lines) styled(text string) { *l = append(*l, " "+text) }

// wrap adds a text, broken between words.
func (l *lines) wrap(width int, text string) {
	line := "  "
	for _, word := range strings.Fields(shown.Text(text)) {
		if len([]rune(line))+1+len([]rune(word)) > width && strings.TrimSpace(line) != "" {
			*l = append(*l, line)
			line = "  "
		}
		line += " " + word
	}
	*l = append(*l, line)
}

// page is the lines, cut and filled to the screen, with the keys at its foot.
func (l lines) page(width, height int, keys string) string {
	body := l[:min(len(l), max(0, height-1))]
	for len(body) < height-1 {
		body = append(body, "")
	}
	out := append(append([]string(nil), body...), keys)
	for i := range out {
		out[i] = cut(out[i], width)
	}
	return strings.Join(out, "\n")
}

func since(r *watch.Row) string {
	if r.Since == 0 {
		return "since the start"
	}
	return "since " + clock(r.Since) + " UTC"
}

func retry(s *watch.Snapshot, r *watch.Row) string {
	if r.Retry == 0 {
		return ""
	}
	return fmt.Sprintf("; asked again in %s", span(max(0, r.Retry.Sub(s.T))))
}

func limit(r *watch.Row) string {
	if !r.Figure {
		return "–"
	}
	return span(time.Duration(r.Second.Limit * float64(time.Second)))
}

func video(p stream.Params) string {
	if p.Codec == "" {
		return "none known"
	}
	text := watch.Clean(p.Codec, 20)
	if p.Width > 0 {
		text += fmt.Sprintf(" %d×%d", p.Width, p.Height)
	}
	if p.FPS > 0 {
		text += fmt.Sprintf(" at %s fps", rate(p.FPS))
	}
	return text
}

func audio(p stream.Params) string {
	if p.Codec == "" {
		return "none known"
	}
	text := watch.Clean(p.Codec, 20)
	if p.SampleRate > 0 {
		text += fmt.Sprintf(" %d Hz", p.SampleRate)
	}
	if p.Channels > 0 {
		text += fmt.Sprintf(" %d channel%s", p.Channels, plural(p.Channels))
	}
	return text
}
