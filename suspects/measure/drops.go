package measure

import (
	"fmt"
	"sort"
	"strings"

	"snag/internal/units"
	"snag/recording"
	"snag/scene"
)

// BecauseOf reports whether a drop has that reason; kernels before 5.17 give none,
// and the function that freed the packet stands for it.
func BecauseOf(d recording.Drop, reason string, places ...string) bool {
	if d.Reason != "" {
		return d.Reason == reason
	}
	name, _, _ := strings.Cut(d.Place, ".") // compilers append .isra.0, .constprop.0
	for _, p := range places {
		if name == p {
			return true
		}
	}
	return false
}

// DropSteps is the growth of the drops in these rows.
func DropSteps(rows []recording.Drop) Steps {
	var out Steps
	for _, d := range rows {
		out = append(out, Step{OneSecond(d.T), float64(d.N)})
	}
	return out
}

// DropKey names a kind of drop: what else distinguishes rows is not needed
// to say who suffers.
type DropKey struct {
	Netns  uint64
	Inode  uint64
	Device string
	Proto  string
	Dst    string
}

// DropsBy gathers rows by a key, and the keys with the most drops first.
func DropsBy(rows []recording.Drop, key func(recording.Drop) (DropKey, bool)) (map[DropKey][]recording.Drop, []DropKey) {
	by := map[DropKey][]recording.Drop{}
	var order []DropKey
	for _, d := range rows {
		k, ok := key(d)
		if !ok {
			continue
		}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], d)
	}
	sort.SliceStable(order, func(i, j int) bool { return DropSteps(by[order[i]]).Sum() > DropSteps(by[order[j]]).Sum() })
	return by, order
}

// Senders are the sockets on this host that sent what these rows dropped, most
// drops first: by inode where the kernel told, else by address.
func Senders(s *scene.Scene, r *recording.Recording, rows []recording.Drop) []recording.Subject {
	n := map[scene.NodeID]uint64{}
	subject := map[scene.NodeID]recording.Subject{}
	for _, d := range ByEnds(rows) {
		var k *scene.Socket
		if d.Sent {
			k = s.SocketByInode(Namespace(r, d.Netns), d.Inode)
		}
		if k == nil {
			k = HolderOf(s, r, d.Proto, d.Src, d.Dst)
		}
		if k != nil {
			n[k.ID] += d.N
			subject[k.ID] = k.Subject
		}
	}
	var out []recording.Subject
	for _, sub := range subject {
		out = append(out, sub)
	}
	sort.Slice(out, func(i, j int) bool {
		a, b := scene.IDOf(out[i]), scene.IDOf(out[j])
		if n[a] != n[b] {
			return n[a] > n[b]
		}
		return a < b
	})
	return out[:min(len(out), MostRelated)]
}

// MostEnds bounds how many senders of a flood are looked for.
const MostEnds = 64

// ByEnds adds rows up by their two ends and returns those with the most drops:
// a flood has thousands of rows, and a steady flow one per second.
func ByEnds(rows []recording.Drop) []recording.Drop {
	type ends struct {
		proto, src, dst string
		netns, inode    uint64
	}
	at := map[ends]int{}
	var out []recording.Drop
	for _, d := range rows {
		k := ends{d.Proto, d.Src, d.Dst, d.Netns, d.Inode}
		if i, ok := at[k]; ok {
			out[i].N += d.N
			continue
		}
		at[k] = len(out)
		out = append(out, d)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].N > out[j].N })
	return out[:min(len(out), MostEnds)]
}

// MostRelated bounds the other parties that a finding names.
const MostRelated = 8

// HolderOf finds the socket, in whichever namespace of this host, that has local
// as its own end of a packet to or from remote: connected to it, or bound to
// that address, or to that port in the one namespace that has the address. Nil
// where there is none or where two could be meant.
func HolderOf(s *scene.Scene, r *recording.Recording, proto, local, remote string) *scene.Socket {
	local, remote = scene.Address(local), scene.Address(remote)
	if recording.Port(local) == "" {
		return nil
	}
	var connected, bound, wild []*scene.Socket
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != proto || k.Listening() || recording.Port(f.Local) != recording.Port(local) {
			continue
		}
		switch {
		case f.Local == local && f.Remote == remote && remote != "":
			connected = append(connected, k)
		case f.Remote != "":
		case f.Local == local:
			bound = append(bound, k)
		case IsWildcard(f.Local) && HasAddress(r, f.Netns, recording.Host(local)):
			wild = append(wild, k)
		}
	}
	for _, found := range [][]*scene.Socket{connected, bound, wild} {
		if len(found) == 1 {
			return found[0]
		}
		if len(found) > 1 {
			return nil
		}
	}
	return nil
}

// IsWildcard reports whether an address stands for all of a host's.
func IsWildcard(addr string) bool {
	h := recording.Host(addr)
	return h == "0.0.0.0" || h == "::" || h == "*"
}

// HasAddress reports whether a namespace has that address ("eth0 10.0.0.1/24").
func HasAddress(r *recording.Recording, netns uint64, addr string) bool {
	for _, n := range r.Netns {
		if n.ID != netns {
			continue
		}
		for _, a := range n.Addrs {
			if f := strings.Fields(a); len(f) > 0 {
				if ip, _, _ := strings.Cut(f[len(f)-1], "/"); ip == addr {
					return true
				}
			}
		}
	}
	return false
}

// LossOf is the doubt that a probe's losses put on a count of n: none below a
// twentieth, which is what two readings of one count may differ by anyway. A
// count that agrees with another instrument's has none: what was lost was not of
// its kind.
func LossOf(r *recording.Recording, measure string, n float64) string {
	c, _ := r.Measured(measure)
	if float64(c.Lost) <= Tolerance*n {
		return ""
	}
	return fmt.Sprintf("%s lost %s events", measure, units.Count(float64(c.Lost)))
}

// NoSocketPlaces free such a datagram on kernels without reasons.
var NoSocketPlaces = []string{"__udp4_lib_rcv", "__udp6_lib_rcv", "udp_rcv", "udpv6_rcv"}

// StrayDatagrams and more are somebody's traffic: a port scan or traceroute sends 1 to 3 to
// each port, a late DNS answer is 1; a sender of media sends 50 per second.
const StrayDatagrams = 20
