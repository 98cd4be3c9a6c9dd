package scene

import (
	"fmt"
	"net/netip"
	"strings"

	"snag/recording"
)

// overDatagrams reports whether a stream is sent to the reader over UDP.
func overDatagrams(row recording.Stream) bool {
	scheme, _, _ := strings.Cut(row.URL, ":")
	switch scheme {
	case "udp", "rtp", "sdp", "ps+udp":
		return true
	case "gb28181":
		return !strings.Contains(row.URL, "media=") // which is only given to have it over TCP
	case "rtsp", "rtsps", "rtsp+udp", "rtsp+tcp":
		return false // it is asked for over a connection: see carriesAll
	}
	return (row.Protocol == "rtp" || row.Protocol == "ps") && !strings.Contains(scheme, "tcp")
}

// carriesAll reports whether a stream's frames come over a connection: over one that
// only asks for them (RTSP with RTP over UDP) next to nothing comes.
func carriesAll(r *recording.Recording, row recording.Stream, k *Socket) bool {
	points := streamBytes(r, row)
	t := k.LastTCP()
	if len(points) == 0 || t == nil {
		return true
	}
	return 2*float64(t.BytesReceived) >= points[len(points)-1].V
}

// datagramWay is the way of a stream that comes in datagrams: one link. control is the
// server's end of the connection on which it was asked for, nil for none.
func (s *Scene) datagramWay(r *recording.Recording, row recording.Stream, control *Socket) ([]Link, string) {
	l := Link{Datagrams: true}
	for _, k := range s.Sockets {
		p := k.Owner()
		if f := k.First(); f.Proto != "udp" || p == nil || p.Subject.PID != r.Manifest.SelfPID {
			continue
		}
		if l.To == nil || k.First().Local == row.Local {
			l.To = k
		}
	}
	if l.To == nil {
		return nil, "its socket is not among those that were recorded"
	}
	switch {
	case control != nil && control.Owner() != nil:
		l.From = control // for whose it is, and where
		for _, k := range control.Owner().Sockets {
			if k.First().Proto == "udp" {
				l.From = k
			}
		}
	case control == nil:
		if l.From = s.udpAt(r, row.Remote); l.From == nil {
			l.From = s.senderTo(r, l.To)
		}
	}
	if l.From == nil {
		where := recording.Host(row.Remote)
		if where == "" {
			where = "who sends it"
		}
		return []Link{l}, fmt.Sprintf("%s is not on this host", where)
	}
	return []Link{l}, ""
}

// udpAt is the UDP socket that sends from an address, in whatever namespace has it.
func (s *Scene) udpAt(r *recording.Recording, addr string) *Socket {
	if addr == "" {
		return nil
	}
	has := s.having(r, recording.Host(addr))
	for _, k := range s.Sockets {
		f := k.First()
		if f.Proto != "udp" || recording.Port(f.Local) != recording.Port(addr) || k.Owner() == nil {
			continue
		}
		if recording.Host(f.Local) == recording.Host(addr) || has[f.Netns] && anyAddress(f.Local) {
			return k
		}
	}
	return nil
}

// senderTo is the UDP socket that is connected to a bound one; nil for none or several.
func (s *Scene) senderTo(r *recording.Recording, to *Socket) *Socket {
	f := to.First()
	var found *Socket
	for _, k := range s.Sockets {
		g := k.First()
		if g.Proto != "udp" || g.Remote == "" || k == to || recording.Port(g.Remote) != recording.Port(f.Local) {
			continue
		}
		if same := recording.Host(f.Local) == recording.Host(g.Remote); !same && (!anyAddress(f.Local) || !s.having(r, recording.Host(g.Remote))[f.Netns]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = k
	}
	return found
}

// boundUDP is the only UDP socket that a process has bound to take datagrams.
func boundUDP(p *Process) *Socket {
	var found *Socket
	for _, k := range p.Sockets {
		if f := k.First(); f.Proto == "udp" && f.Remote == "" && recording.Port(f.Local) != "0" {
			if found != nil {
				return nil
			}
			found = k
		}
	}
	return found
}

// anyAddress reports whether a socket is bound to all addresses of its namespace.
func anyAddress(local string) bool {
	host := recording.Host(local)
	return host == "0.0.0.0" || host == "::" || host == "*"
}

// having are the namespaces that have an address.
func (s *Scene) having(r *recording.Recording, host string) map[uint64]bool {
	out := map[uint64]bool{}
	want, err := netip.ParseAddr(host)
	if err != nil {
		return out
	}
	for _, n := range r.Netns {
		for _, a := range n.Addrs {
			_, text, _ := strings.Cut(a, " ")
			if p, err := netip.ParsePrefix(text); err == nil && p.Addr() == want.Unmap() {
				out[n.ID] = true
			}
		}
	}
	return out
}
