// Package scene turns a recording into who is on the host and how they touch:
// processes, threads, sockets, listeners, flows, interfaces, qdiscs, cgroups,
// namespaces, peers, and the edges between them. Evidence on two nodes may be
// joined only when the scene relates them (Related).
package scene

import (
	"snag/recording"
)

// NodeID identifies a node within one scene: "process:812", "socket:4026531840/tcp/127.0.0.1:1935/127.0.0.1:40112".
type NodeID string

// EdgeKind is how one node touches another.
type EdgeKind string

// The kinds of edges.
const (
	Owns      EdgeKind = "owns"       // process → socket, process → thread
	Accepts   EdgeKind = "accepts"    // listener → accepted socket
	Connects  EdgeKind = "connects"   // socket ↔ the other end of its flow, when both are on this host
	Feeds     EdgeKind = "feeds"      // socket read by a process → socket the same process writes
	Crosses   EdgeKind = "crosses"    // socket → interface or qdisc that its packets leave by
	On        EdgeKind = "on"         // qdisc → interface, interface → its peer
	LimitedBy EdgeKind = "limited by" // process → cgroup
	In        EdgeKind = "in"         // socket, interface → namespace: too wide to join evidence by
	CallsFrom EdgeKind = "calls from" // peer → listener or socket; process → UNIX listener, name server
	Reads     EdgeKind = "reads"      // socket of a player → the stream that it gets; Feeds leads from the sockets that carry it
)

// Edge is a directed relation; Related follows it both ways.
type Edge struct {
	From, To NodeID
	Kind     EdgeKind
}

// Node is anything that can be a subject.
type Node struct {
	ID      NodeID
	Subject recording.Subject
}

// Process is one process and all that was seen of it.
type Process struct {
	Node
	Rows    []recording.Process // by time; never empty
	Threads []*Thread
	Sockets []*Socket
}

// First and Last return the first and the last row.
func (p *Process) First() recording.Process { return p.Rows[0] }

// Last returns the last row.
func (p *Process) Last() recording.Process { return p.Rows[len(p.Rows)-1] }

// Thread is one thread of a watched process.
type Thread struct {
	Node
	Rows []recording.Thread // by time; never empty
}

// Socket is one socket, a listener when its state is LISTEN.
type Socket struct {
	Node
	Rows     []recording.Socket // by time; never empty
	Owners   []*Process
	Peer     *Socket // other end of the flow, when it is on this host
	Listener *Socket // that accepted it, when known
}

// First returns the first row.
func (s *Socket) First() recording.Socket { return s.Rows[0] }

// Last returns the last row.
func (s *Socket) Last() recording.Socket { return s.Rows[len(s.Rows)-1] }

// LastTCP returns the last tcp_info that was read, or nil: of a connection that ends
// the last row may have none.
func (s *Socket) LastTCP() *recording.TCPInfo {
	for i := len(s.Rows) - 1; i >= 0; i-- {
		if s.Rows[i].TCP != nil {
			return s.Rows[i].TCP
		}
	}
	return nil
}

// Listening reports whether it is a TCP or UNIX listener.
func (s *Socket) Listening() bool { return s.Rows[0].State == "LISTEN" }

// AnswersNames reports whether it is a UDP socket at which names are asked for.
func (s *Socket) AnswersNames() bool {
	f := s.First()
	return f.Proto == "udp" && f.Remote == "" && recording.Port(f.Local) == "53"
}

// TakesRequests reports whether requests come by it: who reads there and waits has nothing to do.
func (s *Socket) TakesRequests() bool {
	return s.Listening() || s.Listener != nil || s.AnswersNames()
}

// Owner returns the first owner, or nil.
func (s *Socket) Owner() *Process {
	if len(s.Owners) == 0 {
		return nil
	}
	return s.Owners[0]
}

// Options returns the last socket options that were read, or nil.
func (s *Socket) Options() *recording.SocketOptions {
	for i := len(s.Rows) - 1; i >= 0; i-- {
		if s.Rows[i].Options != nil {
			return s.Rows[i].Options
		}
	}
	return nil
}

// DropsGrew is how much the socket's own drop counter grew in the window.
func (s *Socket) DropsGrew() uint64 {
	a, b := s.First().Drops, s.Last().Drops
	if b < a {
		return b
	}
	return b - a
}

// Qdisc is one queueing discipline with its last settings.
type Qdisc struct {
	Node
	Row recording.Qdisc
}

// Interface is one link of one namespace.
type Interface struct {
	Node
	Row recording.Link
}

// Cgroup is a control group with a CPU limit.
type Cgroup struct {
	Node
	Row recording.Cgroup
}

// Scene is the graph. Build makes it; nothing changes it afterwards.
type Scene struct {
	Window     recording.Interval
	Processes  []*Process
	Sockets    []*Socket
	Qdiscs     []*Qdisc
	Interfaces []*Interface
	Cgroups    []*Cgroup
	Streams    []*Stream
	Symptoms   []Symptom
	Edges      []Edge

	nodes map[NodeID]*Node
	adj   map[NodeID][]Edge

	byPID    map[int]*Process
	bySock   map[sockKey]*Socket
	byInode  map[inodeKey]*Socket
	netns    map[uint64]string
	groups   groupNames
	ended    map[int]string // the names of processes that ended, which may have no row
	ownNetns uint64
	// addresses of each namespace, as far as they were read.
	addresses map[uint64]map[string]bool

	kept map[any]any
}

// Keep is what compute makes of a scene. It is made once, when it is first asked for by that key,
// a value of a type of the asker's own: several suspects go by it. Not for concurrent use.
func Keep[T any](s *Scene, key any, compute func() T) T {
	if have, ok := s.kept[key]; ok {
		return have.(T)
	}
	made := compute()
	if s.kept == nil {
		s.kept = map[any]any{}
	}
	s.kept[key] = made
	return made
}

type sockKey struct {
	netns         uint64
	proto         string
	local, remote string
}

type inodeKey struct {
	netns uint64
	inode uint64
}

// Process returns the process with that pid, or nil.
func (s *Scene) Process(pid int) *Process { return s.byPID[pid] }

// SocketAt returns the socket of that exact pair of addresses, or nil. Remote
// is "" for a listener or an unconnected UDP socket.
func (s *Scene) SocketAt(netns uint64, proto, local, remote string) *Socket {
	return s.bySock[sockKey{netns, proto, local, remote}]
}

// SocketByInode returns the socket with that inode in that namespace, or nil.
func (s *Scene) SocketByInode(netns, inode uint64) *Socket {
	if inode == 0 {
		return nil
	}
	return s.byInode[inodeKey{netns, inode}]
}

// ListenerOn returns the TCP listener that takes connections to that local
// address:port in that namespace (a wildcard listener included), or the UNIX listener at
// that path; nil for none.
func (s *Scene) ListenerOn(netns uint64, local string) *Socket {
	if recording.IsUnix(local) {
		if k := s.bySock[sockKey{netns, "unix", local, ""}]; k != nil && k.Listening() {
			return k
		}
		return nil
	}
	return s.holder(netns, "tcp", local, true)
}

// UDPOn returns the unconnected UDP socket that takes datagrams sent to that
// address:port in that namespace (a wildcard one included), or nil.
func (s *Scene) UDPOn(netns uint64, local string) *Socket {
	return s.holder(netns, "udp", local, false)
}

func (s *Scene) holder(netns uint64, proto, local string, listening bool) *Socket {
	port := recording.Port(local)
	for _, addr := range []string{local, "0.0.0.0:" + port, "[::]:" + port, "*:" + port} {
		k := s.bySock[sockKey{netns, proto, addr, ""}]
		if k != nil && k.Listening() == listening {
			return k
		}
	}
	return nil
}

// NetnsName is what a person calls a namespace: "" for the one snag was started
// in, the name that a person gave it under /run/netns, the container or pod that it is of ("of container web"), the
// name of a process in it ("of nginx[7]"), or "netns 4026532281".
func (s *Scene) NetnsName(id uint64) string {
	if s.OwnNetns(id) {
		return ""
	}
	return s.netns[id]
}

// OwnNetns reports whether a namespace is the one that snag was started in.
func (s *Scene) OwnNetns(id uint64) bool { return id == 0 || id == s.ownNetns }

// Node returns a node by id, or nil.
func (s *Scene) Node(id NodeID) *Node { return s.nodes[id] }

// NodeOf finds the node that a subject stands for; nil if the scene has none.
func (s *Scene) NodeOf(sub recording.Subject) *Node { return s.nodes[IDOf(sub)] }
