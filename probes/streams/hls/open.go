// Package hls reads HLS and its low-latency form over HTTP (RFC 8216,
// draft-pantos-hls-rfc8216bis) as a player does that keeps at the live edge: how
// old the playlist is, how slowly segments load, and the frames in them as their
// bytes come. They come in bursts of a segment or a part.
package hls

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"snag/probes/streams/stream"
)

// defaultTimeout is stream.Options' own.
const defaultTimeout = 5 * time.Second

// Open reads the playlist at u: of a master playlist the variant of the highest
// bandwidth, with the audio that belongs to it. It starts with the last segment
// that is listed; a playlist that has ended is not read. A part that is announced
// (EXT-X-PRELOAD-HINT) is asked for before it is there.
func Open(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("read %s: the form is http(s)://host[:port]/path.m3u8", shown(u))
	}
	c := newClient(u, o)
	defer c.close()
	p, from, err := first(ctx, c, u, o)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return refusal(c, err)
	}
	both := &shared{sink: sink}
	f := &follower{client: c, options: o, sink: both, url: from}
	if !p.master {
		return f.run(ctx, p)
	}
	v, audio, err := choose(p)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.shown, err)
	}
	f.fps = v.fps
	if audio == nil {
		return follow(ctx, f, from, v.uri)
	}
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	heard := make(chan struct{})
	beside.Go(func() {
		defer close(heard)
		// Its own connections' addresses are not the stream's.
		sound := newClient(u, o)
		defer sound.close()
		only := o
		only.Keys = nil // pictures are the other's
		g := &follower{client: sound, options: only, sink: quiet{without{both, stream.Video}}, url: from}
		if err := follow(ctx, g, from, audio.uri); err != nil && ctx.Err() == nil && !listEnded(err) {
			both.Note("its audio: " + err.Error())
		}
	})
	f.sink = without{both, stream.Audio}
	f.options.Sounds = nil // the other hands it on
	err = follow(ctx, f, from, v.uri)
	if listEnded(err) { // its last seconds are listed in the audio's playlist too, or soon will be
		select {
		case <-heard:
		case <-ctx.Done():
		case <-time.After(o.Timeout):
		}
	}
	return err
}

// listEnded reports whether a playlist that was read came to its end.
func listEnded(err error) bool {
	var e *stream.Ended
	return errors.As(err, &e) && e.Why == endlist
}

// follow reads the media playlist at uri.
func follow(ctx context.Context, f *follower, base *url.URL, uri string) error {
	u, err := f.client.join(base, uri)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.client.shown, err)
	}
	p, from, err := first(ctx, f.client, u, f.options)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return refusal(f.client, fmt.Errorf("its variant: %w", err))
	}
	if p.master {
		return fmt.Errorf("read %s: a variant of it is a master playlist again", f.client.shown)
	}
	f.url = from
	return f.run(ctx, p)
}

// first loads a playlist for the first time.
func first(ctx context.Context, c *client, u *url.URL, o stream.Options) (*playlist, *url.URL, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*o.Timeout)
	defer cancel()
	b, from, err := c.load(ctx, u, 0, 0, maxPlaylist)
	if err != nil {
		return nil, nil, err
	}
	p, err := parse(b)
	if err == nil {
		p.at = o.Now()
	}
	var not *notPlaylist
	if errors.As(err, &not) && bytes.HasPrefix(bytes.TrimSpace(b), []byte("<")) {
		err = errors.New("a web page or XML answers, not a playlist: is the URL right, and does it want a login?")
	}
	if from.User = nil; from.Host == u.Host && from.Scheme == u.Scheme {
		from.User = u.User
	}
	return p, from, err
}

// refusal makes an answer of the server its no.
func refusal(c *client, err error) error {
	var s *status
	if errors.As(err, &s) {
		return &stream.Refused{URL: c.shown, Why: err.Error()}
	}
	return fmt.Errorf("read %s: %w", c.shown, err)
}

// choose takes the variant of the highest bandwidth among those with video, and a playlist of its audio
// where it has one of its own.
func choose(p *playlist) (variant, *rendition, error) {
	if len(p.variants) == 0 {
		return variant{}, nil, errors.New("a master playlist without variants")
	}
	best := p.variants[0]
	for _, v := range p.variants[1:] {
		if best.sound && !v.sound || best.sound == v.sound && v.bandwidth > best.bandwidth {
			best = v
		}
	}
	var audio *rendition
	for i, r := range p.renditions {
		if best.audio == "" || r.group != best.audio || r.uri == best.uri {
			continue
		}
		if audio == nil || r.preferred && !audio.preferred {
			audio = &p.renditions[i]
		}
	}
	return best, audio, nil
}
