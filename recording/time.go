package recording

import (
	"fmt"
	"time"
)

// Time is nanoseconds since the Unix epoch on the recording's own clock: the
// monotonic clock, moved once, when the recording began, onto the wall clock
// (see Anchor). A step of the wall clock during the recording does not move it.
// Zero means "not known".
type Time int64

// Interval is a closed span of time. End is zero while it still goes on.
type Interval struct {
	Start Time `json:"start"`
	End   Time `json:"end,omitempty"`
}

// Anchor ties the two clocks of one host together at one instant.
type Anchor struct {
	Wall      int64 `json:"wall_ns"`      // CLOCK_REALTIME, ns
	Monotonic int64 `json:"monotonic_ns"` // CLOCK_MONOTONIC, ns: what bpf_ktime_get_ns returns
	Boottime  int64 `json:"boottime_ns"`  // CLOCK_BOOTTIME, ns: what /proc/PID/stat counts from
}

// FromMonotonic puts a CLOCK_MONOTONIC reading (ns) on the recording's clock.
func (a Anchor) FromMonotonic(ns int64) Time { return Time(ns - a.Monotonic + a.Wall) }

// FromBoottime puts a CLOCK_BOOTTIME reading (ns) on the recording's clock.
func (a Anchor) FromBoottime(ns int64) Time { return Time(ns - a.Boottime + a.Wall) }

// Sub returns t − u.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t - u) }

// Add returns t + d.
func (t Time) Add(d time.Duration) Time { return t + Time(d) }

// Wall returns t as wall-clock time, UTC.
func (t Time) Wall() time.Time { return time.Unix(0, int64(t)).UTC() }

// Seconds returns t in seconds since the epoch.
func (t Time) Seconds() float64 { return float64(t) / 1e9 }

// String prints the time of day to the millisecond.
func (t Time) String() string {
	if t == 0 {
		return "unknown time"
	}
	return t.Wall().Format("15:04:05.000")
}

// Length is how long the interval lasted; an open one lasts until end.
func (i Interval) Length(end Time) time.Duration {
	if i.End == 0 {
		return end.Sub(i.Start)
	}
	return i.End.Sub(i.Start)
}

// Covers reports whether t lies in the interval.
func (i Interval) Covers(t Time) bool { return t >= i.Start && (i.End == 0 || t <= i.End) }

func (i Interval) String() string {
	if i.End == 0 {
		return fmt.Sprintf("%s–", i.Start)
	}
	return fmt.Sprintf("%s–%s", i.Start, i.End)
}
