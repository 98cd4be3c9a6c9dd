package recorder

import (
	"fmt"
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// moved is how far the wall clock moved against the monotonic clock, by which the pieces of a session are timed.
// As an error it ends the session, so that the probes restart with a new anchor.
type moved struct {
	set   time.Duration // by whom sets the clock
	slept time.Duration // while the machine was suspended: CLOCK_MONOTONIC does not go on, CLOCK_BOOTTIME does
}

// farMoved is what makes a new anchor necessary.
const farMoved = 100 * time.Millisecond

func (m moved) far() bool { return m.set.Abs() >= farMoved || m.slept >= farMoved }

func (m moved) Error() string {
	if m.slept < farMoved {
		return fmt.Sprintf("the wall clock was set by %+.3f s", m.set.Seconds())
	}
	text := fmt.Sprintf("the machine was suspended for %.1f s, which were not recorded", m.slept.Seconds())
	if m.set.Abs() >= farMoved {
		text += fmt.Sprintf(", and the wall clock was set by %+.3f s", m.set.Seconds())
	}
	return text
}

// movedSince compares the clocks with those of an anchor.
func movedSince(a recording.Anchor) moved { return between(a, probe.NewAnchor()) }

func between(a, now recording.Anchor) moved {
	boot := now.Boottime - a.Boottime
	return moved{set: time.Duration(now.Wall - a.Wall - boot), slept: time.Duration(boot - (now.Monotonic - a.Monotonic))}
}
