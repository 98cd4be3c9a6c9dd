package net

import (
	"fmt"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var peerReset = &suspect.Suspect{
	Name:  "peer-reset",
	Title: "connections are broken by resets",
	About: "One side ends standing connections by RST instead of FIN: it crashed, closed with unread data, closed while the other still sent, or set SO_LINGER 0. " +
		"The other side sees ECONNRESET, EPIPE or SIGPIPE. A refused connect is an RST too, and breaks nothing that stood.",
	Needs: []suspect.Need{
		{Measure: "sockets.resets", Must: true, Why: "who sent or got a reset, on which flow, in which state"},
		{Measure: "host.netstat", Why: "EstabResets and the TCPAbort… counters, which count the same independently"},
		{Measure: "sockets.signals", Why: "SIGPIPE: who wrote into a broken connection"},
		{Measure: "sockets.turns", Why: "whether a request was open when its connection was reset"},
		{Measure: "sockets.connections", Why: "how many connections ended in all, and whether the broken ones carried anything"},
	},
	InTrace: []string{recording.Trace, "sockets.errors"},
	InFiles: map[string][]string{"sockets.resets": {"log.errors"}},
	For: []string{
		"decisive: resets of established connections, flow by flow, and TcpEstabResets grew by the same",
		"strong: the same without the counter",
		"decisive (capture): the RST segments themselves, one that took an answer from its client at the least",
		"decisive, of an error log that was read as a file: recv or send failed with ECONNRESET five times within a minute on connections with one peer",
		"strong: TCPAbortOnClose (closed with unread data) or TCPAbortOnData (closed while the peer sent, or SO_LINGER 0) grew",
		"strong: the process on the other end got SIGPIPE",
	},
	Against: []string{
		"strong: only connects were refused (TcpAttemptFails): no connection that stood was broken",
		"strong: the broken connections never carried a byte: health checks",
		"decisive: on none of them was a request open: who leaves by a reset (a reader, a cancelled connect, a check) misses nothing, and what comes after an answer breaks nothing",
		"traps: SO_LINGER 0 looks like unread data on the wire; fewer than 5 resets in a window are somebody's reload button",
	},
	LeadsTo: []suspect.Lead{{To: scene.ConnectionErrors}},
	Remedy: suspect.Remedy{
		Permanently: "Idle timeouts longer than the peer's.",
		Program:     "Of who sends the reset: read to the end before close (shutdown, then read until 0), no SO_LINGER 0. Of who gets it: handle EPIPE and ECONNRESET, and retry.",
	},
	Verified: "EstabResets does not grow",
	Next:     "nstat -az TcpEstabResets TcpOutRsts TcpExtTCPAbortOnClose TcpExtTCPAbortOnData; bpftrace -e 'tracepoint:tcp:tcp_receive_reset { @[comm, args.sport, args.dport] = count(); }'",
	Weigh:    weighPeerReset,
}

// A lone reset is noise; so are a handful in a window (verdict: the floor of
// connection-errors).
const fewResets = 5

func weighPeerReset(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, b := range brokenConnections(s, r) {
		switch {
		case b.n >= fewResets && recording.StandsIn(b.pid) && mostInAMinute(b.steps) < fewResets:
			// Clients that go away: a log of days has some in each hour.
		case b.n >= b.least(r) && b.spared(s, r):
			out = append(out, suspect.Finding{Subject: b.subject(s), Text: "no reset ended a request that was open", Evidence: []suspect.Evidence{{
				Side: suspect.Against, Grade: suspect.Decisive, Value: b.n, Unit: "resets", Source: source.Connections, Origin: "open requests",
				Text: fmt.Sprintf("of %s resets on established connections %s ended one on which somebody waited for an answer of the other: who leaves by a reset misses nothing", units.Count(b.n), orNone(b.cut)),
			}}})
		case b.n >= b.least(r):
			out = append(out, b.finding(s, r))
		case b.n == 0 && b.refused+b.unused >= fewResets:
			out = append(out, suspect.Finding{Subject: b.subject(s), Text: "no connection that stood was broken", Evidence: b.against()})
		}
	}
	return out
}

func (b *broken) finding(s *scene.Scene, r *recording.Recording) suspect.Finding {
	f := suspect.Finding{Subject: b.subject(s), Active: b.steps.Active(), Related: b.related(s)}
	if measure.OfCapture(r, b.netns) && b.dir == sentReset { // who waited is known by the server that they asked
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindPeer, Netns: b.netns, Proto: "tcp", Remote: b.local})
	}
	closed := b.connectionsClosed(r)
	how, counterName := b.how(r)
	if b.dir == sentReset {
		f.Text = fmt.Sprintf("it broke %s connections to %s itself: %s", units.OfAll(b.n, closed), b.peerNames(), how)
		f.Remedy = suspect.Remedy{Permanently: "Idle timeouts longer than the peer's.", Program: fmt.Sprintf("%s: read to the end before close (shutdown, then read until 0), no SO_LINGER 0.", measure.OrProgram(b.comm))}
	} else {
		f.Text = fmt.Sprintf("%s connections on port %s were reset by %s", units.OfAll(b.n, closed), b.port, b.peerNames())
		f.Remedy = suspect.Remedy{Permanently: fmt.Sprintf("Find out why %s resets: a crash, a close with unread data, the idle timeout of a middlebox.", b.peerNames()), Program: "Handle ECONNRESET and EPIPE, and retry."}
	}
	rows := suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.n, Unit: "resets", Source: source.Of("tracepoints tcp:tcp_receive_reset, tcp:tcp_send_reset", source.Resets), Origin: "reset tracepoints",
		Text: fmt.Sprintf("%s resets %s on established connections with %s", units.Count(b.n), b.dir, b.peerNames())}
	if estab, ok := measure.Grew(r, b.netns, "node_netstat_Tcp_EstabResets"); ok {
		if measure.Agree(estab, b.established) && b.established >= fewResets {
			rows.Grade = suspect.Decisive
			rows.Text += fmt.Sprintf("; TcpEstabResets grew by %s, %s such resets were seen in this namespace", units.Count(estab), units.Count(b.established))
		} else if estab > 0 {
			rows.Text += fmt.Sprintf(" (TcpEstabResets grew by %s, %s such resets were seen)", units.Count(estab), units.Count(b.established))
		}
	}
	if measure.OfCapture(r, b.netns) { // no count of anybody: the segments themselves
		rows.Grade, rows.Source, rows.Origin = suspect.Decisive, source.File(measure.Captured+": RST"), "RST"
		rows.Text = fmt.Sprintf("%s RST segments ended connections with %s that stood", units.Count(b.n), b.peerNames())
	}
	if told := b.toldOf(r); told > 0 && rows.Grade != suspect.Decisive {
		rows.Grade = suspect.Decisive
		rows.Text += fmt.Sprintf("; calls on them returned ECONNRESET or EPIPE %s times, which a process sees of nothing else", units.Count(told))
	}
	if recording.StandsIn(b.pid) {
		rows.Grade, rows.Source, rows.Origin = suspect.Decisive, source.File("its error log: 104 (ECONNRESET)"), "error log"
		rows.Text = fmt.Sprintf("%s calls on connections with %s failed with ECONNRESET, up to %s within a minute: the peer reset them", units.Count(b.n), b.peerNames(), units.Count(mostInAMinute(b.steps)))
	}
	f.Evidence = append(f.Evidence, rows)
	if grown, ok := measure.Grew(r, b.netns, counterName); b.dir == sentReset && ok && grown >= 0.5*b.n {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: grown, Unit: "connections", Source: source.Netstat(strings.TrimPrefix(counterName, "node_netstat_TcpExt_")),
			Text: fmt.Sprintf("%s grew by %s: %s", strings.TrimPrefix(counterName, "node_netstat_TcpExt_"), units.Count(grown), how)})
	}
	f.Evidence = append(f.Evidence, b.brokenPipes(s, r)...)
	f.Evidence = append(f.Evidence, b.against()...)
	f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: b.n, Of: closed, Unit: "connections",
		Text: fmt.Sprintf("%s connections ended by a reset", units.OfAll(b.n, closed))}
	if b.cut > 0 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: b.cut, Unit: "requests", Source: source.Connections, Origin: "open requests",
			Text: fmt.Sprintf("%s of the %s resets ended a request that was open", units.Count(b.cut), units.Count(b.n))})
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: b.cut, Of: b.asked, Unit: "requests",
			Text: fmt.Sprintf("%s requests ended by a reset", units.OfAll(b.cut, b.asked))}
	}
	f.Next = fmt.Sprintf("tcpdump -ni any 'tcp port %s and tcp[tcpflags] & tcp-rst != 0'", b.port)
	return f
}

// toldOf is how often calls of a traced process were told of the resets that it got:
// ECONNRESET is what the kernel makes of an RST (tcp_reset, net/ipv4/tcp_input.c).
func (b *broken) toldOf(r *recording.Recording) (n float64) {
	if !suspect.Traced(r) || b.dir != receivedReset {
		return 0
	}
	for _, e := range r.CallErrors {
		if e.PID == b.pid && e.Proto == "tcp" && (e.Errno == "ECONNRESET" || e.Errno == "EPIPE") && b.peers[recording.Host(scene.Address(e.Remote))] > 0 {
			n += float64(e.N)
		}
	}
	return n
}

// how tells from the kernel's reason, else from the counters, why this host's
// process sent the resets, and which counter would count them.
func (b *broken) how(r *recording.Recording) (text, counterName string) {
	const unread, late = "node_netstat_TcpExt_TCPAbortOnClose", "node_netstat_TcpExt_TCPAbortOnData"
	reason := ""
	for name, n := range b.reasons {
		if n > b.n/2 {
			reason = name
		}
	}
	u, _ := measure.Grew(r, b.netns, unread)
	l, _ := measure.Grew(r, b.netns, late)
	switch {
	case strings.Contains(reason, "ABORT_ON_CLOSE"):
		return "closed with unread data", unread
	case b.afterClose > b.n/2 || strings.Contains(reason, "ABORT_ON_DATA"):
		return "closed while the peer was still sending", late
	case reason == "" && u > l:
		return "closed with unread data", unread
	case strings.Contains(reason, "TCP_STATE"), strings.Contains(reason, "LINGER"), reason == "" && l > 0:
		return "closed with SO_LINGER 0", late
	case reason != "":
		return "the kernel's reason is " + reason, late
	}
	return "aborted", unread
}

// against is what of the resets broke nothing.
func (b *broken) against() []suspect.Evidence {
	var out []suspect.Evidence
	if b.refused > 0 && b.n == 0 {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: b.refused, Unit: "resets", Source: source.Of("reset tracepoints, state", source.Resets), Origin: "state",
			Text: fmt.Sprintf("%s resets refused a connect (no listener, TcpAttemptFails): none ended a connection that stood", units.Count(b.refused))})
	}
	if b.unused > 0 {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: b.unused, Unit: "resets", Source: source.Connections, Origin: "bytes at close",
			Text: fmt.Sprintf("%s resets ended connections that never carried a byte: health checks", units.Count(b.unused))})
	}
	return out
}

// brokenPipes are the SIGPIPEs of the processes that the resets reached.
func (b *broken) brokenPipes(s *scene.Scene, r *recording.Recording) []suspect.Evidence {
	got := map[int]bool{}
	if b.dir == receivedReset && b.pid != 0 {
		got[b.pid] = true
	}
	for _, sub := range b.related(s) {
		if sub.PID != 0 && b.dir == sentReset {
			got[sub.PID] = true
		}
	}
	n, who := 0.0, recording.Subject{}
	for _, e := range r.Events {
		if e.Kind == recording.EventSignal && e.Attrs["signal"] == "SIGPIPE" && got[e.Subject.PID] && e.Subject.PID != r.Manifest.SelfPID {
			n += max(1, e.Value)
			who = e.Subject
		}
	}
	if n == 0 {
		return nil
	}
	return []suspect.Evidence{{Side: suspect.For, Grade: suspect.Strong, Value: n, Unit: "signals", Source: source.Tracepoint("signal:signal_generate", source.Signals),
		Text: fmt.Sprintf("%s wrote into broken connections: %s SIGPIPE", s.Name(recording.Subject{Kind: recording.KindProcess, PID: who.PID, Comm: who.Comm}), units.Count(n))}}
}
