package scene

import (
	"fmt"
	"net/netip"
	"sort"
	"strings"

	"snag/recording"
)

// Build makes the scene of a recording. It never fails: what was not recorded
// is not in the scene.
func Build(r *recording.Recording) *Scene {
	s := &Scene{
		Window: r.Window(), ownNetns: r.Manifest.Netns,
		nodes: map[NodeID]*Node{}, adj: map[NodeID][]Edge{},
		byPID: map[int]*Process{}, bySock: map[sockKey]*Socket{}, byInode: map[inodeKey]*Socket{},
		netns: map[uint64]string{}, addresses: map[uint64]map[string]bool{}, ended: map[int]string{}, groups: groupNamesOf(r.Facts),
	}
	for _, x := range r.Exits {
		s.ended[x.PID] = x.Comm
	}
	s.addNamespaces(r)
	s.addProcesses(r)
	s.addThreads(r)
	s.addSockets(r)
	s.addDevices(r)
	s.addCgroups(r)
	s.tieFlows()
	s.tieRoutes(r)
	s.tiePeers(r)
	s.tieAsked(r)
	s.addStreams(r)
	s.Symptoms = findSymptoms(s, r)
	return s
}

func (s *Scene) put(sub recording.Subject) Node {
	sub.Name = s.Name(sub)
	n := Node{ID: IDOf(sub), Subject: sub}
	s.nodes[n.ID] = &n
	return n
}

func (s *Scene) tie(from, to NodeID, kind EdgeKind) {
	if from == to {
		return
	}
	e := Edge{from, to, kind}
	fewer := s.adj[from] // both have it: a process may own all sockets there are
	if other := s.adj[to]; len(other) < len(fewer) {
		fewer = other
	}
	for _, have := range fewer {
		if have == e {
			return
		}
	}
	s.Edges = append(s.Edges, e)
	s.adj[from] = append(s.adj[from], e)
	s.adj[to] = append(s.adj[to], e)
}

func (s *Scene) addNamespaces(r *recording.Recording) {
	containers := s.groups.containersOf(r.Processes)
	for _, n := range r.Netns {
		name := n.Name
		if of := containers[n.ID]; of != "" && !n.Own && n.Name != "of kthreadd[2]" && !givenName(n.Name) {
			name = "of " + of
		}
		switch name {
		case "":
			name = fmt.Sprintf("netns %d", n.ID)
		case "of kthreadd[2]": // the kernel's threads are in the first one (init_net), in no other
			name = "of the host"
		}
		s.netns[n.ID] = name
		for _, a := range n.Addrs {
			_, text, _ := strings.Cut(a, " ")
			if p, err := netip.ParsePrefix(text); err == nil {
				if s.addresses[n.ID] == nil {
					s.addresses[n.ID] = map[string]bool{}
				}
				s.addresses[n.ID][p.Addr().Unmap().String()] = true
			}
		}
		if n.Own {
			s.ownNetns = n.ID
		}
	}
}

func (s *Scene) addProcesses(r *recording.Recording) {
	for _, row := range r.Processes {
		p := s.byPID[row.PID]
		if p != nil && p.Last().Start != row.Start { // the pid was used again
			p = nil
		}
		if p == nil {
			p = &Process{}
			s.byPID[row.PID] = p
			s.Processes = append(s.Processes, p)
		}
		p.Rows = append(p.Rows, row)
	}
	for _, p := range s.Processes {
		p.Node = s.put(recording.Subject{Kind: recording.KindProcess, PID: p.Last().PID, Comm: p.Last().Comm, Netns: p.Last().Netns})
	}
}

// processFor returns the process, made from what a socket's owner reports when
// the process table has no row of it.
func (s *Scene) processFor(ref recording.FDRef, row recording.Socket) *Process {
	if p := s.byPID[ref.PID]; p != nil {
		return p
	}
	p := &Process{Rows: []recording.Process{{T: row.T, PID: ref.PID, Comm: ref.Comm, Netns: row.Netns}}}
	p.Node = s.put(recording.Subject{Kind: recording.KindProcess, PID: ref.PID, Comm: ref.Comm, Netns: row.Netns})
	s.byPID[ref.PID] = p
	s.Processes = append(s.Processes, p)
	return p
}

func (s *Scene) addThreads(r *recording.Recording) {
	type key struct{ pid, tid int }
	all := map[key]*Thread{}
	for _, row := range r.Threads {
		k := key{row.PID, row.TID}
		t := all[k]
		if t == nil {
			t = &Thread{Node: s.put(recording.Subject{Kind: recording.KindThread, PID: row.PID, TID: row.TID, Comm: row.Comm})}
			all[k] = t
			if p := s.byPID[row.PID]; p != nil {
				p.Threads = append(p.Threads, t)
				s.tie(p.ID, t.ID, Owns)
			}
		}
		t.Rows = append(t.Rows, row)
	}
}

func (s *Scene) addSockets(r *recording.Recording) {
	type key struct {
		netns, cookie, inode uint64
		addr                 sockKey
	}
	all := map[key]*Socket{}
	for _, row := range r.Sockets {
		row.Local, row.Remote = Address(row.Local), Address(row.Remote)
		k := key{netns: row.Netns, cookie: row.Cookie}
		addr := sockKey{row.Netns, row.Proto, row.Local, row.Remote}
		if row.Cookie == 0 {
			if k.inode = row.Inode; row.Inode == 0 {
				k.addr = addr
			}
		}
		k2 := all[k]
		if k2 == nil {
			k2 = &Socket{}
			all[k] = k2
			s.Sockets = append(s.Sockets, k2)
			s.bySock[addr] = k2
			if row.Inode != 0 {
				s.byInode[inodeKey{row.Netns, row.Inode}] = k2
			}
		}
		k2.Rows = append(k2.Rows, row)
	}
	for _, k := range s.Sockets {
		var many map[*Process]bool
		for _, row := range k.Rows {
			for _, ref := range row.Owners {
				p := s.processFor(ref, row)
				if many == nil && len(k.Owners) > 32 {
					many = setOf(k.Owners)
				}
				if many == nil && !hasProcess(k.Owners, p) || many != nil && !many[p] {
					if many != nil {
						many[p] = true
					}
					k.Owners = append(k.Owners, p)
					p.Sockets = append(p.Sockets, k)
				}
			}
		}
		first := k.First()
		sub := recording.Subject{Kind: recording.KindSocket, Netns: first.Netns, Proto: first.Proto, Local: first.Local, Remote: first.Remote, Inode: first.Inode}
		if k.Listening() {
			sub.Kind = recording.KindListener
		}
		if p := k.Owner(); p != nil {
			sub.PID, sub.Comm = p.Subject.PID, p.Subject.Comm
		}
		k.Node = s.put(sub)
		for _, p := range k.Owners {
			s.tie(p.ID, k.ID, Owns)
		}
	}
}

func setOf(all []*Process) map[*Process]bool {
	set := map[*Process]bool{}
	for _, p := range all {
		set[p] = true
	}
	return set
}

func hasProcess(all []*Process, p *Process) bool {
	for _, have := range all {
		if have == p {
			return true
		}
	}
	return false
}

func (s *Scene) addDevices(r *recording.Recording) {
	links := map[NodeID]*Interface{}
	for _, row := range r.Links {
		n := s.put(recording.Subject{Kind: recording.KindInterface, Netns: row.Netns, Device: row.Name})
		if links[n.ID] == nil {
			links[n.ID] = &Interface{}
			s.Interfaces = append(s.Interfaces, links[n.ID])
		}
		*links[n.ID] = Interface{n, row}
	}
	qdiscs := map[NodeID]*Qdisc{}
	for _, row := range r.Qdiscs {
		n := s.put(recording.Subject{Kind: recording.KindQdisc, Netns: row.Netns, Device: row.Device, Handle: row.Handle, Path: row.Kind})
		if qdiscs[n.ID] == nil {
			qdiscs[n.ID] = &Qdisc{}
			s.Qdiscs = append(s.Qdiscs, qdiscs[n.ID])
		}
		*qdiscs[n.ID] = Qdisc{n, row}
	}
	for _, q := range s.Qdiscs {
		dev := IDOf(recording.Subject{Kind: recording.KindInterface, Netns: q.Row.Netns, Device: q.Row.Device})
		if s.nodes[dev] == nil {
			s.put(recording.Subject{Kind: recording.KindInterface, Netns: q.Row.Netns, Device: q.Row.Device})
		}
		s.tie(q.ID, dev, On)
	}
}

func (s *Scene) addCgroups(r *recording.Recording) {
	seen := map[string]bool{}
	for _, row := range r.Cgroups {
		if seen[row.Path] {
			continue
		}
		seen[row.Path] = true
		s.Cgroups = append(s.Cgroups, &Cgroup{s.put(recording.Subject{Kind: recording.KindCgroup, Cgroup: row.Path}), row})
	}
	for _, p := range s.Processes {
		at := p.Last().Cgroup
		for _, c := range s.Cgroups {
			if at == c.Row.Path || strings.HasPrefix(at, strings.TrimSuffix(c.Row.Path, "/")+"/") && c.Row.Quota > 0 {
				s.tie(p.ID, c.ID, LimitedBy)
			}
		}
	}
}

// tieFlows joins the two ends of a flow that are both on this host, whatever
// their namespaces, and accepted sockets with their listener.
func (s *Scene) tieFlows() {
	type pair struct{ proto, local, remote string }
	ends := map[pair][]*Socket{}
	for _, k := range s.Sockets {
		f := k.First()
		ends[pair{f.Proto, f.Local, f.Remote}] = append(ends[pair{f.Proto, f.Local, f.Remote}], k)
	}
	for _, k := range s.Sockets {
		f := k.First()
		if f.Remote == "" {
			continue
		}
		// Two namespaces may use the same addresses: then nothing shows which end
		// is whose, and no edge is better than a wrong one.
		// Nor is the other end of a captured flow on this host: its queues are not known.
		if other := ends[pair{f.Proto, f.Remote, f.Local}]; len(other) == 1 && other[0] != k && !f.Wire && !other[0].First().Wire {
			k.Peer = other[0]
			s.tie(k.ID, other[0].ID, Connects)
		}
		if (f.Proto == "tcp" || f.Proto == "unix") && !k.Listening() {
			if l := s.ListenerOn(f.Netns, f.Local); l != nil {
				k.Listener = l
				s.tie(l.ID, k.ID, Accepts)
			}
		}
	}
	for _, p := range s.Processes {
		s.tieFeeds(p)
	}
}

// maxFeeds bounds the sockets of one process that are joined pairwise.
const maxFeeds = 64

// tieFeeds joins the sockets that a relay reads with those it writes.
func (s *Scene) tieFeeds(p *Process) {
	var in, out []*Socket
	for _, k := range p.Sockets {
		a, b := k.First().TCP, k.Last().TCP
		if a == nil || b == nil || k.Listening() {
			continue
		}
		if b.BytesReceived > a.BytesReceived || k.Last().RecvQ > 0 {
			in = append(in, k)
		}
		if b.BytesSent > a.BytesSent || k.Last().SendQ > 0 {
			out = append(out, k)
		}
	}
	if len(in)*len(out) > maxFeeds*maxFeeds {
		return
	}
	for _, i := range in {
		for _, o := range out {
			if i != o {
				s.tie(i.ID, o.ID, Feeds)
			}
		}
	}
}

// tieRoutes joins sockets with the interface their packets leave by: the one
// whose network holds the remote address, else the one that has the local
// address, else the only one that is not loopback.
func (s *Scene) tieRoutes(r *recording.Recording) {
	type network struct {
		dev    string
		prefix netip.Prefix
	}
	nets := map[uint64][]network{}
	for _, n := range r.Netns {
		for _, a := range n.Addrs {
			dev, text, ok := strings.Cut(a, " ")
			if !ok {
				continue
			}
			if p, err := netip.ParsePrefix(text); err == nil {
				nets[n.ID] = append(nets[n.ID], network{dev, p})
			}
		}
	}
	ways := map[uint64][]string{}
	for _, i := range s.Interfaces {
		if i.Row.Name != "lo" && i.Row.Up {
			ways[i.Row.Netns] = append(ways[i.Row.Netns], i.Row.Name)
		}
	}
	for _, k := range s.Sockets {
		f := k.First()
		if k.Listening() || f.Proto == "unix" {
			continue
		}
		dev := ""
		remote, _ := netip.ParseAddr(recording.Host(f.Remote))
		local, _ := netip.ParseAddr(recording.Host(f.Local))
		for _, n := range nets[f.Netns] {
			if remote.IsValid() && n.prefix.Contains(remote) {
				dev = n.dev
			}
			if dev == "" && local.IsValid() && n.prefix.Addr() == local {
				dev = n.dev
			}
		}
		devs := []string{dev}
		if dev == "" {
			if devs = ways[f.Netns]; len(devs) != 1 && f.Remote != "" {
				continue
			}
		}
		for _, d := range devs {
			id := IDOf(recording.Subject{Kind: recording.KindInterface, Netns: f.Netns, Device: d})
			if s.nodes[id] != nil {
				s.tie(k.ID, id, Crosses)
			}
		}
	}
}

func (s *Scene) tiePeers(r *recording.Recording) {
	for _, c := range r.Connections {
		if c.Role != "accept" || c.Remote == "others" {
			continue
		}
		l := s.ListenerOn(c.Netns, Address(c.Local))
		if l == nil {
			continue
		}
		sub := recording.Subject{Kind: recording.KindPeer, Netns: c.Netns, Remote: c.Remote}
		id := IDOf(sub)
		if s.nodes[id] == nil {
			s.put(sub)
		}
		s.tie(id, l.ID, CallsFrom)
	}
	sort.SliceStable(s.Processes, func(i, j int) bool { return s.Processes[i].Subject.PID < s.Processes[j].Subject.PID })
}

// tieAsked joins who asks at a UNIX socket with its listener, and who asks for names with the
// name server: most of their sockets come and go between two dumps.
func (s *Scene) tieAsked(r *recording.Recording) {
	tie := func(pid int, l *Socket) {
		if p := s.byPID[pid]; p != nil && l != nil {
			s.tie(p.ID, l.ID, CallsFrom)
		}
	}
	for _, row := range r.Turns {
		if row.Role == "call" && recording.IsUnix(row.Remote) {
			tie(row.PID, s.Callee(row))
		}
	}
	for _, q := range r.Queries {
		tie(q.PID, s.nameServerAt(q.Netns, q.Remote))
	}
}

// Address puts an address:port in the form that the scene uses: no remote is
// "", and an IPv4 address mapped into IPv6 is the IPv4 address.
func Address(a string) string {
	switch a {
	case "", "*:0", "*:*", "0.0.0.0:0", "[::]:0", ":::0":
		return ""
	}
	ap, err := netip.ParseAddrPort(a)
	if err != nil {
		return a
	}
	if ap.Addr().Is4In6() {
		return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port()).String()
	}
	return a
}
