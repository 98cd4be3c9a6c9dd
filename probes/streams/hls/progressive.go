package hls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"snag/probes/streams/stream"
)

// Progressive reads a stream that one HTTP answer holds and that goes on: MPEG-TS,
// fragmented MP4, or bare AAC or MP3. Once bytes came, silence is a figure and no
// error.
func Progressive(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	c := newClient(u, o)
	defer c.close()
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	waiting := time.AfterFunc(o.Timeout, func() { cancel(fmt.Errorf("no answer in %v", o.Timeout)) })
	defer waiting.Stop()
	resp, err := c.get(inner, u, 0, 0)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return refusal(c, because(inner, err))
	}
	defer resp.Body.Close()
	m := newMedia(sink)
	m.ts.Live = true
	m.handOn(o)
	m.begin(false)
	buf := make([]byte, 16<<10)
	let := false
	for {
		n, err := resp.Body.Read(buf)
		if ctx.Err() != nil {
			return nil
		}
		if n > 0 {
			now := o.Now()
			waiting.Stop()
			m.feed(buf[:n], now)
			if m.broken != nil {
				return fmt.Errorf("read %s: %w: is the URL right?", c.shown, m.broken)
			}
			if !let && m.kind != unknown {
				let = true
				sink.Published(now, c.local, c.peer)
			}
		}
		if err != nil {
			m.end()
			why := "the server ended its answer"
			if !errors.Is(err, io.EOF) {
				why = because(inner, plain(err)).Error()
			}
			if !let {
				return fmt.Errorf("read %s: nothing to read: %s", c.shown, why)
			}
			return &stream.Ended{URL: c.shown, Why: why}
		}
		if o.Every > 0 && n < len(buf) {
			sleep(ctx, o.Every)
		}
	}
}
