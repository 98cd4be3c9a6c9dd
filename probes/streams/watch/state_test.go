package watch

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

func TestStateOf(t *testing.T) {
	const now = int64(100e9)
	no := errors.New("no")
	here := link{phase: reading, since: 10e9}
	for name, c := range map[string]struct {
		link  link
		signs signs
		state State
		since int64
	}{
		"asked":                      {link{phase: asking, since: 99e9}, signs{}, Connecting, 99e9},
		"refused":                    {link{phase: away, since: 90e9, err: no, refused: true}, signs{}, Refused, 90e9},
		"asked again after a no":     {link{phase: asking, since: 90e9, err: no, refused: true}, signs{}, Refused, 90e9},
		"no answer":                  {link{phase: away, since: 90e9, err: no}, signs{}, NoAnswer, 90e9},
		"asked again after none":     {link{phase: asking, since: 90e9, err: no}, signs{}, NoAnswer, 90e9},
		"asked long ago":             {link{phase: asking, since: 50e9, asked: 50e9}, signs{}, NoAnswer, 50e9},
		"waiting its turn":           {link{phase: asking, since: 50e9}, signs{}, Connecting, 50e9},
		"let in":                     {here, signs{}, Waiting, 10e9},
		"let in, nothing comes":      {here, signs{frozen: 10e9, notBegun: true}, Frozen, 10e9},
		"well":                       {here, signs{frames: true, live: true, changed: 11e9}, OK, 11e9},
		"frozen":                     {here, signs{frames: true, live: true, frozen: 97e9, late: 1, slow: 1}, Frozen, 97e9},
		"late":                       {here, signs{frames: true, live: true, late: 80e9, slow: 70e9}, Late, 80e9},
		"without audio":              {here, signs{frames: true, live: true, silent: 90e9, late: 80e9}, NoAudio, 90e9},
		"fewer frames":               {here, signs{frames: true, live: true, fell: fall{kind: recording.EventStreamRateFell, since: 90e9}, late: 80e9}, RateFell, 90e9},
		"fewer bytes":                {here, signs{frames: true, live: true, fell: fall{kind: recording.EventStreamBitsFell, since: 90e9}, skipped: 99e9}, BitsFell, 90e9},
		"frozen, without audio":      {here, signs{frames: true, live: true, silent: 90e9, frozen: 97e9}, Frozen, 97e9},
		"slow":                       {here, signs{frames: true, live: true, slow: 70e9, skipped: 99e9}, Slow, 70e9},
		"skipped just now":           {here, signs{frames: true, live: true, skipped: 95e9, lost: 99e9}, Skipping, 95e9},
		"skipped long ago":           {here, signs{frames: true, live: true, skipped: 50e9, changed: 50e9}, OK, 50e9},
		"loses":                      {here, signs{frames: true, live: true, lost: 99e9}, Losing, 99e9},
		"cut off":                    {link{phase: away, since: 98e9, err: no}, signs{frames: true, last: 97e9}, Down, 97e9},
		"cut off, and now refused":   {link{phase: away, since: 98e9, err: no, refused: true}, signs{frames: true, last: 97e9}, Down, 97e9},
		"a recording":                {link{phase: away, since: 90e9, err: no, over: true}, signs{}, Over, 90e9},
		"a recording, looked at":     {link{phase: asking, since: 90e9, err: no, over: true}, signs{}, Over, 90e9},
		"was live, is a recording":   {link{phase: away, since: 90e9, err: no, over: true}, signs{frames: true, last: 80e9}, Down, 80e9},
		"let in again, no frame yet": {link{phase: reading, since: 99e9}, signs{frames: true, last: 97e9}, Waiting, 99e9},
	} {
		if state, since := stateOf(c.link, c.signs, now); state != c.state || since != c.since {
			t.Errorf("%s: %s since %d", name, state, since)
		}
	}
}

// Audio that goes away is a state until it is back, or the stream begins anew; what snag itself
// missed is none.
func TestSignsOfAudio(t *testing.T) {
	away := figures.Event{Kind: recording.EventStreamChanged, What: "audio", From: "aac", To: "none", Start: 5}
	back := figures.Event{Kind: recording.EventStreamChanged, What: "audio", From: "none", To: "aac", Start: 9}
	doubted := away
	doubted.Doubt = true
	for name, c := range map[string]struct {
		events []figures.Event
		silent int64
	}{
		"away":           {[]figures.Event{away}, 5},
		"back":           {[]figures.Event{away, back}, 0},
		"begun anew":     {[]figures.Event{away, {Kind: recording.EventStreamFirstFrame, Start: 8}}, 0},
		"snag's doing":   {[]figures.Event{doubted}, 0},
		"another change": {[]figures.Event{away, {Kind: recording.EventStreamChanged, What: "resolution", To: "none", Start: 8}}, 5},
	} {
		var s signs
		for _, e := range c.events {
			s.note(e, e.Start+1)
		}
		if s.silent != c.silent {
			t.Errorf("%s: silent since %d, want %d", name, s.silent, c.silent)
		}
	}
}

// A rate that fell is a state until it is back, with what it was and is.
func TestSignsOfFalls(t *testing.T) {
	var s signs
	e := figures.Event{Kind: recording.EventStreamRateFell, Phase: figures.Begun, Start: 5, Base: 25, Value: 12}
	s.note(e, 11)
	if want := (fall{e.Kind, 5, 25, 12}); s.fell != want {
		t.Errorf("%+v, want %+v", s.fell, want)
	}
	e.Phase, e.Value = figures.Updated, 10
	s.note(e, 12)
	if s.fell.rate != 10 {
		t.Errorf("%+v", s.fell)
	}
	e.Phase, e.End = figures.Ended, 13
	s.note(e, 14)
	if s.fell != (fall{}) || s.changed != 14 {
		t.Errorf("%+v", s)
	}
}

func TestSignsTakeEvents(t *testing.T) {
	var s signs
	s.note(figures.Event{Kind: recording.EventStreamFreeze, Phase: figures.Begun, Start: 5}, 6)
	if s.frozen != 5 {
		t.Error("a freeze that began is not seen")
	}
	s.note(figures.Event{Kind: recording.EventStreamFreeze, Phase: figures.Ended, Start: 5, End: 9}, 10)
	if s.frozen != 0 || s.changed != 10 {
		t.Error("a freeze that ended stands on")
	}
	var f figures.Second
	f.Video.Frames, f.Standing = 25, figures.Value{V: 0.5, OK: true}
	f.Transport.Count[stream.ContinuityErrors] = 1
	s.second(f, 100e9)
	if !s.live || !s.frames || s.last != 99.5e9 || s.lost != 100e9 {
		t.Errorf("%+v", s)
	}
}

func TestTriage(t *testing.T) {
	bad := func(server string, onset float64) trouble {
		return trouble{server: server, onset: recording.Time(onset * 1e9), bad: true}
	}
	late := func(server string) trouble { return trouble{server: server, behind: true} }
	well := func(server string) trouble { return trouble{server: server} }
	for _, c := range []struct {
		all  []trouble
		says string
	}{
		{[]trouble{bad("a", 10)}, ""},
		{[]trouble{bad("a", 10), well("a"), well("a")}, "only this one of 3 streams of a"},
		{[]trouble{bad("a", 10), bad("a", 11), bad("a", 9)}, "all 3 streams of a stopped together: the server"},
		{[]trouble{bad("a", 10), bad("a", 11), bad("b", 10)}, "and 1 of other servers: the way to snag"},
		{[]trouble{bad("a", 10), bad("a", 11), well("a")}, "2 of 3 streams of a stopped together"},
		{[]trouble{bad("a", 10), bad("a", 60), well("a")}, "only this one of 3"}, // another time, another cause
		{[]trouble{bad("a", 10), late("a"), late("a")}, "only this one of 3 streams of a stopped, and all others (2) are late: the server"},
		{[]trouble{bad("a", 10), late("a"), well("a")}, "only this one of 3 streams of a stopped, and others (1) are late"},
		{[]trouble{bad("a", 10), bad("a", 10.2), late("a")}, "2 of 3 streams of a stopped together, and all others (1) are late: the server"},
	} {
		if got := triage(c.all[0], c.all); !strings.HasPrefix(got, c.says) && !strings.Contains(got, c.says) || got == "" != (c.says == "") {
			t.Errorf("%v: %q", c.all, got)
		}
	}
}

func TestShownURL(t *testing.T) {
	for raw, want := range map[string]string{
		"rtmp://user:pw@h:1935/live/a?key=s3cret&b=2#frag": "rtmp://h:1935/live/a?b=…&key=…",
		"rtsp://h/x":            "rtsp://h/x",
		"udp://@239.0.0.1:5000": "udp://239.0.0.1:5000",
		"rtmp://h/%1b%5b2J":     "rtmp://h/%1b%5b2J",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := ShownURL(u); got != want {
			t.Errorf("%s is shown as %s", raw, got)
		}
	}
}

func TestClean(t *testing.T) {
	for s, want := range map[string]string{
		"live/cam1":       "live/cam1",
		"Köln 東京 🎥":       "Köln 東京 🎥",
		"\x1b[2J\a\r\n":   `\x1b[2J\x07\x0d\x0a`,
		"a\u202eb\u200bc": `a\xe2\x80\xaeb\xe2\x80\x8bc`,
		"\xff\xfe":        "��",
		"0123456789abc":   "0123456789a…",
		"a\u00a0b":        `a\xc2\xa0b`,
	} {
		if got := Clean(s, 11); got != want && len([]rune(s)) <= 11 || len([]rune(s)) > 11 && got != want {
			t.Errorf("%q became %q", s, got)
		}
	}
}
