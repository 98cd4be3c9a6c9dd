package sockets

import (
	"sort"

	"snag/recording"
)

// Most rows of a table in one second. A host with more than this has its
// culprit among the busiest; the rest is added up, and what can't be is counted
// as lost.
const mostRows = 256

// foldConnections keeps the busiest pairs and adds the others up by listener or
// caller, their peers told as "others".
func foldConnections(rows []recording.Connections, most int) []recording.Connections {
	if len(rows) <= most {
		return rows
	}
	sort.Slice(rows, func(i, j int) bool { return busy(rows[i]) > busy(rows[j]) })
	out := rows[:most:most]
	type key struct {
		netns       uint64
		role, local string
		pid         int
	}
	at := map[key]int{}
	for _, r := range rows[most:] {
		k := key{r.Netns, r.Role, r.Local, r.PID}
		i, ok := at[k]
		if !ok {
			r.Remote = others
			at[k] = len(out)
			out = append(out, r)
			continue
		}
		o := &out[i]
		o.Opened += r.Opened
		o.Failed += r.Failed
		o.Closed += r.Closed
		o.Short += r.Short
		o.Unasked += r.Unasked
		o.ByPeer += r.ByPeer
		o.Lifetime += r.Lifetime
		o.BytesIn += r.BytesIn
		o.BytesOut += r.BytesOut
		o.Handshake += r.Handshake
		o.HandshakeMax = max(o.HandshakeMax, r.HandshakeMax)
	}
	return out
}

func busy(r recording.Connections) uint64 { return r.Opened + r.Failed + r.Closed }

// foldResets leaves out the port of the end that chose it at random, so that a
// flood becomes one row a peer. accepts reports whether somebody listens locally.
func foldResets(rows []recording.Reset, most int, accepts func(recording.Reset) bool) (kept []recording.Reset, lost uint64) {
	if len(rows) <= most {
		return rows, 0
	}
	at := map[recording.Reset]int{}
	for _, r := range rows {
		// A reset sent for want of a socket has the stranger's port at its remote end.
		if accepts(r) || (r.Dir == "sent" && r.State == "") {
			r.Remote = recording.Host(r.Remote)
		} else {
			r.Local = recording.Host(r.Local)
		}
		k := r
		k.N = 0
		if i, ok := at[k]; ok {
			kept[i].N += r.N
			continue
		}
		at[k] = len(kept)
		kept = append(kept, r)
	}
	sort.SliceStable(kept, func(i, j int) bool { return kept[i].N > kept[j].N })
	for len(kept) > most {
		lost += kept[len(kept)-1].N
		kept = kept[:len(kept)-1]
	}
	return kept, lost
}

// busiest keeps the rows that weigh most and adds up what the rest weigh.
func busiest[R any](rows []R, most int, weight func(R) uint64) (kept []R, lost uint64) {
	if len(rows) <= most {
		return rows, 0
	}
	sort.SliceStable(rows, func(i, j int) bool { return weight(rows[i]) > weight(rows[j]) })
	for _, r := range rows[most:] {
		lost += weight(r)
	}
	return rows[:most], lost
}
