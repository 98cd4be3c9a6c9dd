package page

import (
	"fmt"
	"slices"
	"sort"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// maxPeers of one socket are drawn each.
const maxPeers = 3

// peer is a node at the other end, what goes there, and by which interface where
// that is the peer's own.
type peer struct{ node, text, device string }

// peers draws who is at the other end of a socket: the process, where it is on
// this host, else the address.
func (p *pathBuilder) peers(k *scene.Socket, lane int) []peer {
	outer := LanePeerIn
	if lane > LaneProcess {
		outer = LanePeerOut
	}
	f := k.First()
	switch {
	case k.Peer != nil && k.Peer.Owner() != nil:
		return []peer{{p.localPeer(k.Peer, outer), "", ""}}
	case f.Remote != "":
		return []peer{{p.node(Node{ID: "peer:" + recording.Host(f.Remote), Lane: outer, Kind: "peer", Title: recording.Host(f.Remote), Marks: p.marks[peerID(f.Netns, f.Remote)]}), "", ""}}
	case k.Listening():
		return p.callers(k, outer)
	}
	// An unconnected UDP socket: who is connected to it on this host.
	var out []peer
	for _, other := range p.s.Sockets {
		o := other.First()
		if o.Proto == f.Proto && o.Remote != "" && (o.Remote == f.Local || sameWildcard(o.Remote, f.Local)) && other.Owner() != nil && len(out) < maxPeers {
			out = append(out, peer{p.localPeer(other, outer), "", ""})
		}
	}
	if len(out) > 0 {
		return out
	}
	if lane > LaneProcess {
		return p.receivers(k, outer)
	}
	for _, s := range p.senders(k.Subject) {
		out = append(out, peer{p.node(s.node), "", ""})
	}
	return out
}

func peerID(netns uint64, remote string) scene.NodeID {
	return scene.IDOf(recording.Subject{Kind: recording.KindPeer, Netns: netns, Remote: recording.Host(remote)})
}

func sameWildcard(remote, local string) bool {
	host := recording.Host(local)
	return (host == "0.0.0.0" || host == "::" || host == "*") && recording.Port(remote) == recording.Port(local)
}

// localPeer is the process at the other end, with the numbers of its socket, or
// of how many sockets it is the other end of.
func (p *pathBuilder) localPeer(k *scene.Socket, lane int) string {
	owner := k.Owner()
	id := p.node(Node{
		ID: string(owner.ID), Lane: lane, Kind: "process", Title: process(owner.Subject.PID, owner.Subject.Comm),
		Note: p.where(owner.Subject.Netns), Numbers: p.socketNumbers(k), Marks: append([]Mark{}, p.marks[owner.ID]...),
	})
	n := &p.Nodes[p.at[id]]
	p.ends[id]++
	if p.ends[id] > 1 {
		n.Numbers = []Number{{"sockets", fmt.Sprint(p.ends[id]), false}}
	}
	for _, m := range p.marks[k.ID] {
		if !slices.Contains(n.Marks, m) {
			n.Marks = append(n.Marks, m)
		}
	}
	return id
}

// callers are the peers of a listener by the connections they opened.
func (p *pathBuilder) callers(k *scene.Socket, lane int) []peer {
	type caller struct {
		remote                string
		opened, failed, short uint64
	}
	f := k.First()
	byPeer := map[string]*caller{}
	for _, c := range p.r.Connections {
		if c.Role != "accept" || c.Netns != f.Netns || recording.Port(c.Local) != recording.Port(f.Local) {
			continue
		}
		if byPeer[c.Remote] == nil {
			byPeer[c.Remote] = &caller{remote: c.Remote}
		}
		byPeer[c.Remote].opened += c.Opened
		byPeer[c.Remote].failed += c.Failed
		byPeer[c.Remote].short += c.Short
	}
	var all []*caller
	for _, c := range byPeer {
		all = append(all, c)
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].opened != all[j].opened {
			return all[i].opened > all[j].opened
		}
		return all[i].remote < all[j].remote
	})
	var out []peer
	seconds := p.r.Length().Seconds()
	for i, c := range all {
		if i == maxPeers && len(all) > i+1 {
			out = append(out, peer{p.node(Node{ID: "more peers", Lane: lane, Kind: "others", Title: fmt.Sprintf("%s more peers", units.Count(float64(len(all)-i)))}), "", ""})
			break
		}
		n := Node{ID: "peer:" + c.remote, Lane: lane, Kind: "peer", Title: c.remote, Note: p.callerName(c.remote, f.Local), Marks: p.marks[peerID(f.Netns, c.remote)]}
		n.Numbers = []Number{{"opened", units.Count(float64(c.opened)), false}}
		if c.short > 0 {
			n.Numbers = append(n.Numbers, Number{"lived under 1 s", units.Count(float64(c.short)), false})
		}
		if c.failed > 0 {
			n.Numbers = append(n.Numbers, Number{"failed", units.Count(float64(c.failed)), true})
		}
		out = append(out, peer{p.node(n), units.Rate(float64(c.opened)/max(seconds, 1)) + " opened", p.deviceTowards(f.Netns, c.remote, lane)})
	}
	return out
}

// callerName is the process behind a peer's address, where it connects from this
// very host (another namespace).
func (p *pathBuilder) callerName(address, listener string) string {
	for _, c := range p.r.Connections {
		if c.Role == "connect" && c.Local == address && recording.Port(c.Remote) == recording.Port(listener) && c.PID != 0 {
			return process(c.PID, c.Comm)
		}
	}
	return ""
}

// sender is who sent what was dropped on its way to a subject.
type sender struct {
	node         Node
	device       string
	drops, total uint64
}

// receivers of what a socket sent, read off what of it was dropped on its way: an
// unconnected socket does not tell.
func (p *pathBuilder) receivers(k *scene.Socket, lane int) []peer {
	var out []peer
	seen := map[string]bool{}
	for _, d := range p.r.Drops {
		host := recording.Host(d.Dst)
		if !d.Sent || d.Inode == 0 || d.Inode != k.First().Inode || host == "" || seen[host] || len(out) == maxPeers {
			continue
		}
		seen[host] = true
		out = append(out, peer{p.node(Node{ID: "peer:" + host, Lane: lane, Kind: "peer", Title: host, Note: "port " + recording.Port(d.Dst)}), "", ""})
	}
	return out
}

// senders reads them off the drops that name the subject's address.
func (p *pathBuilder) senders(sub recording.Subject) []sender {
	byHost := map[string]*sender{}
	total := uint64(0)
	for _, d := range p.r.Drops {
		if d.Dst == "" || d.Sent || p.namespace(d.Netns) != p.namespace(sub.Netns) || recording.Port(d.Dst) != recording.Port(sub.Local) || sub.Proto != "" && d.Proto != sub.Proto {
			continue
		}
		host := recording.Host(d.Src)
		if host == "" {
			continue
		}
		if byHost[host] == nil {
			byHost[host] = &sender{device: d.Device, node: Node{ID: "peer:" + host, Lane: LanePeerIn, Kind: "peer", Title: host}}
		}
		byHost[host].drops += d.N
		total += d.N
	}
	var out []sender
	for _, s := range byHost {
		s.total = total
		out = append(out, *s)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].drops != out[j].drops {
			return out[i].drops > out[j].drops
		}
		return out[i].node.Title < out[j].node.Title
	})
	return out[:min(maxPeers, len(out))]
}
