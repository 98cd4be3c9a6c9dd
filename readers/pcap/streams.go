package pcap

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"slices"

	"snag/internal/packet"
	"snag/probes/streams/passive"
	"snag/probes/streams/passive/capture"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

// media follows RTMP and RTSP on their ports, by the same passive reader that judges a
// live host's packets: it is the one reader that takes no look at the host.
type media struct {
	watcher *watch.Watcher
	feed    *passive.Feed
	tick    func()
	now     int64
	ports   []uint16
	seen    bool // a packet of their ports came
	syns    [256]syn
	next    int
	stats   passive.Stats
}

func newMedia(out recording.Sink, netns uint64) *media {
	m := &media{ports: slices.Clone(passive.Ports)}
	m.watcher = watch.New(watch.Options{
		// The frames' clock is the file's own: ns since 1970.
		Anchor: recording.Anchor{Wall: 1, Monotonic: 1}, Sink: out, NetnsID: netns,
		Now: func() int64 { return m.now }, Over: true, Compare: true,
	})
	m.feed = passive.NewFeed(passive.Options{Tick: func(at int64) {
		m.now = max(m.now, at)
		m.tick()
	}}, m.begin)
	return m
}

func (m *media) begin(d passive.Conn) stream.Sink {
	s := m.watcher.Join(watch.Joined{Name: d.Name, Named: d.Named, URL: d.URL, Protocol: d.Protocol, Side: d.Side, Server: d.Local, Remote: d.Remote})
	if s == nil {
		return unwatched{}
	}
	return s
}

// run reads the frames, with the streams' own time going on with them.
func (m *media) run(ctx context.Context, frames func() error) error {
	return m.watcher.Feed(ctx, func(tick func()) error {
		m.tick = tick
		err := frames()
		if m.seen {
			m.stats = m.feed.Close()
		}
		return err
	})
}

// mostPorts bounds the ports that are learned.
const mostPorts = 32

// take takes a packet: TCP of the streams' ports and of those on which somebody greets
// as RTMP or RTSP do; and once there was one any datagram, which may be of RTP that RTSP
// told of.
func (m *media) take(at int64, proto uint16, network []byte, wire int, p *packet.Packet) {
	switch {
	case p.Proto == packet.UDP:
		if !m.seen {
			return
		}
	case slices.Contains(m.ports, p.Src.Port()) || slices.Contains(m.ports, p.Dst.Port()):
		m.seen = true
	case p.Flags&packet.SYN != 0:
		m.keep(at, proto, network, wire, p)
		return
	case len(m.ports) < mostPorts && m.greets(p):
		m.ports = append(m.ports, p.Dst.Port())
		m.seen = true
	default:
		return
	}
	m.hand(at, proto, network, wire)
}

func (m *media) hand(at int64, proto uint16, network []byte, wire int) {
	m.now = max(m.now, at)
	m.feed.Packet(&capture.Packet{At: at, Proto: proto, Data: network, Wire: wire})
}

// syn is a connection's first packet, kept until its greeting.
type syn struct {
	at    int64
	a, b  netip.AddrPort
	seq   uint32
	proto uint16

	answer bool // a SYN-ACK
	wire   int
	n      int
	data   [120]byte
}

func (m *media) keep(at int64, proto uint16, network []byte, wire int, p *packet.Packet) {
	s := &m.syns[m.next%len(m.syns)]
	m.next++
	s.at, s.a, s.b, s.seq, s.proto, s.wire = at, p.Src, p.Dst, p.Seq, proto, wire
	s.n, s.answer = copy(s.data[:], network), p.Flags&packet.ACK != 0
}

// syn is one of those that were kept, by how far from the next.
func (m *media) syn(from int) *syn {
	return &m.syns[(m.next+from+len(m.syns))%len(m.syns)]
}

func (s *syn) between(p *packet.Packet) bool {
	return s.a == p.Src && s.b == p.Dst || s.a == p.Dst && s.b == p.Src
}

// greets reports whether a segment is a client's first and begins as RTMP's or RTSP's do, and
// hands on how the connection was opened. Any other payload may begin with such a byte.
func (m *media) greets(p *packet.Packet) bool {
	known, rtmp := greeting(p)
	if !known {
		return false
	}
	for back := 1; back <= len(m.syns); back++ {
		s := m.syn(-back)
		if s.answer || !s.between(p) {
			continue
		}
		if s.a != p.Src || p.Seq != s.seq+1 {
			return false
		}
		for ; back > 0; back-- { // and its answer
			if s := m.syn(-back); s.between(p) {
				m.hand(s.at, s.proto, s.data[:s.n], s.wire)
			}
		}
		return true
	}
	// The handshake is not in the capture, or long ago. Behind C1's time stands zero (Adobe's
	// specification of RTMP, 5.2.3), and servers have the lower port.
	b := p.Payload
	return p.Dst.Port() < p.Src.Port() && (!rtmp || b[5]|b[6]|b[7]|b[8] == 0)
}

// greeting reports whether a segment begins as a client of RTMP does (C0 and C1, 1,537 bytes
// of which the first is the version, 3), or of RTSP (a method and an rtsp address).
func greeting(p *packet.Packet) (known, rtmp bool) {
	b := p.Payload
	if len(b) < 20 || b[0] != 3 && b[0] != 'O' && b[0] != 'D' && b[0] != 'A' {
		return false, false
	}
	if b[0] == 3 {
		return p.Len >= 1000 && p.Len <= 1537, true
	}
	i := bytes.IndexByte(b[:20], ' ')
	return i > 0 && bytes.HasPrefix(b[i+1:], []byte("rtsp://")), false
}

// coverage says what of the streams was measured; nothing where there were none.
func (m *media) coverage(since recording.Time) []recording.Coverage {
	if m.stats.Streams == 0 {
		return nil
	}
	row := recording.Coverage{Probe: "streams.passive", State: recording.CoverageOK, Since: since}
	if m.stats.TCP.Lost > 0 {
		row.State = recording.CoveragePartial
		row.Why = fmt.Sprintf("%d bytes of the streams' connections are not in the capture", m.stats.TCP.Lost)
		row.Cure = "tcpdump -s 0, on these ports alone"
	}
	figures := row
	figures.Probe = "streams.figures"
	return []recording.Coverage{row, figures}
}

// unwatched is for a stream that nobody has room to watch.
type unwatched struct{}

func (unwatched) Published(int64, string, string) {}
func (unwatched) Frame(stream.Frame)              {}
func (unwatched) Params(stream.Params)            {}
func (unwatched) Count(stream.Count, uint64)      {}
func (unwatched) Gauge(stream.Gauge, float64)     {}
