package probes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/recording"
)

// clocks is one reading, ns. The boot clock goes on while the machine is suspended,
// as the wall clock does; the monotonic clock, which is the recording's, does not
// (clock_gettime(2)). It does go on over a suspend to idle on a machine without a
// cpuidle driver, as a virtual one: only suspends, how often the machine was suspended
// since it was booted, shows that. -1: the kernel does not count them.
type clocks struct {
	wall, boot, monotonic int64
	suspends              int
}

func readClocks() clocks {
	var wall, boot, monotonic unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &wall) // all exist on every kernel
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot)
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &monotonic)
	return clocks{wall.Nano(), boot.Nano(), monotonic.Nano(), suspends("/sys")}
}

// suspends reads how often the machine was suspended (Linux 5.4, CONFIG_PM_SLEEP:
// Documentation/ABI/testing/sysfs-power); -1: unknown.
func suspends(sys string) int {
	b, err := os.ReadFile(filepath.Join(sys, "power/suspend_stats/success"))
	if err != nil {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return -1
	}
	return n
}

const (
	// leastStep is what counts as a step. Slewing moves the clock by at most 500 ppm
	// (adjtimex(2)), half a millisecond between two looks; being scheduled away
	// between the readings makes some more. ntpd steps from 128 ms on.
	leastStep = 100 * time.Millisecond
	// lookEach is the time between two looks.
	lookEach = time.Second
)

// stepWatch sees the wall clock being set, and the machine being suspended, while a
// recording runs. Times in the recording do not move with either: they are of the
// monotonic clock.
type stepWatch struct {
	read func() clocks
	last clocks
	// late is by how much the last look was late, and neither clocks nor count said why. The kernel
	// counts a suspend after it let processes run again (pm_suspend, kernel/power/suspend.c).
	late time.Duration
}

func newStepWatch(read func() clocks) *stepWatch { return &stepWatch{read: read, last: read()} }

// looked is what came about between two looks; 0: it did not.
type looked struct {
	step    time.Duration // the wall clock was set by it
	slept   time.Duration // the machine was suspended, and the monotonic clock stopped
	sleptOn time.Duration // the machine was suspended, and the monotonic clock went on: at most so long,
	ago     time.Duration // until so long ago
}

func (s *stepWatch) look() (l looked) {
	now := s.read()
	boot, ran := now.boot-s.last.boot, now.monotonic-s.last.monotonic
	if step := time.Duration((now.wall - s.last.wall) - boot); step.Abs() >= leastStep {
		l.step = step
	}
	late, before := time.Duration(ran)-lookEach, s.late
	counted := s.last.suspends >= 0 && now.suspends > s.last.suspends
	s.late = 0
	switch slept := time.Duration(boot - ran); {
	case slept >= leastStep:
		l.slept = slept
	case counted && late >= leastStep:
		l.sleptOn = late
	case counted && before >= leastStep:
		l.sleptOn, l.ago = before, time.Duration(ran)
	default:
		s.late = late
	}
	s.last = now
	return l
}

// notice appends what a look found to a recording, and says it.
func (s *stepWatch) notice(sink recording.Sink, now recording.Time, say func(string)) {
	l := s.look()
	if l.step != 0 {
		sink.Append(hostEvent(recording.EventClockStep, now, now, l.step))
		say(fmt.Sprintf("the wall clock was set by %+.3f s; the recording's times do not move with it", l.step.Seconds()))
	}
	if l.slept != 0 {
		sink.Append(hostEvent(recording.EventSuspended, now, now, l.slept))
		say(fmt.Sprintf("the machine was suspended for %.1f s; the recording's clock stopped meanwhile", l.slept.Seconds()))
	}
	if l.sleptOn != 0 {
		end := now.Add(-l.ago)
		sink.Append(hostEvent(recording.EventSuspended, end.Add(-l.sleptOn), end, l.sleptOn))
		say(fmt.Sprintf("the machine was suspended for %.1f s; nothing was recorded meanwhile", l.sleptOn.Seconds()))
	}
}

// hostEvent is an event of the host's clocks.
func hostEvent(kind string, from, to recording.Time, length time.Duration) recording.Event {
	return recording.Event{
		T: from, End: to, Kind: kind, Subject: recording.Subject{Kind: recording.KindHost},
		Value: length.Seconds(), Unit: "seconds",
	}
}
