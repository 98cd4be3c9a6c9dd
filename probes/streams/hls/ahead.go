package hls

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"snag/probes/streams/stream"
)

// given is what of a resource was loaded before a playlist listed it.
type given struct {
	uri       string
	from, end int64 // bytes
	whole     bool
}

// has reports whether a piece is in it.
func (g given) has(p piece) bool {
	if g.uri == "" || p.uri != g.uri {
		return false
	}
	if p.length == 0 {
		return g.whole && p.from == 0
	}
	return p.from >= g.from && p.from+p.length <= g.end
}

// mostRefused hints in a row that a server does not honour: then parts are loaded
// once they are listed.
const mostRefused = 3

// hinted reports whether the next part is announced and can be asked for. Of
// encrypted streams the key of what is not listed yet is not known.
func (f *follower) hinted() bool {
	h := f.list.hint
	switch {
	case h == nil || !f.list.canBlock || f.list.partTarget <= 0 || f.list.key != nil:
		return false
	case h.uri == f.given.uri && h.from < f.given.end: // it came already
		return false
	}
	return f.refused < mostRefused && f.next == f.list.end()
}

// ahead loads the part that the playlist announces before it is there
// (EXT-X-PRELOAD-HINT; rfc8216bis 6.2.6: the server holds the answer back), so that
// its frames arrive when the server has them. Beside it the playlist that lists it
// is asked for.
func (f *follower) ahead(ctx context.Context) (changed bool, err error) {
	hint := *f.list.hint
	asking, stop := context.WithCancel(ctx)
	loading, giveUp := context.WithCancel(asking)
	defer giveUp()
	defer stop()
	l := listing{told: make(chan struct{}), loaded: make(chan struct{})}
	var beside sync.WaitGroup
	beside.Go(func() { f.askOn(asking, &l, hint, giveUp) })
	l.nothing.Store(f.preload(loading, hint) == 0)
	close(l.loaded)
	select {
	case <-l.told:
	case <-ctx.Done():
	}
	stop()
	beside.Wait()
	switch p := l.latest(); {
	case ctx.Err() != nil:
		return false, nil
	case p != nil:
		return f.take(p), nil
	}
	return f.reload(ctx)
}

// preload gives the frames of a part that is not listed yet, as its bytes come,
// and says how many came.
func (f *follower) preload(ctx context.Context, hint piece) int64 {
	s := segment{init: f.list.init}
	n, err := f.load(ctx, &s, hint, f.inside, true)
	var no *status
	switch {
	case n == 0 && errors.As(err, &no):
		if f.refused++; f.refused == mostRefused {
			stream.Note(f.sink, fmt.Sprintf("%s: it announces parts and does not give them before they are listed (%s): they are loaded then, and arrive later by a request's time", f.client.shown, no.text))
		}
		return 0
	case n == 0:
		return 0 // given up: it is loaded when it is listed, if it ever is
	case err != nil && ctx.Err() == nil:
		f.sink.Count(stream.SegmentsFailed, 1)
	}
	f.refused = 0
	f.given = given{uri: hint.uri, from: hint.from, end: hint.from + n, whole: hint.from == 0 && hint.length == 0}
	f.inside = true
	return n
}

// listing is the newest playlist that came while a part was being loaded.
type listing struct {
	mu      sync.Mutex
	last    *playlist
	told    chan struct{} // closed once it is known what became of the part
	loaded  chan struct{} // closed when its load ended, …
	nothing atomic.Bool   // … with nothing: any playlist will do
}

func (l *listing) set(p *playlist) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = p
}

func (l *listing) latest() *playlist {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// askOn asks for the playlist again and again while a part is loaded: one range
// may go on over many parts. A part that is no longer announced and was not
// listed will not come.
func (f *follower) askOn(ctx context.Context, l *listing, hint piece, giveUp func()) {
	told := sync.OnceFunc(func() { close(l.told) })
	defer told()
	for list := f.list; ctx.Err() == nil; {
		p, err := f.again(ctx, list, f.patience(list))
		if err != nil {
			return // whoever waits asks again, with patience
		}
		changed := differs(p, list)
		if changed {
			f.changed.Store(f.options.Now())
		}
		l.set(p)
		list = p
		switch {
		case l.nothing.Load():
			return
		case p.lists(hint):
			told()
			select { // most are loaded by now, and nothing more is to be asked for
			case <-l.loaded:
				return
			case <-ctx.Done():
			case <-time.After(f.pause(p, true)):
			}
		case p.hint == nil || p.hint.uri != hint.uri || p.hint.from != hint.from || p.ended:
			giveUp()
			return
		}
		if p.ended {
			return
		}
		if !changed {
			sleep(ctx, f.pause(p, false))
		}
	}
}
