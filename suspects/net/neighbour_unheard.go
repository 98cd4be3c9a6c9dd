package net

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// unheardFor is how long what a connection sent lies unacknowledged before it counts as stuck, s. An
// address on the link is known within a millisecond.
const unheardFor = 0.5

// unheard are the next hops whose link-layer address was not known while connections through them
// stood. Packets wait for it in the kernel, and where it comes within three seconds none is dropped.
func unheard(s *scene.Scene, r *recording.Recording, known []suspect.Finding) (out []suspect.Finding) {
	for _, k := range s.Sockets {
		if k.First().Proto != "tcp" || k.Listening() {
			continue
		}
		netns := measure.Namespace(r, k.Subject.Netns)
		hop := recording.Host(k.First().Remote)
		route, ok := measure.RouteTo(r, netns, hop)
		if ok && route.Via != "" {
			hop = route.Via
		}
		gone := unknownAddress(r, s.Window, netns, hop, route.Device)
		if !ok || len(gone) == 0 || slices.ContainsFunc(known, func(f suspect.Finding) bool { return f.Subject.Netns == netns && f.Subject.Remote == hop }) {
			continue
		}
		if f, ok := standsFor(k, gone, hop); ok {
			f.Subject = recording.Subject{Kind: recording.KindPeer, Netns: netns, Remote: hop, Device: route.Device}
			f.Text = fmt.Sprintf("no host on %s answers for %s, the gateway to %s: packets wait in this host", route.Device, hop, k.First().Remote)
			f.Remedy = suspect.Remedy{Permanently: backOnLink(s, netns, hop, route.Device)}
			f.Next = remedy.InNetns(s, netns, "arping -c 3 -I "+route.Device+" "+hop)
			out, known = append(out, f), append(known, f)
		}
	}
	return out
}

// unknownAddress is when the link-layer address of a neighbour was not known, from look to look.
func unknownAddress(r *recording.Recording, window recording.Interval, netns uint64, addr, device string) (gone []recording.Interval) {
	since := recording.Time(0)
	for _, n := range r.Neighbours {
		if n.Netns != netns || n.Addr != addr || n.Device != device {
			continue
		}
		dead := n.State == "FAILED" || n.State == "INCOMPLETE"
		switch {
		case dead && since == 0:
			since = n.T
		case !dead && since != 0:
			gone, since = append(gone, recording.Interval{Start: since, End: n.T}), 0
		}
	}
	if since != 0 {
		gone = append(gone, recording.Interval{Start: since, End: window.End})
	}
	return gone
}

// standsFor weighs a connection that stood while the address of its next hop was not known.
func standsFor(k *scene.Socket, gone []recording.Interval, hop string) (f suspect.Finding, ok bool) {
	rows := measure.TCPRowsOf(k)
	stood, unsent := 0, 0
	longest := 0.0
	for i, row := range rows {
		if row.SendQ == 0 || row.TCP.LastAck < unheardFor || !intervals.Cover(gone, row.T) {
			continue
		}
		stood++
		longest = max(longest, row.TCP.LastAck)
		f.Active = append(f.Active, recording.Interval{Start: row.T.Add(-time.Duration(row.TCP.LastAck * 1e9)), End: row.T})
		if i > 0 && row.TCP.Backoff > rows[i-1].TCP.Backoff && row.TCP.TotalRetrans == rows[i-1].TCP.TotalRetrans {
			unsent++
		}
	}
	if stood < 2 {
		return f, false
	}
	f.Active = intervals.Merge(f.Active, 0)
	f.Related = append(f.Related, k.Subject)
	for _, p := range k.Owners {
		f.Related = append(f.Related, p.Subject)
	}
	f.Evidence = []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(stood), Unit: "samples", Source: source.Of("ip neigh"), Origin: "neighbour table",
		Text: fmt.Sprintf("the link-layer address of %s was not known (INCOMPLETE or FAILED) in %d samples at which data of %s waited for an ACK, for %s at the longest", hop, stood, k.Subject.Name, units.Lasting(longest))}}
	if unsent > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(unsent), Unit: "samples", Source: source.SS("-tino", source.Backoff, source.Retrans), Origin: "retransmission timer",
			Text: "its retransmission timer expired, and nothing was sent again: what it sent before is still in a queue of this host"})
	}
	f.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: intervals.Seconds(f.Active, 0), Unit: "s", Text: fmt.Sprintf("data of %s waited for %s at the longest", k.Subject.Name, units.Lasting(longest))}
	return f, true
}
