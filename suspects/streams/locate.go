package streams

import (
	"fmt"
	"slices"

	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
)

// locate follows the stream's way against its flow to the first place that explains
// why nothing more came: who has data and does not take it, or a connection that
// has data and does not carry it, or, at the end, the source that has none.
//
// Each connection is read at both of its ends where this host has them. What the
// receiver does not read tells of the receiver, whatever the sender's queue; only a
// receiver that reads all lets the sender's queue tell of the connection.
func (f *faulty) locate(s *scene.Scene, r *recording.Recording) {
	way := f.stream.Way
	f.spans = f.felt
	if len(way) == 0 {
		f.reason, f.open = f.stream.Ends, open{true, true}
		return
	}
	for i, l := range way {
		f.link = i
		f.spans = f.spansAt(l)
		if l.Datagrams {
			f.locateDatagrams(s, r, l)
			if f.at != atSource || i+1 == len(way) || f.stream.Ends != "" {
				return
			}
			// Who sends them passes them on: what came to it tells.
			if in, holds := f.heldBack(s, way[i+1]); holds {
				f.at, f.in, f.holds, f.link = atServer, in, true, i+1
				return
			}
			f.at = atUnknown
			continue
		}
		f.from, f.to = f.read(s, l.From, sends), f.read(s, l.To, receives)
		if f.stream.Row.Protocol == "hls" && i == 0 {
			if f.locateServed(s, r) {
				return
			}
			if in, holds := f.heldBack(s, way[1]); holds && way[1].To != nil {
				if f.stream.Writer == nil {
					f.reason, f.open = "who writes the files that "+f.from.name()+" serves was not found on this host", open{false, true}
					return
				}
				f.at, f.in, f.holds, f.link = atServer, in, true, 1
				return
			}
			continue
		}
		if l.From == nil && l.To == nil { // who writes the files makes the stream
			if f.at = atSource; !f.served.stale() {
				f.at, f.reason, f.open = atUnknown, "how its files were written was not seen", open{true, true}
			}
			return
		}
		switch {
		case i == 0 && f.notHeard(s, r):
			f.at, f.web = atServer, true
			return
		case f.to.seen && f.to.looks > 0 && f.to.waits() && (f.slow && f.to.behind() || !f.slow && f.to.unread()):
			f.at = atServer
			if i == 0 {
				f.at = f.whoReads(r)
			}
			return
		case f.from.socket == nil:
			f.reason, f.open = f.stream.Ends, open{true, !f.serverWaits()}
			return
		case !f.from.seen:
			f.reason, f.open = f.from.name()+"'s socket was looked at every 5 s only", open{true, true}
			return
		case f.from.windowShut() && !f.to.seen:
			f.at = atServer
			if i == 0 {
				f.at = f.whoReads(r)
			}
			return
		case f.from.waits() && i == 0:
			f.reason = "bytes wait at the server for the connection to the player"
			return
		case f.from.waits():
			f.at = atSlowLink
			if f.from.acked <= 0.02*max(f.from.usualWritten, 1)*f.from.seconds && f.from.seconds > 0 && f.from.backoff > 0 {
				f.at = atDeadLink
			}
			return
		case !f.slow && f.from.seconds < leastSeen*intervals.Seconds(f.spans, s.Window.End):
			f.reason, f.open, f.between = "it lies between two samples of the sockets", open{true, true}, true
			return
		case !f.slow && !f.from.wroteLittle():
			f.reason = "bytes went on from " + f.from.name()
			return
		}
		// The sender had nothing to send. Why: it is the source, or what came to it tells.
		if x, gone := f.ended(r, l.From); gone {
			f.reason = fmt.Sprintf("%s, who sends it, ended at %s", f.from.name(), x.T.Wall().Format("15:04:05"))
			return
		}
		if f.stream.Row.First == 0 && f.cameMeanwhile(l.To) { // no frame of it was ever seen to tell
			f.reason, f.open = f.notTold(f.to.name()), open{true, true}
			return
		}
		if i+1 == len(way) {
			if f.at = atSource; f.stream.Ends != "" {
				f.at, f.reason, f.open = atUnknown, f.stream.Ends, open{true, true}
			}
			return
		}
		if in, holds := f.heldBack(s, way[i+1]); holds {
			if f.stream.Row.First == 0 {
				f.reason, f.open = f.notTold(f.from.name()), open{true, true}
				return
			}
			f.at, f.in, f.holds, f.link = atServer, in, true, i+1
			return
		}
	}
}

// ended reports whether the sender of the stream ended before its freeze was over: then it neither
// paused nor lagged, and whoever ended it is to blame.
func (f *faulty) ended(r *recording.Recording, k *scene.Socket) (recording.Exit, bool) {
	p := k.Owner()
	if p == nil {
		return recording.Exit{}, false
	}
	for _, x := range r.Exits {
		if x.PID == p.Subject.PID && slices.ContainsFunc(f.spans, func(span recording.Interval) bool { return span.End == 0 || x.T <= span.End }) {
			return x, true
		}
	}
	return recording.Exit{}, false
}

// leastSeen is the share of a freeze in which a connection was looked at, from which that tells of it.
// Where spans are long, the second before the first look inside is left out.
const leastSeen = 0.25

// notHeard reports whether a server left unread what a viewer who waits for the first
// frame asked for, on whichever of its connections, while nothing went to it.
func (f *faulty) notHeard(s *scene.Scene, r *recording.Recording) bool {
	if !f.delayed || f.slow {
		return false
	}
	for _, k := range s.Requests(r, f.stream.Row) {
		if k.Peer == nil {
			continue
		}
		for _, row := range k.Peer.Rows {
			if !intervals.Cover(f.spans, row.T) || row.State != "ESTABLISHED" {
				continue
			}
			f.served.asked++
			if row.RecvQ > 0 && row.TCP != nil && row.TCP.LastSnd >= stillFor.Seconds() {
				f.served.unheard++
				f.served.request = max(f.served.request, row.RecvQ)
			}
		}
	}
	return f.served.unheard >= 1 && float64(f.served.unheard) >= mostly*float64(f.served.asked)
}

// host.heldBack reports whether a server took the stream off the connection that brings it,
// at its usual rate, and sent nothing. Where the publisher's end has bytes waiting it
// is a large frame on a slow way, which comes to its end in a while.
func (f *faulty) heldBack(s *scene.Scene, l scene.Link) (reading, bool) {
	spans, link := f.spans, f.link
	f.link++ // the one that brings the stream to this one's sender
	f.spans = f.spansAt(l)
	in, from := f.read(s, l.To, receives), f.read(s, l.From, sends)
	f.spans, f.link = spans, link
	usual := in.usualReceived * in.seconds
	return in, !f.slow && in.seen && (from.seen || l.From == nil) && !in.waits() && !from.waits() && usual > 0 && in.taken >= goingOn*usual
}

// read reads one end of a connection on the stream's way. Those of a stream that snag
// itself reads are looked at once a second from when they were found (probes/sockets).
func (f *faulty) read(s *scene.Scene, k *scene.Socket, as side) reading {
	m := readEnd(k, as, f.spans, s.Window)
	if k == nil || f.stream.Row.Side != recording.StreamSidePlayer || m.seen {
		return m
	}
	for _, l := range f.stream.Way {
		m.seen = m.seen || l.From != nil && watchedOnce(l.From) || l.To != nil && watchedOnce(l.To)
	}
	return m
}

// whoReads tells snag's own reader from another's.
func (f *faulty) whoReads(r *recording.Recording) standsAt {
	if p := f.stream.Way[0].Receiver(); p != nil && p.Subject.PID == r.Manifest.SelfPID {
		return atWatcher
	}
	if f.stream.Row.Side == recording.StreamSidePlayer || f.stream.Row.Side == "" {
		return atWatcher // whoever owns it: it is the end of snag's own connection
	}
	return atPlayer
}
