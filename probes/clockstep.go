package probes

import (
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// clocks is one reading: the wall clock and the boot clock, ns. The boot clock
// goes on while the machine is suspended, as the wall clock does, so that a
// suspend is no step (clock_gettime(2)).
type clocks struct{ wall, boot int64 }

func readClocks() clocks {
	var wall, boot unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &wall) // both exist on every kernel
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot)
	return clocks{wall.Nano(), boot.Nano()}
}

// leastStep is what counts as a step. Slewing moves the clock by at most 500 ppm
// (adjtimex(2)), half a millisecond between two looks; being scheduled away
// between the two readings makes some more. ntpd steps from 128 ms on.
const leastStep = 100 * time.Millisecond

// stepWatch sees the wall clock being set while a recording runs. Times in the
// recording do not move with it: they are of the monotonic clock.
type stepWatch struct {
	read func() clocks
	last clocks
}

func newStepWatch(read func() clocks) *stepWatch { return &stepWatch{read, read()} }

// look returns how far the wall clock was set since the last look, and whether
// it was.
func (s *stepWatch) look() (time.Duration, bool) {
	now := s.read()
	step := time.Duration((now.wall - s.last.wall) - (now.boot - s.last.boot))
	s.last = now
	return step, step.Abs() >= leastStep
}

// stepEvent is the event of a step, seen at t.
func stepEvent(t recording.Time, step time.Duration) recording.Event {
	return recording.Event{
		T: t, End: t, Kind: recording.EventClockStep, Subject: recording.Subject{Kind: recording.KindHost},
		Value: step.Seconds(), Unit: "seconds",
	}
}
