package net

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
	"snag/suspects/remedy"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

var reconnectStorm = &suspect.Suspect{
	Name:  "reconnect-storm",
	Title: "the same peers reconnect without pause",
	About: "A few peers connect to one listener many times per second, get nothing, close and come again, while the connections that the listener is there for live long. " +
		"Each round costs an accept, a handshake and a TIME-WAIT. A busy HTTP service without keep-alive looks like it in rate and lifetime alone.",
	Needs: []suspect.Need{
		{Measure: "sockets.connections", Must: true, Why: "connections opened and closed by listener and peer, their lifetimes and bytes"},
		{Measure: "sockets.diag", Why: "the long-lived connections of the same listener, to compare with"},
		{Measure: "sockets.resets", Why: "how the short ones ended"},
		{Measure: "host.sockstat", Why: "TIME-WAIT growing"},
	},
	InFiles: map[string][]string{"sockets.connections": {"log.connections"}, "sockets.diag": {"pcap.flows"}},
	For: []string{
		"decisive: a few peers open 100 per second and more of millisecond connections for most of their time, with under 1/20 of the bytes of the listener's long-lived connections and no answer longer than its request (faulty 410/s, healthy 20/s)",
		"strong: in two samples and more one program, or one host, had three fifths or more of the connections that wait at the listener, as many each time and none of them twice. Its clients come again as soon as they are let go, and others wait behind them",
		"strong: the same without long-lived connections to compare with",
		"strong: a full accept queue dropped handshakes in the seconds in which they came and next to none in others, most of what it accepted then was theirs; strong: they got an eighth of what others get, or less",
		"strong: the short connections got no bytes, or ended by a reset",
		"strong (a capture, of either side): the server closes nine of ten itself after RTMP's handshake and a refusal",
		"weak: TIME-WAIT grows",
	},
	Against: []string{
		"decisive: the rate falls on its own (back-off), or it was one burst (a deploy, a server that came back)",
		"strong: each short connection was served, and nothing on the listener lives longer: requests without keep-alive",
		"strong: each had its answer, and closed the connection itself: TIME-WAIT is at its end",
		"traps: back-off clients make 80 connections per second in all; players that came before the publisher stay connected",
	},
	LeadsTo: []suspect.Lead{{To: "listen-overflow"}, {To: "fd-limit"}, {To: "peer-reset"}, {To: "cpu-throttled"}, {To: scene.ConnectionErrors}, {To: scene.ConnectLatency}, {To: scene.RequestLatency, Lag: measure.FeltWithin}, {To: scene.CPUBurn}},
	Remedy: suspect.Remedy{
		Permanently: "Answer or hold the clients instead of closing. Only where others are hurt by a proved storm: limit new connections of the peers named.",
		Program:     "In the clients: back off with jitter, 1 s doubled to 30 s.",
	},
	Verified: "these peers open few new connections per second",
	Next:     "ss -Htan state time-wait '( sport = :PORT )' | awk '{print $4}' | sed 's/:[0-9]*$//' | sort | uniq -c | sort -rn | head",
	Weigh:    weighStorm,
}

func weighStorm(s *scene.Scene, r *recording.Recording) []suspect.Finding {
	var out []suspect.Finding
	for _, l := range calledListeners(r) {
		var storm []*caller
		for _, c := range l.callers {
			if c.storms() {
				storm = append(storm, c)
			}
		}
		if len(storm) == 0 {
			continue
		}
		full, ok := overrunBy(s, r, l, storm)
		if ok {
			storm = full.storm
		}
		f := stormFinding(s, r, l, storm, ok)
		if ok {
			f.Evidence = append(f.Evidence, full.evidence(source.Connections)...)
			f.Text += fmt.Sprintf("; its accept queue ran over %s times meanwhile", units.Count(full.over))
		}
		out = append(out, f)
	}
	return out
}

// A storm opens this many connections per second in all: back-off clients were
// measured at 80, a sick relay's at 410.
const stormRate = 100

// Connections of the storm carry less than this share of what a lasting one did:
// an RTMP handshake is 7 KB, and ten seconds of the leanest video 200 KB.
const fewBytes = 0.05

// asLongAs: the listener sent this much more than it was sent, as a request has
// an answer. A handshake that leads to nothing is about as long both ways.
const asLongAs = 1.5

// nothing is fewer bytes than any answer has, on average over all: a TLS alert has
// 7. Of a client that opens two connections for each answer, half carry none.
const nothing = 16

// servedBytes is an answer worth a page, and four times its request: the
// connection got what it came for. RTMP's handshake alone is 3,073 bytes each way.
const servedBytes = 4096

// allAnswered: of the connections that ended so many had an answer that was no error.
const allAnswered = 0.9

// answersOf are the requests at a listener that were answered, and not by an error.
func answersOf(r *recording.Recording, l *called) (n float64) {
	for _, t := range r.Turns {
		if t.Role == "serve" && measure.Namespace(r, t.Netns) == l.netns && recording.Port(t.Local) == recording.Port(l.local) {
			n += float64(t.N) - float64(t.Failed) - float64(t.Cut)
		}
	}
	return n
}

// fewWaiting: whoever closes a connection first keeps it in TIME-WAIT for a minute.
const fewWaiting = 0.1

// leftByThemselves reports whether a listener's connections were closed by those who made them, of
// other hosts or namespaces: none of so many is in TIME-WAIT at this end.
func leftByThemselves(r *recording.Recording, l *called, closed float64) bool {
	waiting, ok := measure.Counter(r, l.netns, "node_sockstat_TCP_tw")
	return ok && !slices.ContainsFunc(waiting.Points, func(p recording.Point) bool { return p.V >= fewWaiting*closed })
}

// stormFinding weighs connections of some peers; full: they fill the accept queue, so that there could be more of them.
func stormFinding(s *scene.Scene, r *recording.Recording, l *called, storm []*caller, full bool) suspect.Finding {
	sum := total(storm)
	rate, bytes, life := sum.rate(), sum.bytesEach(), sum.lifetimeEach()
	f := suspect.Finding{Subject: l.subject(s), Active: sum.opened.Active()}
	for _, c := range storm[:min(len(storm), 5)] {
		f.Related = append(f.Related, recording.Subject{Kind: recording.KindPeer, Netns: l.netns, Remote: c.peer})
	}
	counted := source.Connections
	if recording.StandsIn(l.pid) {
		counted = source.File("its log: connections as they ended")
	}
	who := stormNames(storm)
	f.Text = fmt.Sprintf("%s opened %s connections, %s/s in all; each lived %s and carried %s", who, units.Count(sum.opened.Sum()), units.Count(math.Round(rate)), units.Lasting(life), units.Bytes(bytes))
	stayed := lastingConnections(s, l)
	if recording.StandsIn(l.pid) {
		stayed = lastingInLog(r, l)
	}
	served := sum.outEach() >= servedBytes && sum.outEach() >= 4*sum.inEach()
	tiny := sum.closed > 0 && sum.outEach() < nothing
	reset := sum.resets(r, l)
	content := false
	if answersOf(r, l) >= allAnswered*sum.closed {
		content = leftByThemselves(r, l, sum.closed-reset)
		reset = 0 // a proxy that leaves by a reset once it has its answer (HAProxy)
	}
	refused, isRefused := stormRefused(r, l, storm)

	repeat := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: rate, Unit: "connections/s", Source: counted, Origin: "rate of the same peers",
		Text: fmt.Sprintf("the same %s opened %s/s for %s; %s of the closed ones lived under 1 s", peers(len(storm)), units.Count(math.Round(rate)), units.Lasting(sum.span()), units.OfAll(sum.short, sum.closed))}
	_, _, falls := sum.fallsOff()
	lasted := !falls && len(sum.opened) >= sustained
	if (rate >= stormRate || full) && !served {
		repeat.Grade = suspect.Strong
	}
	if n := l.all.opened.Sum() - sum.opened.Sum(); n > 0 && rate >= stormRate {
		repeat.Text += fmt.Sprintf("; all other peers together opened %s", units.Count(n))
	}
	var contrast *suspect.Evidence
	if stayed.n > 0 && bytes < fewBytes*stayed.bytesEach && (tiny || sum.outEach() < asLongAs*sum.inEach()) {
		contrast = &suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: stayed.bytesEach / max(1, bytes), Unit: "times", Source: source.SS("-ti", source.BytesSent, source.BytesReceived), Origin: "lasting connections of the listener",
			Text: fmt.Sprintf("%s other connections of this listener stayed and carried %s each, against %s of a short one", units.Count(float64(stayed.n)), units.Bytes(stayed.bytesEach), units.Bytes(bytes))}
	}
	if contrast != nil && repeat.Grade == suspect.Strong && lasted && !content {
		repeat.Grade, contrast.Grade = suspect.Decisive, suspect.Strong
	}
	f.Evidence = append(f.Evidence, repeat)
	if contrast != nil {
		f.Evidence = append(f.Evidence, *contrast)
	}
	crowd, crowded := crowding(s, l)
	if crowded = crowded && contrast == nil && rate >= stormRate && lasted && !content; crowded {
		f.Evidence = append(f.Evidence, crowd.evidence())
		f.Text += "; " + crowd.text()
		f.Related = append(f.Related, crowd.who...)
	}
	if isRefused && rate >= stormRate {
		f.Evidence = append(f.Evidence, refused)
	}
	if rate >= stormRate {
		if tiny {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: sum.outEach(), Unit: "B", Source: source.Of("tcp_info bytes at close", source.Closed), Origin: "bytes at close",
				Text: fmt.Sprintf("they were closed with nothing in their hands: %s sent to each", units.Bytes(sum.outEach()))})
		}
		if reset >= 0.2*sum.closed && reset > 0 {
			f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: reset, Unit: "resets", Source: source.Of("tracepoints tcp:tcp_send_reset, tcp:tcp_receive_reset", source.Resets), Origin: "resets",
				Text: fmt.Sprintf("%s ended by a reset", units.OfAll(reset, sum.closed))})
		}
	}
	if tw, ok := measure.Grew(r, l.netns, "node_sockstat_TCP_tw"); ok && tw >= 100 {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: tw, Unit: "sockets", Source: source.Of("/proc/net/sockstat TCP tw", source.Ref{Series: "node_sockstat_TCP_tw"}), Text: fmt.Sprintf("TIME-WAIT grew by %s", units.Count(tw))})
	}
	if content && contrast != nil {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.Of("/proc/net/sockstat TCP tw", source.Ref{Series: "node_sockstat_TCP_tw"}).And(source.Turns), Origin: "who closes",
			Text: "each had an answer and closed its connection itself (none is in TIME-WAIT here): who is turned away is hung up on"})
	}
	f.Evidence = append(f.Evidence, stormAgainst(sum, stayed, served, isRefused || tiny || crowded || full || reset >= 0.2*sum.closed && reset > 0, counted)...)
	if rate < stormRate && !full {
		f.Evidence = append(f.Evidence, suspect.Evidence{Side: suspect.Against, Grade: suspect.Weak, Value: rate, Unit: "connections/s", Source: counted, Origin: "rate",
			Text: fmt.Sprintf("%s/s is what clients that back off make too (80/s measured; a storm made 410/s)", units.Count(math.Round(rate)))})
	}
	if !served && (contrast != nil || tiny || reset > 0 || isRefused || full) {
		f.Harm = suspect.Harm{Symptom: scene.ConnectionErrors, Amount: sum.short, Of: max(l.all.opened.Sum(), sum.short), Unit: "connections",
			Text: fmt.Sprintf("%s connections ended without having carried a stream", units.OfAll(sum.short, l.all.opened.Sum()))}
	}
	port := recording.Port(l.local)
	f.Remedy = suspect.Remedy{Permanently: "Answer these clients or hold them, instead of closing.", Program: "In the clients: back off with jitter, 1 s doubled to 30 s."}
	if proved := repeat.Grade == suspect.Decisive && !slices.ContainsFunc(f.Evidence, func(e suspect.Evidence) bool { return e.Side == suspect.Against }); proved && stayed.n > 0 && remedy.GoesOn(f.Active, s.Window) {
		f.Remedy.Now = limitStorm(s, l, storm)
		if f.Remedy.Now != "" {
			f.Remedy.Permanently += " Then take the limit away: " + remedy.RunIn(s, l.netns, "nft delete table inet "+stormTable) + "."
		}
	}
	f.Next = fmt.Sprintf("ss -Htan state time-wait '( sport = :%s )' | awk '{print $4}' | sed 's/:[0-9]*$//' | sort | uniq -c | sort -rn | head", port)
	return f
}

// stormTable is a table of its own, so that what limits a storm is taken away as one.
const stormTable = "snag_storm"

// limitStorm lets in few of a proved storm's new connections. "" where one of its peers
// has a connection that lasts: it asks for something, too.
func limitStorm(s *scene.Scene, l *called, storm []*caller) string {
	by := map[string][]string{}
	for _, c := range storm {
		address, err := netip.ParseAddr(c.peer)
		if err != nil || recording.StandsIn(l.pid) || slices.ContainsFunc(s.Sockets, func(k *scene.Socket) bool { return lastsWith(k, l, c.peer) }) {
			return ""
		}
		family := "ip"
		if address.Is6() && !address.Is4In6() {
			family = "ip6"
		}
		by[family] = append(by[family], address.Unmap().String())
	}
	line := fmt.Sprintf("add table inet %[1]s; add chain inet %[1]s input { type filter hook input priority -10; }", stormTable)
	for _, family := range slices.Sorted(maps.Keys(by)) {
		line += fmt.Sprintf("; add rule inet %s input %s saddr { %s } tcp dport %s ct state new limit rate over %d/second drop", stormTable, family, strings.Join(by[family], ", "), recording.Port(l.local), 5*len(by[family]))
	}
	return remedy.RunIn(s, l.netns, "nft "+remedy.Quoted(line))
}

// lastsWith reports whether a socket is a connection of a listener with that peer that lasts
// and carried something.
func lastsWith(k *scene.Socket, l *called, peer string) bool {
	a, b := k.First(), k.Last()
	return a.Netns == l.netns && recording.Port(a.Local) == recording.Port(l.local) && recording.Host(a.Remote) == peer && !k.Listening() &&
		b.TCP != nil && b.T.Sub(a.T).Seconds() >= stays && seenEstablished(k) && b.TCP.BytesSent+b.TCP.BytesReceived > 0
}

// stormNames lists the busiest peers, each with its rate where there are several.
func stormNames(storm []*caller) string {
	if len(storm) == 1 {
		return storm[0].peer
	}
	var names []string
	for _, c := range storm[:min(len(storm), 3)] {
		names = append(names, fmt.Sprintf("%s (%s/s)", c.peer, units.Count(math.Round(c.rate()))))
	}
	if len(storm) > 3 {
		names = append(names, fmt.Sprintf("%d more peers", len(storm)-3))
	}
	return strings.Join(names, ", ")
}

func peers(n int) string {
	if n == 1 {
		return "peer"
	}
	return fmt.Sprintf("%d peers", n)
}

// stormAgainst is what clears it: the rate falls by itself, or it was a burst, or
// the short connections are what the listener is for.
func stormAgainst(sum *caller, stay lastingOnes, served, empty bool, from source.Source) []suspect.Evidence {
	var out []suspect.Evidence
	if first, last, falls := sum.fallsOff(); falls {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: last, Unit: "connections/s", Source: from, Origin: "rate over time",
			Text: fmt.Sprintf("the rate falls on its own, from %s/s to %s/s: they back off", units.Count(first), units.Count(last))})
	}
	if n := len(sum.opened); n < sustained {
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Decisive, Value: float64(n), Unit: "s", Source: from, Origin: "rate over time",
			Text: fmt.Sprintf("one burst of %d s: a deploy or a server that came back, not a storm", n)})
	}
	switch {
	case served:
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Value: sum.outEach(), Unit: "B", Source: source.Of("tcp_info bytes at close", source.Closed), Origin: "bytes at close",
			Text: fmt.Sprintf("each was served: %s sent for %s received", units.Bytes(sum.outEach()), units.Bytes(sum.inEach()))})
	case stay.n == 0 && !empty:
		out = append(out, suspect.Evidence{Side: suspect.Against, Grade: suspect.Strong, Source: source.SS("-tn"), Origin: "lasting connections of the listener",
			Text: "no connection of this listener lives longer: this may be its ordinary work, requests without keep-alive"})
	}
	return out
}
