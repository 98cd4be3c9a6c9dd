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

// sinceBefore are the requests that were asked before the recording began and have no answer at
// its end, of which no probe sees anything: their connections are silent all along, and the
// last that was said on them was the question (tcp_info's last_data_sent and last_data_recv).
// The recording comes back with a row among its turns for each place.
func sinceBefore(s *scene.Scene, r *recording.Recording) (map[askedAt]float64, *recording.Recording) {
	open, answers := map[askedAt]float64{}, map[askedAt]bool{}
	var unsure []recording.Turns
	all := *r
	all.Turns = all.Turns[:len(all.Turns):len(all.Turns)]
	add := func(row recording.Turns) {
		at := placeAsked(row)
		if open[at]++; open[at] == 1 {
			all.Turns = append(all.Turns, row)
		}
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
		switch _, answered, ok := f.TCP.Asked(k.Listener != nil); {
		case !ok || !silent(k, s.Window):
		case !answered:
			unsure = append(unsure, row)
		default:
			add(row)
		}
	}
	for _, row := range unsure { // a place that answers nobody is sent logs, or a stream
		if answers[placeAsked(row)] {
			add(row)
		}
	}
	return open, &all
}

func placeAsked(row recording.Turns) askedAt {
	if row.Role == string(Serves) {
		return askedAt{Serves, row.Netns, row.Local, row.Proto}
	}
	return askedAt{Calls, row.Netns, row.Remote, row.Proto}
}

// silent tells that nothing was said on a connection in the whole window, until whoever asked hung
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
