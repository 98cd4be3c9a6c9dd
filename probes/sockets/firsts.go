package sockets

import (
	"fmt"

	"snag/recording"
)

// firsts tells the user of the first of each kind while the recording runs.
type firsts struct {
	notice func(string)
	told   map[string]bool
}

const mostTold = 200 // keys: a scan of ports must not fill the memory

func (f *firsts) once(key, format string, args ...any) {
	if f.told[key] || len(f.told) >= mostTold {
		return
	}
	f.told[key] = true
	f.notice(fmt.Sprintf(format, args...))
}

// reset tells of the first resets on a service's port, which is the local one
// where somebody listens, else the peer's.
func (f *firsts) reset(r recording.Reset, accepts bool) {
	closed := r.Dir == "sent" && r.State == "" // a stranger called a port that is closed
	service, peer := r.Remote, recording.Host(r.Local)
	if accepts || closed {
		service, peer = r.Local, recording.Host(r.Remote)
	}
	from := "from"
	if (r.Dir == "sent") == (service == r.Local) {
		from = "to"
	}
	f.once("reset "+recording.Port(service), "first resets: %s %s %s", service, from, peer)
}

func (f *firsts) signal(e recording.Event) {
	if e.Attrs["signal"] == "SIGPIPE" || e.Attrs["signal"] == "SIGSTOP" {
		f.once(e.Attrs["signal"], "first %s: to %s[%d]", e.Attrs["signal"], e.Subject.Comm, e.Subject.PID)
	}
}

// tell tells of a full listen queue and of datagrams dropped for want of room.
func (r *running) tell(s, prev *recording.Socket, first bool) {
	who := "an unknown process"
	if len(s.Owners) > 0 {
		who = fmt.Sprintf("%s[%d]", s.Owners[0].Comm, s.Owners[0].PID)
	}
	switch {
	case s.State == "LISTEN" && s.RecvQ > 0 && s.RecvQ >= s.SendQ:
		r.first.once("listen "+s.Local, "listen queue full: %s on %s, %d wait of %d", who, s.Local, s.RecvQ, s.SendQ)
	case s.Proto == "udp" && !first && s.Drops > prev.Drops:
		r.first.once("drops "+s.Local, "first receive-buffer drops: %s on %s, %d datagrams", who, s.Local, s.Drops-prev.Drops)
	}
}
