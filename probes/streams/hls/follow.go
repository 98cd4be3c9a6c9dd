package hls

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"snag/probes/streams/stream"
)

// follower reads one media playlist.
type follower struct {
	client  *client
	options stream.Options
	sink    stream.Sink
	url     *url.URL
	fps     float64 // as the master playlist says
	media   *media

	list    *playlist
	next    uint64       // sequence number of what is to be loaded next
	part    int          // and how many parts of it have been
	inside  bool         // the last piece loaded was a part of that segment
	begun   bool         // a segment was begun
	given   given        // what was loaded ahead of the playlist
	refused int          // hints in a row that the server did not honour
	changed atomic.Int64 // when the playlist last did
	target  atomic.Int64 // its target duration, ns
	init    piece        // EXT-X-MAP that was loaded
	ready   bool         // it was
	secret  []byte       // the key
	keyURI  string
	failed  int // pieces in a row
	recent  outcomes
	buf     []byte
}

// endlist ends a playlist: it is no longer added to.
const endlist = "EXT-X-ENDLIST"

// run reads until the stream ends or can't be read. What has ended before is a
// recording: nobody watches it live, and it is not loaded.
func (f *follower) run(ctx context.Context, p *playlist) error {
	if p.ended {
		return &stream.Ended{URL: f.client.shown, Why: recorded(p), Over: true, Final: p.fixed}
	}
	f.media = newMedia(f.sink)
	f.media.handOn(f.options)
	f.media.mp4.Hint = func(p *stream.Params) {
		if p.Kind == stream.Video && p.FPS == 0 {
			p.FPS = f.fps
		}
	}
	f.list = p
	f.changed.Store(f.options.Now())
	f.target.Store(int64(p.target * float64(time.Second)))
	f.start(p)
	f.sink.Published(f.options.Now(), f.client.local, f.client.peer)
	ctx, cancel := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer cancel()
	beside.Go(func() { f.tellAge(ctx) })
	changed := true
	for {
		began := f.options.Now()
		if err := f.advance(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		if f.list.ended && f.next >= f.list.end() {
			f.media.end()
			return &stream.Ended{URL: f.client.shown, Why: endlist}
		}
		var err error
		if f.hinted() {
			changed, err = f.ahead(ctx)
		} else {
			if !f.list.canBlock {
				sleep(ctx, f.pause(f.list, changed)-time.Duration(f.options.Now()-began))
			}
			changed, err = f.reload(ctx)
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
	}
}

// recorded says why a playlist is no live stream's.
func recorded(p *playlist) string {
	seconds := 0.0
	for i := range p.segments {
		seconds += p.segments[i].duration
	}
	what := endlist
	if p.fixed {
		what = "EXT-X-PLAYLIST-TYPE:VOD"
	}
	return fmt.Sprintf("VOD: a recording of %.0f s (%s), no live stream", seconds, what)
}

// start sets where to begin: at the last whole segment.
func (f *follower) start(p *playlist) {
	f.next, f.part, f.inside, f.given = p.end(), 0, false, given{}
	if len(p.segments) > 0 {
		f.next--
	}
}

// pause is how long not to load a playlist again (6.3.4): the target duration,
// half of it when it was found unchanged; with parts, theirs.
func (f *follower) pause(p *playlist, changed bool) time.Duration {
	seconds := p.target
	if p.partTarget > 0 {
		seconds = p.partTarget
	} else if !changed {
		seconds /= 2
	}
	return time.Duration(min(max(seconds, 0.1), 60) * float64(time.Second))
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// tellAge gives the playlist's age each second, also while a request stands.
func (f *follower) tellAge(ctx context.Context) {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	for {
		f.sink.Gauge(stream.PlaylistAge, float64(f.options.Now()-f.changed.Load())/1e9)
		f.sink.Gauge(stream.TargetDuration, time.Duration(f.target.Load()).Seconds())
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// reload loads the playlist anew and reports whether it changed. What fails is tried
// again for as long as a player's buffer would last, three target durations.
func (f *follower) reload(ctx context.Context) (changed bool, err error) {
	patience := f.patience(f.list)
	began := f.options.Now()
	for {
		p, err := f.again(ctx, f.list, patience)
		if ctx.Err() != nil {
			return false, nil
		}
		if err == nil {
			return f.take(p), nil
		}
		if time.Duration(f.options.Now()-began) > patience {
			return false, &stream.Ended{URL: f.client.shown, Why: "its playlist: " + err.Error()}
		}
		sleep(ctx, max(f.pause(f.list, false), 500*time.Millisecond))
	}
}

// patience is how long a player's buffer would last: three target durations.
func (f *follower) patience(p *playlist) time.Duration {
	return max(3*time.Duration(p.target*float64(time.Second)), f.options.Timeout)
}

// again loads the playlist that follows list: where the server can, once it has
// what list has not, and without what list has.
func (f *follower) again(ctx context.Context, list *playlist, patience time.Duration) (*playlist, error) {
	ctx, cancel := context.WithTimeout(ctx, patience+f.options.Timeout)
	defer cancel()
	p, err := f.ask(ctx, list, list.skips(f.options.Now()))
	if errors.Is(err, errSkipped) {
		p, err = f.ask(ctx, list, false)
	}
	if err == nil && p.master {
		err = errors.New("a master playlist in place of the media playlist")
	}
	return p, err
}

func (f *follower) ask(ctx context.Context, list *playlist, skip bool) (*playlist, error) {
	var q []string
	if list.canBlock { // rfc8216bis 6.2.5.2: the server answers when it has this
		q = append(q, "_HLS_msn="+strconv.FormatUint(list.end(), 10))
		if list.partTarget > 0 {
			q = append(q, "_HLS_part="+strconv.Itoa(len(list.parts)))
		}
	}
	if skip {
		q = append(q, "_HLS_skip=YES")
	}
	u := *f.url
	if u.RawQuery != "" && len(q) > 0 { // as it is: it may be signed
		q = append([]string{u.RawQuery}, q...)
	}
	if len(q) > 0 {
		u.RawQuery = strings.Join(q, "&")
	}
	b, _, err := f.client.load(ctx, &u, 0, 0, maxPlaylist)
	if err != nil {
		return nil, err
	}
	p, err := parseAfter(b, list)
	if err == nil {
		p.at = f.options.Now()
	}
	return p, err
}

// differs reports whether a playlist says anything new.
func differs(p, old *playlist) bool {
	return p.sequence != old.sequence || p.end() != old.end() || len(p.parts) != len(old.parts) || p.ended != old.ended
}

// take sets the new playlist, and where to go on in it.
func (f *follower) take(p *playlist) (changed bool) {
	old := f.list
	changed = differs(p, old)
	if p.canBlock && !changed {
		p.canBlock = false // it says so and does not: no loop without a pause
	}
	f.list = p
	f.target.Store(int64(p.target * float64(time.Second)))
	if changed {
		f.changed.Store(f.options.Now())
	}
	const stale = 3 // a cache may give a playlist of a moment ago: wait for it
	back := p.sequence < old.sequence
	switch {
	case f.next > p.end() && (f.next-p.end() > stale || back && f.next-p.end() > uint64(len(p.segments))):
		back = true
		f.start(p)
	case f.next < p.sequence: // what was due has been taken out
		f.next, f.part, f.inside = p.sequence, 0, false
	}
	if back {
		f.sink.Count(stream.SequenceResets, 1)
	}
	return changed
}

// advance loads all that is listed and was not loaded.
func (f *follower) advance(ctx context.Context) error {
	p := f.list
	for f.next < p.end() && ctx.Err() == nil {
		s := &p.segments[f.next-p.sequence]
		if f.part == 0 {
			f.begin(s.discontinuity)
		}
		if f.part == 0 && (len(s.parts) == 0 || !f.given.has(s.parts[0])) {
			if err := f.piece(ctx, s, s.piece, false); err != nil {
				return err
			}
		} else if err := f.parts(ctx, s, s.parts); err != nil {
			return err
		}
		f.media.end()
		f.next, f.part, f.inside = f.next+1, 0, false
	}
	if f.next != p.end() || len(p.parts) == 0 {
		return nil
	}
	// The segment under way: its map and key are those of the one before.
	s := segment{discontinuity: p.discPending, init: p.init, key: p.key}
	if f.part == 0 {
		f.begin(s.discontinuity)
	}
	return f.parts(ctx, &s, p.parts)
}

// parts loads what of a segment's parts was not loaded yet.
func (f *follower) parts(ctx context.Context, s *segment, parts []piece) error {
	for ; f.part < len(parts) && ctx.Err() == nil; f.part++ {
		if f.given.has(parts[f.part]) {
			continue
		}
		if err := f.piece(ctx, s, parts[f.part], f.inside); err != nil {
			return err
		}
		f.inside = true
	}
	return nil
}

// begin counts a break against the segment before; nothing was read before the
// first, which nginx-rtmp marks too.
func (f *follower) begin(discontinuity bool) {
	if discontinuity && f.begun {
		f.sink.Count(stream.Discontinuities, 1)
	}
	f.begun = true
}

// mostFailed pieces in a row are no accident.
const mostFailed = 5

// piece loads a segment or a part and gives its frames. One that can't be had is
// counted, and the stream goes on without it.
func (f *follower) piece(ctx context.Context, s *segment, p piece, goesOn bool) error {
	if p.gap {
		return nil
	}
	_, err := f.load(ctx, s, p, goesOn, false)
	if ctx.Err() != nil {
		return nil
	}
	stream.Reason(f.sink, f.recent.add(err))
	if err == nil {
		f.failed = 0
		return nil
	}
	f.sink.Count(stream.SegmentsFailed, 1)
	if f.failed++; f.failed < mostFailed && !f.list.ended {
		return nil
	}
	var no *status
	if errors.As(err, &no) {
		return &stream.Refused{URL: f.client.shown, Why: "its segments: " + err.Error()}
	}
	return fmt.Errorf("read %s: its segments: %w", f.client.shown, err)
}
