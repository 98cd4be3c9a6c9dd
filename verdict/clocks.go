package verdict

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
)

// clocksBetween is how far off the clocks of two hosts may be from each other, and
// whether anything tells it. A host's own clock agrees with itself.
func clocksBetween(a, b *host) (off time.Duration, known bool) {
	switch {
	case a == b:
		return 0, true
	case a.r == nil || b.r == nil:
		return 0, false
	case a.r.Manifest.Host != "" && a.r.Manifest.Host == b.r.Manifest.Host: // at another time
		return 0, true
	}
	x, y := a.r.Manifest.Clock, b.r.Manifest.Clock
	if x == nil || y == nil || x.Of != y.Of {
		return 0, false
	}
	return time.Duration((x.Bound + y.Bound) * 1e9), true
}

// coincideWithin is Coincide of two hosts whose clocks may be off by so much: an onset
// that seems to come before its cause, or later than the lag, may still follow it. What
// covers more of the window hits more by chance as well, so a doubt that is longer than
// the pattern proves nothing by itself.
func coincideWithin(causes []recording.Interval, onsets []recording.Time, window recording.Interval, lag, off time.Duration) Coincidence {
	if off <= 0 {
		return Coincide(causes, onsets, window, lag)
	}
	wider := make([]recording.Interval, len(causes))
	for i, c := range causes {
		wider[i] = recording.Interval{Start: c.Start.Add(-off), End: c.End}
		if c.End != 0 {
			wider[i].End = c.End.Add(off)
		}
	}
	return Coincide(wider, onsets, window, lag)
}

// cantTell notes what falls together as the clocks are, and would by chance as well if
// they are off by as much as they may be.
func (g *graph) cantTell(a *candidate, effect string, off time.Duration) {
	if len(g.in[a]) > 0 { // another cause explains it already, and is the one to look at
		return
	}
	text := fmt.Sprintf("%s: %s begins with it by the hosts' clocks, which are known within %s only: that is too wide for the pattern, and snag can't tell (a capture of one connection from both hosts, or --offset HOST=…, would)",
		a.finding.Subject.Name, effect, units.Seconds(off))
	if !slices.Contains(g.doubts, text) && len(g.doubts) < mostDoubts {
		g.doubts = append(g.doubts, text)
	}
}

// mostDoubts are told: each cause may have its own.
const mostDoubts = 4
