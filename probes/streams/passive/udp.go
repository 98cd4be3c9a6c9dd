package passive

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"snag/internal/packet"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
)

const (
	maxFlows = 1024
	udpIdle  = 30 * time.Second // RTCP reports come every 5 s (RFC 3550, 6.2)
)

// udpFlow is a direction of RTP or RTCP over UDP.
type udpFlow struct{ src, dst netip.AddrPort }

// datagrams are what such a flow belongs to: a track that RTSP set up, or a stream
// of its own that nothing described.
type datagrams struct {
	side  *rtspSide // of RTSP
	track int
	rtcp  bool
	own   *rtspSide // else
	last  int64
}

// overUDP learns from a SETUP's answer where a track's packets will go (RFC 2326,
// 12.39). It returns false where they can't be followed.
func (c *rtspConn) overUDP(transport string, m rtp.Media) bool {
	var client, server uint16
	from := c.server.Addr()
	for part := range strings.SplitSeq(transport, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		first, _, _ := strings.Cut(value, "-")
		n, err := strconv.ParseUint(first, 10, 16)
		switch strings.ToLower(name) {
		case "client_port":
			if err == nil {
				client = uint16(n)
			}
		case "server_port":
			if err == nil {
				server = uint16(n)
			}
		case "source":
			if a, err := netip.ParseAddr(value); err == nil {
				from = a
			}
		}
	}
	if client == 0 || server == 0 || client == 65535 || server == 65535 || len(c.w.udp) >= maxFlows {
		return false
	}
	track := len(c.tracks)
	c.tracks = append(c.tracks, rtspTrack{m, uint8(2 * track)})
	record := strings.Contains(strings.ToLower(transport), "record")
	for i := range uint16(2) {
		f := udpFlow{netip.AddrPortFrom(from, server+i), netip.AddrPortFrom(c.client.Addr(), client+i)}
		if record {
			f.src, f.dst = f.dst, f.src
		}
		for _, s := range c.sides {
			if s.toServer == record {
				c.w.udp[f] = &datagrams{side: s, track: track, rtcp: i == 1, last: c.w.last}
			}
		}
	}
	c.w.ask()
	return true
}

// ask captures the ports that RTSP told of: one of each flow is enough, as both its
// packets and its reports go between a pair of neighbours.
func (w *watcher) ask() {
	if w.more == nil {
		return
	}
	var ports []uint16
	for f, d := range w.udp {
		if d.side != nil && len(ports)+len(w.known()) < capture.MaxPorts {
			ports = append(ports, f.src.Port())
		}
	}
	w.more(ports)
}

// forget lets the flows of a direction go.
func (w *watcher) forget(s *rtspSide) {
	gone := false
	for f, d := range w.udp {
		if d.side == s {
			delete(w.udp, f)
			gone = true
		}
	}
	if gone {
		w.ask()
	}
}

// datagram takes a packet of UDP.
func (w *watcher) datagram(at int64, p *packet.Packet) {
	f := udpFlow{p.Src, p.Dst}
	d := w.udp[f]
	if d == nil {
		watched := serves(p.Src.Port(), w.ports) || serves(p.Dst.Port(), w.ports)
		if !watched || len(p.Payload) < 12 || p.Payload[0]>>6 != 2 || len(w.udp) >= maxFlows {
			return
		}
		server, client := p.Dst, p.Src
		if serves(p.Src.Port(), w.ports) && !serves(p.Dst.Port(), w.ports) {
			server, client = client, server
		}
		c := &rtspConn{w: w, server: server, client: client, protocol: "rtp", middle: true}
		d = &datagrams{own: &rtspSide{c: c, toServer: p.Dst == server}}
		w.udp[f] = d
	}
	d.last = at
	if cut := p.Len - len(p.Payload); cut > 0 {
		d.cut(at, cut) // by the snap length, or it is the first fragment of a longer one
		return
	}
	if d.own != nil {
		d.own.Packet(at, 0, p.Payload)
		return
	}
	if d.side.session == nil {
		if d.rtcp {
			return
		}
		d.side.begin(at)
	}
	if d.rtcp {
		d.side.session.RTCP(d.track, at, p.Payload)
	} else {
		d.side.session.RTP(d.track, at, p.Payload)
	}
}

// cut tells of a datagram that the capture has not whole.
func (d *datagrams) cut(at int64, n int) {
	s := d.side
	if d.own != nil {
		s = d.own
	}
	if s.sink == nil {
		s.lost += uint64(n)
		return
	}
	s.sink.Missed(at, at)
	s.sink.Sink.Count(stream.CaptureLost, uint64(n))
}

// expireUDP ends the streams of which nothing told the end.
func (w *watcher) expireUDP(at int64) {
	for f, d := range w.udp {
		if d.own != nil && at-d.last > int64(udpIdle) {
			d.own.Closed(at, "silence")
			delete(w.udp, f)
		}
	}
}
