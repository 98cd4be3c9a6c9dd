package watch

import (
	"errors"
	"slices"
	"testing"
	"time"

	"snag/probes/probe"
)

// Who asks for a stream and gets no frame of it for ten seconds is told so, with the server's words,
// and of its first frame.
func TestNeverPublished(t *testing.T) {
	var f fake
	no := errors.New("read rtmp://a/1: the server refused: NetStream.Play.StreamNotFound")
	for name, c := range map[string]struct {
		link  link
		signs signs
		event string
		says  string
	}{
		"refused":                     {link{phase: away, begun: 1, since: 1, err: no, refused: true}, signs{}, AlarmNever, no.Error()},
		"asked again after that":      {link{phase: asking, begun: 1, since: 1, err: no, refused: true}, signs{}, AlarmNever, no.Error()},
		"let in, and no frame":        {link{phase: reading, begun: 1, since: 1}, signs{frozen: 1, notBegun: true}, AlarmNever, "it was let in and got no frame"},
		"let in, and waiting":         {link{phase: reading, begun: 1, since: 1}, signs{}, AlarmNever, "it was let in and got no frame"},
		"refused just now":            {link{phase: away, begun: 9e9, since: 9e9, err: no, refused: true}, signs{}, "", ""},
		"no connection":               {link{phase: away, begun: 1, since: 1, err: errors.New("connection refused")}, signs{}, "", ""},
		"a recording":                 {link{phase: away, begun: 1, since: 1, err: no, over: true}, signs{}, "", ""},
		"frozen, of one that was on":  {link{phase: reading, begun: 1, since: 1}, signs{frames: true, live: true, frozen: 2e9}, AlarmFreeze, ""},
		"refused, of one that was on": {link{phase: away, begun: 1, since: 1, err: no, refused: true}, signs{frames: true, last: 2}, AlarmDown, ""},
	} {
		w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
		w.Set("test", entries(t, "rtmp://a/1"))
		for _, s := range w.streams {
			s.link, s.signs = c.link, c.signs
			all, _ := w.alarming(12e9)
			if c.event == "" {
				if len(all) > 0 {
					t.Errorf("%s: told %+v", name, all)
				}
				continue
			}
			if len(all) != 1 || all[0].Event != c.event || all[0].Verdict != c.says {
				t.Errorf("%s: told %+v", name, all)
				continue
			}
			s.link, s.signs = link{phase: reading, since: 13e9}, signs{frames: true, live: true}
			all, _ = w.alarming(14e9)
			if len(all) != 1 || !all[0].well || all[0].First != (c.event == AlarmNever) {
				t.Errorf("%s: then told %+v", name, all)
			}
		}
	}
}

// What is told once stands for longer at Alertmanager than what is told again.
func TestNeverPublishedAtAlertmanager(t *testing.T) {
	a := frozen
	a.Event = AlarmNever
	if got := alertOf(a, epoch).EndsAt; got != rfc3339(epoch.Add(24*time.Hour)) {
		t.Errorf("it ends at %s", got)
	}
}

// A stream that nobody publishes is told once, however long that lasts, and uses up nothing that
// there is for streams that stop.
func TestNeverPublishedIsToldOnce(t *testing.T) {
	q := newQueue("--webhook", true, DefaultLimits)
	var told []string
	streams := []string{}
	for i := range 40 {
		streams = append(streams, "a/"+string(rune('A'+i)))
	}
	for now := time.Duration(0); now < 25*time.Minute; now += time.Second {
		var all []raised
		for i, name := range streams { // one after the other, so that each is a call of its own
			if from := time.Duration(i) * 20 * time.Second; now >= from {
				all = append(all, raised{Alarm: Alarm{Event: AlarmNever, Stream: name, Server: name, Onset: epoch.Add(from), For: now - from}})
			}
		}
		if now >= 20*time.Minute {
			all = append(all, raised{Alarm: Alarm{Event: AlarmFreeze, Stream: "b/1", Server: streams[39], Onset: epoch.Add(20 * time.Minute)}})
		}
		q.take(all, epoch.Add(now))
		calls, _ := q.next(epoch.Add(now), maxRunning, 1)
		for _, c := range calls {
			for _, a := range c.Alarms {
				told = append(told, a.Event+" "+a.Stream)
			}
			q.ran(c)
		}
	}
	for _, name := range streams {
		if n := len(slices.DeleteFunc(slices.Clone(told), func(s string) bool { return s != AlarmNever+" "+name })); n != 1 {
			t.Errorf("%s was told %d times", name, n)
		}
	}
	if !slices.Contains(told, "freeze b/1") {
		t.Errorf("the freeze was not told: %q", told)
	}
}

// A freeze does not wait for the next message of its server because another stream is not published.
func TestNeverPublishedIsNoIncident(t *testing.T) {
	q := newQueue("--webhook", true, DefaultLimits)
	never := raised{Alarm: Alarm{Event: AlarmNever, Stream: "a/1", Server: "a", Onset: epoch}}
	freeze := raised{Alarm: Alarm{Event: AlarmFreeze, Stream: "a/2", Server: "a", Onset: epoch.Add(5 * time.Second)}}
	var told []string
	for s, all := range [][]raised{{never}, {never}, {never, freeze}, {never, freeze}} {
		now := epoch.Add(time.Duration(2*s) * time.Second)
		q.take(all, now)
		calls, _ := q.next(now, maxRunning, 1)
		for _, c := range calls {
			told = append(told, names(c.Alarms)...)
			q.ran(c)
		}
	}
	if !slices.Equal(told, []string{"a/1", "a/2"}) {
		t.Errorf("told %q", told)
	}
}
