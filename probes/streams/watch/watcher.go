package watch

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"snag/probes/streams/figures"
	"snag/probes/streams/kin"
	"snag/probes/streams/pace"
	"snag/probes/streams/stream"
	"snag/probes/streams/wire"
	"snag/recording"
)

// Options are how to watch.
type Options struct {
	// Open finds the reader for a URL; its error names the protocols that there are.
	Open func(*url.URL) (stream.Open, error)
	// Anchor turns the monotonic clock into the recording's time.
	Anchor recording.Anchor
	// Sink gets figures, rows and events; nil: nobody.
	Sink recording.Sink
	// Frames gets a line for each frame; nil: nobody.
	Frames *figures.FrameLog
	// Most is how many streams are watched at a time; 0: DefaultMost.
	Most int
	// PerSecond is how many connections are begun in a second; 0: DefaultPerSecond.
	PerSecond int
	Timeout   time.Duration // to be let in; 0: 5 s
	// MostWait is how long a stream that failed again and again is not asked for; 0: 30 s.
	MostWait time.Duration
	Now      func() int64 // the clock of the frames, ns; nil: the monotonic one
	// Seen is up to when everything was handed in (Join): where its reader is behind,
	// its streams' time stands still. 0: it has not begun; nil: it is never behind.
	Seen func() int64
	// Compare finds out which streams carry the same frames, and names those that
	// are handed in without a name by it.
	Compare bool
	// Over says that what is handed in is over already, as figures.Options has it.
	Over      bool
	Every     time.Duration // between two reads of a socket at the least; 0: as data come
	Netns     string        // path of the namespace to connect in; "": snag's own
	NetnsID   uint64        // its inode, for the recording's rows
	Threshold time.Duration // of a freeze, for streams that ask for none; 0: by their frame rate
	// Pictures says how key pictures are looked at and audio is listened to; nil: they are not, and no payload is kept.
	Pictures *Pictures
	// Remember keeps each stream's figures and events of the last day (Remembered).
	Remember bool
	// Tell gets each event, on the watch's own goroutine; nil: nobody.
	Tell func(Happened)
	// Note gets what a person must know of the watch itself, a line each; nil: nobody.
	Note func(text string)
	// MetricLabels are those of streams' labels that their series have.
	MetricLabels MetricLabels
	// Alarms are called for frozen streams.
	Alarms []*Alarms
	// Stopped is told that a stream froze, was cut off for a second, or began to be late, slow or
	// incomplete, on the watch's own goroutine:
	// somebody records the host, and will say whose fault it was (Judged). nil: nobody.
	Stopped func()
}

// Limits that hold where nobody says otherwise.
const (
	DefaultMost      = 2000
	DefaultPerSecond = 50
	tick             = 200 * time.Millisecond // a freeze is told within its threshold and two of these
)

// Watcher watches streams. What is to be watched is set by source: the command
// line, a list, a server's own list.
type Watcher struct {
	o     Options
	gate  *rate.Limiter
	pulse pulse
	slots chan struct{} // of who decodes pictures and audio

	mu      sync.Mutex
	ctx     context.Context // nil before Run
	sources []*source
	streams map[string]*one
	names   map[string]bool
	layered map[string]*layered // by the ID of their places
	record  *Record             // one more recording; nil: none
	left    int                 // wanted, not watched
	twice   map[string]bool     // notes on URLs that are asked for twice, as they stand
	asked   int                 // wanted
	meter   meter
	freezes uint64
	sick    bool  // a stream was sick once
	since   int64 // when Run began, monotonic ns
	readers sync.WaitGroup
	row     []figures.Event // room for the tick
	seen    int64           // the time of joined streams at this tick

	crowd    *kin.Crowd // nil: streams are not compared
	senders  []*Sender
	compared int64 // when they were last
}

// source is one that wants streams watched.
type source struct {
	name    string
	entries []Entry
	more    int // that are not even in entries
}

// New returns a watcher that watches nothing yet.
func New(o Options) *Watcher {
	if o.Most <= 0 {
		o.Most = DefaultMost
	}
	if o.PerSecond <= 0 {
		o.PerSecond = DefaultPerSecond
	}
	if o.Tell == nil {
		o.Tell = func(Happened) {}
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	var crowd *kin.Crowd
	if o.Compare {
		crowd = kin.New()
	}
	return &Watcher{
		crowd: crowd, slots: make(chan struct{}, mostDecoding),
		o: o, gate: rate.NewLimiter(rate.Limit(o.PerSecond), max(1, o.PerSecond/10)),
		streams: map[string]*one{}, names: map[string]bool{}, layered: map[string]*layered{},
	}
}

// Run watches until ctx ends, and returns once every reader has ended. End is to be
// called then.
func (w *Watcher) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.mu.Lock()
	w.ctx, w.since = ctx, w.now()
	for _, s := range w.streams {
		w.start(s)
	}
	w.mu.Unlock()
	var beating sync.WaitGroup
	beating.Go(func() { w.pulse.run(ctx) })
	w.tick(0)
	pace.Every(ctx, tick, func(late time.Duration) { w.tick(max(late, w.pulse.take())) })
	w.readers.Wait()
	beating.Wait()
	w.finish()
}

// Set says which streams a source wants watched from now on. Those that it no
// longer wants and nobody else does are left.
func (w *Watcher) Set(name string, entries []Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.source(name)
	// What is over the limit is counted, not kept: a list of a million lines must
	// cost no more than one that fits.
	s.entries, s.more = entries, 0
	if over := len(entries) - w.o.Most; over > 0 {
		s.entries, s.more = append([]Entry(nil), entries[:w.o.Most]...), over
	}
	w.reconcile()
}

func (w *Watcher) source(name string) *source {
	for _, s := range w.sources {
		if s.name == name {
			return s
		}
	}
	s := &source{name: name}
	w.sources = append(w.sources, s)
	return s
}

// reconcile starts and ends readers so that what is watched is what is wanted:
// what is already watched stays; who asks first gets the places that are left.
func (w *Watcher) reconcile() {
	wanted := map[string]Entry{}
	more := 0
	var order, twice []string
	for _, s := range w.sources {
		more += s.more
		for _, e := range s.entries {
			first, there := wanted[e.key()]
			if !there {
				wanted[e.key()] = e
				order = append(order, e.key())
				continue
			}
			if text := unheard(first, e); text != "" {
				twice = append(twice, text)
			}
			first.Labels = first.Labels.with(e.Labels)
			wanted[e.key()] = first
		}
	}
	w.tellTwice(twice)
	for key, s := range w.streams {
		if s.joined {
			continue
		}
		if e, ok := wanted[key]; !ok || e.Threshold != s.asked.Threshold || e.Name != s.asked.Name {
			w.drop(key, s)
		} else {
			s.asked.Labels, s.entry.Labels = e.Labels, e.Labels
		}
	}
	for _, key := range order {
		if _, ok := w.streams[key]; ok {
			continue
		}
		if len(w.streams) >= w.o.Most {
			more++
			continue
		}
		w.add(key, wanted[key])
	}
	if more > 0 && more != w.left {
		w.o.Note(fmt.Sprintf("%d streams are wanted and %d are watched, which is the limit: %d are not; more snags on more machines, or --max-streams %d",
			len(w.streams)+more, len(w.streams), more, len(w.streams)+more))
	}
	w.left, w.asked = more, len(wanted)
}

func (w *Watcher) add(key string, e Entry) {
	open, err := w.o.Open(e.URL)
	s := w.newOne(e, open)
	if err != nil { // it stays in the table, so that it is seen that nobody watches it
		s.unreadable(w.now(), err)
		w.o.Note(fmt.Sprintf("%s: %s: %v", e.From, s.shown, err))
	}
	w.streams[key] = s
	if w.ctx != nil {
		w.start(s)
	}
}

func (w *Watcher) drop(key string, s *one) {
	s.stop()
	w.closeRow(s)
	delete(w.streams, key)
	delete(w.names, w.nameKey(s.side, s.entry))
	w.leaveLayers(s)
	if s.kin.member != nil {
		s.kin.member.Leave()
	}
}

func (w *Watcher) now() int64 {
	if w.o.Now != nil {
		return w.o.Now()
	}
	return wire.Monotonic()
}

// start begins to read a stream.
func (w *Watcher) start(s *one) {
	if s.open == nil {
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	s.stop = cancel
	w.readers.Go(func() {
		defer cancel()
		w.keep(ctx, s)
	})
}

// Sick reports whether a stream froze, went down or could not be read for long; once
// the watch has ended, whether one gave no frame at all, too.
func (w *Watcher) Sick() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sick
}
