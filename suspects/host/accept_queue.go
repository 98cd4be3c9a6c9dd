package host

import (
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
)

// acceptQueue is the listener of a process with the longest queue of connections
// that nobody takes.
type acceptQueue struct {
	listener *scene.Socket
	local    string
	rows     int // of its listeners in that time
	stuck    int // in a row with connections waiting and not fewer than before
	most     int // most that waited
}

// backlogOf looks at the listeners of a process in the intervals.
func backlogOf(p *scene.Process, all []recording.Interval) acceptQueue {
	var out acceptQueue
	rows, most := 0, 0
	for _, k := range p.Sockets {
		if !k.Listening() {
			continue
		}
		var q acceptQueue
		run, before := 0, 0
		for _, row := range k.Rows {
			if !intervals.Cover(all, row.T) {
				continue
			}
			rows++
			q.most = max(q.most, row.RecvQ)
			switch {
			case row.RecvQ > 0 && row.RecvQ >= before:
				run++
			default:
				run = 0
			}
			before = row.RecvQ
			q.stuck = max(q.stuck, run)
		}
		most = max(most, q.most)
		if q.stuck > out.stuck || out.listener == nil {
			q.listener, q.local = k, k.First().Local
			out = q
		}
	}
	out.rows = rows
	if out.stuck == 0 {
		out.most = most
	}
	return out
}

// openedOn is how many connections came to the process' listeners in the
// intervals.
func openedOn(s *scene.Scene, r *recording.Recording, p *scene.Process, all []recording.Interval) float64 {
	n := 0.0
	for _, c := range r.Connections {
		if c.Role != "accept" || !intervals.Cover(all, c.T) {
			continue
		}
		l := s.ListenerOn(measure.Namespace(r, c.Netns), scene.Address(c.Local))
		if l == nil {
			continue
		}
		for _, o := range l.Owners {
			if o == p {
				n += float64(c.Opened)
				break
			}
		}
	}
	return n
}

// ownerless counts the connections of a listener that no process has: they were
// not accepted yet, and have no inode before.
func ownerless(s *scene.Scene, l *scene.Socket) int {
	n := 0
	for _, k := range s.Sockets {
		if k.Listener == l && len(k.Owners) == 0 && k.Last().Inode == 0 && k.Last().State == "ESTABLISHED" {
			n++
		}
	}
	return n
}
