package net

import (
	"fmt"
	"sort"

	"snag/internal/units"
	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var nagleDelayedAck = &suspect.Suspect{
	Name:  "nagle-delayed-ack",
	Title: "small writes wait for a delayed ACK (Nagle)",
	About: "Nagle's algorithm (RFC 896) delays a small write while an earlier one is not acknowledged, and the receiver delays that ACK (RFC 1122, 4.2.3.2) because its answer needs the delayed write. " +
		"Delay is min(40 ms, the time to the next request): 8 and 4,000 requests per second look well, 25 are worst.",
	Needs: []suspect.Need{
		{Measure: "sockets.holds", Must: true, Why: "writes that Nagle's algorithm delayed, and the ACKs that freed them"},
		{Measure: "sockets.options", Why: "whether TCP_NODELAY is set"},
		{Measure: "sockets.diag", Why: "the path's own round trip, and whether answers come back at all"},
	},
	For: []string{
		"decisive: delayed writes, each matched with the ACK that freed it, at least 10 ms later than the path's round trip",
		"strong: the socket's rtt is 10 ms and more above its least rtt, so the ACKs are late and not the path",
		"weak: TCP_NODELAY is off (it is off unless a program sets it)",
	},
	Against: []string{
		"decisive: TCP_NODELAY is set on the socket",
		"strong: the delays are far shorter than an ACK's delay (thousands of writes per second free each other)",
		"strong: the holds last one round trip of the path: Nagle alone, no delayed ACK. It counts for it where half of what holds up the program's requests is such a hold: TCP_NODELAY saves each a round trip",
		"not of writes in a row that one ACK freed together, so that fewer than five answers were late: somebody's first request",
		"traps: ato:40 is always shown by ss, TcpExtDelayedACKs is near 0 once requests are pipelined: neither counts here; a one-way stream does not wait for answers",
	},
	InFiles: map[string][]string{"sockets.diag": {"pcap.flows"}},
	LeadsTo: []suspect.Lead{{To: scene.RequestLatency}, {To: scene.ThroughputPlateau}},
	Claims:  []ledger.Account{ledger.Nagle},
	Remedy: suspect.Remedy{
		Now:     "ip route change ROUTE quickack 1",
		Program: "Set TCP_NODELAY, or send what belongs together in one write (writev, MSG_MORE).",
	},
	Verified:    "no delayed writes",
	Next:        "ss -tino state established '( dport = :PORT or sport = :PORT )'   # small notsent, unacked:1, rtt far above minrtt",
	WeighBooked: weighNagle,
}

// An ACK is delayed by 40 ms at the least timer (TCP_DELACK_MIN, include/net/tcp.h),
// less what has passed since the segment came. Healthy sockets: 0 delayed writes of
// 1,059, or holds of 0.2 ms.
const lateACK = 0.010

// Fewer delayed writes than this in a window are somebody's first request.
const fewHolds = 5

// apart is how many of a socket's delayed writes were held one by one. Small writes in a row are held
// together until one ACK frees them all (the start of a session): then fewer of its calls there
// were late than writes were held.
func (k *heldSocket) apart(r *recording.Recording) float64 {
	held, late, called := 0.0, 0.0, false
	for _, h := range r.Holds {
		if scene.Address(h.Remote) == k.at.Remote && measure.Namespace(r, h.Netns) == k.at.Netns {
			held += float64(h.Held)
		}
	}
	for _, t := range r.Turns {
		if t.Role != "call" || scene.Address(t.Remote) != k.at.Remote || measure.Namespace(r, t.Netns) != k.at.Netns {
			continue
		}
		for i, n := range t.Hist {
			called = true
			if recording.TurnBound(i+1) > lateACK {
				late += float64(n)
			}
		}
	}
	if !called {
		return k.held
	}
	return k.held * min(1, late/held)
}

// Half of what holds up requests decides what they wait for.
const mostlyHeld = 0.5

// far reports that late ACKs are no later than the path makes them.
func far(mean, path float64) bool { return mean >= lateACK && mean-path < lateACK }

// A socket that gets a data segment for each 20 that it sends has answers to wait
// for; a publisher of RTMP gets one for thousands.
const answered = 0.05

type heldSocket struct {
	at                     recording.Hold // one of its rows, for the addresses
	writes, held, released float64
	sum, longest           float64
	late                   measure.Steps
	socket                 *scene.Socket
}

func weighNagle(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) []suspect.Finding {
	type group struct {
		netns      uint64
		pid        int
		comm, port string
	}
	type flow struct {
		netns, cookie uint64
		local, remote string
	}
	sockets := map[flow]*heldSocket{}
	groups := map[group][]*heldSocket{}
	var order []group
	for _, h := range r.Holds {
		h.Netns, h.Local, h.Remote = measure.Namespace(r, h.Netns), scene.Address(h.Local), scene.Address(h.Remote)
		if h.PID != 0 && h.PID == r.Manifest.SelfPID {
			continue
		}
		f := flow{h.Netns, h.Cookie, h.Local, h.Remote}
		k := sockets[f]
		if unasked := (flow{f.netns, 0, f.local, f.remote}); k == nil && sockets[unasked] != nil {
			// The kernel gives a socket its cookie when it is first asked for it
			// (sock_gen_cookie): rows from before the first dump have none.
			k = sockets[unasked]
			delete(sockets, unasked)
			sockets[f] = k
		}
		if k == nil {
			k = &heldSocket{at: h, socket: s.SocketByInode(h.Netns, h.Inode)}
			if k.socket == nil {
				k.socket = s.SocketAt(h.Netns, "tcp", h.Local, h.Remote)
			}
			sockets[f] = k
			if k.socket != nil && k.socket.Peer != nil && r.Manifest.SelfPID != 0 && k.socket.Peer.Subject.PID == r.Manifest.SelfPID && !r.LoadAsks(h.Local) {
				continue // snag itself looks at the stream
			}
			port := recording.Port(h.Remote)
			if s.ListenerOn(h.Netns, h.Local) != nil {
				port = recording.Port(h.Local)
			}
			g := group{h.Netns, h.PID, h.Comm, port}
			if groups[g] == nil {
				order = append(order, g)
			}
			groups[g] = append(groups[g], k)
		}
		k.add(h)
	}
	var out []suspect.Finding
	for _, g := range order {
		all := groups[g]
		sort.SliceStable(all, func(i, j int) bool { return all[i].sum > all[j].sum })
		if all[0].held > 0 {
			out = append(out, nagleFinding(s, r, l, all[0], len(all), g.port))
		}
	}
	return out
}

func (k *heldSocket) add(h recording.Hold) {
	k.writes += float64(max(h.Writes, h.Held))
	k.held += float64(h.Held)
	k.released += float64(h.Released)
	k.sum += h.HoldSum
	k.longest = max(k.longest, h.HoldMax)
	if h.Released > 0 && h.HoldSum/float64(h.Released) >= lateACK {
		k.late = append(k.late, measure.Step{Interval: measure.OneSecond(h.T), N: float64(h.Released)})
	}
}

func nagleFinding(s *scene.Scene, r *recording.Recording, l *ledger.Ledger, k *heldSocket, others int, port string) suspect.Finding {
	f := suspect.Finding{Subject: k.subject(), Active: k.late.Active()}
	if k.socket != nil && k.socket.Peer != nil {
		f.Related = append(f.Related, k.socket.Peer.Subject)
	}
	mean := 0.0
	if k.released > 0 {
		mean = k.sum / k.released
	}
	path, known := k.roundTrip()
	added := k.sum / max(1, k.writes)
	late := far(mean, path)
	booked := 0.0
	if late {
		booked = l.Booked(k.at.PID, ledger.Nagle)
	}
	f.Evidence = k.evidence(mean, path, k.apart(r), known, booked)
	f.Text = fmt.Sprintf("%s small writes were delayed %s on average by Nagle's algorithm, until the peer's ACK came (longest %s)", units.OfAll(k.held, k.writes), units.Lasting(mean), units.Lasting(k.longest))
	if others > 1 {
		f.Text += fmt.Sprintf("; the same on %d sockets of this process to port %s", others, port)
	}
	ratio, seen := answerRatio(k.socket)
	switch {
	case mean < lateACK, late && booked < mostlyHeld:
	case seen && ratio < answered:
		f.NotTo = []string{scene.RequestLatency} // nobody waits for an answer there
		f.Harm = suspect.Harm{Symptom: scene.StreamLate, Amount: added, Unit: "s", Text: fmt.Sprintf("a one-way stream that comes %s later", units.Lasting(added))}
	default:
		f.Harm = suspect.Harm{Symptom: scene.RequestLatency, Amount: added, Unit: "s", Text: fmt.Sprintf("%s added to a typical write of %s", units.Lasting(added), units.Count(k.writes))}
	}
	f.Remedy = suspect.Remedy{Program: fmt.Sprintf("%s: set TCP_NODELAY on the sockets to port %s, or send what belongs together in one write (writev, MSG_MORE).", measure.OrProgram(k.at.Comm), port)}
	f.Calls = []suspect.Call{{Who: suspect.WhoseCall(k.subject()), Do: "setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, 1), or writev(2) of what belongs together", Why: "its small writes to port " + port + " wait for the peer's acknowledgement"}}
	if !late { // else it is the way that takes long, and not the receiver
		k.quickly(s, r, &f)
	}
	f.Next = fmt.Sprintf("ss -tino dst %s   # small notsent, unacked:1, rtt far above minrtt", k.at.Remote)
	return f
}

// quickly is what the receiver's side can do meanwhile: acknowledge at once.
func (k *heldSocket) quickly(s *scene.Scene, r *recording.Recording, f *suspect.Finding) {
	f.Remedy.Permanently = fmt.Sprintf("Until the program is changed: quickack 1 at the route to %s, on %s.", recording.Host(k.at.Local), recording.Host(k.at.Remote))
	if k.socket == nil || k.socket.Peer == nil {
		return
	}
	// The receiver is on this machine.
	f.Settings = []suspect.Setting{{Kind: "route", Name: "quickack", At: recording.Subject{Netns: k.socket.Peer.First().Netns}, Route: recording.Host(k.at.Local), Value: "1",
		Why: "a stop-gap without a change of the program: the receiver acknowledges each segment at once", Risk: "more acknowledgements on that route"}}
	if k.socket.Peer.First().Netns != k.at.Netns { // else its way is a local route, which the table of routes does not have
		f.Remedy.Now = remedy.Now(s, r, f.Settings)
	}
}

func (k *heldSocket) subject() recording.Subject {
	if k.socket != nil {
		sub := k.socket.Subject
		if sub.PID == 0 {
			sub.PID, sub.Comm = k.at.PID, k.at.Comm
		}
		return sub
	}
	return recording.Subject{Kind: recording.KindSocket, Netns: k.at.Netns, Proto: "tcp", Local: k.at.Local, Remote: k.at.Remote,
		PID: k.at.PID, Comm: k.at.Comm, Inode: k.at.Inode}
}

func (k *heldSocket) evidence(mean, path, apart float64, known bool, booked float64) []suspect.Evidence {
	holds := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: mean, Unit: "s", Source: source.Of("tracepoints sock:sock_send_length and tcp:tcp_probe", source.Held, source.HoldMax),
		Text: fmt.Sprintf("%s writes delayed by Nagle's algorithm, %s of them matched with the ACK that freed them, after %s on average", units.OfAll(k.held, k.writes), units.Count(k.released), units.Lasting(mean))}
	var out []suspect.Evidence
	nodelay := k.socket != nil && k.socket.Options() != nil && k.socket.Options().NoDelay != nil
	set := nodelay && *k.socket.Options().NoDelay
	switch {
	case set:
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Text: "TCP_NODELAY is set: the kernel does not delay its small writes", Source: source.Of("getsockopt TCP_NODELAY (pidfd_getfd)")})
	case mean < lateACK:
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: mean, Unit: "s", Source: holds.Source, Origin: "hold time",
			Text: fmt.Sprintf("the holds last %s on average; a delayed ACK would make them up to 40 ms", units.Lasting(mean))})
	case far(mean, path) && booked >= mostlyHeld && apart >= fewHolds:
		holds.Grade = suspect.Strong
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: booked, Unit: "share", Source: holds.Source, Origin: "requests",
			Text: fmt.Sprintf("%.0f %% of what holds up its requests are such holds: each waits for one round trip of the path more, %s", 100*booked, units.Lasting(path))})
	case far(mean, path):
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: path, Unit: "s", Source: source.SS("-ti", source.MinRTT), Origin: "minrtt",
			Text: fmt.Sprintf("the path's own round trip is %s: the ACKs are not delayed, they are far away", units.Lasting(path))})
	case apart < fewHolds:
	case k.released >= 0.9*k.held-1:
		holds.Grade = suspect.Decisive
	default:
		holds.Grade = suspect.Strong
	}
	if !known && holds.Grade == suspect.Decisive {
		holds.Doubt = "the path's own round trip is not known"
	}
	out = append([]suspect.Evidence{holds}, out...)
	if nodelay && !set {
		out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Text: "TCP_NODELAY is off", Source: source.Of("getsockopt TCP_NODELAY (pidfd_getfd)")})
	}
	if k.socket != nil && k.socket.Last().TCP != nil && !set {
		t := k.socket.Last().TCP
		if t.RTT-t.MinRTT >= lateACK && t.MinRTT > 0 && t.RTT > 5*t.MinRTT {
			out = append(out, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: t.RTT, Unit: "s", Source: source.SS("-ti", source.RTT, source.MinRTT), Origin: "rtt",
				Text: fmt.Sprintf("rtt %s against a least of %s: the ACKs are late, not the path", units.Lasting(t.RTT), units.Lasting(t.MinRTT))})
		}
	}
	return out
}

// roundTrip is the least round trip that the socket measured.
func (k *heldSocket) roundTrip() (float64, bool) {
	if k.socket == nil || k.socket.Last().TCP == nil || k.socket.Last().TCP.MinRTT == 0 {
		return 0, false
	}
	return k.socket.Last().TCP.MinRTT, true
}

// answerRatio is how many data segments come back for each that is sent, in the
// window where it was read twice, else since the connection began.
func answerRatio(k *scene.Socket) (float64, bool) {
	if k == nil || k.Last().TCP == nil {
		return 0, false
	}
	in, out := k.Last().TCP.DataSegsIn, k.Last().TCP.DataSegsOut
	if a := k.First().TCP; a != nil && out > a.DataSegsOut && in >= a.DataSegsIn {
		in, out = in-a.DataSegsIn, out-a.DataSegsOut
	}
	if out == 0 {
		return 0, false
	}
	return float64(in) / float64(out), true
}
