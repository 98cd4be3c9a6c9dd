package apply

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is CLOCK_BOOTTIME: no clock step moves it, and it goes on while the host
// sleeps.
func sinceBoot() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// uptime is since the boot, or what a test says.
func (s *Store) uptime() time.Duration {
	if s.clock != nil {
		return s.clock()
	}
	return sinceBoot()
}

// over reports whether a plan's deadline has passed by so much. Of a journal of an older
// snag only the wall clock tells it. One whose beginning is lost has no deadline: it is
// over.
func (s *Store) over(st State, by time.Duration) bool {
	if st.DeadlineBoot > 0 && st.Boot == s.Boot {
		return s.uptime() >= st.DeadlineBoot+by
	}
	return !time.Now().Before(st.Deadline.Add(by))
}

// DeadlineOf is when a plan is undone, by the wall clock as it goes now.
func (s *Store) DeadlineOf(st State) time.Time {
	if st.DeadlineBoot > 0 && st.Boot == s.Boot {
		return time.Now().Add(st.DeadlineBoot - s.uptime()).Round(time.Second)
	}
	return st.Deadline
}
