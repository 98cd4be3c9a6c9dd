package hls

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"snag/probes/streams/stream"
)

// maxKey and maxInit bound a key and an EXT-X-MAP, in bytes.
const (
	maxKey  = 64
	maxInit = 1 << 20
)

// load loads one piece and gives its frames as the bytes come; n is how many
// came. One that is ahead of the playlist is held back by the server at first.
func (f *follower) load(ctx context.Context, s *segment, p piece, goesOn, ahead bool) (n int64, err error) {
	u, err := f.client.join(f.url, p.uri)
	if err != nil {
		return 0, err
	}
	if err := f.prepare(ctx, s); err != nil {
		return 0, err
	}
	decrypt, err := f.decrypter(ctx, s)
	if err != nil {
		return 0, err
	}
	// A body that stands still for so long is given up.
	patience := f.patience(f.list)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(patience, func() { cancel(fmt.Errorf("no bytes in %v", patience)) })
	defer watch.Stop()
	began := f.options.Now()
	resp, err := f.client.get(ctx, u, p.from, p.length)
	if err != nil {
		return 0, because(ctx, err)
	}
	defer resp.Body.Close()
	if ahead {
		began = f.options.Now()
	}
	body := io.Reader(resp.Body)
	if p.length > 0 {
		body = io.LimitReader(body, p.length)
	}
	f.media.packed.sealed = f.list.sealed
	f.media.begin(goesOn && decrypt == nil)
	if f.buf == nil {
		f.buf = make([]byte, 16<<10)
	}
	for {
		got, err := body.Read(f.buf)
		if got > 0 {
			n += int64(got)
			watch.Reset(patience)
			b := f.buf[:got]
			if decrypt != nil {
				b = decrypt.feed(b)
			}
			f.media.feed(b, f.options.Now())
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return n, because(ctx, plain(err))
		}
	}
	if decrypt != nil {
		f.media.feed(decrypt.end(), f.options.Now())
	}
	if p.duration > 0 {
		f.sink.Gauge(stream.SegmentSlowness, float64(f.options.Now()-began)/1e9/p.duration)
	}
	return n, f.media.broken
}

// because is why a request was given up, if it was by us.
func because(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// prepare loads the segment's EXT-X-MAP if it is another than before.
func (f *follower) prepare(ctx context.Context, s *segment) error {
	if s.init == nil || f.ready && f.init == *s.init {
		return nil
	}
	u, err := f.client.join(f.url, s.init.uri)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*f.options.Timeout)
	defer cancel()
	b, _, err := f.client.load(ctx, u, s.init.from, s.init.length, maxInit)
	if err != nil {
		return fmt.Errorf("its EXT-X-MAP: %w", err)
	}
	if s.init.length > 0 && int64(len(b)) > s.init.length {
		b = b[:s.init.length]
	}
	f.init, f.ready = *s.init, true
	f.media.begin(false)
	f.media.feed(b, f.options.Now())
	return f.media.broken
}

// decrypter is nil for a segment that is in the clear.
func (f *follower) decrypter(ctx context.Context, s *segment) (*decrypter, error) {
	if s.key == nil {
		return nil, nil
	}
	if f.secret == nil || f.keyURI != s.key.uri {
		u, err := f.client.join(f.url, s.key.uri)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, 2*f.options.Timeout)
		defer cancel()
		b, _, err := f.client.load(ctx, u, 0, 0, maxKey)
		if err != nil {
			return nil, fmt.Errorf("its key: %w", err)
		}
		f.secret, f.keyURI = b, s.key.uri
	}
	return newDecrypter(f.secret, s.key, f.next)
}
