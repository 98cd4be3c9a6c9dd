package watch

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/recording"
)

// hall is a watch of what is handed in, on a clock of its own.
type hall struct {
	w     *Watcher
	now   int64
	notes []string
	told  []Happened
}

func newHall() *hall {
	h := &hall{now: 1e9}
	h.w = New(Options{
		Open: func(*url.URL) (stream.Open, error) { return nil, nil }, Compare: true, Now: func() int64 { return h.now },
		Anchor: recording.Anchor{Wall: 1, Monotonic: 1},
		Note:   func(text string) { h.notes = append(h.notes, text) },
		Tell:   func(e Happened) { h.told = append(h.told, e) },
	})
	return h
}

type handedIn interface {
	stream.Sink
	End(at int64, err error)
}

func (h *hall) join(side, name string, named bool, remote string) handedIn {
	s := h.w.Join(Joined{Name: name, Named: named, Protocol: "rtmp", Side: side, Server: "10.0.0.1:1935", Remote: remote, Leaves: side == recording.StreamSideConsumer})
	s.Published(h.now, "10.0.0.1:1935", remote)
	return s
}

// show gives all of them the same pictures for a while.
func (h *hall) show(seconds int, r *rand.Rand, to ...handedIn) {
	for i := range seconds * 25 {
		h.now += 40e6
		n := 3000 + r.IntN(3000)
		for _, s := range to {
			s.Frame(stream.Frame{Kind: stream.Video, Key: i%50 == 0, Arrival: h.now, DTS: h.now, PTS: h.now, Size: n})
		}
		if i%5 == 0 {
			h.w.tick(0)
		}
	}
}

func (h *hall) names() string {
	var out []string
	s := h.w.Snapshot()
	for _, r := range s.Rows {
		out = append(out, r.Name)
	}
	return strings.Join(out, ", ")
}

// A reader is its publisher's by the frames; both are called by the stream's name once
// the publisher has connected again and said it, and the watch goes on under it.
func TestConnectionsGetTheirNames(t *testing.T) {
	h := newHall()
	err := h.w.Feed(context.Background(), func(func()) error {
		r := rand.New(rand.NewPCG(1, 1))
		const publisher, consumer = recording.StreamSidePublisher, recording.StreamSideConsumer
		p := h.join(publisher, "10.0.0.3:5000 → :1935", false, "10.0.0.3:5000")
		c := h.join(consumer, ":1935 → 10.0.0.9:40112", false, "10.0.0.9:40112")
		other := h.join(publisher, "10.0.0.4:5000 → :1935", false, "10.0.0.4:5000")
		h.show(6, r, p, c)
		h.show(1, r, other)
		names := h.names()
		if !strings.Contains(names, "10.0.0.3:5000 → :1935 → 10.0.0.9:40112") {
			t.Errorf("named %s", names)
		}
		p.End(h.now, &stream.Ended{Why: "FIN"})
		again := h.join(publisher, "live/cam1", true, "10.0.0.3:5001")
		h.show(8, r, again, c)
		names = h.names()
		if !strings.Contains(names, "live/cam1 → 10.0.0.9:40112") || !strings.Contains(names, "10.0.0.4:5000 → :1935") || !strings.Contains(names, "live/cam1,") && !strings.HasSuffix(names, "live/cam1") {
			t.Errorf("named %s", names)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(h.notes, "\n")
	if len(h.notes) != 3 || !strings.Contains(said, "is live/cam1 → 10.0.0.9:40112: its frames are that stream's") || !strings.Contains(said, "10.0.0.3:5000 → :1935 was live/cam1, which came back") {
		t.Errorf("notes: %q", h.notes)
	}
}

// What snag itself reads is no reader that it must show again.
func TestOwnConnectionIsNoReader(t *testing.T) {
	h := newHall()
	e, err := NewEntry("rtmp://10.0.0.1/live/cam1", "a test")
	if err != nil {
		t.Fatal(err)
	}
	h.w.Set("a test", []Entry{e})
	early := h.join(recording.StreamSideConsumer, "live/cam1", true, "10.0.0.7:41000") // before snag's reader knows
	for _, s := range h.w.streams {
		if !s.joined {
			s.sink.Published(h.now, "10.0.0.7:41000", "10.0.0.1:1935")
		}
	}
	own := h.join(recording.StreamSideConsumer, "live/cam1", true, "10.0.0.7:41000")
	theirs := h.join(recording.StreamSideConsumer, "live/cam1", true, "10.0.0.7:41002")
	h.show(1, rand.New(rand.NewPCG(1, 1)), early, own, theirs)
	early.End(h.now, &stream.Ended{Why: "FIN"})
	own.End(h.now, &stream.Ended{Why: "FIN"})
	rows := h.w.Snapshot().Rows
	if len(rows) != 2 || !strings.Contains(h.names(), "live/cam1 → 10.0.0.7:41002") {
		t.Errorf("%d rows: %s", len(rows), h.names())
	}
}

// What the capture missed is no state of a stream, and a freeze that it took back is
// not counted.
func TestMissedIsNoState(t *testing.T) {
	h := newHall()
	p := h.join(recording.StreamSidePublisher, "live/cam1", true, "10.0.0.3:5000")
	r := rand.New(rand.NewPCG(1, 1))
	h.show(5, r, p)
	from := h.now
	for range 15 { // three seconds that nobody saw, told only at their end
		h.now += int64(tick / time.Nanosecond)
		h.w.tick(0)
	}
	if s := h.w.Snapshot(); s.Freeze != 1 {
		t.Fatalf("%d freezes while the hole is not known", s.Freeze)
	}
	stream.Missed(p, from, h.now)
	p.Count(stream.CaptureLost, 100_000)
	h.show(3, r, p)
	s := h.w.Snapshot()
	if row := s.Rows[0]; s.Freeze != 0 || row.Freezes != 0 || row.State != OK {
		t.Errorf("%d freezes, %d of the stream, which is %s", s.Freeze, row.Freezes, row.State)
	}
	doubted := 0
	for _, e := range h.told {
		if e.Doubt {
			doubted++
		} else if e.Kind == recording.EventStreamSkipped {
			t.Errorf("accused: %+v", e)
		}
	}
	if doubted == 0 {
		t.Error("nothing is said of what was missed: " + fmt.Sprint(h.told))
	}
}
