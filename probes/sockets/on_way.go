package sockets

import (
	"snag/probes/probe"
	"snag/recording"
)

// onWay is what the streams that snag itself reads come by on this host: its own
// connections, their other ends, the connections that bring the stream to whoever
// holds those, and so on. They are looked at every second, since a freeze is a few
// seconds long.
type onWay struct {
	ends map[hop]bool // sockets that carry, or may carry, a stream
	pids map[int]bool // processes that pass it on, or make it

	grown bool // since the last tick
	until int  // the tick up to which every dump is of all sockets
}

// hop is a connection's addresses as one of its sockets has them.
type hop struct{ local, remote string }

const (
	// mostOnWay bounds the processes that are watched for a stream's sake: more than a
	// server's workers, a relay and some publishers are not on one stream's way.
	mostOnWay = 12
	// mostEnds bounds the sockets: a server may have a thousand publishers, of which
	// one is the stream's.
	mostEnds = 256
)

func newOnWay() onWay { return onWay{ends: map[hop]bool{}, pids: map[int]bool{}} }

// follow takes a socket into account and reports whether it is on a stream's way. Each
// dump leads one step further, from snag's own end back to the source.
func (w *onWay) follow(s *recording.Socket, own bool) bool {
	if s.Proto != "tcp" || s.Remote == "" || s.State == "LISTEN" {
		return false
	}
	here := hop{s.Local, s.Remote}
	if own {
		w.add(hop{s.Remote, s.Local})
		return true
	}
	if w.ends[here] {
		for _, o := range s.Owners {
			if len(w.pids) < mostOnWay {
				w.pids[o.PID] = true
			}
		}
		return true
	}
	// What a process on the way receives far more on than it sends brings it something:
	// a publisher gets some kB of answers, a player sends some.
	if t := s.TCP; t == nil || t.BytesReceived < 8<<10 || t.BytesReceived < 2*t.BytesSent {
		return false
	}
	for _, o := range s.Owners {
		if w.pids[o.PID] {
			w.add(hop{s.Remote, s.Local})
			return true
		}
	}
	return false
}

// carry takes in processes that hand the stream on by other means than a connection.
func (w *onWay) carry(pids []int) {
	for _, pid := range pids {
		if !w.pids[pid] && len(w.pids) < mostOnWay {
			w.pids[pid] = true
			w.grown = true
		}
	}
}

func (w *onWay) add(e hop) {
	if len(w.ends) < mostEnds && !w.ends[e] {
		w.ends[e] = true
		w.grown = true
	}
}

// Every dump is of all sockets until the way of the streams that were asked for is
// known: a connection that is as young as the recording would be found in the next
// full one only, 5 s later. Readers connect at once, and are let in within openFor
// ticks; each step back to the source takes one more.
const openFor = 5 // ticks

func (w *onWay) open(env *probe.Env, tick int) bool {
	if len(env.Streams) == 0 && env.Layers == "" {
		return false
	}
	if w.grown {
		w.grown, w.until = false, tick+2
	}
	return tick <= openFor || tick <= w.until
}
