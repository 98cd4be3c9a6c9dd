package net

import (
	"time"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/suspect"
)

var packetLoss = &suspect.Suspect{
	Name:  "packet-loss",
	Title: "packets lost on the way",
	About: "Segments of a TCP connection are lost and must be sent again; each loss costs a round trip or a timeout, and the sender slows down. Reordering and late ACKs cause retransmissions as well, but then the receiver reports duplicates (DSACK): nothing was lost.",
	Needs: []suspect.Need{
		{Measure: "sockets.retransmits", Must: true, Why: "segments sent again, by flow"},
		{Measure: "sockets.diag", Must: false, Why: "tcp_info of the flow: retransmissions, duplicates, reordering, what the peer got"},
		{Measure: "host.netstat", Must: false, Why: "RetransSegs and DSACKs of the namespace"},
	},
	For: []string{
		"decisive: the receiver, on this host, got fewer segments than were sent, by as many as were sent again",
		"decisive: tcp_info and the retransmit events agree, and hardly any was reported as a duplicate",
		"decisive: RetransSegs of the namespace and the events agree, and its DSACKs are few",
		"decisive: both ends of a UDP stream are on this host: more datagrams were sent than arrived, and the difference is about the gaps in its counters (RTP sequence, MPEG-TS continuity)",
		"decisive: by captures of both ends: what left the one side of late requests did not come to the other, and the network took half of their wait or more",
		"decisive: both ends are on this host and alive, the sender's timer runs out again and again, and nothing comes to the other: the way loses everything",
		"strong: gaps in those counters, and nothing was dropped at the reader's own socket; whether the sender or the way lost it, its own host shows",
	},
	Against: []string{
		"decisive: the retransmissions were reported as duplicates: reordering or a late ACK",
		"decisive: nothing was acknowledged at all since: a peer that is gone or stopped",
		"trap: 3 to 20 loss probes are healthy; SYNs sent again for a full accept queue; TCPOFOQueue",
	},
	InFiles:     map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo:     []suspect.Lead{{To: scene.StreamFreeze, Lag: 5 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}, {To: scene.ThroughputPlateau, Lag: 5 * time.Second}, {To: scene.DatagramsLost, Lag: 2 * time.Second}, {To: scene.FramesSkipped, Lag: 5 * time.Second}, {To: scene.StreamLate, Lag: 5 * time.Second}},
	Claims:      []ledger.Account{ledger.Loss, ledger.Queue},
	Remedy:      suspect.Remedy{Permanently: "Look at the drop counters of each hop from the side named here, and mend the one that drops."},
	Verified:    "retransmits stop",
	Next:        "ss -tin; nstat -az TcpRetransSegs TcpExtTCPDSACKRecv TcpExtTCPSACKReorder",
	WeighBooked: weighPacketLoss,
}

// Where calls are late, and this much of their delay was until something was sent
// again, that many are enough.
const lossBooked, fewBooked = 0.2, 3

// spurious: below this share of duplicates the retransmissions were needed;
// above the other, none was.
const fewDuplicates, mostDuplicates = 0.1, 0.8

// flow is one sender's side of a connection with what was sent again on it.
type flow struct {
	netns         uint64
	local, remote string
	again         measure.Steps
	few           float64       // fewer than this tell nothing
	socket        *scene.Socket // nil: not in any dump
}

// resent gathers what was sent again by flow; handshakes are another matter.
func resent(s *scene.Scene, r *recording.Recording) []*flow {
	type key struct {
		netns         uint64
		local, remote string
	}
	by := map[key]*flow{}
	var out []*flow
	for _, t := range r.Retransmits {
		if t.State == "SYN_SENT" || t.State == "SYN_RECV" || t.State == "NEW_SYN_RECV" {
			continue
		}
		k := key{measure.Namespace(r, t.Netns), scene.Address(t.Local), scene.Address(t.Remote)}
		if by[k] == nil {
			by[k] = &flow{netns: k.netns, local: k.local, remote: k.remote, socket: s.SocketAt(k.netns, "tcp", k.local, k.remote)}
			out = append(out, by[k])
		}
		by[k].again = append(by[k].again, measure.Step{Interval: measure.OneSecond(t.T), N: float64(t.N)})
	}
	return out
}

func weighPacketLoss(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	var out []suspect.Finding
	rest := map[measure.DropKey][]*flow{} // short connections, by path
	long := onPaths{}
	var paths []measure.DropKey
	listeners := listening(s)
	for _, f := range resent(s, r) {
		if turnedAway(r, listeners, f) || neverHeard(f) {
			continue
		}
		if f.few = measure.FewRetransmits; max(l.OnWay(f.remote, ledger.Loss), l.OnWay(f.local, ledger.Loss)) >= lossBooked {
			f.few = fewBooked
		}
		if f.again.Sum() >= f.few && f.socket != nil && len(f.tcpRows()) >= 2 {
			long.add(f, lossOnFlow(r, f))
			continue
		}
		k := measure.DropKey{Netns: f.netns, Dst: recording.Host(f.remote)}
		if rest[k] == nil {
			paths = append(paths, k)
		}
		rest[k] = append(rest[k], f)
	}
	out = append(out, long.worst()...)
	for _, k := range paths {
		if f, ok := lossOnPath(r, l, k, rest[k]); ok {
			out = append(out, f)
		}
	}
	for _, l := range measure.LateOnBothSides(r) {
		if f, ok := l.ByLoss(r); ok {
			out = append(out, f)
		}
	}
	return append(withAllLost(out, allLost(s)), lossOfStreams(s, r)...)
}

// turnedAway: the flow's other end is a listener here whose accept queue ran
// over. The client holds the connection for established and sends its first
// data again and again; nothing of it was lost on the way.
func turnedAway(r *recording.Recording, listeners []*scene.Socket, f *flow) bool {
	if f.socket != nil && f.socket.Peer != nil && f.again.Sum() >= measure.FewRetransmits {
		return false
	}
	for _, k := range listeners {
		if recording.Port(k.First().Local) != recording.Port(f.remote) {
			continue
		}
		at := k.First()
		wild := measure.IsWildcard(at.Local) && (at.Netns == f.netns || measure.HasAddress(r, at.Netns, recording.Host(f.remote)))
		if at.Local != f.remote && !wild {
			continue
		}
		if n, ok := measure.Grew(r, k.First().Netns, "node_netstat_TcpExt_ListenOverflows"); ok && n > 0 {
			return true
		}
	}
	return false
}

// listening are the sockets on which connections are accepted.
func listening(s *scene.Scene) (out []*scene.Socket) {
	for _, k := range s.Sockets {
		if k.Listening() {
			out = append(out, k)
		}
	}
	return out
}

// neverHeard: nothing but the SYN was ever acknowledged. A listener elsewhere
// that has no room, or a peer that is gone; loss lets some through.
func neverHeard(f *flow) bool {
	if f.socket == nil {
		return false
	}
	rows := f.tcpRows()
	if len(rows) == 0 {
		return false
	}
	last := rows[len(rows)-1].TCP
	return last.BytesAcked <= 1 && last.BytesSent > 0
}

// tcpRows are the socket's samples that have tcp_info.
func (f *flow) tcpRows() []recording.Socket { return measure.TCPRowsOf(f.socket) }
