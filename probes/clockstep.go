package probes

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// clocks is one reading, ns. The boot clock goes on while the machine is suspended,
// as the wall clock does; the monotonic clock, which is the recording's, does not
// (clock_gettime(2)).
type clocks struct{ wall, boot, monotonic int64 }

func readClocks() clocks {
	var wall, boot, monotonic unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &wall) // all exist on every kernel
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot)
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic)
	return clocks{wall.Nano(), boot.Nano(), monotonic.Nano()}
}

// leastStep is what counts as a step. Slewing moves the clock by at most 500 ppm
// (adjtimex(2)), half a millisecond between two looks; being scheduled away
// between the readings makes some more. ntpd steps from 128 ms on.
const leastStep = 100 * time.Millisecond

// stepWatch sees the wall clock being set, and the machine being suspended, while a
// recording runs. Times in the recording do not move with either: they are of the
// monotonic clock.
type stepWatch struct {
	read func() clocks
	last clocks
}

func newStepWatch(read func() clocks) *stepWatch { return &stepWatch{read, read()} }

// look returns how far the wall clock was set since the last look, and how long the
// machine was suspended; 0: it was not.
func (s *stepWatch) look() (step, slept time.Duration) {
	now := s.read()
	boot := now.boot - s.last.boot
	step = time.Duration((now.wall - s.last.wall) - boot)
	slept = time.Duration(boot - (now.monotonic - s.last.monotonic))
	s.last = now
	if step.Abs() < leastStep {
		step = 0
	}
	if slept < leastStep {
		slept = 0
	}
	return step, slept
}

// notice appends what a look found to a recording, and says it.
func (s *stepWatch) notice(sink recording.Sink, now recording.Time, say func(string)) {
	step, slept := s.look()
	if step != 0 {
		sink.Append(hostEvent(recording.EventClockStep, now, step))
		say(fmt.Sprintf("the wall clock was set by %+.3f s; the recording's times do not move with it", step.Seconds()))
	}
	if slept != 0 {
		sink.Append(hostEvent(recording.EventSuspended, now, slept))
		say(fmt.Sprintf("the machine was suspended for %.1f s; the recording's clock stopped meanwhile", slept.Seconds()))
	}
}

// hostEvent is an event of the host's clocks, seen at t.
func hostEvent(kind string, t recording.Time, length time.Duration) recording.Event {
	return recording.Event{
		T: t, End: t, Kind: kind, Subject: recording.Subject{Kind: recording.KindHost},
		Value: length.Seconds(), Unit: "seconds",
	}
}
