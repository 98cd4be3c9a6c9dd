package watch

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/gb28181"
	"snag/probes/streams/past"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
	"snag/recording"
)

// one is one stream under watch: its reader's goroutine writes the link, the
// watch's tick the rest.
type one struct {
	asked    Entry // as it was asked for: entry's name is the only one of its kind
	entry    Entry
	protocol string
	shown    string // the URL without secrets
	open     stream.Open
	figures  *figures.Meter
	writer   *figures.Writer // nil: nothing is recorded
	beside   *figures.Writer // of the recording that the host is in just now (Record)
	sink     *tap
	stop     context.CancelFunc
	side     string // one of recording.StreamSide…
	server   string // of a joined one: address:port of the server's end
	remote   string // of a joined one: the other end of its connection
	kin      kinship
	layers   *layered // nil: it is watched at one place
	place    int      // of the layers, which it is
	eye      *eye     // nil: its pictures are not looked at
	ear      *ear     // nil: nobody listens to its audio
	joined   bool     // somebody else reads it and hands it in …
	lag      int64    // … so late at the most, ns

	mu     sync.Mutex
	link   link
	remark string // the reader's last

	// Only the tick, under the watcher's lock.
	signs  signs
	first  int64 // arrival of the first frame, ever
	second figures.Second
	figure bool
	fps    curve
	drift  curve
	recent []Happened
	begins begins
	stood  stood
	begun  uint64 // freezes
	// counted is the last of them by its event's ID.
	counted uint64
	alarm   alarmState
	judged  *Judged       // the last
	past    *past.Stream  // nil: nothing is remembered
	ahead   figures.Value // s: how far its timestamps are ahead of the clock since it came
	media   float64       // s: how far they had moved at the last second
}

// tap is what a reader writes to: the figures, and beside them what the table shows.
type tap struct {
	stream.Sink // the figures, with the matching between layers before them
	s           *one
	note        func(string)
	due         atomic.Int64 // when the reader means to read next, monotonic ns; 0: it waits for data, or reads
}

// Published notes where the reader was let in.
func (t *tap) Published(at int64, local, remote string) {
	t.s.mu.Lock()
	l := &t.s.link
	l.phase, l.since, l.local, l.remote, l.retry = reading, at, local, remote, 0
	t.s.mu.Unlock()
	t.Sink.Published(at, local, remote)
}

// Params notes what the stream is made of.
func (t *tap) Params(p stream.Params) {
	if p.Kind <= stream.Audio {
		t.s.mu.Lock()
		t.s.link.params[p.Kind] = p
		t.s.mu.Unlock()
	}
	t.Sink.Params(p)
}

// Apart passes on what the figures must know.
func (t *tap) Apart(apart bool) { stream.Apart(t.Sink, apart) }

// Missed passes on what the figures must know.
func (t *tap) Missed(from, to int64) { stream.Missed(t.Sink, from, to) }

// Reason passes on why no frames come.
func (t *tap) Reason(text string) { stream.Reason(t.Sink, Clean(text, 300)) }

// Sleeps and Wakes make it a stream.Pacer.
func (t *tap) Sleeps(until int64) { t.due.Store(until) }

// Wakes tells the figures by how much the reader was late, before it gives frames.
func (t *tap) Wakes(at int64) {
	if due := t.due.Swap(0); due != 0 {
		t.s.readerLate(at, due)
	}
}

// readerLate tells the figures that at now the reader has not read since it meant to.
func (s *one) readerLate(now, due int64) {
	if late := now - due; late > int64(overdue) {
		s.figures.Late(now, late)
	}
}

// overdue is by how much a reader may be late until that is worth telling: less is how
// Go and a busy machine wake anybody.
const overdue = 50 * time.Millisecond

// Note tells a reader's remark once: readers come back, and say the same.
func (t *tap) Note(text string) {
	text = Clean(text, 300)
	t.s.mu.Lock()
	known := t.s.remark == text
	t.s.remark = text
	t.s.mu.Unlock()
	if !known {
		t.note(t.s.entry.Name + ": " + text)
	}
}

func (w *Watcher) newOne(e Entry, open stream.Open) *one {
	s := w.newOneOf(e, open, recording.StreamSidePlayer)
	s.eye, s.ear = w.newEye(), w.newEar()
	w.meet(s, nil)
	return s
}

func (w *Watcher) newOneOf(e Entry, open stream.Open, side string) *one {
	asked := e
	e.Name = w.unique(e, side)
	threshold := e.Threshold
	if threshold == 0 {
		threshold = w.o.Threshold
	}
	now := w.now()
	s := &one{asked: asked, entry: e, protocol: protocolOf(e), shown: ShownURL(e.URL), open: open, stop: func() {}, side: side, begins: begins{}}
	s.link.since = now
	s.figures = figures.New(figures.Options{
		Over: w.o.Over,
		Name: e.Name, Asked: now, Threshold: threshold, Bursty: s.protocol == "hls", OwnClock: s.protocol == "rtsp" || s.protocol == "rtp" || s.protocol == "ps", Frames: w.o.Frames,
	})
	s.layers, s.place = w.joinLayers(e)
	s.sink = &tap{Sink: s.matched(s.figures), s: s, note: w.o.Note}
	if w.o.Remember {
		s.past = &past.Stream{}
	}
	if w.o.Sink != nil {
		s.writer = figures.NewWriter(w.o.Sink, w.o.Anchor, w.place(s))
	}
	if w.record != nil {
		s.beside = w.record.writer(s)
	}
	return s
}

// protocolOf is the protocol as recording.Stream names it.
func protocolOf(e Entry) string {
	switch scheme := strings.ToLower(e.URL.Scheme); {
	case scheme == "http" || scheme == "https":
		if strings.HasSuffix(strings.ToLower(e.URL.Path), ".m3u8") {
			return "hls"
		}
		if strings.HasSuffix(strings.ToLower(e.URL.Path), ".ts") {
			return "mpegts"
		}
		return "ffprobe"
	case scheme == "udp":
		return "mpegts"
	case strings.HasPrefix(scheme, "ps+") || scheme == gb28181.Scheme:
		return "ps"
	case strings.HasPrefix(scheme, "rtsp"):
		return "rtsp"
	case scheme == "rtp" || scheme == "sdp" || scheme == "file":
		return "rtp"
	case scheme == "rtmp" || scheme == "rtmps":
		return scheme
	}
	return "ffprobe"
}

// Segmented reports whether a stream comes as a playlist and segments (HLS).
func Segmented(e Entry) bool { return protocolOf(e) == "hls" }

// comesByItself reports whether a protocol is sent to snag without being asked for.
func comesByItself(protocol string) bool {
	return protocol == "mpegts" || protocol == "rtp" || protocol == "ps"
}

// keep reads a stream, and again when it was cut off, until ctx ends.
func (w *Watcher) keep(ctx context.Context, s *one) {
	b := backoff{most: w.o.MostWait}
	var was string // the last failure that was told
	for {
		if w.gate.Wait(ctx) != nil {
			return
		}
		began := w.now()
		s.asking(began)
		s.figures.Asked(began)
		err := s.open(ctx, s.entry.URL, s.sink, stream.Options{
			Timeout: w.o.Timeout, Every: w.o.Every, Now: wire.Monotonic, Netns: w.o.Netns, Keys: s.keys(), Sounds: s.sounds(),
		})
		if ctx.Err() != nil {
			return
		}
		now := w.now()
		s.sink.due.Store(0)
		read, let := s.left(now, err)
		if err == nil {
			err = &stream.Ended{URL: s.shown, Why: "the reader ended"}
		}
		var ended *stream.Ended
		over := errors.As(err, &ended) && ended.Over
		// The same no, again and again, is one event; that what was live is a
		// recording now, none.
		if let || err.Error() != was && (!over || !s.everRead()) {
			s.figures.End(now, err)
		}
		was = err.Error()
		if over && ended.Final {
			s.away(now, err, 0)
			return
		}
		b.steady(read)
		wait := b.next(rand.Float64())
		s.away(now, err, now+int64(wait))
		if !sleep(ctx, wait) {
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func (s *one) asking(now int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link.begun == 0 {
		s.link.begun = now
	}
	s.link.asked = now
	if s.link.err == nil {
		s.link.since = now
	}
	s.link.phase, s.link.retry = asking, 0
}

// left says for how long the stream was read, and whether it was let in at all.
func (s *one) left(now int64, err error) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link.phase != reading {
		return 0, false
	}
	s.link.ends++
	s.link.err = nil // what failed before it was let in is over
	return time.Duration(now - s.link.since), true
}

func (s *one) away(now int64, err error, retry int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link.err == nil {
		s.link.since = now
	}
	var refused *stream.Refused
	var ended *stream.Ended
	s.link.phase, s.link.err, s.link.retry = away, err, retry
	s.link.refused = errors.As(err, &refused)
	s.link.over = errors.As(err, &ended) && ended.Over
}

// everRead reports whether the stream was ever let in.
func (s *one) everRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link.ends > 0
}

// unreadable is a stream that no reader is for.
func (s *one) unreadable(now int64, err error) { s.away(now, err, 0) }
