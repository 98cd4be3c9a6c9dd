package rtsp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"snag/probes/streams/rtp"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Listen

// Listen waits at rtsp-listen://[ADDRESS]:PORT/NAME for a publisher (ANNOUNCE and
// RECORD, RFC 2326 10.3 and 10.11; ffmpeg -f rtsp -rtsp_transport tcp) and reads
// what it sends, over TCP. One publisher is read; it needs no password, so listen
// where only it can come.
func Listen(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	shown := wire.Shown(u)
	port := u.Port()
	if port == "" {
		port = "554"
	}
	l, err := wire.Listen(o.Netns, net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return fmt.Errorf("read %s: listen: %w (give an address of this host and a port that is free, see ss -ltnp)", shown, err)
	}
	defer l.Close()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	deadline := time.Now().Add(o.Timeout)
	for {
		_ = l.(*net.TCPListener).SetDeadline(deadline)
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return fmt.Errorf("read %s: nobody published there within %s (ffmpeg … -f rtsp -rtsp_transport tcp rtsp://THIS-HOST:%s%s)", shown, o.Timeout, port, u.EscapedPath())
		case err != nil:
			return fmt.Errorf("read %s: accept: %w", shown, err)
		}
		c := &client{shown: shown, u: u, o: o, conn: conn, buf: make([]byte, bufFirst), timeout: 60 * time.Second}
		p := &publisher{play: play{client: c, sink: sink}, path: u.Path, deadline: time.Now().Add(o.Timeout)}
		err = p.read(ctx)
		_ = conn.Close()
		if p.tracks != nil {
			p.tracks.End()
		}
		if ctx.Err() != nil {
			return nil
		}
		if p.tracks != nil {
			return c.ended(plainly(err))
		}
		// Somebody who does not publish, or not this: the next may.
		stream.Note(sink, fmt.Sprintf("%s: %s came and published nothing: %v", shown, conn.RemoteAddr(), err))
	}
}

// publisher is a connection that publishes, or is about to.
type publisher struct {
	play
	path     string
	deadline time.Time // RECORD must come by then
}

func (p *publisher) read(ctx context.Context) error {
	report := time.Now().Add(reportEvery)
	for ctx.Err() == nil {
		m, err := p.next()
		if err == nil {
			if m.status == 0 {
				if err := p.request(m); err != nil {
					return err
				}
			}
			continue
		}
		if !errors.Is(err, errMore) {
			return err
		}
		now := time.Now()
		if p.tracks == nil && now.After(p.deadline) {
			return fmt.Errorf("no RECORD within %s", p.o.Timeout)
		}
		if p.tracks != nil {
			if p.bye {
				return rtp.ErrGoodbye
			}
			if now.After(report) {
				report = now.Add(reportEvery)
				if err := p.report(); err != nil {
					return err
				}
			}
			if p.o.Every > 0 && !p.full {
				rest(ctx, p.o.Every)
			}
		}
		if err := p.fill(time.Now().Add(tick)); errors.Is(err, errTick) {
			p.at = p.o.Now()
		} else if err != nil {
			return errors.New(strings.ReplaceAll(plainly(err).Error(), "by the server", "by the publisher"))
		}
		if p.tracks != nil {
			p.tracks.Tick(p.at)
		}
	}
	return nil
}

// request answers one; an error ends the connection.
func (p *publisher) request(m message) error {
	switch m.method {
	case "OPTIONS":
		return p.reply(m, "200 OK", field{"Public", "OPTIONS, ANNOUNCE, SETUP, RECORD, TEARDOWN, GET_PARAMETER, SET_PARAMETER"})
	case "GET_PARAMETER", "SET_PARAMETER":
		return p.reply(m, "200 OK")
	case "ANNOUNCE":
		return p.announce(m)
	case "SETUP":
		return p.setUp(m)
	case "RECORD":
		if len(p.d.Media) == 0 || p.tracks != nil {
			return p.reply(m, "455 Method Not Valid in This State")
		}
		if err := p.reply(m, "200 OK"); err != nil {
			return err
		}
		p.tracks = rtp.NewSession(p.d.Formats(), p.sink)
		p.tracks.Keys(p.o.Keys)
		p.tracks.Sounds(p.o.Sounds)
		p.onPacket = p.take
		p.sink.Published(p.o.Now(), p.conn.LocalAddr().String(), p.conn.RemoteAddr().String())
		p.tracks.Tell()
		return nil
	case "TEARDOWN":
		_ = p.reply(m, "200 OK")
		return errors.New("the publisher ended it (TEARDOWN)")
	}
	return p.reply(m, "405 Method Not Allowed")
}

func (p *publisher) announce(m message) error {
	d, err := rtp.ParseSDP(m.body)
	name := nameOf(m.uri)
	if want := strings.Trim(p.path, "/"); want != "" && name != want {
		_ = p.reply(m, "404 Not Found")
		return fmt.Errorf("it published %q", short(name))
	}
	if err != nil {
		_ = p.reply(m, "415 Unsupported Media Type")
		return err
	}
	p.d = d
	return p.reply(m, "200 OK")
}

// nameOf is the path of a request's URL; its query may have a token.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	return strings.Trim(u.Path, "/")
}

// setUp takes a track's channels. Tracks that are of no interest are let in too,
// and not read: a publisher gives up when one is refused.
func (p *publisher) setUp(m message) error {
	t := readTransport(m.get("Transport"))
	if !t.tcp {
		return p.reply(m, "461 Unsupported Transport")
	}
	for i, media := range p.d.Media {
		if media.Control != "" && lastPart(m.uri) == lastPart(media.Control) || len(p.d.Media) == 1 && media.Control == "" {
			p.channels[t.channels[0]] = channel{used: true, track: i}
			p.channels[t.channels[1]] = channel{used: true, rtcp: true, track: i}
		}
	}
	return p.reply(m, "200 OK", field{"Transport", fmt.Sprintf("RTP/AVP/TCP;unicast;interleaved=%d-%d", t.channels[0], t.channels[1])})
}

func (p *publisher) reply(m message, status string, fields ...field) error {
	var b strings.Builder
	fmt.Fprintf(&b, "RTSP/1.0 %s\r\nCSeq: %s\r\nSession: 1\r\n", status, short(m.get("CSeq")))
	for _, f := range fields {
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, f.value)
	}
	b.WriteString("\r\n")
	return p.write([]byte(b.String()))
}
