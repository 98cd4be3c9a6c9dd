package net

import (
	"fmt"
	"slices"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// mostSenders bounds the findings on senders whose hop is elsewhere.
const mostSenders = 8

// senderFindings weighs what a sender alone shows, where no hop of this host does.
// It can't be told from a path that lost everything.
func senderFindings(s *scene.Scene, r *recording.Recording, atHop map[scene.NodeID]bool) (out []suspect.Finding) {
	paths := map[measure.DropKey]int{} // to a host, where its finding is
	for _, k := range s.Sockets {
		if len(out) == mostSenders {
			return out
		}
		f := k.First()
		seconds, ok := standsStill(k, 0)
		if !ok || atHop[k.ID] || f.State != "ESTABLISHED" || seconds < 2 || lastTCP(k).SndWnd == 0 && lastTCP(k).RwndLimited > 0 {
			continue
		}
		tcp := lastTCP(k)
		if tcp.Unacked*tcp.SndMSS == 0 || tcp.NotSent+tcp.SndMSS*tcp.Unacked < tcp.SndMSS {
			continue
		}
		peer := recording.Host(f.Remote)
		small, known := comesOutOfOrder(k.Peer)
		if opened, ok := opensMeanwhile(s, k); ok && (!known || small.Side == suspect.Against) {
			small, known = opened, true
		}
		if known && small.Side == suspect.Against {
			continue // nothing at all came
		}
		if wentOn(measure.TCPRowsOf(k)) {
			continue // lost by chance, whatever their size
		}
		path := measure.DropKey{Netns: f.Netns, Dst: peer}
		if at, has := paths[path]; has && known {
			if o := &out[at]; len(o.Related) < measure.MostRelated {
				o.Related = append(o.Related, k.Subject)
			}
			continue
		}
		finding := suspect.Finding{Subject: k.Subject,
			Text: fmt.Sprintf("after %s bytes nothing more was acknowledged: full segments do not come through, or nothing does", units.Count(float64(tcp.BytesAcked))),
			Next: remedy.InNetns(s, f.Netns, fmt.Sprintf("ping -M do -c 3 -s %d %s", tcp.SndMSS+12, peer)) + "; " + remedy.InNetns(s, f.Netns, "ping -M do -c 3 -s 500 "+peer),
			Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: float64(tcp.Backoff), Unit: "timeouts", Source: source.SS("-tin", source.Backoff, source.Cwnd, source.BytesAcked), Origin: "tcp_info",
				Text: fmt.Sprintf("%s bytes were acknowledged, then none for %.0f s: segments of %s bytes, cwnd %d, backoff %d", units.Count(float64(tcp.BytesAcked)), seconds, units.Count(float64(tcp.SndMSS)), tcp.Cwnd, tcp.Backoff)}},
		}
		finding.Evidence = append(finding.Evidence, sizesInCapture(r, k)...)
		if known {
			paths[path] = len(out)
			finding.Evidence = append(finding.Evidence, small)
			if k.Peer != nil {
				finding.Related = []recording.Subject{k.Peer.Subject}
			}
			finding.Harm = suspect.Harm{Symptom: scene.StreamFreeze, Amount: seconds, Of: s.Window.Length(s.Window.End).Seconds(), Unit: "s", Text: fmt.Sprintf("%s stopped for %.0f s", k.Subject.Name, seconds)}
			finding.Active = []recording.Interval{stillFrom(k, seconds, s.Window)}
		}
		if mtu := learntMTU(r, f.Netns, peer); mtu > 0 && tcp.SndMSS+headers <= mtu {
			finding.Evidence = append(finding.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: float64(mtu), Unit: "bytes", Source: source.Of("ip route show cache"), Origin: "route",
				Text: fmt.Sprintf("the path's MTU, %s bytes, was learnt, and the segments fit: it is not their size", units.Count(float64(mtu)))})
		}
		if other, mean := comesThrough(s, k); other != nil {
			e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: mean, Unit: "bytes", Source: source.SS("-tin", source.BytesAcked, source.DataSegsOut), Origin: "other connection",
				Text: fmt.Sprintf("meanwhile %s to the same host had data acknowledged, in segments of %s bytes: what is small comes through", other.Subject.Name, units.Count(mean))}
			if mean > smallSegment {
				e.Side, e.Text = suspect.Against, fmt.Sprintf("meanwhile %s to the same host had segments of %s bytes acknowledged: the path takes them", other.Subject.Name, units.Count(mean))
			}
			finding.Evidence = append(finding.Evidence, e)
		}
		finding.Settings = pathSettings(r, []*scene.Socket{k}, 0)
		out = append(out, finding)
	}
	return out
}

// wentOn reports that a connection stood still before, and then full segments came through after all:
// its timer had run out twice or more, and what waited was acknowledged.
func wentOn(rows []recording.Socket) bool {
	for i, a := range rows {
		if a.TCP.Backoff >= 2 && slices.ContainsFunc(rows[i:], func(b recording.Socket) bool {
			return b.TCP.BytesAcked >= a.TCP.BytesAcked+uint64(a.TCP.SndMSS)
		}) {
			return true
		}
	}
	return false
}

// comesOutOfOrder is what the other end of a connection that stands still has got, where it is
// on this host: later segments, which are smaller, but not the next one.
func comesOutOfOrder(peer *scene.Socket) (suspect.Evidence, bool) {
	if peer == nil {
		return suspect.Evidence{}, false
	}
	rows := (&flow{socket: peer}).tcpRows()
	if len(rows) < 2 {
		return suspect.Evidence{}, false
	}
	b := rows[len(rows)-1]
	// From when on nothing more came in order.
	a := rows[slices.IndexFunc(rows, func(row recording.Socket) bool { return row.TCP.BytesReceived == b.TCP.BytesReceived })]
	later := float64(b.TCP.DataSegsIn) - float64(a.TCP.DataSegsIn)
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: later, Unit: "segments", Source: source.SS("-tinm of the other end: data_segs_in, rmem"), Origin: "the other end",
		Text: fmt.Sprintf("%s got %s of it that came after the one that is missing, and holds them: what is small comes through", peer.Subject.Name, units.Plural(int(later), "segment"))}
	if later == 0 || b.Rmem == 0 || b.RecvQ > 0 {
		e.Side, e.Text = suspect.Against, fmt.Sprintf("%s got nothing of it at all", peer.Subject.Name)
	}
	return e, true
}

// opensMeanwhile looks for connections to the same port that were opened while k stood still, and
// had none of their first full segments acknowledged: a handshake's packets are small. A path that
// lost everything opens none, and a firewall that forgot the older connections lets the newer ones
// go on.
func opensMeanwhile(s *scene.Scene, k *scene.Socket) (suspect.Evidence, bool) {
	stood := stoodBy(measure.TCPRowsOf(k))
	n := 0
	for _, o := range s.Sockets {
		if o == k || o.First().Netns != k.First().Netns || o.First().Remote != k.First().Remote {
			continue
		}
		rows := measure.TCPRowsOf(o)
		if len(rows) == 0 {
			continue
		}
		tcp := rows[len(rows)-1].TCP
		waits := tcp.Unacked > 1 && tcp.SndMSS > smallSegment && tcp.LastAck > max(4*tcp.RTT, ackedBy)
		if opened := rows[len(rows)-1].T.Add(-time.Duration(tcp.LastAck * 1e9)); tcp.BytesAcked == 1 && waits && opened > stood {
			n++
		}
	}
	if n == 0 {
		return suspect.Evidence{}, false
	}
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(n), Unit: "connections", Source: source.SS("-tin", source.BytesAcked, source.DataSegsOut), Origin: "handshakes",
		Text: fmt.Sprintf("meanwhile %s to %s opened, and none of the first full segments was acknowledged: what is small comes through", units.Plural(n, "connection"), k.First().Remote)}, true
}

// ackedBy is in how many seconds beyond the round trip a receiver has acknowledged two full
// segments; it need not wait for more than these (RFC 5681, section 4.2).
const ackedBy = 0.02

// stoodBy is when at the latest a connection that stands still had sent what is not acknowledged:
// its timer has run out once per back-off, each time twice as long after.
func stoodBy(rows []recording.Socket) recording.Time {
	last := rows[len(rows)-1]
	return last.T.Add(-time.Duration(1e9 * last.TCP.RTO * (1 - 1/float64(uint64(1)<<min(last.TCP.Backoff, 20)))))
}

// smallSegment comes through every path: IPv6 promises 1,280 bytes (RFC 8200,
// section 5), and tunnels within tunnels leave 1,200.
const smallSegment = 1200

// comesThrough is another connection between the same two hosts whose data was
// acknowledged in the window, and that has not backed off; with the mean size of its
// segments.
func comesThrough(s *scene.Scene, k *scene.Socket) (*scene.Socket, float64) {
	for _, o := range s.Sockets {
		if o == k || o.First().Netns != k.First().Netns || o.First().Remote == "" || recording.Host(o.First().Remote) != recording.Host(k.First().Remote) {
			continue
		}
		rows := (&flow{socket: o}).tcpRows()
		if len(rows) < 2 {
			continue
		}
		a, b := rows[0].TCP, rows[len(rows)-1].TCP
		if b.BytesAcked > a.BytesAcked && b.DataSegsOut > a.DataSegsOut && b.Backoff == 0 {
			return o, float64(b.BytesAcked-a.BytesAcked) / float64(b.DataSegsOut-a.DataSegsOut)
		}
	}
	return nil, 0
}
