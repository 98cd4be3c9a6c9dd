package jvm

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"snag/internal/gclog"
	"snag/recording"
)

const (
	measureLog = name + ".gc-log"
	// ofLog is the attr "source" of an event that a JVM's own log told.
	ofLog = "gc log"
)

// logClock puts the stamps of a log on the recording's clock.
type logClock struct {
	// wall is what is added to CLOCK_REALTIME: the clock may have been set.
	wall time.Duration
	// uptime and nanos are when the clocks of those decorations were 0; 0 where that is
	// not known yet. Whether nanos are since the JVM or since the machine began need
	// not be known for that.
	uptime, nanos recording.Time
}

// at is when a stamp was; false where it has no clock that can be joined.
func (c *logClock) at(s gclog.Stamp) (recording.Time, bool) {
	switch {
	case s.HasWall:
		return recording.Time(s.Wall).Add(c.wall), true
	case s.HasUptime && c.uptime != 0:
		return c.uptime.Add(s.Uptime), true
	case s.HasNanos && c.nanos != 0:
		return c.nanos.Add(time.Duration(s.Nanos)), true
	}
	return 0, false
}

// join learns when the log's clocks were 0 from its last line and the time at which
// the file was changed last: the JVM writes each line as it is said, so that the
// earliest that any two allow is right to some milliseconds.
func (c *logClock) join(s gclog.Stamp, changed recording.Time) {
	if s.HasUptime {
		c.uptime = earlier(c.uptime, changed.Add(-s.Uptime))
	}
	if s.HasNanos {
		c.nanos = earlier(c.nanos, changed.Add(-time.Duration(s.Nanos)))
	}
}

// earlier is the earlier one of two times that are known; 0 is not known.
func earlier(a, b recording.Time) recording.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// eventLogged is an event of a log as the recording has it; false for what is none there.
func eventLogged(e *gclog.Event, c *logClock, sub recording.Subject) (recording.Event, bool) {
	kind := map[gclog.Kind]string{gclog.Pause: recording.EventGCPause, gclog.Safepoint: recording.EventSafepoint, gclog.Stall: recording.EventAllocStall}[e.Kind]
	if kind == "" || e.Length < 0 || e.Kind == gclog.Stall && e.Generation != "" { // a thread of the collector's own
		return recording.Event{}, false
	}
	t, ok := c.at(e.Start)
	if !ok {
		return recording.Event{}, false
	}
	attrs := map[string]string{"source": ofLog}
	set := func(key, text string) {
		if text = shown(text); text != "" {
			attrs[key] = text
		}
	}
	set("collector", e.Collector)
	set("cause", e.Cause)
	switch e.Kind {
	case gclog.Safepoint:
		set("operation", e.Name)
		if e.Reach >= 0 {
			set("to_safepoint", fmt.Sprintf("%.6f", e.Reach.Seconds()))
		}
	case gclog.Stall:
		set("stall", e.Name)
		set("thread", e.Thread)
	case gclog.Pause:
		set("pause", e.Name)
		for key, bytes := range map[string]int64{"heap_before": e.Before, "heap_after": e.After, "heap": e.Total} {
			if bytes >= 0 {
				set(key, strconv.FormatInt(bytes, 10))
			}
		}
	}
	return recording.Event{T: t, End: t.Add(e.Length), Kind: kind, Subject: sub, Attrs: attrs, Value: e.Length.Seconds(), Unit: "s"}, true
}

// mostText is kept of a name: those of threads are the program's, and any text.
const mostText = 80

// shown is a text of a log as a terminal may have it.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return text
}
