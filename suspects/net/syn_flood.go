package net

import (
	"fmt"
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

var synFlood = &suspect.Suspect{
	Name:  "syn-flood",
	Title: "SYNs from forged addresses",
	About: "SYNs from forged addresses fill a listener's queue of half-open connections. Without SYN cookies real clients' SYNs are dropped with the rest, and come back after 1 s, 3 s, 7 s; with cookies they get in, without window scaling at worst. A burst of real clients fills the same queue for a round trip, and finishes; a full accept queue drops connections that were finished.",
	Needs: []suspect.Need{
		{Measure: "sockets.half-open", Must: true, Why: "half-open connections of each listener, their sources, and whether they are silent"},
		{Measure: "host.netstat", Must: true, Why: "SYNs dropped, cookies sent and returned"},
		{Measure: "sockets.retransmits", Must: false, Why: "real clients of this host that sent their SYN again"},
		{Measure: "sockets.connections", Must: false, Why: "connections that came about"},
		{Measure: "host.sysctl", Must: false, Why: "whether SYN cookies are on"},
	},
	For: []string{
		"strong: the half-open connections are as many as the backlog, and most were silent when their SYN-ACK was sent again",
		"decisive: the listener's own drops are as many as the SYNs dropped, while its half-open connections are silent",
		"strong: SYNs were dropped before any accept queue was full (ListenDrops without ListenOverflows), or cookies were sent and hardly any came back",
	},
	Against: []string{
		"decisive: the cookies came back: real clients",
		"decisive: what was dropped had finished its handshake: the accept queue, not SYNs",
		"decisive: the half-open connections were young: clients in the middle of their handshake",
		"trap: SYN-ACKs that get lost on their way back (asymmetric routes, a firewall): few sources, and none of them ever finishes",
	},
	LeadsTo: []suspect.Lead{{To: scene.ConnectLatency, Lag: 5 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 5 * time.Second}},
	Remedy: suspect.Remedy{
		Now:         "sysctl -w net.ipv4.tcp_syncookies=1",
		Permanently: "net.ipv4.tcp_syncookies = 1 in /etc/sysctl.d. Limit SYNs before they come to this host (nft synproxy).",
		Program:     "A longer backlog in listen(), with net.ipv4.tcp_max_syn_backlog.",
	},
	Verified: "clients connect at once, and ListenDrops does not grow",
	Next:     "ss -Htn state syn-recv | wc -l; nstat -az TcpExtSyncookiesSent TcpExtSyncookiesRecv TcpExtTCPReqQFullDrop TcpExtListenDrops",
	Weigh:    weighSynFlood,
}

const (
	// fewHalfOpen: a busy server has a round trip's worth of new connections half
	// open, 20 at 200 per second and 100 ms; cookies begin at the backlog.
	fewHalfOpen = 30
	// silentShare of the half-open had their SYN-ACK sent again: lost packets make
	// 1 in 50 or so, forged sources all that are older than a second.
	silentShare = 0.3
	// fewSyns dropped, or cookies sent, are no flood.
	fewSyns = 50
	// finished: with so few finished handshakes among what was dropped, SYNs they were.
	finished = 0.01
	// cookiesBack: real clients return all but what is lost; forged sources none.
	cookiesBack, cookiesGone = 0.5, 0.1
	// allHere of the clients are on this host: what is counted twice ends in another second.
	allHere = 0.95
)

// synQueue is what counters of a namespace say of SYNs.
type synQueue struct {
	dropped, overflowed measure.Steps // ListenDrops, ListenOverflows
	sent, back          float64
}

func synQueueOf(r *recording.Recording, netns uint64) synQueue {
	var q synQueue
	if c, ok := measure.Counter(r, netns, "node_netstat_TcpExt_ListenDrops"); ok {
		q.dropped = measure.StepsOf(c)
	}
	if c, ok := measure.Counter(r, netns, "node_netstat_TcpExt_ListenOverflows"); ok {
		q.overflowed = measure.StepsOf(c)
	}
	q.sent, _ = measure.Grew(r, netns, "node_netstat_TcpExt_SyncookiesSent")
	q.back, _ = measure.Grew(r, netns, "node_netstat_TcpExt_SyncookiesRecv")
	return q
}

// syns is how many were dropped before their handshake was finished.
func (q synQueue) syns() float64 { return max(0, q.dropped.Sum()-q.overflowed.Sum()) }

func weighSynFlood(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	type place struct {
		netns uint64
		local string
	}
	by := map[place][]recording.HalfOpen{}
	var order []place
	for _, h := range r.HalfOpen {
		k := place{measure.Namespace(r, h.Netns), h.Local}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], h)
	}
	var out []suspect.Finding
	for _, k := range order {
		most := by[k][0]
		for _, h := range by[k] {
			// A flood that has just begun has only young ones.
			if h.Resent > most.Resent || h.Resent == most.Resent && h.N > most.N {
				most = h
			}
		}
		q := synQueueOf(r, k.netns)
		if most.N >= fewHalfOpen || q.syns() >= fewSyns || q.sent >= fewSyns {
			out = append(out, floodFinding(s, r, k.netns, most, by[k], q))
		}
	}
	return out
}

func floodFinding(s *scene.Scene, r *recording.Recording, netns uint64, most recording.HalfOpen, all []recording.HalfOpen, q synQueue) suspect.Finding {
	f := suspect.Finding{Subject: recording.Subject{Kind: recording.KindPort, Netns: netns, Proto: "tcp", Local: most.Local}, Next: remedy.InNetns(s, netns, synNext)}
	backlog := 0
	l := s.ListenerOn(netns, most.Local)
	if l != nil {
		f.Subject, backlog = l.Subject, l.Last().SendQ
	}
	f.Evidence = append(f.Evidence, halfOpenEvidence(most, backlog))
	opened := openedAt(r, netns, most.Local)
	if e, ok := q.evidence(); ok {
		if e.Side == suspect.For && opened > 0 {
			e.Text += fmt.Sprintf("; %s connections came about", units.Count(opened))
		}
		if silent := f.Evidence[0]; e.Side == suspect.For && e.Grade == suspect.Strong && silent.Side == suspect.For && silent.Grade == suspect.Strong && l != nil {
			e = q.ofListener(l, e)
		}
		f.Evidence = append(f.Evidence, e)
	}
	for _, h := range all {
		if h.N >= fewHalfOpen {
			f.Active = append(f.Active, measure.OneSecond(h.T))
		}
	}
	f.Active = intervals.Merge(append(f.Active, q.dropped.Active()...), 6*time.Second)
	f.Text = fmt.Sprintf("%s connections from %s hang half open on it, and hardly one of them is meant", units.Count(float64(most.N)), sourcesOf(most))
	f.Settings, f.Calls = synSettings(r, netns, most, backlog)
	f.Remedy = synRemedy(s, r, f.Settings, backlog)
	f.Harm = q.harm(r, most.Local, opened)
	return f
}

const synNext = "ss -Htn state syn-recv | awk '{print $4}' | sort | uniq -c | sort -rn | head"

func sourcesOf(h recording.HalfOpen) string {
	if h.Sources >= recording.MostSources {
		return fmt.Sprintf("%s addresses or more", units.Count(recording.MostSources))
	}
	if h.Sources == 1 {
		return "1 address"
	}
	return units.Count(float64(h.Sources)) + " addresses"
}

func halfOpenEvidence(h recording.HalfOpen, backlog int) suspect.Evidence {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: float64(h.N), Unit: "connections", Source: source.Of("ss -tn state syn-recv"), Origin: "half-open",
		Text: fmt.Sprintf("up to %s half-open connections at once from %s (%s, for one); %s of them were silent when the SYN-ACK was sent again",
			units.Count(float64(h.N)), sourcesOf(h), h.Remote, units.Count(float64(h.Resent)))}
	if backlog > 0 {
		e.Text += fmt.Sprintf("; the backlog is %s", units.Count(float64(backlog)))
	}
	switch silent := float64(h.Resent); {
	case h.N >= fewHalfOpen && silent >= silentShare*float64(h.N):
		e.Grade = suspect.Strong
	case silent < 0.1*float64(h.N):
		e.Side, e.Grade = suspect.Against, suspect.Strong
		e.Text += ": young ones, in the middle of their handshake"
	}
	return e
}

// evidence is what the namespace's counters say; false where they say nothing.
func (q synQueue) evidence() (suspect.Evidence, bool) {
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: q.syns(), Unit: "SYNs", Source: source.Netstat("ListenDrops", "ListenOverflows", "SyncookiesSent", "SyncookiesRecv"), Origin: "SYN counters",
		Text: fmt.Sprintf("%s SYNs were dropped (ListenDrops %s, of them %s by a full accept queue)", units.Count(q.syns()), units.Count(q.dropped.Sum()), units.Count(q.overflowed.Sum()))}
	if q.sent >= fewSyns {
		e.Text += fmt.Sprintf("; %s SYN cookies were sent, %s came back", units.Count(q.sent), units.Count(q.back))
	}
	switch {
	case q.sent >= fewSyns && q.back >= cookiesBack*q.sent:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": real clients, who finish"
	case q.sent >= fewSyns && q.back <= cookiesGone*q.sent, q.syns() >= fewSyns && q.syns() >= 0.5*q.dropped.Sum():
	case q.overflowed.Sum() >= fewSyns:
		e.Side, e.Grade = suspect.Against, suspect.Decisive
		e.Text += ": what was dropped had finished its handshake, the accept queue is short"
	case q.sent < fewSyns && q.syns() < fewSyns:
		return e, false
	default:
		e.Grade = suspect.Weak
	}
	return e, true
}

// suspects.ofListener makes it certain: the listener's own count of drops says as many as
// its namespace's, and none of them was a finished handshake.
func (q synQueue) ofListener(l *scene.Socket, e suspect.Evidence) suspect.Evidence {
	own := measure.OwnDrops(l).Sum()
	n, same := q.dropped.AgreeIn(own, recording.Interval{Start: l.First().T, End: l.Last().T})
	if same && own >= fewSyns && q.overflowed.Sum() <= finished*own {
		e.Grade = suspect.Decisive
		e.Source = e.Source.And(source.SS("-ltm", source.SocketDrops))
		e.Text += fmt.Sprintf("; the socket's drop counter grew by %s, ListenDrops by %s meanwhile", units.Count(own), units.Count(n))
	}
	return e
}

// openedAt is how many connections to a listener came about.
func openedAt(r *recording.Recording, netns uint64, local string) float64 {
	n := 0.0
	for _, c := range r.Connections {
		if c.Role == "accept" && measure.Namespace(r, c.Netns) == netns && recording.Port(c.Local) == recording.Port(local) {
			n += float64(c.Opened)
		}
	}
	return n
}

// harm: real clients wait as their SYNs are dropped. Those on this host are
// counted; of others it is known only that a SYN of theirs is dropped as often
// as any, and that so many got in.
func (q synQueue) harm(r *recording.Recording, local string, opened float64) suspect.Harm {
	if q.syns() < fewSyns {
		return suspect.Harm{}
	}
	to := func(remote string) bool {
		return recording.Port(remote) == recording.Port(local) && (measure.IsWildcard(local) || scene.Address(remote) == scene.Address(local))
	}
	again, here := 0.0, 0.0
	for _, t := range r.Retransmits {
		if t.State == "SYN_SENT" && to(t.Remote) {
			again += float64(t.N)
		}
	}
	for _, c := range r.Connections {
		if c.Role == "connect" && to(c.Remote) {
			here += float64(c.Opened)
		}
	}
	h := suspect.Harm{Symptom: scene.ConnectLatency, Unit: "connections"}
	switch {
	case again > 0:
		h.Amount, h.Of = again, again+opened
		h.Text = fmt.Sprintf("clients on this host sent %s SYNs again, 1 s and more later each; %s connections came about", units.Count(again), units.Count(opened))
	case opened > 0 && here >= allHere*opened: // whoever got in is on this host, and none of them had to send a SYN again
		return suspect.Harm{}
	case opened > 0:
		h.Amount, h.Of = min(q.syns(), opened), q.syns()+opened
		h.Text = fmt.Sprintf("%s SYNs dropped, %s connections came about: whoever is meant waits 1 s and more", units.Count(q.syns()), units.Count(opened))
	default:
		h.Amount, h.Of = q.syns(), q.syns()
		h.Text = fmt.Sprintf("%s SYNs dropped, and no connection came about", units.Count(q.syns()))
	}
	return h
}

func synRemedy(s *scene.Scene, r *recording.Recording, set []suspect.Setting, backlog int) suspect.Remedy {
	out := suspect.Remedy{Now: remedy.Now(s, r, set), Permanently: remedy.Join(remedy.Kept(s, r, set), "Limit SYNs before they come to this host."), Program: "A longer backlog in listen(), with net.ipv4.tcp_max_syn_backlog as long."}
	if backlog > 0 {
		out.Program = fmt.Sprintf("A longer backlog in listen() (now %s), with net.ipv4.tcp_max_syn_backlog as long.", units.Count(float64(backlog)))
	}
	return out
}
