package rtsp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"time"

	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// play is one stream being set up and played.
type play struct {
	*client
	d         rtp.Description
	base      string
	sink      stream.Sink
	udp       bool
	bothTried bool

	pace     stream.Pacer
	tracks   *rtp.Session
	channels [256]channel // TCP
	ends     []rtp.Ends   // UDP
	own      uint32       // SSRC of the reports
	bye      bool
}

// channel is what an interleaved channel carries.
type channel struct {
	used, rtcp bool
	track      int
}

func (p *play) closeEnds() {
	for _, e := range p.ends {
		e.Close()
	}
}

func (p *play) run(ctx context.Context) error {
	p.pace = stream.Pace(p.sink)
	p.tracks = rtp.NewSession(p.d.Formats(), p.sink)
	p.tracks.Keys(p.o.Keys)
	p.tracks.Sounds(p.o.Sounds)
	p.own = rand.Uint32()
	var controls []string
	for i, m := range p.d.Media {
		control := resolve(p.base, m.Control)
		controls = append(controls, control)
		if err := p.setup(ctx, i, control); err != nil {
			return err
		}
	}
	if !p.udp {
		p.onPacket = p.take
	}
	m, err := p.begin(ctx)
	if err != nil {
		return err
	}
	for track, rtptime := range readRTPInfo(m.get("RTP-Info"), controls) {
		p.tracks.Origin(track, rtptime)
	}
	if p.udp {
		return p.overUDP(ctx)
	}
	p.sink.Published(p.o.Now(), p.conn.LocalAddr().String(), p.conn.RemoteAddr().String())
	p.tracks.Tell()
	defer p.tracks.End()
	return p.listen(ctx)
}

// begin sends PLAY. Packets that come before its answer are kept out: Published
// and the clocks' origin come first.
func (p *play) begin(ctx context.Context) (message, error) {
	take := p.onPacket
	p.onPacket = nil
	defer func() { p.onPacket = take }()
	uri := resolve(p.base, p.d.Control)
	m, err := p.ask(ctx, "PLAY", uri, field{"Range", "npt=0.000-"})
	if err == nil && m.status == 457 { // Invalid Range: a live stream has none
		m, err = p.ask(ctx, "PLAY", uri)
	}
	if err == nil && m.status != 200 {
		err = p.refused("PLAY", m)
	}
	return m, err
}

// setup sets a track up; the first one that is refused its transport (461) is
// asked for by the other.
func (p *play) setup(ctx context.Context, track int, control string) error {
	var port uint16
	if p.udp {
		e, at, err := p.sockets()
		if err != nil {
			return fmt.Errorf("read %s: %w", p.shown, err)
		}
		p.ends, port = append(p.ends, e), at
	}
	m, err := p.ask(ctx, "SETUP", control, field{"Transport", offer(p.udp, track, port)})
	if err != nil {
		return err
	}
	if m.status == 461 && track == 0 && !p.bothTried {
		p.udp = !p.udp
		names := map[bool]string{true: "UDP", false: "TCP"}
		stream.Note(p.sink, fmt.Sprintf("%s: the server refused %s (461 %s): read over %s", p.shown, names[!p.udp], m.reason, names[p.udp]))
		p.closeEnds()
		p.ends = nil
		p.bothTried = true
		return p.setup(ctx, track, control)
	}
	if m.status != 200 {
		return p.refused("SETUP", m)
	}
	if v := m.get("Session"); v != "" {
		p.session, p.timeout = readSession(v)
	}
	t := readTransport(m.get("Transport"))
	if !p.udp {
		if t.channels == [2]uint8{} {
			t.channels = [2]uint8{uint8(2 * track), uint8(2*track + 1)}
		}
		p.channels[t.channels[0]] = channel{used: true, track: track}
		p.channels[t.channels[1]] = channel{used: true, rtcp: true, track: track}
		return nil
	}
	p.punch(track, t)
	return nil
}

// sockets opens a pair of ports, the even one for RTP (RFC 3550 11).
func (p *play) sockets() (rtp.Ends, uint16, error) {
	local, err := netip.ParseAddrPort(p.conn.LocalAddr().String())
	if err != nil {
		return rtp.Ends{}, 0, err
	}
	for range 50 {
		port := uint16(20000 + 2*rand.IntN(20000))
		r, err := wire.ListenUDP(p.o.Netns, netip.AddrPortFrom(local.Addr(), port), p.o.Now)
		if err != nil {
			if !wire.InUse(err) {
				return rtp.Ends{}, 0, err
			}
			continue
		}
		c, err := wire.ListenUDP(p.o.Netns, netip.AddrPortFrom(local.Addr(), port+1), p.o.Now)
		if err != nil {
			_ = r.Close()
			continue
		}
		return rtp.Ends{RTP: r, RTCP: c}, port, nil
	}
	return rtp.Ends{}, 0, errors.New("find two free UDP ports of 20000–59999: 50 tries all met one in use (use rtsp:// over TCP)")
}

// punch reports what a track's packets come from, and sends something there so that
// a NAT or firewall between lets them in. Only the server itself is sent to.
func (p *play) punch(track int, t transport) {
	server, err := netip.ParseAddrPort(p.conn.RemoteAddr().String())
	if err != nil {
		return
	}
	e := &p.ends[track]
	e.From = t.sourceOf(server.Addr())
	if t.server[0] == 0 || e.From != server.Addr().Unmap() {
		return
	}
	e.To = netip.AddrPortFrom(server.Addr(), t.server[1])
	empty := [12]byte{0x80} // an RTP header and nothing else
	_, _ = e.RTP.WriteToUDPAddrPort(empty[:], netip.AddrPortFrom(server.Addr(), t.server[0]))
	_, _ = e.RTCP.WriteToUDPAddrPort([]byte{0x80, 201, 0, 1, 0, 0, 0, 0}, e.To) // an empty receiver report
}

// overUDP receives what comes over UDP while the connection is kept.
func (p *play) overUDP(ctx context.Context) error {
	local, remote := "", ""
	if len(p.ends) > 0 {
		local, remote = p.ends[0].RTP.LocalAddr().String(), p.conn.RemoteAddr().String()
	}
	p.sink.Published(p.o.Now(), local, remote)
	p.tracks.Tell()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() {
		err := p.tracks.Receive(ctx, p.ends, rtp.Receiving{Timeout: p.o.Timeout, Every: p.o.Every, Now: p.o.Now})
		cancel()
		done <- err
	}()
	kept := p.listen(ctx)
	cancel()
	err := <-done
	switch {
	case errors.Is(err, rtp.ErrSilent):
		return fmt.Errorf("read %s: %w over UDP within %s after PLAY (is a firewall or NAT between? rtsp:// reads over TCP)", p.shown, err, p.o.Timeout)
	case err != nil:
		return p.ended(err)
	}
	return kept
}

// take gives an interleaved packet to its track.
func (p *play) take(ch uint8, at int64, b []byte) {
	c := p.channels[ch]
	switch {
	case !c.used:
	case c.rtcp:
		p.bye = p.tracks.RTCP(c.track, at, b) || p.bye
	default:
		p.tracks.RTP(c.track, at, b)
	}
}

// listen reads the connection until the stream ends.
func (p *play) listen(ctx context.Context) error {
	k := keeper{play: p}
	k.next = time.Now().Add(p.timeout / 2)
	report := time.Now().Add(reportEvery)
	for ctx.Err() == nil {
		m, err := p.next()
		switch {
		case errors.Is(err, errMore):
		case err != nil:
			return p.ended(err)
		case m.status == 0:
			if err := p.serve(m); err != nil {
				return p.ended(err)
			}
			continue
		default:
			if err := k.answer(m); err != nil {
				return p.ended(err)
			}
			continue
		}
		if p.bye {
			return p.ended(rtp.ErrGoodbye)
		}
		now := time.Now()
		if err := k.keep(now); err != nil {
			return p.ended(err)
		}
		if !p.udp && now.After(report) {
			report = now.Add(reportEvery)
			if err := p.report(); err != nil {
				return p.ended(err)
			}
		}
		if p.o.Every > 0 && !p.udp && !p.full {
			p.pace.Sleeps(p.o.Now() + int64(p.o.Every))
			rest(ctx, p.o.Every)
			p.pace.Wakes(p.o.Now())
		}
		if err := p.fill(time.Now().Add(tick)); errors.Is(err, errTick) {
			p.at = p.o.Now()
		} else if err != nil {
			return p.ended(plainly(err))
		}
		if !p.udp {
			p.tracks.Tick(p.at)
		}
	}
	return nil
}

// tick is how long a hole in a track is not looked at at the most.
const tick = 100 * time.Millisecond

// reportEvery is RFC 3550 6.2's least interval.
const reportEvery = 5 * time.Second

// report sends each track's receiver report, on its channel.
func (p *play) report() error {
	for ch, c := range p.channels {
		if !c.used || !c.rtcp {
			continue
		}
		b := p.tracks.Report(c.track, p.o.Now(), p.own)
		if b == nil {
			continue
		}
		if err := p.write(append([]byte{'$', uint8(ch), uint8(len(b) >> 8), uint8(len(b))}, b...)); err != nil {
			return err
		}
	}
	return nil
}

// plainly is a read's error without addresses and the like: "connection reset by peer".
func plainly(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		text := op.Err.Error()
		return errors.New(text[strings.LastIndexByte(text, ':')+1:])
	}
	return err
}

func rest(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
