// Package rtsp reads live streams over RTSP 1.0 (RFC 2326): rtsp:// and rtsp+tcp://
// over TCP, packets between the answers; rtsp+udp:// over UDP; rtsps:// over TLS.
//
// Its Params come from the SDP and from parameter sets in the stream, its frames
// from package rtp, where it is said how decoding times are derived.
package rtsp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// maxRedirects are followed.
const maxRedirects = 5

// Open reads u. The user and password of the URL are used where the server asks
// (basic, digest with MD5 or SHA-256), and never given to another host that it
// redirects to. A transport that the server does not have (461), and UDP over which
// nothing comes, is replaced by the other one, which is noted (stream.Noter).
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	udp := strings.HasSuffix(strings.ToLower(u.Scheme), "+udp")
	for range maxRedirects {
		to, err := read(ctx, u, sink, o, udp)
		if ctx.Err() != nil {
			return nil
		}
		if udp && errors.Is(err, rtp.ErrSilent) {
			stream.Note(sink, fmt.Sprintf("%s: no packet came over UDP within %s of PLAY, is a firewall or NAT between? Read over TCP", wire.Shown(u), o.Timeout))
			udp = false
			continue
		}
		if to == nil {
			return err
		}
		stream.Note(sink, wire.Shown(u)+" redirects to "+wire.Shown(to))
		u = to
	}
	return &stream.Refused{URL: wire.Shown(u), Why: fmt.Sprintf("it redirects more than %d times", maxRedirects)}
}

// read reads u; to is where the server redirects.
func read(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options, udp bool) (to *url.URL, err error) {
	c, err := dial(ctx, u, o)
	if err != nil {
		return nil, err
	}
	defer c.close()
	uri := c.u.String()
	// What it can do, for the keep-alive. One that can't even tell is asked on.
	if m, err := c.ask(ctx, "OPTIONS", uri); err != nil {
		return nil, err
	} else if m.status == 200 {
		c.public = m.get("Public")
	}
	m, err := c.ask(ctx, "DESCRIBE", uri, field{"Accept", "application/sdp"})
	if err != nil {
		return nil, err
	}
	if m.status >= 300 && m.status < 400 && m.get("Location") != "" {
		return redirect(u, m.get("Location"))
	}
	if m.status != 200 {
		return nil, c.refused("DESCRIBE", m)
	}
	base := uri
	for _, name := range []string{"Content-Location", "Content-Base"} {
		if v := m.get(name); strings.HasPrefix(strings.ToLower(v), "rtsp") {
			base = v
		}
	}
	d, err := rtp.ParseSDP(m.body)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.shown, err)
	}
	p := &play{client: c, d: d, base: base, sink: sink, udp: udp}
	defer p.closeEnds()
	return nil, p.run(ctx)
}

// redirect is the URL to go to; credentials stay with their host.
func redirect(from *url.URL, location string) (*url.URL, error) {
	to, err := from.Parse(location)
	if err != nil {
		return nil, &stream.Refused{URL: wire.Shown(from), Why: "it redirects to " + short(location) + ", which is not a URL"}
	}
	scheme := strings.ToLower(to.Scheme)
	if scheme != "rtsp" && scheme != "rtsps" {
		return nil, &stream.Refused{URL: wire.Shown(from), Why: "it redirects to " + wire.Shown(to) + ", which is not RTSP"}
	}
	if to.User == nil && to.Host == from.Host {
		to.User = from.User
	}
	if _, way, has := strings.Cut(from.Scheme, "+"); has && scheme == "rtsp" {
		to.Scheme += "+" + way
	}
	return to, nil
}

// refused says why the server did not give the stream.
func (c *client) refused(method string, m message) error {
	why := fmt.Sprintf("%d %s to %s", m.status, m.reason, method)
	switch {
	case m.status == 401 && c.user == nil:
		why += ", it wants a user and password: rtsp://user:password@…"
	case m.status == 401 && c.challenge == nil:
		why += ", it asks for a way that snag does not know: " + short(strings.Join(m.all("WWW-Authenticate"), ", "))
	case m.status == 401:
		why += ", with the URL's user and password"
	}
	return &stream.Refused{URL: c.shown, Why: why}
}

// ended is the stream's end, once there was one.
func (c *client) ended(err error) error {
	var r *stream.Refused
	if errors.As(err, &r) {
		return err
	}
	return &stream.Ended{URL: c.shown, Why: err.Error()}
}
