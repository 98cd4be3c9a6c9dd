package net

import (
	"fmt"
	"strconv"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var listenOverflow = &suspect.Suspect{
	Name:  "listen-overflow",
	Title: "accept queue of a listener full",
	About: "Connections come faster than the program accepts them, and its accept queue (the smaller of its backlog and somaxconn) is full: the kernel drops the handshake, and the client tries again after a second or more. Packet drops hardly show it. A slow accept behind a long backlog overflows nothing, but answers late.",
	Needs: []suspect.Need{
		{Measure: "host.netstat", Must: true, Why: "ListenOverflows of the namespace"},
		{Measure: "sockets.diag", Must: false, Why: "which listener: its queue, its backlog, its own drops"},
		{Measure: "sockets.retransmits", Must: false, Why: "SYNs sent again by clients on this host"},
		{Measure: "sockets.connections", Must: false, Why: "how many connections came in all"},
		{Measure: "host.sysctl", Must: false, Why: "somaxconn"},
	},
	For: []string{
		"decisive: the listener's own drops are as many as ListenDrops grew, and ListenOverflows grew",
		"decisive: ListenOverflows grew, and this listener alone was seen with more waiting than its backlog",
		"strong: each of the two where several were full",
		"strong (capture): connections are opened a second late or never while others are answered at once; strong: SYN-ACKs sent again though the client's ACK had come",
	},
	Against: []string{
		"decisive: ListenOverflows did not grow however long the queue was: slow to accept, nothing refused",
		"trap: ListenDrops without overflows (a SYN flood, no memory); 2 overflows are healthy",
	},
	InFiles: map[string][]string{"host.netstat": {"pcap.handshakes"}},
	LeadsTo: []suspect.Lead{{To: scene.ConnectLatency, Lag: 10 * time.Second}, {To: scene.ConnectionErrors, Lag: 10 * time.Second}, {To: scene.RequestLatency, Lag: 10 * time.Second}, {To: scene.StreamFreeze, Lag: 10 * time.Second},
		{To: "half-open-peer", Lag: 30 * time.Second}}, // the client is connected, and its listener dropped that: nobody answers what it sends
	Remedy: suspect.Remedy{
		Permanently: "net.core.somaxconn in /etc/sysctl.d, and a restart of the program: the queue's length is fixed when it calls listen().",
		Program:     "Accept faster, or ask listen() for a longer queue.",
	},
	Verified: "ListenOverflows does not grow",
	Next:     "ss -ltnp; nstat -az TcpExtListenOverflows TcpExtListenDrops",
	Weigh:    weighListenOverflow,
}

// fewOverflows: healthy hosts were seen with 2 in half a minute, at a burst.
const fewOverflows = 3

func weighListenOverflow(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	out := overflowInCapture(r)
	for _, series := range r.Select("node_netstat_TcpExt_ListenOverflows") {
		if len(series.Points) < 2 {
			continue
		}
		netns, over := measure.NetnsOf(r, series), measure.StepsOf(series)
		listeners, full := listenersOf(s, "tcp", netns)
		if over.Sum() == 0 {
			out = append(out, slowButNotFull(listeners)...)
			continue
		}
		drops, _ := measure.Grew(r, netns, "node_netstat_TcpExt_ListenDrops")
		seen := series.Span()
		named := false
		for _, l := range listeners {
			if l.drops.Sum() > 0 || l.full > 0 {
				out = append(out, overflowFinding(s, r, l, over, drops, seen, full))
				named = true
			}
		}
		if !named {
			out = append(out, suspect.Finding{
				Subject: recording.Subject{Kind: recording.KindNetns, Netns: netns}, Active: over.Active(),
				Evidence: []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: over.Sum(), Unit: "handshakes", Source: source.Netstat("ListenOverflows"),
					Text: fmt.Sprintf("ListenOverflows grew by %s; nothing showed which listener's queue was full", units.Count(over.Sum()))}},
				Text: fmt.Sprintf("an accept queue ran over %s times, of a listener that was not seen full", units.Count(over.Sum())),
				Next: remedy.InNetns(s, netns, "ss -ltnp"),
			})
		}
	}
	return out
}

// listener is one LISTEN socket with what its samples say of its queue.
type listener struct {
	socket  *scene.Socket
	drops   measure.Steps // growth of its own counter, sk_drops
	full    int           // samples with more waiting than the backlog
	waiting int           // most connections seen waiting
	backlog int
}

// listenersOf returns the listeners of a protocol in a namespace, and how many were seen full.
// The kernel drops when more wait than the backlog (include/net/sock.h,
// sk_acceptq_is_full; net/unix/af_unix.c, unix_recvq_full), so a full queue shows backlog + 1.
func listenersOf(s *scene.Scene, proto string, netns uint64) (all []listener, full int) {
	for _, k := range s.Sockets {
		if !k.Listening() || k.First().Proto != proto || k.First().Netns != netns {
			continue
		}
		l := listener{socket: k, drops: measure.OwnDrops(k), backlog: k.Last().SendQ}
		for _, row := range k.Rows {
			l.waiting = max(l.waiting, row.RecvQ)
			if row.RecvQ > row.SendQ && row.RecvQ > 0 {
				l.full++
			}
		}
		if l.full > 0 {
			full++
		}
		all = append(all, l)
	}
	return all, full
}

// slowButNotFull tells of queues that were long and refused nobody.
func slowButNotFull(all []listener) []suspect.Finding {
	var out []suspect.Finding
	for _, l := range all {
		if l.waiting < fewOverflows {
			continue
		}
		out = append(out, suspect.Finding{Subject: l.socket.Subject, Evidence: []suspect.Evidence{{Side: suspect.Against, Grade: suspect.Decisive, Value: 0, Unit: "handshakes",
			Source: source.Netstat("ListenOverflows").And(source.SS("-ltn", source.RecvQ)),
			Text:   fmt.Sprintf("up to %s connections waited of %s that may, and ListenOverflows did not grow: no client was refused", units.Count(float64(l.waiting)), units.Count(float64(l.backlog)))}}})
	}
	return out
}

func overflowFinding(s *scene.Scene, r *recording.Recording, l listener, over measure.Steps, drops float64, seen recording.Interval, full int) suspect.Finding {
	sub := l.socket.Subject
	n := over.Sum()
	f := suspect.Finding{Subject: sub, Active: over.Active(),
		Evidence: overflowEvidence(l, n, drops, seen, full),
		Text:     fmt.Sprintf("its accept queue of %s ran over %s times", units.Count(float64(l.backlog)), units.Count(n)),
		Next:     remedy.InNetns(s, sub.Netns, "ss -ltnp 'sport = :"+recording.Port(sub.Local)+"'"),
	}
	f.Settings, f.Calls = backlogSettings(r, l)
	f.Remedy = longerBacklog(s, r, l, f.Settings)
	f.Harm = suspect.Harm{Symptom: scene.ConnectLatency, Amount: n, Unit: "handshakes"}
	if own := l.drops.Sum(); own > 0 {
		f.Harm.Amount = min(n, own)
	}
	if v, ok := measure.Sysctl(r, sub.Netns, "net.ipv4.tcp_abort_on_overflow"); ok && v != 0 {
		f.Harm.Symptom = scene.ConnectionErrors
	}
	if f.Harm.Amount < fewOverflows {
		f.Harm.Amount = 0
	}
	opened := 0.0
	for _, c := range r.Connections {
		if c.Role == "accept" && measure.Namespace(r, c.Netns) == sub.Netns && s.ListenerOn(sub.Netns, scene.Address(c.Local)) == l.socket {
			opened += float64(c.Opened)
		}
	}
	if opened > 0 && f.Harm.Amount > 0 {
		f.Harm.Of = f.Harm.Amount + opened
	}
	f.Harm.Text = fmt.Sprintf("%s handshakes with %s were dropped, their clients had to wait and try again", units.OfAll(f.Harm.Amount, f.Harm.Of), sub.Local)
	syns := 0.0
	for _, t := range r.Retransmits {
		if t.State == "SYN_SENT" && recording.Port(t.Remote) == recording.Port(sub.Local) && (measure.IsWildcard(sub.Local) || scene.Address(t.Remote) == sub.Local) {
			syns += float64(t.N)
			f.Related = append(f.Related, recording.Subject{Kind: recording.KindFlow, Netns: t.Netns, Proto: "tcp", Local: t.Local, Remote: t.Remote, PID: t.PID, Comm: t.Comm})
		}
	}
	f.Related = f.Related[:min(len(f.Related), measure.MostRelated)]
	if syns > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: syns, Unit: "segments", Source: source.Retransmit, Origin: "syn",
			Text: fmt.Sprintf("clients on this host sent %s SYNs to it again", units.Count(syns))})
	}
	return f
}

func overflowEvidence(l listener, over, drops float64, seen recording.Interval, full int) []suspect.Evidence {
	var out []suspect.Evidence
	counted := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: over, Unit: "handshakes", Source: source.Netstat("ListenOverflows", "ListenDrops"), Origin: "ListenOverflows",
		Text: fmt.Sprintf("its namespace's ListenOverflows grew by %s, ListenDrops by %s", units.Count(over), units.Count(drops))}
	if own, same := l.drops.AgreeIn(drops, seen); own > 0 {
		counted.Text += fmt.Sprintf(", the socket's drop counter by %s", units.Count(own))
		if _, overflows := l.drops.AgreeIn(over, seen); same || overflows {
			counted.Grade = suspect.Decisive
			counted.Source = counted.Source.And(source.SS("-ltm", source.SocketDrops))
		}
	}
	out = append(out, counted)
	if l.full > 0 {
		e := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: float64(l.waiting), Unit: "connections", Source: source.SS("-ltn", source.RecvQ, source.SendQ), Origin: "accept queue",
			Text: fmt.Sprintf("up to %s connections waited in a queue of %s (%d of %d samples full)", units.Count(float64(l.waiting)), units.Count(float64(l.backlog)), l.full, len(l.socket.Rows))}
		if full == 1 {
			e.Grade = suspect.Decisive
			e.Text += "; no other listener of the namespace was full"
		}
		out = append(out, e)
	} else if l.waiting == 0 && counted.Grade != suspect.Decisive {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: 0, Unit: "connections", Source: source.SS("-ltn", source.RecvQ), Origin: "accept queue",
			Text: fmt.Sprintf("no client was seen waiting in %d samples", len(l.socket.Rows))})
	}
	return out
}

// mostBacklog that is proposed: who waits longer than for so many was better refused.
const mostBacklog = 65535

// wanted is a queue for who waited and, in the worst second, found no place: what came
// in more than was accepted.
func (l listener) wanted() int {
	worst := 0.0
	for _, d := range l.drops {
		if seconds := d.Length(d.End).Seconds(); seconds > 0 {
			worst = max(worst, d.N/seconds)
		}
	}
	return int(min(mostBacklog, max(1024, 4*float64(l.backlog), powerOfTwo(float64(l.backlog)+headroom*worst))))
}

// longerBacklog says which of the two limits the queue: the kernel takes the
// smaller, without an error (net/socket.c, __sys_listen). Neither holds before the
// program listens anew.
func longerBacklog(s *scene.Scene, r *recording.Recording, l listener, set []suspect.Setting) suspect.Remedy {
	out := suspect.Remedy{Permanently: remedy.Kept(s, r, set), Program: fmt.Sprintf("%s: accept faster, or ask listen() for %d (now %d).", measure.OrProgram(l.socket.Subject.Comm), l.wanted(), l.backlog)}
	if len(set) == 0 {
		out.Permanently = fmt.Sprintf("A backlog of %d in its configuration, if it has one, and a restart.", l.wanted())
	}
	return out
}

// backlogSettings is the same as data. The queue's length is fixed when listen(2) is
// called: whoever listens has to do it again.
func backlogSettings(r *recording.Recording, l listener) (set []suspect.Setting, calls []suspect.Call) {
	want := l.wanted()
	sub := l.socket.Subject
	most, ok := measure.Sysctl(r, sub.Netns, "net.core.somaxconn")
	if ok && most < float64(want) {
		set = append(set, suspect.Setting{Kind: "sysctl", Name: "net.core.somaxconn", AtLeast: true, At: recording.Subject{Netns: sub.Netns}, Value: strconv.Itoa(want),
			Why:   fmt.Sprintf("the accept queue of %s held %s connections and ran over", sub.Local, units.Count(float64(l.backlog))),
			Needs: fmt.Sprintf("a restart of %s: the queue's length is fixed when listen(2) is called", sub.Comm)})
	}
	calls = append(calls, suspect.Call{Who: suspect.WhoseCall(sub), Do: fmt.Sprintf("listen(fd, %d)", want), Why: fmt.Sprintf("the backlog of %s is %d now; the smaller of it and net.core.somaxconn counts", sub.Local, l.backlog)})
	return set, calls
}
