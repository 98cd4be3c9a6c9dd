package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// scope reports what concerns the target that the user named, on the command line or as a stream to
// watch. Where nothing was named it is nil, and everything does.
type scope struct {
	s       *scene.Scene
	t       recording.Target
	streams []*scene.Stream // that were watched
	pids    map[int]bool    // the target's processes
	part    map[scene.NodeID]bool
	// asked are the parties whose answers the target waits for, and behind who gives them.
	asked  map[scene.NodeID]bool
	behind map[int]bool
	// crossed are what its packets cross, and to whom they go.
	crossed map[scene.NodeID]bool
	peers   map[string]bool
}

func newScope(s *scene.Scene, r *recording.Recording, l *ledger.Ledger) *scope {
	n := &scope{
		s: s, t: r.Manifest.Target, pids: map[int]bool{}, part: map[scene.NodeID]bool{}, asked: map[scene.NodeID]bool{},
		behind: map[int]bool{}, crossed: map[scene.NodeID]bool{}, peers: map[string]bool{},
	}
	if len(r.Manifest.Files) == 0 {
		for _, st := range s.Streams {
			if st.Row.Side == recording.StreamSidePlayer {
				n.streams = append(n.streams, st)
			}
		}
	}
	if n.t.Name() == "" && len(n.streams) == 0 {
		return nil
	}
	n.addProcesses()
	for _, k := range s.Sockets {
		if n.holds(k) {
			n.addSocket(k)
		}
	}
	if l != nil {
		n.addAsked(l)
	}
	return n
}

// addProcesses adds the processes that were found when the recording began and those that
// belong to the target since: started by it, in its unit or in its namespace.
func (n *scope) addProcesses() {
	for _, pid := range n.t.PIDs {
		n.pids[pid] = true
	}
	for more := true; more; {
		more = false
		for _, p := range n.s.Processes {
			row := p.Last()
			mine := n.t.PID != 0 && n.pids[row.PPID] || n.t.NetnsID != 0 && row.Netns == n.t.NetnsID ||
				n.t.Holds(row.Cgroup) || n.t.Holds(row.GroupOf("unified"))
			if mine && !n.pids[row.PID] {
				n.pids[row.PID], more = true, true
			}
		}
	}
	for pid := range n.pids {
		p := n.s.Process(pid)
		if p == nil {
			continue
		}
		n.part[p.ID] = true
		for _, c := range n.s.Neighbours(p.ID, scene.LimitedBy) {
			n.part[c] = true
		}
	}
}

// holds reports whether a socket is the target's.
func (n *scope) holds(k *scene.Socket) bool {
	row := k.First()
	return n.t.NetnsID != 0 && row.Netns == n.t.NetnsID || n.atPort(row.Local, row.Remote) ||
		slices.ContainsFunc(k.Owners, func(p *scene.Process) bool { return n.pids[p.Subject.PID] })
}

func (n *scope) atPort(addresses ...string) bool {
	return n.t.Port != 0 && slices.ContainsFunc(addresses, func(a string) bool { return recording.Port(a) == strconv.Itoa(n.t.Port) })
}

func (n *scope) addSocket(k *scene.Socket) {
	n.part[k.ID] = true
	if remote := k.First().Remote; remote != "" {
		n.peers[remote], n.peers[recording.Host(remote)] = true, true
	}
	for _, dev := range n.s.Neighbours(k.ID, scene.Crosses) {
		n.crossed[dev] = true
		for _, q := range n.s.Neighbours(dev, scene.On) {
			n.crossed[q] = true
		}
	}
}

// addAsked adds whose answers the target waits for, and the processes on this host that give
// them.
func (n *scope) addAsked(l *ledger.Ledger) {
	for _, p := range l.Parties {
		if p.Role == ledger.Calls && slices.ContainsFunc(p.PIDs, func(pid int) bool { return n.pids[pid] }) {
			n.asked[scene.IDOf(p.Subject)] = true
		}
	}
	for _, p := range l.Parties {
		if p.Role == ledger.Serves && n.asked[scene.IDOf(p.Subject)] {
			for _, pid := range p.PIDs {
				n.behind[pid] = true
			}
		}
	}
}

// has reports whether a subject is part of the target: of its processes, their sockets and what
// limits them, or on the way of its stream.
func (n *scope) has(sub recording.Subject) bool {
	switch {
	case n == nil, sub.Kind == recording.KindObserver:
		return true
	case n.pids[sub.PID] && sub.PID != 0, n.t.NetnsID != 0 && sub.Netns == n.t.NetnsID, n.atPort(sub.Local, sub.Remote):
		return true
	}
	if at := n.s.Anchor(sub); at != nil && n.part[at.ID] || n.within(sub) {
		return true
	}
	return slices.ContainsFunc(n.streams, func(st *scene.Stream) bool {
		return sub.Kind != recording.KindHost && n.s.Touch(st.Subject, sub)
	})
}

// within reports whether a process of the target is in that control group.
func (n *scope) within(sub recording.Subject) bool {
	return sub.Kind == recording.KindCgroup && slices.ContainsFunc(n.s.Processes, func(p *scene.Process) bool {
		row := p.Last()
		return n.pids[row.PID] && slices.ContainsFunc([]string{"cpu", "memory", "blkio", "unified"}, func(controller string) bool {
			return strings.HasPrefix(row.GroupOf(controller)+"/", strings.TrimSuffix(sub.Cgroup, "/")+"/")
		})
	})
}

// hurts reports whether it is the target that suffers: what was reported is what the user is
// after, and late answers are those for which the target waits, too,
// and a stream is that of others as well who may get it from the same server.
func (n *scope) hurts(sym scene.Symptom, related ...recording.Subject) bool {
	switch {
	case n == nil, sym.Reported:
		return true
	case sym.Name == scene.RequestLatency && n.pushed():
		return false
	}
	return n.has(sym.Subject) || n.asked[scene.IDOf(sym.Subject)] || n.views(sym.Subject) || slices.ContainsFunc(related, n.has)
}

// pushed reports whether only streams were named, and of RTMP: the server sends these without being
// asked for more. What viewers say to it before is answered late at times, and is not the stream;
// one that therefore begins late is a symptom of its own.
func (n *scope) pushed() bool {
	return n.t.Name() == "" && len(n.streams) > 0 && !slices.ContainsFunc(n.streams, func(st *scene.Stream) bool { return st.Row.Protocol != "rtmp" })
}

// watches reports whether a subject is a stream that was asked for.
func (n *scope) watches(sub recording.Subject) bool {
	return n != nil && slices.ContainsFunc(n.streams, func(st *scene.Stream) bool { return scene.IDOf(st.Subject) == scene.IDOf(sub) })
}

// views reports whether a connection is a viewer's of a server that serves a watched stream.
func (n *scope) views(sub recording.Subject) bool {
	at := n.s.Anchor(sub)
	if at == nil || len(n.streams) == 0 {
		return false
	}
	k := n.s.Socket(at.ID)
	return k != nil && n.s.Viewed(k)
}

// concerns reports whether a finding may concern the target, whomever it hurts: it is about a part of
// it, about whom it asks, about what its packets cross, or about the machine.
func (n *scope) concerns(sub recording.Subject, related []recording.Subject) bool {
	if n == nil || n.hurts(scene.Symptom{Subject: sub}, related...) {
		return true
	}
	if n.ofMachine(sub) { // unless it is known whom it concerns
		return !slices.ContainsFunc(related, func(r recording.Subject) bool { return r.PID != 0 })
	}
	at := n.s.Anchor(sub)
	return n.behind[sub.PID] || at != nil && n.crossed[at.ID] || sub.Kind == recording.KindPeer && n.peers[sub.Remote]
}

// ofMachine reports whether a subject is what all share.
func (n *scope) ofMachine(sub recording.Subject) bool {
	switch sub.Kind {
	case recording.KindHost, recording.KindCPU, recording.KindMemory, recording.KindFunction, recording.KindDisk:
		return true
	case recording.KindNetns:
		return slices.ContainsFunc(n.s.Processes, func(p *scene.Process) bool { return n.pids[p.Subject.PID] && p.Last().Netns == sub.Netns })
	}
	return false
}

// ours reports whether requests are the target's: that it answers, or whose answers it waits for.
func (n *scope) ours(p *ledger.Party) bool {
	return n == nil || n.has(p.Subject) || slices.ContainsFunc(p.PIDs, func(pid int) bool { return n.pids[pid] })
}

// elsewhere reports whether a settled candidate is elsewhere: nothing that it explains is the
// target's, and it is no part of the target.
func (g *graph) elsewhere(c *candidate) bool {
	f := c.finding
	if g.scope.has(f.Subject) {
		return false
	}
	all := g.explains(c)
	for i := range all {
		if !g.symptoms[i].Elsewhere {
			return false
		}
	}
	return len(all) > 0 || !g.scope.concerns(f.Subject, f.Related)
}

// Target is what a person calls what was named to look at: "unit nginx", "stream live/cam1"; ""
// is the whole machine.
func (v *Verdict) Target() string {
	switch n := v.scope; {
	case n == nil:
		return ""
	case n.t.PID != 0 && n.s.Process(n.t.PID) != nil:
		return n.s.Process(n.t.PID).Subject.Name
	case n.t.Name() != "":
		return n.t.Name()
	case len(n.streams) > 1:
		return fmt.Sprintf("%d streams", len(n.streams))
	default:
		return "stream " + n.streams[0].Row.Name
	}
}

// Ours reports whether requests are the target's: that it answers, or whose answers it waits for.
// Without a target all are.
func (v *Verdict) Ours(p *ledger.Party) bool { return v.scope.ours(p) }
