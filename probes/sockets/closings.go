package sockets

import (
	"time"

	"snag/recording"
)

// mostClosings is how many closed UDP sockets of one second become events: a
// resolver closes one a query.
const mostClosings = 100

// closings finds what is gone since the last dump. UDP sockets are dumped every
// tick, and none of the kernel's tracepoints tells of their end: the event's
// span, from the last dump that had the socket to the first that has not, is as
// near as it can be told.
func (r *running) closings(now time.Time, everything bool) {
	t := r.env.Now()
	n := 0
	for cookie, h := range r.socks {
		if h.seen == r.ticks || r.survey.failed[h.last.Netns] != nil {
			continue
		}
		if !r.wasAskedFor(h, now, everything) {
			continue
		}
		delete(r.socks, cookie)
		if h.last.Proto != "udp" || r.isOwn(&h.last) {
			continue
		}
		if n == mostClosings {
			r.closed++
			continue
		}
		n++
		r.env.Sink.Append(closedEvent(&h.last, t))
	}
}

func closedEvent(s *recording.Socket, t recording.Time) recording.Event {
	sub := recording.Subject{
		Kind: recording.KindSocket, Netns: s.Netns, Proto: s.Proto, Local: s.Local, Remote: s.Remote, Inode: s.Inode,
	}
	if len(s.Owners) > 0 {
		sub.PID, sub.Comm = s.Owners[0].PID, s.Owners[0].Comm
	}
	return recording.Event{T: s.T, End: t, Kind: recording.EventSocketClosed, Subject: sub}
}
