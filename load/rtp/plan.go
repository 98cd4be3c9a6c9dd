package rtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"snag/load"
)

// Plan is what to send.
type Plan struct {
	Address string // host:port of RTP; RTCP is the next port
	Name    string // the URL, to show
	Senders int
	Shape   Shape // of each
	For     time.Duration
	Options load.SocketOptions
}

// Parse reads rtp+udp://HOST:PORT.
func Parse(text string) (address string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Port() == "" || u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.User != nil {
		return "", fmt.Errorf("%q is not a target of RTP: rtp+udp://HOST:PORT", text)
	}
	if n, err := strconv.Atoi(u.Port()); err != nil || n < 1 || n > 65534 {
		return "", fmt.Errorf("%s: a port from 1 to 65534: the next one is for RTCP", text)
	}
	return u.Host, nil
}

// Bounds of a plan.
const (
	leastBitrate, mostBitrate = 100, 100e9
	mostFPS                   = 1000
	mostKeySize               = 1000
	mostGOP                   = time.Hour
	mostSenders               = load.MostConns / 2 // each has two sockets
	mostFrame                 = 64 << 20
)

// Check says what is wrong with a plan before anything is sent.
func (p Plan) Check() error {
	s := p.Shape
	switch {
	case p.Senders < 1 || p.Senders > mostSenders:
		return fmt.Errorf("%d senders: from 1 to %d", p.Senders, mostSenders)
	case !(s.Bitrate >= leastBitrate && s.Bitrate <= mostBitrate):
		return fmt.Errorf("a bit rate of %g: from %d to %g bit/s", s.Bitrate, leastBitrate, float64(mostBitrate))
	case !(s.FPS > 0 && s.FPS <= mostFPS):
		return fmt.Errorf("%g frames per second: more than 0, up to %d", s.FPS, mostFPS)
	case s.GOP < 0 || s.GOP > mostGOP:
		return fmt.Errorf("key frames every %v: from 0 s (all are key frames) to %v", s.GOP, mostGOP)
	case !(s.KeySize >= 1 && s.KeySize <= mostKeySize):
		return fmt.Errorf("a key frame of %g times an ordinary one: from 1 to %d", s.KeySize, mostKeySize)
	case s.size(0) > mostFrame:
		return fmt.Errorf("a key frame of %d bytes: up to %d", s.size(0), mostFrame)
	case p.For <= 0:
		return errors.New("a load needs some time: longer than 0 s")
	}
	return nil
}

// Here reports whether the receiver's address is this host's own.
func (p Plan) Here(ctx context.Context) (bool, error) {
	return load.Target{Address: p.Address}.Here(ctx)
}

// addresses are the receiver's, of RTP and of RTCP.
func (p Plan) addresses(ctx context.Context) (media, control *net.UDPAddr, err error) {
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return nil, nil, err
	}
	ips, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, nil, fmt.Errorf("find the address of %s: %w", host, err)
	}
	ip := ips[0]
	for _, a := range ips {
		if a.IP.To4() != nil {
			ip = a
			break
		}
	}
	n, err := strconv.Atoi(port)
	return &net.UDPAddr{IP: ip.IP, Zone: ip.Zone, Port: n}, &net.UDPAddr{IP: ip.IP, Zone: ip.Zone, Port: n + 1}, err
}
