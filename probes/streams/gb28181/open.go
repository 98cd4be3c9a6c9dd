package gb28181

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"snag/probes/streams/ps"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
)

var _ stream.Open = Open

// silence ends a stream over UDP: a camera that begins anew has forgotten that it was
// asked to send, and only another INVITE brings it back.
const silence = 30 * time.Second

// Open has a camera send, and reads what comes.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	o = wire.Defaults(o)
	err := read(ctx, u, sink, o)
	if ctx.Err() != nil {
		return nil
	}
	var refused *refusal
	var ended *stream.Ended
	switch {
	case errors.As(err, &refused):
		return &stream.Refused{URL: wire.Shown(u), Why: refused.why + refused.cure}
	case errors.As(err, &ended):
		ended.URL = wire.Shown(u)
		return ended
	}
	return fmt.Errorf("read %s: %w", wire.Shown(u), err)
}

// Check reports what is wrong with the URL of a camera.
func Check(u *url.URL) error {
	a, err := Parse(u)
	if err == nil && a.Channel == "" {
		err = errors.New("it names no camera: write gb28181://HOST[:5060]/DEVICE_ID/CHANNEL_ID; --discover gb28181://HOST/DEVICE_ID watches all of its catalogue")
	}
	return err
}

func read(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	if err := Check(u); err != nil {
		return err
	}
	a, err := Parse(u)
	if err != nil {
		return err
	}
	p, release, err := peers.acquire(ctx, a, o)
	if err != nil {
		return err
	}
	defer release(ctx)
	m, err := prepare(a.Media, p.local.Addr(), o)
	if err != nil {
		return err
	}
	defer m.close()
	ssrc := p.ssrc()
	d, err := p.invite(ctx, a.Channel, ssrc, offer(a.ID, m.at, a.Media, ssrc))
	if err != nil {
		return err
	}
	defer d.bye()
	agreed, err := m.agree(ctx, a.Media, d.answer, p, o)
	if err != nil {
		return err
	}
	return d.receive(ctx, agreed, sink, o)
}

// receive reads until the stream ends, or the dialog does.
func (d *dialog) receive(ctx context.Context, from ps.Agreed, sink stream.Sink, o stream.Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-d.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := ps.Receive(ctx, from, sink, o)
	var ended *stream.Ended
	select {
	case <-d.ended:
		return &stream.Ended{Why: d.why}
	default:
	}
	if err == nil || errors.As(err, &ended) {
		return err
	}
	return fmt.Errorf("the camera accepted INVITE, and %w", err)
}

// ssrc is a live stream's (annex F: y=): 0, the middle of snag's domain, and a number.
func (p *peer) ssrc() string {
	middle := "00000"
	if isStandard(p.address.ID) {
		middle = p.address.ID[3:8]
	}
	return fmt.Sprintf("0%s%04d", middle, p.number()%10000)
}

// hostOf is the address in an answer; the peer's own where it says none that is.
func hostOf(a answer, p *peer) string {
	if ip, err := netip.ParseAddr(a.host); err == nil && !ip.IsUnspecified() {
		return ip.String()
	}
	return netip.MustParseAddrPort(p.conn.RemoteAddr().String()).Addr().Unmap().String()
}
