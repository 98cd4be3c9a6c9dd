package measure

import (
	"fmt"

	"snag/recording"
	"snag/scene"
)

// WatchedWaits is the span in which the waits of a process were watched; false where
// they were not.
func WatchedWaits(p *scene.Process, r *recording.Recording, window recording.Interval) (recording.Interval, bool) {
	span := recording.Interval{End: window.End}
	for _, row := range r.OffCPU {
		if row.PID == p.Subject.PID && (span.Start == 0 || row.T < span.Start) {
			span.Start = row.T
		}
	}
	if span.Start == 0 {
		return span, false
	}
	// The first waits that ended may have begun long before.
	said := fmt.Sprintf("snag.closer.%d", p.Subject.PID)
	for _, f := range r.Facts {
		if f.Name == said && f.T < span.Start {
			span.Start = f.T
		}
	}
	return span, true
}

// ReadCalls are the calls in which a thread waits for what a peer sends.
var ReadCalls = map[string]bool{"read": true, "readv": true, "recvfrom": true, "recvmsg": true, "recvmmsg": true, "connect": true}

// WaitsForWork are the calls in which a thread of a server waits for the next
// request or connection, or only for signals: nginx's master, a supervisor.
var WaitsForWork = map[string]bool{
	"epoll_wait": true, "epoll_pwait": true, "epoll_pwait2": true, "poll": true, "ppoll": true, "select": true, "pselect6": true,
	"accept": true, "accept4": true, "io_uring_enter": true, "io_getevents": true, "sigtimedwait": true, "rt_sigtimedwait": true,
	"rt_sigsuspend": true, "pause": true,
}
