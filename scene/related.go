package scene

import (
	"net"

	"snag/recording"
)

// maxHops bounds how far evidence may be carried: process → socket → peer
// socket → its process → that one's other socket is as far as one host's
// reasons reach.
const maxHops = 5

// Related reports whether the scene ties a to b by edges that evidence may be
// carried over, and by which. Namespaces do not tie: everything is in one.
func (s *Scene) Related(a, b NodeID) ([]Edge, bool) {
	if a == b {
		return nil, true
	}
	type step struct {
		at   NodeID
		prev int
		via  Edge
		hops int
	}
	queue := []step{{at: a, prev: -1}}
	seen := map[NodeID]bool{a: true}
	for i := 0; i < len(queue); i++ {
		if queue[i].hops == maxHops || i > 0 && s.nodes[queue[i].at].Subject.Kind == recording.KindStream {
			continue // what meets in a stream alone has no more in common: see Stream.touches
		}
		for _, e := range s.adj[queue[i].at] {
			if e.Kind == In {
				continue
			}
			next := e.To
			if next == queue[i].at {
				next = e.From
			}
			if seen[next] {
				continue
			}
			seen[next] = true
			queue = append(queue, step{next, i, e, queue[i].hops + 1})
			if next == b {
				var path []Edge
				for j := len(queue) - 1; queue[j].prev >= 0; j = queue[j].prev {
					path = append([]Edge{queue[j].via}, path...)
				}
				return path, true
			}
		}
	}
	return nil, false
}

// Neighbours returns the ids one edge away, of that kind ("" for all but In).
func (s *Scene) Neighbours(id NodeID, kind EdgeKind) []NodeID {
	var out []NodeID
	for _, e := range s.adj[id] {
		if (kind == "" && e.Kind == In) || (kind != "" && e.Kind != kind) {
			continue
		}
		if e.From == id {
			out = append(out, e.To)
		} else {
			out = append(out, e.From)
		}
	}
	return out
}

// Touch reports whether evidence on a may be joined with evidence on b. It is
// Related, widened for subjects that are not nodes: the host touches all, a
// namespace what is in it, a port or flow whoever shares its address.
func (s *Scene) Touch(a, b recording.Subject) bool {
	if a.Kind == recording.KindHost || b.Kind == recording.KindHost {
		return true
	}
	if IDOf(a) == IDOf(b) {
		return true
	}
	if st := s.StreamAt(a); st != nil {
		return st.touches(s, b)
	}
	if st := s.StreamAt(b); st != nil {
		return st.touches(s, a)
	}
	if a.Kind == recording.KindNetns || b.Kind == recording.KindNetns {
		return a.Netns != 0 && a.Netns == b.Netns
	}
	if a.PID != 0 && a.PID == b.PID {
		return true
	}
	if sharesAddress(a, b) {
		return true
	}
	na, nb := s.anchor(a), s.anchor(b)
	if na == nil || nb == nil {
		return false
	}
	_, ok := s.Related(na.ID, nb.ID)
	return ok
}

// OnLoopback reports whether an address, with a port or without, is on a loopback.
func OnLoopback(address string) bool {
	ip := net.ParseIP(recording.Host(address))
	return ip != nil && ip.IsLoopback()
}

// anchor is the node that stands for a subject, or for a subject without one the
// socket or process that its addresses and pid point to.
func (s *Scene) anchor(sub recording.Subject) *Node {
	if n := s.NodeOf(sub); n != nil {
		return n
	}
	if k := s.SocketByInode(sub.Netns, sub.Inode); k != nil {
		return &k.Node
	}
	if sub.Local != "" {
		for _, remote := range []string{sub.Remote, ""} {
			if k := s.SocketAt(sub.Netns, sub.Proto, sub.Local, remote); k != nil {
				return &k.Node
			}
		}
	}
	if p := s.Process(sub.PID); p != nil {
		return &p.Node
	}
	return nil
}

// sharesAddress reports whether two subjects of one protocol name the same port
// of one namespace, or the two directions of one flow in any: of a loopback, each
// namespace has its own.
func sharesAddress(a, b recording.Subject) bool {
	if a.Local == "" || b.Local == "" || a.Proto != b.Proto {
		return false
	}
	apart := a.Netns != b.Netns && a.Netns != 0 && b.Netns != 0
	switch {
	case a.Remote != "" && a.Remote == b.Local && (b.Remote == a.Local || b.Remote == ""):
		return !apart || !OnLoopback(a.Remote)
	case b.Remote != "" && b.Remote == a.Local && a.Remote == "":
		return !apart || !OnLoopback(b.Remote)
	case a.Netns != b.Netns || recording.Port(a.Local) != recording.Port(b.Local):
		return false
	}
	return a.Remote == "" || b.Remote == "" || a.Remote == b.Remote
}
