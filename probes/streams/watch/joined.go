package watch

import (
	"context"
	"net/url"
	"time"

	"snag/probes/streams/stream"
	"snag/recording"
)

// Joined is a stream that somebody else reads and hands in, as a passive capture
// does.
type Joined struct {
	Name     string
	Named    bool   // Name is the stream's, else its connection's
	URL      string // as it may be shown, "" for none
	Protocol string
	Side     string // one of recording.StreamSide…
	Server   string // address:port of the server's end
	Remote   string // address:port of the other
	// Lag is by how much a frame may be older than Options.Seen when it is handed in.
	Lag time.Duration
	// Leaves says that its end is nobody's trouble: a reader that went. It is then
	// no longer watched.
	Leaves bool

	stream string // Name, of the stream itself
}

// Join watches a stream that is handed in. The sink's End (an error, as
// stream.Open's) ends it. nil: there are as many streams as may be.
func (w *Watcher) Join(j Joined) interface {
	stream.Sink
	End(at int64, err error)
} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j.stream = j.Name; j.Side == recording.StreamSideConsumer && j.Named {
		j.Name += " → " + j.Remote // as many as there are readers
	}
	if j.Side == recording.StreamSideConsumer && w.own(j.Server, j.Remote) {
		return nobody{}
	}
	key := "joined " + j.Protocol + " " + j.Side + " " + j.Name
	now := w.now()
	for k, s := range w.streams { // those that came back, and those that nobody misses
		if l := s.link0(); s.joined && l.phase == away && (k == key || s.side == j.Side && s.entry.Name == j.Name || now-l.since > int64(keepGone)) {
			w.drop(k, s)
		}
	}
	if old := w.streams[key]; old != nil { // a second connection beside one that still stands
		key += " " + j.Remote
		j.Name += " from " + j.Remote
		if w.streams[key] != nil {
			return nil
		}
	}
	if len(w.streams) >= w.o.Most {
		w.left++
		return nil
	}
	u, err := url.Parse(j.URL)
	if err != nil || j.URL == "" {
		u = &url.URL{Scheme: j.Protocol, Host: j.Server}
	}
	s := w.newJoined(Entry{Name: Clean(j.Name, maxName), URL: u, From: "the capture"}, j)
	w.streams[key] = s
	return handed{&tap{Sink: s.figures, s: s, note: w.o.Note}, w, key, j.Leaves}
}

func (w *Watcher) newJoined(e Entry, j Joined) *one {
	s := w.newOneOf(e, nil, j.Side)
	s.joined, s.lag = true, int64(j.Lag)
	s.protocol, s.server, s.remote = j.Protocol, j.Server, j.Remote
	w.meet(s, &j)
	return s
}

// own reports whether a reader's connection is one of snag's own: it is in the table
// as what it is.
func (w *Watcher) own(server, remote string) bool {
	for _, s := range w.streams {
		if l := s.link0(); !s.joined && l.phase == reading && l.local == remote && l.remote == server {
			return true
		}
	}
	return false
}

// leaveOwn drops the readers that turned out to be snag's own: on a busy machine the capture sees
// such a connection before snag's reader has read that it was let in.
func (w *Watcher) leaveOwn() {
	for key, s := range w.streams {
		if s.joined && s.side == recording.StreamSideConsumer && w.own(s.server, s.remote) {
			w.drop(key, s)
		}
	}
}

// nobody takes a stream that is not to be shown.
type nobody struct{}

func (nobody) Published(int64, string, string) {}
func (nobody) Frame(stream.Frame)              {}
func (nobody) Params(stream.Params)            {}
func (nobody) Count(stream.Count, uint64)      {}
func (nobody) Gauge(stream.Gauge, float64)     {}
func (nobody) End(int64, error)                {}

// handed is what the one who reads a joined stream writes to.
type handed struct {
	*tap
	w      *Watcher
	key    string
	leaves bool
}

// End takes that the stream ended.
func (h handed) End(at int64, err error) {
	s := h.s
	s.left(at, err)
	s.figures.End(at, err)
	s.away(at, err, 0)
	if s.kin.member != nil {
		s.kin.member.Leave()
	}
	if !h.leaves {
		return
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if h.w.streams[h.key] == s {
		s.record(s.figures.Events(nil))
		h.w.drop(h.key, s)
	}
}

// Feed watches what is handed in by feed, which drives the clock: it calls tick as
// the time of Options.Now goes on. It is for a capture file, whose time is over.
func (w *Watcher) Feed(ctx context.Context, feed func(tick func()) error) error {
	w.mu.Lock()
	w.ctx, w.since = ctx, w.now()
	w.mu.Unlock()
	err := feed(func() { w.tick(0) })
	w.mu.Lock()
	for _, s := range w.streams {
		s.figures.Finish(w.now())
	}
	w.mu.Unlock()
	w.tick(0)
	w.finish()
	return err
}
