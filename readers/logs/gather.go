package logs

import (
	"bytes"
	"path"
	"strings"
	"unicode"

	"snag/readers/reader"
	"snag/recording"
)

// source is one service that writes to a log: a file of syslog or the journal has many.
type source struct {
	sub      recording.Subject
	growth   growth
	turns    *turns
	failed   failed
	sessions *sessions
}

// sourceKey tells services apart.
type sourceKey struct{ host, process string }

// mostSources of a file have rows of their own.
const mostSources = 256

// gather takes the entries of a file in its order and makes rows of them.
type gather struct {
	path  string
	comm  string // of lines that name no process
	hosts map[string]bool
	// manyHosts: the file is of several, as a central syslog's is.
	manyHosts bool
	out       recording.Sink
	o         reader.Options
	sources   map[sourceKey]*source
	order     []*source
	runs      *runs
	freezes   freezes

	counts
}

// counts are for the coverage.
type counts struct {
	lines, timed, told      uint64
	first, last             int64 // ns
	back                    uint64
	requests, withTime      uint64
	sessions, errors        uint64
	withUpstream, withPeers uint64
}

func newGather(file, comm string, o reader.Options, out recording.Sink) *gather {
	g := &gather{path: file, comm: comm, out: out, o: o, sources: map[sourceKey]*source{}, hosts: map[string]bool{}, runs: newRuns(file, out)}
	g.freezes = freezes{out: out, open: map[string]int64{}, file: file}
	return g
}

// sourceOf is the service that wrote a line. Pieces of one rotated log are one.
func (g *gather) sourceOf(e *entry) *source {
	if s := g.sources[sourceKey{string(e.host), string(e.process)}]; s != nil { // no allocation
		return s
	}
	key := sourceKey{string(e.host), string(e.process)}
	if key.host != "" {
		g.hosts[key.host] = true
	}
	if len(g.order) >= mostSources {
		key = sourceKey{process: "others"}
		if s := g.sources[key]; s != nil {
			return s
		}
	}
	comm := key.process
	if comm == "" {
		comm = g.comm
	}
	comm = shown(comm)
	if key.host != "" && g.manyHosts {
		comm += " on " + shown(key.host)
	}
	sub := recording.Subject{Kind: recording.KindProcess, PID: recording.StandIn(rotated(g.path) + "\x00" + key.host + "\x00" + key.process), Comm: comm}
	s := &source{sub: sub, growth: growth{sub: sub, path: g.path, out: g.out}, failed: failed{sub: sub, out: g.out}}
	g.sources[key] = s
	g.order = append(g.order, s)
	g.out.Append(recording.Process{T: recording.Time(e.at), PID: sub.PID, Comm: comm, State: "?"})
	return s
}

// rotated is the name of a log without the number of a rotated file, or its date.
func rotated(file string) string {
	file = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".zst"), ".current")
	bare := strings.TrimRight(file, "0123456789")
	if s, ok := strings.CutSuffix(bare, "."); ok {
		return s
	}
	if s, ok := strings.CutSuffix(bare, "-"); ok && len(file)-len(bare) == 8 {
		return s
	}
	return file
}

// mostText of a name is kept.
const mostText = 120

// shown is a log's text as a terminal may have it, without what stands behind a
// question mark: keys and names of users are passed there.
func shown(text string) string {
	text, _, _ = strings.Cut(text, "?")
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '.'
		}
		return r
	}, text)
}

// entry takes one line.
func (g *gather) entry(e *entry) {
	g.lines++
	if e.at == 0 {
		return
	}
	g.timed++
	if g.first == 0 || e.at < g.first {
		g.first = e.at
	}
	if e.at < g.last-int64(1e9) {
		g.back++
	}
	g.last = max(g.last, e.at)
	s := g.sourceOf(e)
	s.growth.line(e.at, e.size)
	if e.request {
		g.request(s, e)
		if e.status >= 500 && e.what == "" { // of the upstream, where one was asked; of no client
			e.what, e.peer = answered5xx, e.asked[0].peer
		}
	}
	if e.session {
		g.sessions++
		if s.sessions == nil {
			s.sessions = newSessions(s.sub, g.out)
		}
		s.sessions.ended(e)
	}
	if e.what == "" {
		return
	}
	g.told++
	if e.errno != "" {
		g.errors++
		if len(e.peer) > 0 {
			g.withPeers++
		}
		s.failed.add(e)
	}
	sub, subject := subjectOf(e, s.sub)
	if g.manyHosts {
		sub.Host = shown(string(e.host))
	}
	if g.freezes.entry(e, sub.Host) {
		return
	}
	g.runs.add(e, sub, subject)
}

// request counts an answer and the upstreams that were asked for it.
func (g *gather) request(s *source, e *entry) {
	g.requests++
	if e.took < 0 {
		return
	}
	g.withTime++
	if s.turns == nil {
		s.turns = newTurns(s.sub, g.out)
	}
	s.turns.ended(e.at, nil, e.took)
	for _, a := range e.asked[:e.nAsked] {
		if a.took >= 0 {
			g.withUpstream++
			s.turns.ended(e.at, upstreamName(a.peer), a.took)
		}
	}
}

// upstreamName is "an upstream" where the format tells its time and not its address.
func upstreamName(b []byte) []byte {
	if len(b) == 0 {
		return []byte("its upstream")
	}
	return b
}

// subjectOf is whom a line is about: the stream, else the member, else the peer, else
// who wrote it.
func subjectOf(e *entry, writer recording.Subject) (recording.Subject, []byte) {
	switch {
	case len(e.stream) > 0:
		return recording.Subject{Kind: recording.KindStream, Name: shown(string(e.stream))}, e.stream
	case len(e.member) > 0:
		return recording.Subject{Kind: recording.KindPeer, Remote: shown(string(e.member))}, e.member
	case len(e.peer) > 0:
		return recording.Subject{Kind: recording.KindPeer, Remote: shown(string(e.peer))}, e.peer
	}
	return writer, nil
}

// end writes what is left.
func (g *gather) end() {
	for _, s := range g.order {
		s.growth.end()
		s.failed.flush()
		if s.turns != nil {
			s.turns.end()
		}
		if s.sessions != nil {
			s.sessions.end()
		}
	}
	g.freezes.end(g.last)
	g.runs.end()
}

// commOf is what to call the service whose log names no process.
func commOf(file string, head []byte) string {
	name := path.Base(rotated(file))
	switch {
	case bytes.Contains(head, []byte("nginx")), strings.Contains(file, "nginx"):
		return "nginx of " + name
	case bytes.Contains(head, []byte("x-event")):
		return "Wowza of " + name
	case bytes.Contains(head, []byte("memberlist: ")):
		return "agent of " + name
	}
	return name
}
