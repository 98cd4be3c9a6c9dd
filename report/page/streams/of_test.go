package streams

import (
	"strings"
	"testing"
	"time"

	"snag/recording"
	"snag/report/page/streams/streamstest"
)

var plenty = Limits{Rows: 2000, Values: 180_000, Finest: 3000, Marks: 200}

func dataOf(m *streamstest.Made) *Data {
	d, _ := Of(m.Recording(), streamstest.Start, nil, nil, plenty)
	return d
}

func figureOf(t *testing.T, d Detail, name string) Figure {
	t.Helper()
	for _, f := range d.Figures {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("%s has no %s", d.ID, name)
	return Figure{}
}

func TestAStateIsTheWatchs(t *testing.T) {
	const length = 60
	refusal := map[string]string{"why": "NetStream.Play.StreamNotFound"}
	noAnswer := map[string]string{"why": "read rtmp://gone/live/x: dial tcp: connection refused"}
	for _, c := range []struct {
		what, want string
		make       func(m *streamstest.Made)
	}{
		{"well", "ok", func(m *streamstest.Made) { m.Stream(streamstest.Cam(1), length, streamstest.Well) }},
		{"a freeze that stands", "FROZEN", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.FrozenAt(50, 99))
			m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 50, 0, nil)
		}},
		{"a freeze that is over", "ok", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.FrozenAt(40, 45))
			m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 40, 45, nil)
		}},
		{"cut off before it could say that it stands", "FROZEN", func(m *streamstest.Made) { m.Stream(streamstest.Cam(1), length, streamstest.FrozenAt(50, 99)) }},
		{"ended after frames", "DOWN", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamEnded, 50, 50, map[string]string{"why": "Stream EOF"})
		}},
		{"ended, and refused since", "DOWN", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamEnded, 50, 50, nil)
			m.Event(streamstest.Cam(1), recording.EventStreamRefused, 51, 51, refusal)
		}},
		{"ended and back", "ok", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamEnded, 30, 30, nil)
			m.Event(streamstest.Cam(1), recording.EventStreamPublished, 31, 31, nil)
			m.Event(streamstest.Cam(1), recording.EventStreamFirstFrame, 31.1, 31.1, nil)
		}},
		{"a server's no", "refused", func(m *streamstest.Made) { m.Event(streamstest.Cam(1), recording.EventStreamRefused, 1, 1, refusal) }},
		{"no connection", "no answer", func(m *streamstest.Made) { m.Event(streamstest.Cam(1), recording.EventStreamRefused, 1, 1, noAnswer) }},
		{"a recording", "ended", func(m *streamstest.Made) {
			m.Event(streamstest.Cam(1), recording.EventStreamEnded, 1, 1, map[string]string{"why": "EXT-X-ENDLIST"})
		}},
		{"its audio went", "no audio", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamChanged, 50, 50, map[string]string{"what": "audio", "from": "aac", "to": "none", "kind": "audio"})
		}},
		{"its audio came back", "ok", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamChanged, 30, 30, map[string]string{"what": "audio", "to": "none"})
			m.Event(streamstest.Cam(1), recording.EventStreamChanged, 40, 40, map[string]string{"what": "audio", "from": "none", "to": "aac"})
		}},
		{"late", "late", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamLate, 40, 0, nil)
		}},
		{"slow", "slow", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamSlow, 40, 0, nil)
		}},
		{"garbled", "garbled", lacks(recording.EventStreamGarbled, 40, 0)},
		{"black", "black", lacks(recording.EventStreamBlack, 40, 0)},
		{"of one brightness", "plain", lacks(recording.EventStreamPlain, 40, 0)},
		{"silent", "silent", lacks(recording.EventStreamSilentAudio, 40, 0)},
		{"black for a while, and silent since before", "silent", func(m *streamstest.Made) {
			lacks(recording.EventStreamSilentAudio, 20, 0)(m)
			m.Event(streamstest.Cam(1), recording.EventStreamBlack, 25, 40, nil)
		}},
		{"the same", "still", lacks(recording.EventStreamStill, 40, 0)},
		{"fewer frames", "low FPS", lacks(recording.EventStreamRateFell, 40, 0)},
		{"fewer bytes", "low kb/s", lacks(recording.EventStreamBitsFell, 40, 0)},
		{"as many again", "ok", lacks(recording.EventStreamRateFell, 20, 40)},
		{"skipped lately", "skipping", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamSkipped, 55, 55, nil)
		}},
		{"skipped long ago", "ok", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), length, streamstest.Well)
			m.Event(streamstest.Cam(1), recording.EventStreamSkipped, 20, 20, nil)
		}},
		{"let in, and no frame yet", "waiting", func(m *streamstest.Made) {
			m.Stream(streamstest.Cam(1), 3, func(n int) streamstest.Second { return streamstest.OneOf(0, 0, float64(n)/10) })
			m.R.Streams[0].First = 0
			m.R.Events = m.R.Events[:1]
		}},
		{"asked for", "asking", func(m *streamstest.Made) { m.Row(recording.Stream{Name: "live/cam1", Asked: streamstest.At(1)}) }},
	} {
		m := streamstest.New(length)
		c.make(m)
		if c.what == "let in, and no frame yet" {
			m.R.Manifest.End = streamstest.At(3)
		}
		d := dataOf(m)
		if len(d.Rows) != 1 || d.Rows[0].State != c.want {
			t.Errorf("%s: %+v, not %s", c.what, d.Rows, c.want)
		}
	}
}

// lacks is a stream whose frames come and that lacks something from a second on, until another; 0: it
// still does.
func lacks(kind string, from, to float64) func(*streamstest.Made) {
	return func(m *streamstest.Made) {
		m.Stream(streamstest.Cam(1), 60, streamstest.Well)
		m.Event(streamstest.Cam(1), kind, from, to, map[string]string{"base": "2000000"})
	}
}

// What a stream lacks is a mark, with what there was before.
func TestMarksOfWhatAStreamLacks(t *testing.T) {
	for kind, want := range map[string]string{
		recording.EventStreamGarbled:     "picture: its picture was garbled in 7 key pictures",
		recording.EventStreamBlack:       "picture: its picture was black in 7 key pictures",
		recording.EventStreamPlain:       "picture: its picture was of one brightness in 7 key pictures",
		recording.EventStreamSilentAudio: "audio: its audio was silent in 7 seconds that were decoded",
		recording.EventStreamStill:       "picture: its picture was the same in 7 key pictures",
		recording.EventStreamRateFell:    "less: 7.0 frames came a second, and 25.0 before",
		recording.EventStreamBitsFell:    "less: as many frames of far fewer bytes: 0 kb/s",
		recording.EventStreamRestarted:   "restarted: its timestamps begin again, at 0.0 s after 25.0 s",
	} {
		all := marksOf([]recording.Event{{T: 1, Kind: kind, Value: 7, Attrs: map[string]string{"base": "25.0", "from": "25.0", "to": "0.0"}}})
		if len(all) != 1 || !strings.HasPrefix(all[0].kind+": "+all[0].text, want) || all[0].open != (kind != recording.EventStreamRestarted) {
			t.Errorf("%s: %+v, want %s", kind, all, want)
		}
		if trouble[all[0].kind] != (kind != recording.EventStreamRestarted) {
			t.Errorf("%s hurts: %v", kind, trouble[all[0].kind])
		}
	}
}

// What was not measured is null: of a stream that is down or refused, of which nobody can
// say how many frames per second it has.
func TestNotMeasuredIsNotZero(t *testing.T) {
	m := streamstest.New(60)
	m.Stream(streamstest.Cam(1), 60, func(n int) streamstest.Second {
		if n > 30 {
			return streamstest.Second{}
		}
		return streamstest.Healthy
	})
	m.Event(streamstest.Cam(1), recording.EventStreamEnded, 30, 30, nil)
	m.Event(streamstest.Cam(2), recording.EventStreamRefused, 1, 1, map[string]string{"why": "404 Not Found"})
	m.Stream(streamstest.Cam(3), 60, streamstest.Well) // cut off a moment before the end
	m.Event(streamstest.Cam(3), recording.EventStreamEnded, 58, 58, nil)
	d := dataOf(m)
	for _, r := range d.Rows {
		if r.FPS != nil || r.Kbps != nil || r.GOP != nil || r.Drift != nil || r.Skew != nil {
			t.Errorf("%s has figures of the present: %+v", r.ID, r)
		}
	}
	if down, refused := d.Rows[0], d.Rows[2]; down.Freezes == nil || *down.Freezes != 0 || refused.Freezes != nil || refused.Frozen != nil {
		t.Errorf("freezes: %v of a stream that was read, %v of one that was not", down.Freezes, refused.Freezes)
	}
	rate := figureOf(t, d.Details[0], "fps")
	for i, at := range d.Details[0].T {
		if measured := rate.Low[i] != nil; at > 1 && measured != (at <= 30) {
			t.Errorf("at %v s: %v", at, rate.Low[i])
		}
	}
	if spark := d.Rows[0].Spark; strings.Trim(spark[31:], " ") != "" || strings.Contains(spark, "0") {
		t.Errorf("the curve says %q", spark)
	}
}

// A freeze of one second in a day stays a second without a frame, and stays as long as its
// gap was, however few times are left.
func TestAFreezeOfASecondStaysVisible(t *testing.T) {
	const day = 24 * 3600
	m := streamstest.New(day)
	m.Stream(streamstest.Cam(1), day, streamstest.FrozenAt(50_000, 50_002))
	m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 50_000, 50_002, nil)
	for _, values := range []int{180_000, 20_000, 4_000} {
		d, left := Of(m.Recording(), streamstest.Start, nil, nil, Limits{Rows: 10, Values: values, Finest: 3000, Marks: 10})
		detail := d.Details[0]
		if n := len(detail.T) * quantities * 2; n > values {
			t.Errorf("%d values of %d", n, values)
		}
		if len(left) != 1 {
			t.Errorf("left out: %q", left)
		}
		rate, gaps := figureOf(t, detail, "fps"), figureOf(t, detail, "gap")
		zero, longest := 0, 0.0
		for i, low := range rate.Low {
			if low != nil && *low == 0 {
				zero++
				if at := detail.T[i]; at < 50_000 || at > 50_002+(detail.T[len(detail.T)-1]-detail.T[0])/float64(len(detail.T)-2) {
					t.Errorf("the freeze is at %v s", at)
				}
			}
			if high := gaps.High[i]; high != nil {
				longest = max(longest, *high)
			}
		}
		if zero != 1 || longest != 2 {
			t.Errorf("of %d times %d have no frame; the longest gap is %v s", len(rate.Low), zero, longest)
		}
		if len(detail.Marks) != 3 || !strings.Contains(d.Rows[0].Spark, "0") {
			t.Errorf("%d marks, curve %q", len(detail.Marks), d.Rows[0].Spark)
		}
	}
}

// A rate at the end is of the state at the end: not of the freeze before it, nor of the burst
// that ended it.
func TestTheRateIsOfTheStateAtTheEnd(t *testing.T) {
	for end, want := range map[int]float64{44: 0, 46: -1, 47: 25, 60: 25} {
		m := streamstest.New(end)
		m.Stream(streamstest.Cam(1), end, streamstest.FrozenAt(40, 46))
		to := 45.5
		if end == 44 {
			to = 0
		}
		m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 40, to, nil)
		got := dataOf(m).Rows[0].FPS
		if want < 0 && got != nil || want >= 0 && (got == nil || *got != want) {
			t.Errorf("at %d s: %v, not %v", end, got, want)
		}
	}
}

func TestTheSickStandFirst(t *testing.T) {
	m := streamstest.New(60)
	for n := 1; n <= 12; n++ {
		m.Stream(streamstest.Cam(n), 60, streamstest.Well)
	}
	m.Event(streamstest.Cam(9), recording.EventStreamFreeze, 50, 0, nil)
	m.Event(streamstest.Cam(10), recording.EventStreamEnded, 50, 50, nil)
	m.Event(streamstest.Cam(11), recording.EventStreamFreeze, 10, 12, nil)
	m.Event(streamstest.Cam(12), recording.EventStreamFreeze, 10, 18, nil)
	var got []string
	for _, r := range dataOf(m).Rows {
		got = append(got, strings.TrimPrefix(r.Name, "live/cam"))
	}
	if text := strings.Join(got, " "); text != "9 10 12 11 1 2 3 4 5 6 7 8" {
		t.Error(text)
	}
}

// Of many streams those that stand first are finer, all are there, and together they hold.
func TestManyAreCoarser(t *testing.T) {
	m := streamstest.New(600)
	for n := range 200 {
		m.Stream(streamstest.Cam(n), 600, streamstest.Well)
	}
	m.Event(streamstest.Cam(150), recording.EventStreamFreeze, 50, 0, nil)
	d, left := Of(m.Recording(), streamstest.Start, nil, nil, Limits{Rows: 180, Values: 180_000, Finest: 3000, Marks: 10})
	times := 0
	for _, detail := range d.Details {
		times += len(detail.T)
	}
	if d.Rows[0].Name != "live/cam150" || len(d.Details[0].T) < 5*len(d.Details[100].T) {
		t.Errorf("%s first, of %d times, of which another has %d", d.Rows[0].Name, len(d.Details[0].T), len(d.Details[100].T))
	}
	if n := times * quantities * 2; n > 180_000 || len(d.Rows) != 180 || d.Total != 200 || len(left) != 2 {
		t.Errorf("%d values, %d rows of %d, left out: %q", n, len(d.Rows), d.Total, left)
	}
}

func TestTheOpeningBurstIsNoRate(t *testing.T) {
	m := streamstest.New(20)
	m.Stream(streamstest.Cam(1), 20, func(n int) streamstest.Second {
		if n == 2 {
			return streamstest.OneOf(100, 4, 0.04)
		}
		return streamstest.Healthy
	})
	rate := figureOf(t, dataOf(m).Details[0], "fps")
	if rate.Low[1] != nil || rate.Low[5] == nil || *rate.Low[5] != 25 {
		t.Errorf("%v and %v", rate.Low[1], rate.Low[5])
	}
}

func TestSegmentsAreRatedByTheirMedia(t *testing.T) {
	m := streamstest.New(60)
	m.Stream(streamstest.Cam(1), 60, func(n int) streamstest.Second {
		switch {
		case n > 40:
			return streamstest.OneOf(0, 0, float64(n-40))
		case n%4 == 0:
			return streamstest.OneOf(100, 4, 3.9)
		}
		return streamstest.OneOf(0, 0, float64(n%4))
	})
	m.R.Streams[0].Protocol = "hls"
	m.Event(streamstest.Cam(1), recording.EventStreamFreeze, 50, 0, nil)
	rate := figureOf(t, dataOf(m).Details[0], "fps")
	if a, b := rate.Low[20], rate.Low[55]; a == nil || *a != 25 || b == nil || *b != 0 {
		t.Errorf("%v while segments come, %v while it is frozen", a, b)
	}
}

// How far the timestamps are ahead of the clock falls by what they stand still, and is there
// again when what was held comes.
func TestTimestampsAgainstTheClock(t *testing.T) {
	m := streamstest.New(30)
	m.Stream(streamstest.Cam(1), 30, streamstest.FrozenAt(10, 14))
	ahead := figureOf(t, dataOf(m).Details[0], "clock")
	if a, b, c := ahead.Low[5], ahead.Low[12], ahead.Low[20]; a == nil || *a != 0 || b == nil || *b != -3 || c == nil || *c != 0 {
		t.Errorf("%v before, %v within, %v after", a, b, c)
	}
}

func TestWhereItIsHurtFirst(t *testing.T) {
	m := streamstest.New(60)
	places := []streamstest.Key{{Name: "live/match", Layer: "edge"}, {Name: "live/match", Layer: "ingest"}, {Name: "live/match", Layer: "origin"}}
	for _, k := range places {
		m.Stream(k, 60, streamstest.Well)
	}
	m.R.StreamHops = []recording.StreamHop{{Name: "live/match", From: "ingest", To: "origin"}, {Name: "live/match", From: "origin", To: "edge"}}
	m.Event(places[0], recording.EventStreamFreeze, 20, 24, nil) // the edge a little before the origin, by the clocks
	m.Event(places[2], recording.EventStreamFreeze, 20.3, 24, nil)
	m.Event(places[0], recording.EventStreamSkipped, 40, 40, nil)
	m.Event(places[1], recording.EventStreamLate, 50, 0, nil)
	m.Event(places[0], recording.EventStreamFreeze, 52, 0, nil)
	groups := dataOf(m).Groups
	if len(groups) != 1 || strings.Join(groups[0].Places, " ") != "ingest origin edge" {
		t.Fatalf("%+v", groups)
	}
	hurts := groups[0].Hurts
	if len(hurts) != 3 {
		t.Fatalf("%+v", hurts)
	}
	for i, want := range []struct {
		kind  string
		first int
		also  string
	}{{"freeze", 1, "frozen"}, {"skipped", 2, ""}, {"late", 0, ""}} {
		h := hurts[i]
		if h.Kind != want.kind || h.First != want.first || !h.Sure || len(h.Also) != 2-want.first || want.also != "" && !strings.Contains(h.Also[0], want.also) {
			t.Errorf("%+v, not %+v", h, want)
		}
	}
	if also := hurts[2].Also; also[0] != "" || !strings.Contains(also[1], "frozen") {
		t.Errorf("after what was late at the ingest: %q", also)
	}
}

// A recording of a stranger may have any number of events and seconds: what they cost grows
// as they do.
func TestManyEventsAreQuick(t *testing.T) {
	const n = 30_000
	m := streamstest.New(n)
	for _, place := range []string{"origin", "edge"} {
		k := streamstest.Key{Name: "live/match", Layer: place}
		m.Stream(k, n, streamstest.Well)
		for i := range n {
			at := float64(i)
			m.Event(k, recording.EventStreamEnded, at+0.1, at+0.1, nil)
			m.Event(k, recording.EventStreamPublished, at+0.2, at+0.2, nil)
			m.Event(k, recording.EventStreamFirstFrame, at+0.3, at+0.3, nil)
			m.Event(k, recording.EventStreamFreeze, at+0.4, at+100, nil)
		}
		m.R.Streams[len(m.R.Streams)-1].Protocol = "hls"
	}
	r := m.Recording()
	began := time.Now()
	d, _ := Of(r, streamstest.Start, nil, nil, plenty)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if len(d.Groups) != 1 || len(d.Groups[0].Hurts) != mostHurts || len(d.Details[0].Marks) != plenty.Marks || d.Details[0].MoreMarks == 0 {
		t.Errorf("%d hurts, %d marks of one", len(d.Groups[0].Hurts), len(d.Details[0].Marks))
	}
}

func TestARenamedConnectionIsOne(t *testing.T) {
	m := streamstest.New(30)
	was, now := streamstest.Key{Name: "10.0.0.3:5000 → :1935"}, streamstest.Cam(1)
	m.Stream(was, 30, streamstest.Well)
	m.Row(recording.Stream{Name: now.Name, Was: was.Name, First: streamstest.At(0.1)})
	m.Event(now, recording.EventStreamFreeze, 20, 22, nil)
	d := dataOf(m)
	if len(d.Rows) != 1 || d.Rows[0].Name != now.Name || *d.Rows[0].Freezes != 1 || len(d.Details[0].T) != 30 {
		t.Errorf("%+v", d.Rows)
	}
}

func TestNothingMeasuredIsNoPanic(t *testing.T) {
	if d, left := Of(&recording.Recording{}, 0, nil, nil, plenty); d != nil || left != nil {
		t.Errorf("%+v %q", d, left)
	}
	odd := streamstest.New(0)
	odd.Stream(streamstest.Cam(1), 1, func(int) streamstest.Second { return streamstest.OneOf(-5, -1, -3) })
	odd.R.Manifest.End = streamstest.Start.Add(-1e9)
	odd.Event(streamstest.Cam(1), recording.EventStreamFreeze, 5, 2, nil)
	if d := dataOf(odd); len(d.Rows) != 1 {
		t.Errorf("%+v", d)
	}
}
