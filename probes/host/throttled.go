package host

import (
	"fmt"

	"snag/recording"
)

// throttledSpan follows the counters of one control group, and joins the seconds in
// which it was throttled to intervals. No tracepoint reports when the kernel throttles a
// group (kernel/sched/fair.c, throttle_cfs_rq has none), so they are as exact as the
// readings are frequent.
type throttledSpan struct {
	at   recording.Time // the last reading; 0: none
	last throttling
	open *recording.Event
	from throttling // when open began
}

// next takes a reading, and returns the interval that it ended, or nil.
func (s *throttledSpan) next(t recording.Time, path string, now throttling) (ended *recording.Event) {
	defer func() { s.at, s.last = t, now }()
	grew := s.at != 0 && (now.Throttled > s.last.Throttled || now.Seconds > s.last.Seconds)
	switch {
	case s.at == 0, now.Throttled < s.last.Throttled: // first, or another group of that name
		return s.end(s.at)
	case !grew:
		return s.end(s.at)
	case s.open == nil:
		s.open = &recording.Event{T: s.at, Kind: recording.EventThrottled, Subject: recording.Subject{Kind: recording.KindCgroup, Cgroup: path}, Unit: "s"}
		s.from = s.last
	}
	s.open.Value = now.Seconds - s.from.Seconds
	s.open.Attrs = map[string]string{
		"periods": fmt.Sprint(now.Periods - s.from.Periods), "throttled": fmt.Sprint(now.Throttled - s.from.Throttled), "resolution": period.String(),
	}
	return nil
}

// end closes the interval that is open, if any.
func (s *throttledSpan) end(t recording.Time) *recording.Event {
	e := s.open
	s.open = nil
	if e != nil {
		e.End = t
	}
	return e
}

// throttled writes the intervals of a group that have ended.
func (c *cgroups) throttled(t recording.Time, g group, seen *groupSeen, now throttling) {
	if e := seen.span.next(t, g.Path, now); e != nil {
		c.env.Sink.Append(*e)
	}
}

// close writes the intervals that go on, and what is known of all.
func (c *cgroups) close() {
	for _, seen := range c.seen {
		if e := seen.span.end(0); e != nil {
			c.env.Sink.Append(*e)
		}
	}
	c.env.Sink.Append(c.throttledRow())
}

func (c *cgroups) throttledRow() recording.Coverage {
	row := recording.Coverage{Probe: "cgroup.throttled", State: recording.CoverageOK, Why: "to the second: the kernel has no tracepoint for it, so the counters of cpu.stat are used"}
	if len(c.roots) == 0 {
		row.State, row.Why, row.Cure = recording.CoverageUnavailable, "no control groups of the cpu controller", "mount cgroup2 at /sys/fs/cgroup"
	}
	return row
}
