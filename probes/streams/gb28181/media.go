package gb28181

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"snag/probes/streams/ps"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

// media is where a camera is to send.
type media struct {
	at       netip.AddrPort // as the offer has it
	socket   *wire.UDP
	listener net.Listener
}

// discard is the port in an offer of who connects itself (RFC 4145 4.1).
const discard = 9

// prepare opens a port at the address that the peer knows snag by.
func prepare(way Media, local netip.Addr, o stream.Options) (*media, error) {
	m := &media{at: netip.AddrPortFrom(local, discard)}
	var err error
	switch way {
	case OverUDP:
		if m.socket, err = wire.ListenUDP(o.Netns, netip.AddrPortFrom(local, 0), o.Now); err == nil {
			m.at = netip.AddrPortFrom(local, uint16(m.socket.LocalAddr().(*net.UDPAddr).Port))
		}
	case OverTCP:
		if m.listener, err = wire.Listen(o.Netns, netip.AddrPortFrom(local, 0).String()); err == nil {
			m.at = netip.AddrPortFrom(local, uint16(m.listener.Addr().(*net.TCPAddr).Port))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listen for the camera's stream: %w", err)
	}
	return m, nil
}

func (m *media) close() {
	if m.socket != nil {
		_ = m.socket.Close()
	}
	if m.listener != nil {
		_ = m.listener.Close()
	}
}

// agree takes the camera's answer, and connects to it where that was asked for.
func (m *media) agree(ctx context.Context, way Media, sdp []byte, p *peer, o stream.Options) (ps.Agreed, error) {
	a, err := readAnswer(sdp, way)
	if err != nil {
		return ps.Agreed{}, err
	}
	if way != ToCamera {
		return ps.Agreed{Socket: m.socket, Listener: m.listener, Silence: silence}, nil
	}
	c, err := wire.Dial(ctx, o.Netns, hostOf(a, p), a.port, o.Timeout)
	if err != nil {
		return ps.Agreed{}, fmt.Errorf("connect to where the camera's answer to INVITE says that it waits: %w", err)
	}
	return ps.Agreed{Conn: c}, nil
}
