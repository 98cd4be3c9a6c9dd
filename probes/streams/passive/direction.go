package passive

import (
	"slices"

	"snag/probes/streams/passive/chunks"
	"snag/probes/streams/passive/interleaved"
	"snag/probes/streams/passive/tcp"
)

// rtspPorts are those on which a connection of which the beginning was not captured
// is taken for RTSP (IANA; 8554 is what servers use without root).
var rtspPorts = []uint16{554, 8554}

// pair is a connection of which nobody knows yet what it carries.
type pair struct {
	w     *watcher
	f     tcp.Flow
	sides [2]direction
	to    [2]tcp.Handler // nil: not known yet
	none  bool           // neither RTMP nor RTSP
}

// direction is one of a pair's.
type direction struct {
	p *pair
	i int // 0: what f.Src sends
}

// Data finds out what the connection carries.
func (d *direction) Data(at int64, b []byte) bool {
	p := d.p
	if p.to[0] == nil && !p.none {
		p.choose(b)
	}
	return !p.none && p.to[d.i].Data(at, b)
}

// Hole passes a hole on.
func (d *direction) Hole(at int64, n int64) bool {
	p := d.p
	if p.to[0] == nil {
		p.f.Start = false
		return !p.none
	}
	return p.to[d.i].Hole(at, n)
}

// Closed passes an end on.
func (d *direction) Closed(at int64, why string) {
	if to := d.p.to[d.i]; to != nil {
		to.Closed(at, why)
	}
}

// choose goes by the first byte of a connection, else by its port or by what its
// packets begin with: servers begin a segment with an interleaved packet.
func (p *pair) choose(b []byte) {
	server, client := ends(p.f, p.w.known())
	rtsp := slices.Contains(rtspPorts, server.Port()) || len(b) >= 5 && b[0] == '$' && b[1] < 32 && b[4]>>6 == 2
	if p.f.Start {
		rtsp = b[0] >= 'A' && b[0] <= 'Z'
		if !rtsp && b[0] != version {
			p.none = true // TLS, or another protocol
			return
		}
	}
	toServer := [2]bool{p.f.Dst == server, p.f.Src == server}
	if rtsp {
		c := &rtspConn{w: p.w, server: server, client: client, protocol: "rtsp", middle: !p.f.Start, asked: map[string]request{}}
		for i := range p.to {
			s := &rtspSide{c: c, toServer: toServer[i]}
			s.framer = interleaved.New(p.f.Start, s)
			c.sides[i], p.to[i] = s, s
		}
		return
	}
	c := &rtmpConn{w: p.w, server: server, client: client, middle: !p.f.Start}
	for i := range p.to {
		s := &rtmpSide{c: c, toServer: toServer[i]}
		s.chunks = chunks.New(p.f.Start, &p.w.pool, s)
		c.sides[i], p.to[i] = s, s
	}
}
