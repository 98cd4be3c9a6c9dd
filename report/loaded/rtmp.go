package loaded

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/internal/units"
	"snag/load/rtmp"
)

// RTMP is what came of players and publishers.
type RTMP struct{ *rtmp.Result }

// Text writes the players first, then the publishers.
func (r RTMP) Text(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", r.Plan.Target.Shown, r.sentence())
	if why := r.Honest(); why != "" {
		fmt.Fprintf(w, "NOT THE SERVER'S FIGURES: %s\n", why)
	}
	heads(w)
	f := r.Figures()
	wideRow(w, "first frame after", f.First)
	wideRow(w, "the stream late at the end", f.Behind)
	wideRow(w, "a message sent late", r.Behind)
	fmt.Fprintln(w)
	if f.Got > 0 && f.Own > 0 {
		fmt.Fprintf(w, "%.1f frames/s came, of the stream's own %.1f%s; %s got less than 95 %% of them\n", f.Rate, f.Own, sound(f), units.Plural(f.Slow, "player"))
	}
	if f.Froze > 0 {
		fmt.Fprintf(w, "%s longer than 1 s, at %s; the player that waited longest waited %s in all\n", units.Plural(f.Freezes, "freeze"), units.Plural(f.Froze, "player"), short(f.LongFrozen.Seconds()))
	}
	if n := r.Plan.Players - f.Got; n > 0 {
		fmt.Fprintf(w, "%s got no frame\n", units.Plural(n, "player"))
	}
	for _, e := range r.Ends() {
		fmt.Fprintf(w, "%s: %s\n", units.Plural(e.N, "player"), e.Outcome)
	}
	for _, e := range r.PublishersEnds() {
		fmt.Fprintf(w, "%s: %s\n", units.Plural(e.N, "publisher"), e.Outcome)
	}
}

func sound(f rtmp.Figures) string {
	if f.Sound == 0 {
		return ""
	}
	return fmt.Sprintf(" (of audio at %s, which got no video)", units.Plural(f.Sound, "player"))
}

func (r RTMP) sentence() string {
	text := ""
	if n := len(r.Players); n > 0 {
		f := r.Figures()
		text = fmt.Sprintf("%d of %s got frames", f.Got, units.Plural(n, "player"))
		if f.Got > 0 {
			text += fmt.Sprintf(", half within %s, 99 in 100 within %s", quantileOf(f.First, 50), quantileOf(f.First, 99))
		}
	}
	if n := len(r.Publishers); n > 0 {
		published, worst := 0, time.Duration(0)
		for _, p := range r.Publishers {
			if p.Outcome == "" {
				published++
				worst = max(worst, p.Behind)
			}
		}
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("%d of %s sent to the end", published, units.Plural(n, "publisher"))
		if published > 0 {
			text += fmt.Sprintf(", at most %s late then", short(worst.Seconds()))
		}
	}
	return text
}

func quantileOf(h *hdrhistogram.Histogram, q float64) string {
	return short(float64(h.ValueAtQuantile(q)) / 1e9)
}

// heads are the columns of a table whose rows have long names.
func heads(w io.Writer) {
	fmt.Fprintf(w, "\n%-30s", "")
	for _, q := range quantiles {
		fmt.Fprintf(w, "%10s", q.name)
	}
	fmt.Fprintln(w)
}

// wideRow is a row of it; nothing where nothing was measured.
func wideRow(w io.Writer, name string, h *hdrhistogram.Histogram) {
	if h.TotalCount() == 0 {
		return
	}
	fmt.Fprintf(w, "%-30s", name)
	for _, q := range quantiles {
		fmt.Fprintf(w, "%10s", quantileOf(h, q.at))
	}
	fmt.Fprintln(w)
}

// JSON is one object; all times are in seconds.
func (r RTMP) JSON(w io.Writer) error {
	f := r.Figures()
	out := map[string]any{"version": 1, "target": r.Plan.Target.Shown, "seconds": r.Took.Seconds(), "not_the_servers": r.Honest(), "own_lag": seconds(r.Own), "players": nil, "publishers": nil}
	if len(r.Players) > 0 {
		out["players"] = map[string]any{"asked": len(r.Players), "got_frames": f.Got, "first_frame": seconds(f.First), "rate": orNull(f.Rate), "own_rate": orNull(f.Own), "slow": f.Slow,
			"late_at_the_end": seconds(f.Behind), "freezes": f.Freezes, "froze": f.Froze, "longest_frozen": f.LongFrozen.Seconds(), "audio_alone": f.Sound, "ends": ends(r.Ends())}
	}
	if len(r.Publishers) > 0 {
		sent, bytes := int64(0), int64(0)
		for _, p := range r.Publishers {
			sent, bytes = sent+p.Sent, bytes+p.Bytes
		}
		out["publishers"] = map[string]any{"asked": len(r.Publishers), "messages": sent, "bytes": bytes, "late": seconds(r.Behind), "own_lag": seconds(r.Lag), "ends": ends(r.PublishersEnds())}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func ends(all []rtmp.End) map[string]int {
	out := map[string]int{}
	for _, e := range all {
		out[string(e.Outcome)] = e.N
	}
	return out
}
