package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Call is one run of a command, or one message to a webhook: all streams that
// stopped together, are well again together, or were judged together.
type Call struct {
	ID     string // the only one of its kind, the same when it is sent again
	At     time.Time
	Alarms []Alarm // one at least, what was not told before first
	Held   Held
	Lost   Held // what calls before it told and could not deliver, ends and verdicts too
	// Ending is closed when the watch ends: then nothing is waited for any more. nil: never.
	Ending <-chan struct{}
}

// Bounds of one call. A variable of a command's environment may have 128 KiB.
const (
	mostStreams   = 1000
	mostNameBytes = 96 << 10
	mostNamed     = 20 // streams by name where alarms that were held back are summed up
)

// Held sums up alarms that a limit kept from being told when they were raised.
type Held struct {
	Alarms  int
	Streams []string // mostNamed at the most
	More    bool     // there are more streams
}

func (h *Held) add(stream string) {
	h.Alarms++
	switch {
	case slices.Contains(h.Streams, stream):
	case len(h.Streams) < mostNamed:
		h.Streams = append(h.Streams, stream)
	default:
		h.More = true
	}
}

// take moves what o has into h.
func (h *Held) take(o Held) {
	for _, stream := range o.Streams {
		h.add(stream)
	}
	h.Alarms += o.Alarms - len(o.Streams)
	h.More = h.More || o.More
}

// String says how many there are, and of which streams.
func (h Held) String() string {
	names, n := strings.Join(h.Streams, ", "), counted(len(h.Streams), "stream")
	if h.More {
		names, n = names+" and others", "more than "+n
	}
	return fmt.Sprintf("%s of %s (%s)", counted(h.Alarms, "alarm"), n, names)
}

// did says what a call told, for a person.
func (c Call) did() string {
	a := c.Alarms[0]
	text := c.who() + ": "
	switch it := len(c.Alarms) == 1; {
	case a.Event == AlarmWell && it:
		text += "reported as healthy again"
	case a.Event == AlarmWell:
		text += "reported as healthy again"
	case a.Event == AlarmGone && it:
		text += "reported as no longer watched"
	case a.Event == AlarmGone:
		text += "reported as no longer watched"
	case a.Event == AlarmVerdict:
		text += "reported the verdict"
	default:
		text += "called, " + a.condition()
		if a.Over {
			text += ", healthy again by now"
		}
	}
	if c.Held.Alarms > 0 {
		text += fmt.Sprintf("; %s had been postponed", c.Held)
	}
	if c.Lost.Alarms > 0 {
		text += fmt.Sprintf("; %s could not be delivered before", c.Lost)
	}
	return text
}

// condition is how the stream of an alarm is: frozen for 3.2 s.
func (a Alarm) condition() string {
	word := map[string]string{AlarmFreeze: "frozen", AlarmDown: "down", AlarmNoAudio: "without audio",
		AlarmGarbled: "showing a garbled picture", AlarmBlack: "showing a black picture", AlarmPlain: "showing one brightness", AlarmStill: "showing the same picture", AlarmSilent: "silent"}[a.Event]
	switch a.Event {
	case AlarmNever:
		return "without a frame since it was asked for, " + short(a.For) + " ago"
	case AlarmRateFell:
		word = fmt.Sprintf("at %.3g instead of %.3g frames per second", a.Rate, a.RateBefore)
	case AlarmBitsFell:
		word = fmt.Sprintf("at %.0f instead of %.0f kb/s", a.Rate/1000, a.RateBefore/1000)
	}
	return fmt.Sprintf("%s for %s", word, short(a.For))
}

// who names the streams of a call.
func (c Call) who() string {
	if n := len(c.Alarms) - 1; n > 0 {
		return fmt.Sprintf("%s and %d more", c.Alarms[0].Stream, n)
	}
	return c.Alarms[0].Stream
}

// fits is how many of the alarms, from the first, one call may have.
func fits(alarms []*alarmed) int {
	bytes := 0
	for i, e := range alarms {
		if bytes += len(e.alarm.Stream) + 1; i > 0 && bytes > mostNameBytes || i == mostStreams {
			return i
		}
	}
	return len(alarms)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
