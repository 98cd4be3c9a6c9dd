package rtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// Open receives RTP over UDP, as it is sent to this host or to a group:
//
//	sdp:///path/to/file.sdp, file:///….sdp   what the SDP says, at the addresses in it
//	rtp://:5004?codec=H264                   one track; of the address, if there is one, or any
//	rtp://239.1.2.3:5004?codec=H264          a group's
//
// Without an SDP codec is the name that an a=rtpmap would have (H264, H265,
// mpeg4-generic, opus, PCMA …), rate its clock (90000 for video, else 48000), pt
// the payload type (96), fmtp the parameters. RTCP is received one port above, and
// the sender gets a report every 5 s once its own tell where it is.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	d, err := describe(u)
	if err != nil {
		return fmt.Errorf("read %s: %w", wire.Shown(u), err)
	}
	ends, err := listen(d, o)
	if err != nil {
		return fmt.Errorf("read %s: %w", wire.Shown(u), err)
	}
	defer func() {
		for _, e := range ends {
			e.Close()
		}
	}()
	s := NewSession(d.Formats(), sink)
	s.Keys(o.Keys)
	s.Sounds(o.Sounds)
	err = s.Receive(ctx, ends, Receiving{Timeout: o.Timeout, Every: o.Every, Now: o.Now, First: func(at int64, from, to string) {
		sink.Published(at, to, from)
		s.Tell()
	}})
	switch {
	case errors.Is(err, ErrSilent):
		return fmt.Errorf("read %s: %w at %s within %s (is it sent there, and is no firewall between?)", wire.Shown(u), err, places(ends), o.Timeout)
	case errors.Is(err, ErrGoodbye):
		return &stream.Ended{URL: wire.Shown(u), Why: err.Error()}
	case ctx.Err() != nil:
		return nil
	}
	return &stream.Ended{URL: wire.Shown(u), Why: "its sockets were closed"}
}

func places(ends []Ends) string {
	var all []string
	for _, e := range ends {
		all = append(all, e.RTP.LocalAddr().String())
	}
	return strings.Join(all, " and ")
}

// describe finds what is to be received.
func describe(u *url.URL) (Description, error) {
	if strings.EqualFold(u.Scheme, "rtp") {
		return plain(u)
	}
	path := u.Host + u.Path
	if u.Opaque != "" {
		path = u.Opaque
	}
	f, err := os.Open(path)
	if err != nil {
		return Description{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxSDP+1))
	if err != nil {
		return Description{}, err
	}
	d, err := ParseSDP(b)
	if err != nil {
		return d, err
	}
	for _, m := range d.Media {
		if m.Port == 0 {
			return d, fmt.Errorf("the SDP gives no port for its %s (m=%s 0): it is of a server that is asked for it, as with rtsp://", m.Kind, m.Kind)
		}
	}
	return d, nil
}

// plain is what rtp:// and its query say.
func plain(u *url.URL) (Description, error) {
	q := u.Query()
	name := q.Get("codec")
	if name == "" {
		return Description{}, errors.New("RTP does not say what it carries: give the sender's SDP (sdp:///path/to/file.sdp), or ?codec=H264 (H265, opus, PCMA …); MPEG-TS in RTP is read by udp://")
	}
	kind, rate := stream.Video, 90000
	if c := encodings[strings.ToUpper(name)]; !video(c) {
		kind, rate = stream.Audio, 48000
		if strings.HasPrefix(c, "pcm") || c == "g722" {
			rate = 8000
		}
	}
	pt := 96
	for _, p := range []struct {
		key  string
		into *int
		most int
	}{{"rate", &rate, 1_000_000}, {"pt", &pt, 127}} {
		v := q.Get(p.key)
		if v == "" {
			continue
		}
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > p.most {
			return Description{}, fmt.Errorf("%s=%s is not a number up to %d", p.key, v, p.most)
		}
		*p.into = n
	}
	f, err := NewFormat(kind, uint8(pt), name, uint32(rate), 0, q.Get("fmtp"))
	if err != nil {
		return Description{}, err
	}
	port, err := strconv.Atoi(u.Port())
	if err != nil || port < 1 || port > 65534 {
		return Description{}, fmt.Errorf("port %q is not a number from 1 to 65534", u.Port())
	}
	return Description{Media: []Media{{Format: f, Address: u.Hostname(), Port: port, RTCPPort: port + 1}}}, nil
}

func video(codec string) bool {
	switch codec {
	case "h264", "hevc", "av1", "vp8", "vp9", "mjpeg", transport:
		return true
	}
	return false
}

// listen opens the sockets of every track.
func listen(d Description, o stream.Options) ([]Ends, error) {
	var ends []Ends
	for _, m := range d.Media {
		addr, err := bindTo(m.Address)
		if err == nil {
			var e Ends
			if e, err = pair(addr, m, o); err == nil {
				ends = append(ends, e)
				continue
			}
		}
		for _, e := range ends {
			e.Close()
		}
		if wire.InUse(err) {
			err = fmt.Errorf("%w (another program receives there; see ss -ulpn)", err)
		}
		return nil, fmt.Errorf("listen for the %s: %w", m.Kind, err)
	}
	return ends, nil
}

// bindTo is the address to receive at: a group, an address of this host, or any.
func bindTo(host string) (netip.Addr, error) {
	if host == "" || host == "@" {
		return netip.Addr{}, nil // of both families
	}
	if host == "localhost" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return a, fmt.Errorf("%q is not an address: give a group or an address of this host", host)
	}
	return a, nil
}

func pair(addr netip.Addr, m Media, o stream.Options) (Ends, error) {
	// An SDP names the receiver, which may be seen from here under another address.
	open := func(port int) (*wire.UDP, error) {
		u, err := wire.ListenUDP(o.Netns, netip.AddrPortFrom(addr, uint16(port)), o.Now)
		var oe *net.OpError
		if errors.As(err, &oe) && !wire.InUse(err) && !addr.IsMulticast() {
			return wire.ListenUDP(o.Netns, netip.AddrPortFrom(netip.Addr{}, uint16(port)), o.Now)
		}
		return u, err
	}
	r, err := open(m.Port)
	if err != nil {
		return Ends{}, err
	}
	c, err := open(m.RTCPPort)
	if err != nil {
		_ = r.Close()
		return Ends{}, err
	}
	return Ends{RTP: r, RTCP: c}, nil
}
