package watch

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/streams/figures"
	"snag/probes/streams/picture"
	"snag/probes/streams/sound"
	"snag/probes/streams/stream"
	"snag/recording"
)

// hearing is a watch of streams that are read and have audio, which is listened to.
func hearing(t *testing.T, p *Pictures, urls ...string) *Watcher {
	t.Helper()
	w := looking(t, p, urls...)
	for _, s := range w.streams {
		s.link.params[stream.Audio].Codec = "aac"
	}
	return w
}

// A stream whose audio is silent is in a state, an alarm and its row, until it no longer is.
func TestSilentAudioIsAnAlarm(t *testing.T) {
	var level atomic.Int32
	w := hearing(t, &Pictures{Every: 10 * time.Second, Listen: func(context.Context, stream.Sound) (sound.Level, error) {
		return sound.Level(level.Load()), nil
	}}, "rtmp://a/1")
	var s *one
	for _, s = range w.streams {
	}
	for i, c := range []struct {
		level      int32
		event, row string
	}{{900, "", "ok"}, {0, "", "ok"}, {0, "", "ok"}, {1, "", "ok"}, {0, AlarmSilent, "silent"}, {0, AlarmSilent, "silent"}, {900, AlarmWell, "ok"}, {0, "", "ok"}} {
		now := int64(i+1) * 10e9
		level.Store(c.level)
		w.listen(now)
		if !s.ear.Wanted() {
			t.Fatalf("%d: no audio is wanted", i)
		}
		s.ear.Sound(stream.Sound{}, now)
		if s.ear.Wanted() {
			t.Errorf("%d: more is wanted", i)
		}
		listened(t, s.ear)
		for _, e := range s.ear.events(nil) {
			if e.Kind != recording.EventStreamSilentAudio || e.Of != stream.Audio || e.Unit != "seconds" || e.Start != 20e9 || e.Phase == figures.Begun && e.Value != 4 || e.Phase == figures.Ended && (e.End != 70e9 || e.Value != 5) {
				t.Errorf("%d: %+v", i, e)
			}
			s.signs.note(e, now)
		}
		all, _ := w.alarming(now)
		event := ""
		if len(all) == 1 {
			event = all[0].Event
		}
		if event != c.event || s.ear.hears(now) != c.row {
			t.Errorf("%d: %+v, %q", i, all, s.ear.hears(now))
		}
		if event == AlarmSilent && (!strings.HasPrefix(all[0].sentence(), "1 is silent for ") || !strings.Contains(all[0].Verdict, "a viewer can't tell which")) {
			t.Errorf("%q: %q", all[0].sentence(), all[0].Verdict)
		}
	}
	if got := s.ear.hears(200e9); got != "" {
		t.Errorf("long after the last second it is %q", got)
	}
}

// listened waits until nothing is being decoded.
func listened(t *testing.T, e *ear) {
	t.Helper()
	await(t, "the audio is decoded", func() bool { return !e.open() })
}

// What the picture is goes before silent audio, and that before a rate that fell.
func TestOrderOfSilentAudio(t *testing.T) {
	l, g := link{phase: reading}, signs{frames: true, live: true, hushed: 5, fell: fall{kind: recording.EventStreamRateFell, since: 4}}
	if state, since := stateOf(l, g, 9); state != SilentAudio || since != 5 {
		t.Errorf("%s since %d", state, since)
	}
	g.shows = shows{BlackPicture, 7}
	if state, _ := stateOf(l, g, 9); state != BlackPicture {
		t.Errorf("a black picture is %s", state)
	}
}

// A stream that ends, or whose audio stays away, does not go on being silent; one without audio is
// not listened to.
func TestAudioThatDoesNotCome(t *testing.T) {
	for name, stop := range map[string]func(*one){
		"it ends": func(s *one) { s.link.phase = away }, "its audio stays away": func(s *one) { s.signs.silent = 40e9 }, "it has none": func(s *one) { s.link.params[stream.Audio].Codec = "" },
	} {
		w := hearing(t, &Pictures{Every: time.Second, Listen: func(context.Context, stream.Sound) (sound.Level, error) { return 0, nil }}, "rtmp://a/1")
		for _, s := range w.streams {
			for at := int64(1e9); at <= 40e9; at += 1e9 {
				w.listen(at)
				s.ear.Sound(stream.Sound{}, at)
				listened(t, s.ear)
			}
			stop(s)
			w.listen(41e9)
			e := s.ear.events(nil)
			if len(e) != 2 || e[1].Phase != figures.Ended || e[0].ID != e[1].ID || s.ear.Wanted() {
				t.Errorf("%s: %+v, wanted: %v", name, e, s.ear.Wanted())
			}
		}
	}
}

// What can't be decoded is said once; what never comes, too.
func TestAudioThatIsNotMeasured(t *testing.T) {
	w := hearing(t, &Pictures{Every: time.Second, Listen: func(context.Context, stream.Sound) (sound.Level, error) {
		return 0, errors.New("ffmpeg decoded no audio: invalid data")
	}}, "rtmp://a/1", "rtsp://a/2")
	var notes []string
	for at := int64(1e9); at < 200e9; at += 1e9 {
		notes = append(notes, w.listen(at)...)
		for _, s := range w.streams {
			if s.protocol == "rtmp" {
				s.ear.Sound(stream.Sound{}, at)
				listened(t, s.ear)
			}
		}
	}
	text := strings.Join(notes, "\n")
	if len(notes) != 2 || !strings.Contains(text, "1: whether its audio is silent is not measured: ffmpeg decoded no audio: invalid data") || !strings.Contains(text, "2: whether its audio is silent is not measured: no audio came in 30 s that can be decoded") {
		t.Errorf("%q", notes)
	}
	for _, s := range w.streams {
		if got := s.ear.hears(200e9); got != "" {
			t.Errorf("%s is %q", s.entry.Name, got)
		}
	}
}

// Pictures and audio share the decoders; of each so many are under way, and each stream has its turn.
func TestAudioIsBounded(t *testing.T) {
	var urls []string
	for i := range 3 * mostWanted {
		urls = append(urls, "rtmp://a/"+strings.Repeat("x", i+1))
	}
	var now, most atomic.Int32
	hold := make(chan struct{})
	decode := func() {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-hold
		now.Add(-1)
	}
	w := hearing(t, &Pictures{Every: time.Second,
		Decode: func(context.Context, string, []byte) (picture.Picture, error) {
			decode()
			return picture.Picture{Grey: greyOf(90)}, nil
		},
		Listen: func(context.Context, stream.Sound) (sound.Level, error) {
			decode()
			return 900, nil
		}}, urls...)
	w.lookAtPictures(1e9)
	w.listen(1e9)
	pictures, sounds := 0, 0
	for _, s := range w.streams {
		if s.eye.Wanted() {
			pictures++
			s.eye.Key("h264", nil, 1e9)
		}
		if s.ear.Wanted() {
			sounds++
			s.ear.Sound(stream.Sound{}, 1e9)
		}
	}
	w.listen(5e9) // all of them still are being decoded
	for _, s := range w.streams {
		if s.ear.Wanted() {
			t.Fatal("more is wanted")
		}
	}
	time.Sleep(50 * time.Millisecond) // so that whoever may begin has begun
	close(hold)
	for _, s := range w.streams {
		listened(t, s.ear)
		decoded(t, s.eye)
	}
	if pictures != mostWanted || sounds != mostWanted || most.Load() > mostDecoding {
		t.Errorf("%d pictures, %d seconds of audio wanted, %d decoded at a time", pictures, sounds, most.Load())
	}
	for at := int64(10e9); at < 70e9; at += 1e9 {
		w.listen(at)
		for _, s := range w.streams {
			s.ear.Sound(stream.Sound{}, at)
		}
		for _, s := range w.streams {
			for s.ear.open() {
				runtime.Gosched()
			}
		}
	}
	for _, s := range w.streams {
		if s.ear.seen() == 0 {
			t.Errorf("%s never had its turn", s.entry.Name)
		}
	}
}

// Without --picture no reader is asked for audio.
func TestNoAudioIsKeptUnlessAskedFor(t *testing.T) {
	w := looking(t, nil, "rtmp://a/1")
	for _, s := range w.streams {
		if s.sounds() != nil {
			t.Error("a reader is asked for audio")
		}
	}
}
