package watch

import (
	"fmt"
	"time"
)

// Limits say how often something may be done about frozen streams. A watchdog
// that restarts a transcoder makes a freeze of its own each time: without limits
// it keeps the stream down for ever.
type Limits struct {
	Least     time.Duration // between two actions for one stream; doubled with each that did not help
	Most      time.Duration // … up to this
	PerMinute int           // over all streams
	Tries     int           // actions for one stream within Within that did not help: then no more for it
	Within    time.Duration
	AllTries  int           // the same over all streams: then no more for any
	Heals     time.Duration // a stream that ran so long without a freeze is well: what was done helped
}

// DefaultLimits are docs/watch.md's.
var DefaultLimits = Limits{
	Least: 30 * time.Second, Most: 30 * time.Minute, PerMinute: 6,
	Tries: 5, Within: 30 * time.Minute, AllTries: 20, Heals: 2 * time.Minute,
}

// short writes a length as a person says it.
func short(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 2*time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
