package compare

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"snag/recording"
)

// played is a stream of so many seconds as snag's reader had it.
type played struct {
	name, url   string
	fps, bits   float64
	late, gop   float64
	from, until int // seconds in which frames came
	why         string
}

const playedFor = 40

var wellPlayed = played{name: "live/one", url: "rtmp://a/live/one", fps: 25, bits: 1e6, late: 0.01, gop: 2, until: playedFor}

// recorded makes a recording of streams. What comes is a little uneven, as it is.
func recorded(all ...played) *recording.Recording {
	r := &recording.Recording{Manifest: recording.Manifest{Start: 1e18}}
	r.Manifest.End = r.Manifest.Start.Add(playedFor * time.Second)
	r.Coverage = []recording.Coverage{{Probe: "streams.figures", State: recording.CoverageOK}}
	for _, p := range all {
		labels := recording.Labels{"stream": p.name, "side": "player"}
		kind := recording.Labels{"stream": p.name, "side": "player", "kind": "video"}
		row := recording.Stream{T: r.Manifest.End, Name: p.name, URL: p.url, Protocol: "rtmp", Side: "player", Video: "h264", Error: p.why}
		if p.until > p.from {
			row.First = r.Manifest.Start.Add(time.Duration(p.from) * time.Second)
		}
		r.Streams = append(r.Streams, row)
		frames, bytes := 0.0, 0.0
		series := map[string][]recording.Point{}
		for at := range playedFor + 1 {
			t := r.Manifest.Start.Add(time.Duration(at) * time.Second)
			if at > p.from && at <= p.until {
				frames += p.fps + float64(at%3-1)
				bytes += p.bits / 8 * (1 + 0.05*float64(at%5-2))
				series["snag_stream_drift_seconds"] = append(series["snag_stream_drift_seconds"], recording.Point{T: t, V: p.late * (1 + 0.1*float64(at%4))})
				series["snag_stream_gop_seconds"] = append(series["snag_stream_gop_seconds"], recording.Point{T: t, V: p.gop})
			}
			series["snag_stream_frames_total"] = append(series["snag_stream_frames_total"], recording.Point{T: t, V: frames})
			series["snag_stream_bytes_total"] = append(series["snag_stream_bytes_total"], recording.Point{T: t, V: bytes})
		}
		for name, points := range series {
			l := labels
			if name == "snag_stream_frames_total" || name == "snag_stream_bytes_total" {
				l = kind
			}
			r.Series = append(r.Series, recording.Series{Name: name, Labels: l, Points: points})
		}
	}
	slices.SortStableFunc(r.Series, func(x, y recording.Series) int {
		if x.Name < y.Name {
			return -1
		} else if x.Name > y.Name {
			return 1
		}
		return 0
	})
	return r
}

// Fewer frames, fewer bits and later frames are worse, more of them are not; a GOP of another length is
// listed and not judged.
func TestFiguresOfStreams(t *testing.T) {
	for what, c := range map[string]struct {
		change func(p *played)
		b      float64
		bad    bool
	}{
		"frames":   {func(p *played) { p.fps = 12 }, 12, true},
		"bit rate": {func(p *played) { p.bits = 5e5 }, 5e5, true},
		"lateness": {func(p *played) { p.late = 0.8 }, 0.92, true},
		"GOP":      {func(p *played) { p.gop = 6 }, 6, false},
		"":         {func(p *played) { p.late = 0.2 }, 0, false}, // nobody calls that late
	} {
		b := wellPlayed
		c.change(&b)
		there := Of(recorded(wellPlayed), recorded(b))
		back := Of(recorded(b), recorded(wellPlayed))
		if (there.Outcome() == Worse) != c.bad || there.Outcome() != Worse && there.Outcome() != AsGood || back.Outcome() != AsGood {
			t.Errorf("%q: %s, and back %s", what, there.Outcome(), back.Outcome())
		}
		for _, one := range []*Comparison{there, back} {
			if len(one.Streams) != 1 || len(one.Amounts) != min(1, len(what)) || what != "" && (one.Amounts[0].What != what || one.Amounts[0].Stream != b.name) {
				t.Errorf("%q: %d streams, %v", what, len(one.Streams), names(one.Amounts))
			}
		}
		if what != "" && len(there.Amounts) == 1 && (there.Amounts[0].Change.B < 0.97*c.b || there.Amounts[0].Change.B > 1.03*c.b) {
			t.Errorf("%q: %v in B, want %v", what, there.Amounts[0].Change.B, c.b)
		}
	}
}

func names(all []Amount) (out []string) {
	for _, a := range all {
		out = append(out, fmt.Sprintf("%s %s %.3g → %.3g", a.Stream, a.What, a.Change.A, a.Change.B))
	}
	return out
}

// A stream that only A has, that gave no frame in B or stopped there is worse and named; one that B read and
// A did not is not, and where B read none nothing is said of it.
func TestLostStreams(t *testing.T) {
	two := wellPlayed
	two.name, two.url = "live/two", "rtmp://a/live/two"
	refused, stopped, other := two, two, two
	refused.until, refused.why = 0, "refused"
	stopped.until = 15
	other.name = "elsewhere"
	for name, c := range map[string]struct {
		b     *recording.Recording
		lost  bool
		since float64
		urlB  string
		why   string
	}{
		"only in A":    {recorded(wellPlayed), true, 0, "", ""},
		"refused":      {recorded(wellPlayed, refused), true, 0, two.url, "refused"},
		"stopped":      {recorded(wellPlayed, stopped), true, 25, two.url, ""},
		"another name": {recorded(wellPlayed, other), false, 0, "", ""},
		"the same":     {recorded(wellPlayed, two), false, 0, "", ""},
	} {
		got := Of(recorded(wellPlayed, two), c.b)
		switch {
		case !c.lost && (len(got.Lost) > 0 || got.Outcome() != AsGood || len(got.Streams) != 2):
			t.Errorf("%s: %s, lost %v", name, got.Outcome(), got.Lost)
		case c.lost && (len(got.Lost) != 1 || got.Outcome() != Worse):
			t.Errorf("%s: %s, lost %v", name, got.Outcome(), got.Lost)
		case c.lost && (got.Lost[0].Name != "live/two" || got.Lost[0].Since != c.since || got.Lost[0].URLB != c.urlB || got.Lost[0].Why != c.why || got.Lost[0].FPS < 24 || got.Lost[0].FPS > 26):
			t.Errorf("%s: %+v", name, got.Lost[0])
		}
	}
	if got := Of(recorded(wellPlayed), recorded(wellPlayed, two)); got.Outcome() != AsGood {
		t.Errorf("only in B: %s", got.Outcome())
	}
	if got := Of(recorded(stopped), recorded(refused)); got.Outcome() != CantTell {
		t.Errorf("it stopped in A already: %s", got.Outcome())
	}
	unread := recorded()
	unread.Coverage = nil
	if got := Of(recorded(wellPlayed), unread); got.Outcome() != CantTell || len(got.Lost) > 0 || !slices.Contains(got.OneSided, "live streams (not measured in B)") {
		t.Errorf("not read in B: %s, lost %v, %v", got.Outcome(), got.Lost, got.OneSided)
	}
}

// Of two URLs each read alone, it is one stream whatever it is called there; of two recordings it is not.
func TestOneStreamOfTwoNames(t *testing.T) {
	b := wellPlayed
	b.name, b.url, b.fps = "other/x", "rtmp://b/other/x", 12
	if got := Together(recorded(wellPlayed), recorded(b)); got.Outcome() != Worse || len(got.Lost) > 0 || len(got.Streams) != 1 || got.Streams[0].URLB != b.url {
		t.Errorf("together: %s, %v, lost %v", got.Outcome(), got.Streams, got.Lost)
	}
	if got := Of(recorded(wellPlayed), recorded(b)); len(got.Lost) != 1 {
		t.Errorf("two recordings: lost %v", got.Lost)
	}
}

// Of a stream with few seconds nothing can be told, which is not as good.
func TestShortStream(t *testing.T) {
	b := wellPlayed
	b.from = playedFor - 6
	if got := Of(recorded(wellPlayed), recorded(b)); got.Outcome() != CantTell || !slices.Contains(got.TooFew, "stream live/one") {
		t.Errorf("%s, too few %v", got.Outcome(), got.TooFew)
	}
	var pair []*recording.Recording
	for _, name := range []string{"healthy", "sick"} {
		r, err := recording.Open("../lab/recordings/uplink-blackhole-" + name + ".snag")
		if err != nil {
			t.Fatal(err)
		}
		pair = append(pair, r)
	}
	if got := Of(pair[0], pair[1]); got.Outcome() != CantTell || !slices.Contains(got.TooFew, "stream live/match") { // only its frozen time is in both
		t.Errorf("10 s: %s, too few %v", got.Outcome(), got.TooFew)
	}
}
