package watch

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/probes/streams/picture"
	"snag/recording"
)

func greyOf(v byte) picture.Grey {
	g := make(picture.Grey, picture.Width*picture.Height)
	for i := range g {
		g[i] = v
	}
	return g
}

// looking is a watch of streams that are read, whose pictures are looked at.
func looking(t *testing.T, p *Pictures, urls ...string) *Watcher {
	t.Helper()
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor(), Pictures: p})
	w.Set("test", entries(t, urls...))
	for _, s := range w.streams {
		s.link, s.signs = link{phase: reading, since: 1}, signs{frames: true, live: true, changed: 2}
	}
	return w
}

// decoded waits until nothing is being decoded.
func decoded(t *testing.T, e *eye) {
	t.Helper()
	await(t, "the picture is decoded", func() bool { return !e.open() })
}

// A stream that shows black is in a state, an alarm and its row, until it no longer does.
func TestBlackPictureIsAnAlarm(t *testing.T) {
	var shade atomic.Int32
	w := looking(t, &Pictures{Every: 10 * time.Second, Decode: func(context.Context, string, []byte) (picture.Picture, error) {
		g := greyOf(byte(shade.Load()))
		for i := range g[len(g)/2:] {
			g[i] = byte(shade.Load() / 2)
		}
		return picture.Picture{Grey: g}, nil
	}}, "rtmp://a/1")
	var s *one
	for _, s = range w.streams {
	}
	for i, c := range []struct {
		shade int32
		event string
		row   string
	}{{100, "", "ok"}, {0, "", "ok"}, {0, AlarmBlack, AlarmBlack}, {0, AlarmBlack, AlarmBlack}, {120, AlarmWell, "ok"}, {140, "", "ok"}} {
		now := int64(i+1) * 10e9
		shade.Store(c.shade)
		w.lookAtPictures(now)
		if !s.eye.Wanted() {
			t.Fatalf("%d: no picture is wanted", i)
		}
		s.eye.Key("h264", []byte("x"), now)
		if s.eye.Wanted() {
			t.Errorf("%d: another one is wanted", i)
		}
		decoded(t, s.eye)
		for _, e := range s.eye.events(nil) {
			if e.Unit != "pictures" || e.Kind != recording.EventStreamBlack || e.Phase == figures.Begun && (e.Start != 20e9 || e.Value != 2) || e.Phase == figures.Ended && (e.End != 50e9 || e.Value != 3) {
				t.Errorf("%d: %+v", i, e)
			}
			s.signs.note(e, now)
		}
		all, _ := w.alarming(now)
		event := ""
		if len(all) == 1 {
			event = all[0].Event
		}
		if event != c.event || s.eye.sees(now) != c.row {
			t.Errorf("%d: %+v, %q", i, all, s.eye.sees(now))
		}
		if event == AlarmBlack && !strings.Contains(all[0].sentence(), "1 is showing a black picture for ") {
			t.Errorf("%q", all[0].sentence())
		}
	}
	if got := s.eye.sees(200e9); got != "" {
		t.Errorf("long after the last picture it is %q", got)
	}
}

// So is one whose key pictures have errors, and a viewer can't tell whose they are.
func TestGarbledPictureIsAnAlarm(t *testing.T) {
	w := looking(t, &Pictures{Every: time.Second, Decode: func(context.Context, string, []byte) (picture.Picture, error) {
		return picture.Picture{Grey: greyOf(0), Garbled: true}, nil
	}}, "rtsp://a/1")
	for _, s := range w.streams {
		for at := int64(1e9); at <= 2e9; at += 1e9 {
			if all, _ := w.alarming(at); len(all) > 0 {
				t.Errorf("after one picture: %+v", all)
			}
			w.lookAtPictures(at)
			s.eye.Key("h264", nil, at)
			decoded(t, s.eye)
		}
		for _, e := range s.eye.events(nil) {
			s.signs.note(e, 3e9)
		}
		all, _ := w.alarming(3e9)
		if len(all) != 1 || all[0].Event != AlarmGarbled || s.eye.sees(3e9) != AlarmGarbled {
			t.Fatalf("%+v, %q", all, s.eye.sees(3e9))
		}
		if text := all[0].sentence(); !strings.HasPrefix(text, "1 is showing a garbled picture for ") || !strings.Contains(all[0].Verdict, "a viewer can't tell which") {
			t.Errorf("%q: %q", text, all[0].Verdict)
		}
	}
}

// A stream that ends does not go on being black.
func TestPictureOfAStreamThatEnds(t *testing.T) {
	w := looking(t, &Pictures{Every: time.Second, Decode: func(context.Context, string, []byte) (picture.Picture, error) {
		return picture.Picture{Grey: greyOf(0)}, nil
	}}, "rtmp://a/1")
	for _, s := range w.streams {
		for at := int64(1e9); at <= 2e9; at += 1e9 {
			w.lookAtPictures(at)
			s.eye.Key("h264", nil, at)
			decoded(t, s.eye)
		}
		s.link.phase = away
		w.lookAtPictures(3e9)
		e := s.eye.events(nil)
		if len(e) != 2 || e[1].Phase != figures.Ended || e[0].ID != e[1].ID || s.eye.Wanted() {
			t.Errorf("%+v, wanted: %v", e, s.eye.Wanted())
		}
	}
}

// What can't be decoded is said once, and is no picture; what never comes, too.
func TestPicturesThatAreNotMeasured(t *testing.T) {
	w := looking(t, &Pictures{Every: time.Second, Decode: func(context.Context, string, []byte) (picture.Picture, error) {
		return picture.Picture{}, errors.New("ffmpeg decoded no picture: invalid data")
	}}, "rtmp://a/1", "rtsp://a/2")
	var notes []string
	for at := int64(1e9); at < 200e9; at += 1e9 {
		notes = append(notes, w.lookAtPictures(at)...)
		for _, s := range w.streams {
			if s.protocol == "rtmp" {
				s.eye.Key("h264", nil, at)
				decoded(t, s.eye)
			}
		}
	}
	text := strings.Join(notes, "\n")
	if len(notes) != 2 || !strings.Contains(text, "1: its picture is not measured: ffmpeg decoded no picture: invalid data") || !strings.Contains(text, "2: its picture is not measured: no key picture came in 30 s that can be decoded") {
		t.Errorf("%q", notes)
	}
	for _, s := range w.streams {
		if got := s.eye.sees(200e9); got != "" {
			t.Errorf("%s is %q", s.entry.Name, got)
		}
	}
}

// However many streams there are, so many pictures are under way, and no two decoders more than may be.
func TestPicturesAreBounded(t *testing.T) {
	var urls []string
	for i := range 3 * mostWanted {
		urls = append(urls, "rtmp://a/"+strings.Repeat("x", i+1))
	}
	var now, most atomic.Int32
	hold := make(chan struct{})
	w := looking(t, &Pictures{Every: time.Second, Decode: func(context.Context, string, []byte) (picture.Picture, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-hold
		now.Add(-1)
		return picture.Picture{Grey: greyOf(90)}, nil
	}}, urls...)
	w.lookAtPictures(1e9)
	wanted := 0
	for _, s := range w.streams {
		if s.eye.Wanted() {
			wanted++
			s.eye.Key("h264", nil, 1e9)
		}
	}
	w.lookAtPictures(5e9) // all of them still are being decoded
	for _, s := range w.streams {
		if s.eye.Wanted() {
			t.Fatal("one more is wanted")
		}
	}
	close(hold)
	for _, s := range w.streams {
		decoded(t, s.eye)
	}
	if wanted != mostWanted || most.Load() > mostDecoding {
		t.Errorf("%d wanted, %d decoded at a time", wanted, most.Load())
	}
	seen := map[uint64]int{}
	for at := int64(10e9); at < 70e9; at += 1e9 {
		w.lookAtPictures(at)
		for _, s := range w.streams {
			s.eye.Key("h264", nil, at)
		}
		for _, s := range w.streams {
			for s.eye.open() {
				runtime.Gosched()
			}
		}
	}
	for _, s := range w.streams {
		seen[s.eye.seen()]++
	}
	if seen[0] > 0 {
		t.Errorf("%d streams never had their turn", seen[0])
	}
}

// Without --picture no reader is asked for a key picture.
func TestNoPictureIsKeptUnlessAskedFor(t *testing.T) {
	w := looking(t, nil, "rtmp://a/1")
	for _, s := range w.streams {
		if s.keys() != nil {
			t.Error("a reader is asked for key pictures")
		}
	}
}
