package ledger

import (
	"snag/recording"
	"snag/scene"
)

// askedAt is where requests are open: at a service's listener, or at a destination.
type askedAt struct {
	role      Role
	netns     uint64
	at, proto string
}

// edge is how near the ends of the window a socket must have been seen, s.
const edge = 1.5

// since are the requests of a place that were asked before the recording began: how many had no
// answer at its end, and for how long others were open in it, s.
type since struct {
	whole float64
	ended []float64
}

// sinceBefore are the requests that were asked before the recording began, of which no probe sees
// anything: their connections are silent until its end, and the last that was said on them was the
// question (tcp_info's last_data_sent and last_data_recv). What was lost and is sent again says
// nothing new; who asked that may give up before the recording ends. The recording comes back with
// a row among its turns for each place.
func sinceBefore(s *scene.Scene, r *recording.Recording) (map[askedAt]since, *recording.Recording) {
	open, answers := map[askedAt]since{}, map[askedAt]bool{}
	type request struct {
		row  recording.Turns
		ends float64
	}
	var unsure []request
	all := *r
	all.Turns = all.Turns[:len(all.Turns):len(all.Turns)]
	add := func(q request) {
		at := placeAsked(q.row)
		o, known := open[at]
		if !known {
			all.Turns = append(all.Turns, q.row)
		}
		if q.ends > 0 {
			o.ended = append(o.ended, q.ends)
		} else {
			o.whole++
		}
		open[at] = o
	}
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != "tcp" || f.TCP == nil || f.State != "ESTABLISHED" || k.Owner() == nil || k.Owner().Subject.PID == r.Manifest.SelfPID {
			continue
		}
		row := recording.Turns{T: s.Window.Start, Netns: f.Netns, Role: string(Calls), Local: recording.Host(f.Local), Remote: f.Remote}
		if k.Listener != nil {
			row.Role, row.Local, row.Remote = string(Serves), f.Local, recording.Host(f.Remote)
		}
		row.PID, row.Comm = k.Owner().Subject.PID, k.Owner().Subject.Comm
		if f.TCP.BytesSent > 0 && f.TCP.BytesReceived > 0 {
			answers[placeAsked(row)] = true
		}
		q := request{row: row}
		if !silent(k, s.Window) {
			if q.ends = lostFor(k, s.Window); q.ends == 0 {
				continue
			}
		}
		switch _, answered, ok := f.TCP.Asked(k.Listener != nil); {
		case !ok:
		case !answered:
			unsure = append(unsure, q)
		default:
			add(q)
		}
	}
	for _, q := range unsure { // a place that answers nobody is sent logs, or a stream
		if answers[placeAsked(q.row)] {
			add(q)
		}
	}
	return open, &all
}

// lostFor is how long a question was sent again and again from the start of the window on, s; 0
// where nothing was lost.
func lostFor(k *scene.Socket, window recording.Interval) (seconds float64) {
	a := k.First()
	if k.Listener != nil || a.T.Sub(window.Start).Seconds() > edge {
		return 0
	}
	asked := a.TCP.BytesSent - a.TCP.BytesRetrans
	for _, row := range k.Rows {
		if row.TCP == nil || row.State != a.State || !resends(row) || row.TCP.BytesSent-row.TCP.BytesRetrans != asked || row.TCP.BytesReceived != a.TCP.BytesReceived {
			break
		}
		seconds = row.T.Sub(window.Start).Seconds()
	}
	return seconds
}

func placeAsked(row recording.Turns) askedAt {
	if row.Role == string(Serves) {
		return askedAt{Serves, row.Netns, row.Local, row.Proto}
	}
	return askedAt{Calls, row.Netns, row.Remote, row.Proto}
}

// silent reports that nothing was said on a connection in the whole window, until whoever asked hung
// up: its FIN counts as a byte (net/ipv4/tcp_input.c, tcp_fin).
func silent(k *scene.Socket, window recording.Interval) bool {
	a, b := k.First(), k.Rows[len(k.Rows)-1]
	if b.TCP == nil || a.TCP.BytesSent != b.TCP.BytesSent {
		return false
	}
	said := b.TCP.BytesReceived - a.TCP.BytesReceived
	hungUp := k.Listener != nil && b.State == "CLOSE_WAIT" && said <= 1
	return (hungUp || b.State == a.State && said == 0) &&
		a.T.Sub(window.Start).Seconds() <= edge && window.End.Sub(b.T).Seconds() <= edge
}
