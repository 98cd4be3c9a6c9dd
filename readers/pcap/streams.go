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
	syns    [64]syn
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
	case greets(p) && len(m.ports) < mostPorts:
		m.ports = append(m.ports, p.Dst.Port())
		m.seen = true
		m.opened(p)
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
	proto uint16
	wire  int
	n     int
	data  [120]byte
}

func (m *media) keep(at int64, proto uint16, network []byte, wire int, p *packet.Packet) {
	s := &m.syns[m.next%len(m.syns)]
	m.next++
	s.at, s.a, s.b, s.proto, s.wire = at, p.Src, p.Dst, proto, wire
	s.n = copy(s.data[:], network)
}

// opened hands on how a connection was opened.
func (m *media) opened(p *packet.Packet) {
	for i := range m.syns {
		s := &m.syns[(m.next+i)%len(m.syns)]
		if s.a == p.Src && s.b == p.Dst || s.a == p.Dst && s.b == p.Src {
			m.hand(s.at, s.proto, s.data[:s.n], s.wire)
		}
	}
}

// greets tells whether a segment begins as a client of RTMP does (C0 and C1, 1,537 bytes
// of which the first is the version, 3), or of RTSP (a method and an rtsp address).
func greets(p *packet.Packet) bool {
	b := p.Payload
	if len(b) < 20 || b[0] != 3 && b[0] != 'O' && b[0] != 'D' && b[0] != 'A' {
		return false
	}
	if b[0] == 3 {
		return p.Len >= 1000 && p.Len <= 1537
	}
	i := bytes.IndexByte(b[:20], ' ')
	return i > 0 && bytes.HasPrefix(b[i+1:], []byte("rtsp://"))
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
