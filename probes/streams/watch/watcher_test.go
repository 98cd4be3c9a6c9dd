package watch

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

// fake is a server that gives streams of 25 frames per second; how one is given
// follows from its URL's path.
type fake struct {
	opened atomic.Int64
	open   atomic.Int64
	most   atomic.Int64
	freeze atomic.Bool // streams under /freezes stand still
}

func (f *fake) of(u *url.URL) (stream.Open, error) {
	if u.Scheme != "rtmp" {
		return nil, errors.New("unknown scheme " + u.Scheme)
	}
	return f.read, nil
}

func (f *fake) read(ctx context.Context, u *url.URL, sink stream.Sink, o stream.Options) error {
	f.opened.Add(1)
	n := f.open.Add(1)
	defer f.open.Add(-1)
	for was := f.most.Load(); n > was && !f.most.CompareAndSwap(was, n); was = f.most.Load() {
	}
	switch {
	case strings.HasPrefix(u.Path, "/refuses"):
		return &stream.Refused{URL: ShownURL(u), Why: "NetStream.Play.StreamNotFound"}
	case strings.HasPrefix(u.Path, "/dead"):
		return errors.New("connect to " + u.Host + ": connection refused")
	case strings.HasPrefix(u.Path, "/vod"):
		return &stream.Ended{URL: ShownURL(u), Why: "VOD: a recording of 10 s", Over: true, Final: strings.HasSuffix(u.Path, "/final")}
	}
	sink.Published(o.Now(), "127.0.0.1:4444", "127.0.0.1:1935")
	sink.Params(stream.Params{Kind: stream.Video, Codec: "h264", Width: 320, Height: 180, FPS: 25})
	t := time.NewTicker(40 * time.Millisecond)
	defer t.Stop()
	var dts int64
	held := 0 // frames that come at once when a freeze is over
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
		if strings.HasPrefix(u.Path, "/freezes") && f.freeze.Load() {
			held++
			continue
		}
		if strings.HasPrefix(u.Path, "/ends") && i == 30 {
			return &stream.Ended{URL: ShownURL(u), Why: "NetStream.Play.UnpublishNotify"}
		}
		for ; held >= 0; held-- {
			dts += int64(40 * time.Millisecond)
			sink.Frame(stream.Frame{Kind: stream.Video, Key: i%50 == 0, Arrival: o.Now(), DTS: dts, PTS: dts, Size: 1000})
		}
		held = 0
	}
}

// list collects what a watcher tells.
type told struct {
	mu     sync.Mutex
	events []Happened
	notes  []string
}

func (l *told) event(h Happened) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, h)
}

func (l *told) note(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notes = append(l.notes, s)
}

func (l *told) has(stream, kind string, phase figures.Phase) *Happened {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, h := range l.events {
		if h.Stream == stream && h.Kind == kind && h.Phase == phase {
			return &l.events[i]
		}
	}
	return nil
}

func entries(t testing.TB, raw ...string) []Entry {
	t.Helper()
	var out []Entry
	for _, r := range raw {
		e, err := NewEntry(r, "the test")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// running starts a watcher; the returned function ends it and waits.
func running(w *Watcher) func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
		w.End()
	}
}

// await waits until something is so.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if so() {
			return
		}
	}
	t.Fatalf("%s: not within 10 s", what)
}

func row(w *Watcher, name string) Row {
	snap := w.Snapshot()
	for _, r := range snap.Rows {
		if r.Name == name {
			return r
		}
	}
	return Row{State: States}
}

func TestWatch(t *testing.T) {
	var f fake
	var l told
	action := &noted{}
	alarms := NewAlarms("--on-freeze", action, DefaultLimits, true, func(string) {})
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Tell: l.event, Note: l.note, Alarms: []*Alarms{alarms}})
	w.Set("args", entries(t, "rtmp://a/freezes", "rtmp://a/well", "rtmp://a/refuses", "rtmp://b/dead", "rtmp://a/ends", "gopher://c/x"))
	stop := running(w)
	defer stop()
	await(t, "each is as it must be", func() bool {
		return row(w, "freezes").State == OK && row(w, "well").State == OK && row(w, "refuses").State == Refused &&
			row(w, "dead").State == NoAnswer && row(w, "x").State == NoAnswer
	})
	await(t, "a stream that ended is down", func() bool { return row(w, "ends").State == Down })
	if r := row(w, "refuses"); !strings.Contains(r.Why, "StreamNotFound") || r.Retry == 0 {
		t.Errorf("%q, %v", r.Why, r.Retry)
	}
	f.freeze.Store(true)
	began := time.Now()
	await(t, "a freeze is told", func() bool { return l.has("freezes", recording.EventStreamFreeze, figures.Begun) != nil })
	if took := time.Since(began); took > 4*time.Second { // its threshold is 1 s; the machine may be busy
		t.Errorf("a freeze was told after %s", took)
	}
	await(t, "the table and the alarm know", func() bool {
		action.mu.Lock()
		defer action.mu.Unlock()
		return row(w, "freezes").State == Frozen && len(action.called) > 0 && action.called[0] == "freeze freezes"
	})
	if !w.Sick() {
		t.Error("a watch with a freeze was well")
	}
	f.freeze.Store(false)
	await(t, "its end is told", func() bool { return l.has("freezes", recording.EventStreamFreeze, figures.Ended) != nil })
	await(t, "it is well again", func() bool { return row(w, "freezes").State == OK })
	if e := l.has("freezes", recording.EventStreamFreeze, figures.Ended); e.Value < 1 || e.Value > 12 {
		t.Errorf("frozen for %v", e.Value)
	}
	refusals := 0
	for _, h := range l.events {
		if h.Stream == "refuses" && h.Kind == recording.EventStreamRefused {
			refusals++
		}
	}
	if refusals != 1 {
		t.Errorf("one refusal was told %d times", refusals)
	}
}

func TestWatchFollowsWhatIsWanted(t *testing.T) {
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	stop := running(w)
	defer stop()
	w.Set("list", entries(t, "rtmp://a/1", "rtmp://a/2"))
	w.Set("args", entries(t, "rtmp://a/2", "rtmp://b/2"))
	await(t, "three streams are read", func() bool { return f.open.Load() == 3 })
	names := map[string]bool{}
	for _, r := range w.Snapshot().Rows {
		names[r.Name] = true
	}
	if len(names) != 3 || !names["1"] || !names["2"] || !names["b/2"] {
		t.Errorf("called %v", names)
	}
	opened := f.opened.Load()
	w.Set("list", entries(t, "rtmp://a/2", "rtmp://a/3"))
	await(t, "one went, one came", func() bool { return f.open.Load() == 3 && f.opened.Load() == opened+1 })
	renamed := entries(t, "rtmp://a/2", "rtmp://a/3")
	renamed[1].Name = "Third"
	w.Set("list", renamed)
	await(t, "a stream has its new name", func() bool { return row(w, "Third").State == OK && row(w, "3").State == States })
	w.Set("list", nil)
	w.Set("args", nil)
	await(t, "nobody is read", func() bool { return f.open.Load() == 0 && len(w.Snapshot().Rows) == 0 })
}

// Ten thousand URLs are ten thousand lines, not ten thousand readers, and not a
// storm of connections.
func TestWatchIsBounded(t *testing.T) {
	var f fake
	var l told
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Note: l.note, Most: 100, PerSecond: 40})
	var many []string
	for i := range 10000 {
		many = append(many, fmt.Sprintf("rtmp://a/cam%d", i))
	}
	w.Set("list", entries(t, many...))
	began := time.Now()
	stop := running(w)
	defer stop()
	time.Sleep(time.Second)
	allowed := 40*time.Since(began).Seconds() + 5
	if n := float64(f.opened.Load()); n > allowed || n < 10 {
		t.Errorf("%v connections begun where %v are allowed", n, allowed)
	}
	snap := w.Snapshot()
	if len(snap.Rows) != 100 || snap.Left != 9900 {
		t.Errorf("%d are watched, %d not", len(snap.Rows), snap.Left)
	}
	if len(l.notes) != 1 || !strings.Contains(l.notes[0], "10000 streams are wanted and 100 are watched, which is the limit: 9900 are not") {
		t.Errorf("it said %q", l.notes)
	}
	w.Set("list", entries(t, many...))
	if len(l.notes) != 1 {
		t.Error("it says so again and again")
	}
}

// A recording is no live stream: it is told once, is no trouble, and one that can't
// change is never asked for again.
func TestRecordingsAreNoTrouble(t *testing.T) {
	t.Parallel()
	f, l := &fake{}, &told{}
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Tell: l.event, Note: l.note})
	w.Set("test", entries(t, "rtmp://h/vod/1", "rtmp://h/vod/final"))
	stop := running(w)
	await(t, "one is asked for again", func() bool { return f.opened.Load() >= 4 })
	snap := w.Snapshot()
	stop()
	ends := map[string]int{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.events {
		if h.Kind == recording.EventStreamEnded {
			ends[h.Stream]++
		}
	}
	if snap.States[Over] != 2 || snap.Sick() != 0 || w.Sick() || ends["vod/1"] != 1 || ends["vod/final"] != 1 {
		t.Errorf("states %v, sick %v, told as ended %v", snap.States, w.Sick(), ends)
	}
	for _, r := range snap.Rows {
		if r.Name == "vod/final" && r.Retry != 0 {
			t.Errorf("what can't change is asked for again at %v", r.Retry)
		}
	}
}
