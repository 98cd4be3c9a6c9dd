// Package jvmlog puts what a JVM's log tells (internal/gclog) into the recording's words,
// for the probe that follows the logs of running JVMs and the reader of such files.
package jvmlog

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"snag/internal/gclog"
	"snag/recording"
)

// Source is the attr "source" of an event that a JVM's own log told.
const Source = "gc log"

// Clock puts the stamps of a log on the recording's clock.
type Clock struct {
	// Wall is what is added to CLOCK_REALTIME: the clock may have been set.
	Wall time.Duration
	// Uptime and Nanos are when the clocks of those decorations were 0; 0 where that is
	// not known yet. Whether nanos are since the JVM or since the machine began need
	// not be known for that.
	Uptime, Nanos recording.Time
}

// At is when a stamp was; false where it has no clock that can be joined.
func (c *Clock) At(s gclog.Stamp) (recording.Time, bool) {
	switch {
	case s.HasWall:
		return recording.Time(s.Wall).Add(c.Wall), true
	case s.HasUptime && c.Uptime != 0:
		return c.Uptime.Add(s.Uptime), true
	case s.HasNanos && c.Nanos != 0:
		return c.Nanos.Add(time.Duration(s.Nanos)), true
	}
	return 0, false
}

// Join learns when the log's clocks were 0 from its last line and the time at which
// the file was changed last: the JVM writes each line as it is said, so that the
// earliest that any two allow is right to some milliseconds.
func (c *Clock) Join(s gclog.Stamp, changed recording.Time) {
	if s.HasUptime {
		c.Uptime = Earlier(c.Uptime, changed.Add(-s.Uptime))
	}
	if s.HasNanos {
		c.Nanos = Earlier(c.Nanos, changed.Add(-time.Duration(s.Nanos)))
	}
}

// Earlier is the earlier one of two times that are known; 0 is not known.
func Earlier(a, b recording.Time) recording.Time {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Event is an event of a log as the recording has it; false for what is none there.
func Event(e *gclog.Event, c *Clock, sub recording.Subject) (recording.Event, bool) {
	kind := map[gclog.Kind]string{gclog.Pause: recording.EventGCPause, gclog.Safepoint: recording.EventSafepoint, gclog.Stall: recording.EventAllocStall}[e.Kind]
	if kind == "" || e.Length < 0 || e.Kind == gclog.Stall && e.Generation != "" { // a thread of the collector's own
		return recording.Event{}, false
	}
	t, ok := c.At(e.Start)
	if !ok {
		return recording.Event{}, false
	}
	attrs := map[string]string{"source": Source}
	set := func(key, text string) {
		if text = Shown(text); text != "" {
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

// Shown is a text of a log as a terminal may have it.
func Shown(text string) string {
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
