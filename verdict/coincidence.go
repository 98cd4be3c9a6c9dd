package verdict

import (
	"fmt"
	"sort"
	"time"

	"snag/recording"
)

// Coincidence is how well the onsets of an effect fall on the intervals of a
// cause, and how well they would by chance.
type Coincidence struct {
	Onsets int     // how many onsets there were
	Hits   int     // of them, in or within the lag after a cause interval
	Chance float64 // hits to expect if cause and effect had nothing to do with each other
	// P is the share of circular shifts of the causes with as many hits or more.
	P float64
	// Covered is the share of the window that cause intervals and lag fill: near
	// 1, a coincidence proves nothing.
	Covered float64
}

// Fewer onsets than this are "once, as it happens": weak, whatever the share.
const fewOnsets = 3

// A cause that fills more of the window than this hits nearly everything.
const coversAll = 0.8

// shifts is how many circular shifts are tried: enough to tell 1 in 100 from
// 1 in 1000, and below a millisecond of work.
const shifts = 1000

// Coincide measures onsets of an effect against intervals of a cause.
func Coincide(causes []recording.Interval, onsets []recording.Time, window recording.Interval, lag time.Duration) Coincidence {
	c := Coincidence{Onsets: len(onsets), P: 1}
	length := window.End.Sub(window.Start)
	if length <= 0 || len(onsets) == 0 || len(causes) == 0 {
		return c
	}
	spans := merge(causes, window, lag)
	for _, s := range spans {
		c.Covered += float64(s.End.Sub(s.Start)) / float64(length)
	}
	c.Chance = c.Covered * float64(len(onsets))
	c.Hits = hits(spans, onsets, window, 0)
	asMany := 0
	for i := range shifts {
		if hits(spans, onsets, window, time.Duration(float64(length)*float64(i)/shifts)) >= c.Hits {
			asMany++
		}
	}
	c.P = float64(asMany) / shifts
	return c
}

// Proves tells whether the coincidence speaks for the cause: enough onsets, most
// of them hit, and rarely so by chance.
func (c Coincidence) Proves() bool {
	return c.Telling() && float64(c.Hits) >= 0.7*float64(c.Onsets) && c.P <= 0.05
}

// Refutes tells whether it speaks against: enough onsets, and they fall no more
// often on the cause than elsewhere.
func (c Coincidence) Refutes() bool {
	return c.Telling() && float64(c.Hits) < 0.3*float64(c.Onsets)
}

// Telling tells whether it could have come out either way.
func (c Coincidence) Telling() bool {
	return c.Onsets >= fewOnsets && c.Covered > 0 && c.Covered < coversAll
}

func (c Coincidence) String() string {
	switch {
	case c.Onsets == 0:
		return ""
	case c.Covered >= coversAll:
		return fmt.Sprintf("the cause fills %.0f %% of the window: time tells nothing", 100*c.Covered)
	case c.Onsets < fewOnsets:
		return fmt.Sprintf("%d of %d, as it happens", c.Hits, c.Onsets)
	}
	return fmt.Sprintf("%d of %d; by chance %.1f", c.Hits, c.Onsets, c.Chance)
}

// merge clips the intervals to the window, lengthens each by the lag, and joins
// those that touch.
func merge(causes []recording.Interval, window recording.Interval, lag time.Duration) []recording.Interval {
	var all []recording.Interval
	for _, c := range causes {
		if c.End == 0 || c.End > window.End {
			c.End = window.End
		}
		c.Start = max(c.Start, window.Start)
		c.End = min(c.End.Add(lag), window.End)
		if c.Start < c.End {
			all = append(all, c)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Start < all[j].Start })
	var out []recording.Interval
	for _, c := range all {
		if n := len(out); n > 0 && c.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, c.End)
			continue
		}
		out = append(out, c)
	}
	return out
}

// hits counts the onsets that fall in spans when the spans are moved by shift,
// around the end of the window. An onset moved back is a span moved forward.
func hits(spans []recording.Interval, onsets []recording.Time, window recording.Interval, shift time.Duration) int {
	n := 0
	length := window.End.Sub(window.Start)
	for _, o := range onsets {
		at := o.Add(-shift)
		if at < window.Start {
			at = at.Add(length)
		}
		i := sort.Search(len(spans), func(i int) bool { return spans[i].End >= at })
		if i < len(spans) && spans[i].Start <= at {
			n++
		}
	}
	return n
}
