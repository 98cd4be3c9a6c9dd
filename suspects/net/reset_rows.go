package net

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
	"snag/suspects/measure"
)

// Directions of a reset, as this host sees it.
const (
	sentReset     = "sent"
	receivedReset = "received"
)

// ofConnection reports whether a reset ended a connection that stood: a SYN that
// was refused (no socket, SYN_SENT, a listener, TcpAttemptFails) did not, and
// what comes after both sides are done with it hurts nobody.
func ofConnection(row recording.Reset) bool {
	switch row.State {
	case "ESTABLISHED", "CLOSE_WAIT":
		return true
	case "CLOSE":
		// The process aborts: the state is left before the reset is sent
		// (__tcp_close and tcp_disconnect, net/ipv4/tcp.c).
		return row.Dir == sentReset
	}
	return afterClose(row)
}

// afterClose: data came for a socket that was closed already
// (tcp_rcv_state_process, TCPAbortOnData): the peer was still sending.
func afterClose(row recording.Reset) bool {
	return row.Dir == sentReset && (row.State == "FIN_WAIT1" || row.State == "FIN_WAIT2")
}

// broken are the resets of one direction on one service: a listener's port of
// this host, or the remote address:port that its processes call.
type broken struct {
	netns         uint64
	dir           string
	local, remote string // of the first
	listener      *scene.Socket
	port          string // of the service
	pid           int
	comm          string
	n             float64 // ended a connection that stood
	refused       float64 // answered a connect
	unused        float64 // ended a connection that never carried a byte
	cut, asked    float64 // requests that were open when they were reset, and all
	afterClose    float64
	established   float64 // in the whole namespace, those that TcpEstabResets counts
	reasons       map[string]float64
	peers         map[string]float64 // by address
	flows         map[[2]string]bool // a few, to find the other ends on this host
	steps         measure.Steps
}

// aTick: the two ends of a reset are counted in the same second or the next.
const aTick = 2 * time.Second

// mostFlows bounds the flows kept of one service.
const mostFlows = 200

func brokenConnections(s *scene.Scene, r *recording.Recording) []*broken {
	type key struct {
		netns        uint64
		dir, service string
		pid          int
	}
	sent := map[[2]string]recording.Interval{}
	established := map[uint64]float64{}
	for _, row := range r.Resets {
		if !ofConnection(row) {
			continue
		}
		if row.Dir == sentReset {
			flow := [2]string{scene.Address(row.Local), scene.Address(row.Remote)}
			span := sent[flow]
			if span.Start == 0 {
				span.Start = row.T.Add(-aTick)
			}
			span.End = row.T.Add(aTick)
			sent[flow] = span
		}
		if !afterClose(row) {
			established[measure.Namespace(r, row.Netns)] += float64(row.N)
		}
	}
	idle := peersWithoutBytes(r)
	all := map[key]*broken{}
	var out []*broken
	for _, row := range r.Resets {
		row.Netns, row.Local, row.Remote = measure.Namespace(r, row.Netns), scene.Address(row.Local), scene.Address(row.Remote)
		if row.PID != 0 && row.PID == r.Manifest.SelfPID {
			continue
		}
		if span, both := sent[[2]string{row.Remote, row.Local}]; row.Dir == receivedReset && both && span.Covers(row.T) {
			continue // the one who sent it is on this host, and named
		}
		listener := s.ListenerOn(row.Netns, row.Local)
		k := key{row.Netns, row.Dir, "to " + row.Remote, 0}
		if listener != nil || row.State == "" || row.Local != "" && portNumber(row.Local) < portNumber(row.Remote) {
			k.service = recording.Port(row.Local)
		} else {
			k.pid = row.PID
		}
		b := all[k]
		if b == nil {
			b = &broken{netns: row.Netns, dir: row.Dir, local: row.Local, remote: row.Remote, listener: listener,
				port: strings.TrimPrefix(k.service, "to "), established: established[row.Netns],
				reasons: map[string]float64{}, peers: map[string]float64{}, flows: map[[2]string]bool{}}
			if listener == nil && strings.HasPrefix(k.service, "to ") {
				b.port = recording.Port(row.Remote)
			}
			all[k] = b
			out = append(out, b)
		}
		b.add(row, idle[idlePeer{row.Netns, recording.Port(row.Local), recording.Host(row.Remote)}])
	}
	for _, b := range out {
		b.countCut(r)
	}
	return out
}

// countCut counts the requests that were open: of a service that breaks them itself, or of
// who calls one.
//
// Where who called a service is on this host too, what it missed is what its own calls say: a client
// that has its answer and says farewell (close_notify of TLS) misses nothing, though the service
// resets what it has not read.
func (b *broken) countCut(r *recording.Recording) {
	serves, captured := recording.Port(b.local) == b.port, measure.OfCapture(r, b.netns)
	called, missed := 0.0, 0.0
	for _, t := range r.Turns {
		if t.Role == "call" && !captured && b.dir == sentReset && serves && scene.Address(t.Remote) == b.local {
			called += float64(t.N + t.Cut)
			if t.CutBy == recording.CutReset {
				missed += float64(t.Cut)
			}
		}
		mine := captured && serves && t.Role == "call" && recording.Port(t.Remote) == b.port || !captured && t.Role == "call" && b.dir == receivedReset && !serves && scene.Address(t.Remote) == b.remote && (b.pid == 0 || t.PID == b.pid) ||
			!captured && t.Role == "serve" && b.dir == sentReset && serves && recording.Port(t.Local) == b.port
		if !mine || measure.Namespace(r, t.Netns) != b.netns {
			continue
		}
		b.asked += float64(t.N + t.Cut)
		if t.CutBy == recording.CutReset {
			b.cut += float64(t.Cut)
		}
	}
	if called >= seenCalling*b.asked {
		b.cut = min(b.cut, missed)
	}
}

// seenCalling is the part of a service's requests from which all who call it were seen.
const seenCalling = 0.9

// spared reports that the resets hurt nobody: it is known which requests were open, and none
// is of a stream that was watched and hurt.
func (b *broken) spared(s *scene.Scene, r *recording.Recording) bool {
	streams := slices.ContainsFunc(s.Symptoms, func(sym scene.Symptom) bool {
		return sym.Subject.Kind == recording.KindStream && s.Touch(sym.Subject, b.subject(s))
	})
	known := scene.CutsMeasured(r) || measure.OfCapture(r, b.netns)
	return known && !streams && b.cut < b.least(r)
}

// least is how many resets are looked at. A capture is made where something hurts, and shows of
// each what it took from whom.
func (b *broken) least(r *recording.Recording) float64 {
	if measure.OfCapture(r, b.netns) {
		return 1
	}
	return fewResets
}

func orNone(n float64) string {
	if n == 0 {
		return "none"
	}
	return "only " + units.Count(n)
}

// portNumber tells the service's end where no listener was seen: it has the lower
// port, ephemeral ones begin at 32768 (ip_local_port_range).
func portNumber(addr string) int {
	n, _ := strconv.Atoi(recording.Port(addr))
	return n
}

func (b *broken) add(row recording.Reset, unused bool) {
	n := float64(row.N)
	switch {
	case !ofConnection(row):
		b.refused += n
		return
	case unused:
		b.unused += n
		return
	}
	b.n += n
	b.reasons[row.Reason] += n
	b.peers[recording.Host(row.Remote)] += n
	b.steps = append(b.steps, measure.Step{Interval: measure.OneSecond(row.T), N: n})
	if afterClose(row) {
		b.afterClose += n
	}
	if len(b.flows) < mostFlows {
		b.flows[[2]string{row.Local, row.Remote}] = true
	}
	if row.PID != 0 {
		b.pid, b.comm = row.PID, row.Comm
	}
}

type idlePeer struct {
	netns      uint64
	port, peer string
}

// peersWithoutBytes are the peers whose closed connections to a port carried
// nothing at all.
func peersWithoutBytes(r *recording.Recording) map[idlePeer]bool {
	bytes, closed := map[idlePeer]uint64{}, map[idlePeer]uint64{}
	for _, c := range r.Connections {
		if c.Role == "accept" {
			k := idlePeer{measure.Namespace(r, c.Netns), recording.Port(c.Local), c.Remote}
			bytes[k] += c.BytesIn + c.BytesOut
			closed[k] += c.Closed
		}
	}
	out := map[idlePeer]bool{}
	for k, n := range closed {
		out[k] = n > 0 && bytes[k] == 0
	}
	return out
}

// subject is the process that broke the connections, or what suffered them.
func (b *broken) subject(s *scene.Scene) recording.Subject {
	switch {
	case b.dir == sentReset && b.pid != 0:
		return recording.Subject{Kind: recording.KindProcess, PID: b.pid, Comm: b.comm, Netns: b.netns}
	case b.listener != nil:
		return b.listener.Subject
	case b.pid != 0:
		return recording.Subject{Kind: recording.KindProcess, PID: b.pid, Comm: b.comm, Netns: b.netns}
	}
	if k := s.SocketAt(b.netns, "tcp", b.local, b.remote); k != nil {
		return k.Subject
	}
	if b.local == "" { // of a log, which names the peer alone
		return recording.Subject{Kind: recording.KindPeer, Netns: b.netns, Remote: b.remote}
	}
	if recording.Port(b.local) == b.port {
		return recording.Subject{Kind: recording.KindPort, Netns: b.netns, Proto: "tcp", Local: b.local}
	}
	return recording.Subject{Kind: recording.KindFlow, Netns: b.netns, Proto: "tcp", Local: b.local, Remote: b.remote}
}

// related are the listener, the peers, and their processes where they are here.
func (b *broken) related(s *scene.Scene) []recording.Subject {
	var out []recording.Subject
	if b.listener != nil {
		out = append(out, b.listener.Subject)
	}
	for _, p := range b.busiest(3) {
		out = append(out, recording.Subject{Kind: recording.KindPeer, Netns: b.netns, Remote: p})
	}
	seen := map[int]bool{b.pid: true}
	for _, k := range s.Sockets {
		f := k.First()
		if p := k.Owner(); p != nil && b.flows[[2]string{f.Remote, f.Local}] && !seen[p.Subject.PID] {
			seen[p.Subject.PID] = true
			out = append(out, p.Subject)
		}
	}
	return out
}

func (b *broken) busiest(n int) []string {
	var all []string
	for p := range b.peers {
		all = append(all, p)
	}
	sort.Slice(all, func(i, j int) bool {
		if b.peers[all[i]] != b.peers[all[j]] {
			return b.peers[all[i]] > b.peers[all[j]]
		}
		return all[i] < all[j]
	})
	return all[:min(n, len(all))]
}

func (b *broken) peerNames() string {
	names := b.busiest(3)
	text := strings.Join(names, ", ")
	if more := len(b.peers) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// connectionsClosed is how many connections of the service ended in all, 0 where
// that was not measured.
func (b *broken) connectionsClosed(r *recording.Recording) float64 {
	n := 0.0
	for _, c := range r.Connections {
		port := recording.Port(c.Local)
		if c.Role == "connect" {
			port = recording.Port(c.Remote)
		}
		if measure.Namespace(r, c.Netns) == b.netns && port == b.port && (c.Role == "accept") == (recording.Port(b.local) == b.port) {
			n += float64(c.Closed)
		}
	}
	if n == 0 {
		return 0
	}
	return max(n, b.n)
}

// mostInAMinute is the most that was counted within any minute.
func mostInAMinute(all measure.Steps) float64 {
	return scene.MostInAMinute(all, func(s measure.Step) (recording.Time, float64) { return s.Start, s.N })
}
