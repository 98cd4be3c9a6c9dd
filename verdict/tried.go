package verdict

import (
	"slices"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// service is what snag eliminate tried on one target. It is evidence of that service, for the time of the
// experiments; what is ruled out there may well act elsewhere.
type service struct {
	target  string
	remote  string
	netns   uint64
	subject recording.Subject
	at      *scene.Socket // its socket, where it is on this host
	rows    []recording.Experiment
	// busy is why the figures are this host's own, and say nothing of the service; "": they are the service's.
	busy string
}

// tried are the services on which a recording has experiments.
func tried(s *scene.Scene, r *recording.Recording) (out []*service) {
	for _, row := range r.Experiments {
		i := slices.IndexFunc(out, func(x *service) bool { return x.target == row.Target && x.netns == row.Netns })
		if i < 0 {
			i = len(out)
			out = append(out, &service{target: row.Target, netns: row.Netns})
		}
		x := out[i]
		x.rows = append(x.rows, row)
		if x.remote == "" && row.Remote != "" {
			x.remote = row.Remote
		}
		for _, one := range row.Suspects {
			if one.Suspect == clientBusy && one.State == recording.FoundBy {
				x.busy = one.About + ": " + one.Why
			}
		}
	}
	for _, x := range out {
		x.locate(s, r)
	}
	return out
}

// clientBusy is what snag eliminate calls a host that is too busy to measure on.
const clientBusy = "client-busy"

// locate finds the service's socket on this host; a service elsewhere is a peer.
func (x *service) locate(s *scene.Scene, r *recording.Recording) {
	proto := x.rows[0].Proto
	x.subject = recording.Subject{Kind: recording.KindPeer, Netns: x.netns, Proto: proto, Remote: x.remote}
	if x.remote == "" {
		x.subject.Remote = x.target
		return
	}
	if x.at = ledger.Asked(s, r, x.netns, proto, x.remote); x.at != nil {
		x.subject = x.at.Subject
	}
}

// is reports whether a subject is this service, or a connection of a client to it, and nothing besides: a process
// that listens at another port too is not.
func (x *service) is(s *scene.Scene, sub recording.Subject) bool {
	if sub.Proto != "" && sub.Proto != x.subject.Proto {
		return false // a port of TCP and the same one of UDP are two services
	}
	if scene.IDOf(sub) == scene.IDOf(x.subject) || x.remote != "" && sub.Netns == x.netns && sub.Remote == x.remote {
		return true
	}
	if x.at == nil {
		return false
	}
	switch sub.Kind {
	case recording.KindSocket, recording.KindFlow:
		return sub.Netns == x.subject.Netns && sub.Local == x.remote
	case recording.KindProcess, recording.KindThread:
		return slices.ContainsFunc(x.at.Owners, func(p *scene.Process) bool { return p.Subject.PID == sub.PID }) &&
			!slices.ContainsFunc(s.Sockets, func(k *scene.Socket) bool {
				return k != x.at && k.Listening() && slices.ContainsFunc(k.Owners, func(p *scene.Process) bool { return p.Subject.PID == sub.PID })
			})
	}
	return false
}

// whole is the time of all experiments on it.
func (x *service) whole() recording.Interval {
	out := recording.Interval{Start: x.rows[0].T, End: x.rows[0].End}
	for _, row := range x.rows[1:] {
		out.Start, out.End = min(out.Start, row.T), max(out.End, row.End)
	}
	return out
}

// request is the row of the request itself; nil: it was not asked.
func (x *service) request() *recording.Experiment {
	i := slices.IndexFunc(x.rows, func(row recording.Experiment) bool { return row.Experiment == "request" })
	if i < 0 || x.rows[i].NotDone != "" {
		return nil
	}
	return &x.rows[i]
}
