package live

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

var update = flag.Bool("update", false, "write the golden files again")

// at is three in the morning.
var at = recording.Time(time.Date(2026, 11, 21, 3, 12, 45, 0, time.UTC).UnixNano())

func ago(d time.Duration) recording.Time { return at.Add(-d) }

func v(x float64) figures.Value { return figures.Value{V: x, OK: true} }

// healthy is a camera of 25 frames per second that has run for hours.
func healthy(raw string) watch.Row {
	e, err := watch.NewEntry(raw, "cams.txt:12")
	if err != nil {
		panic(err)
	}
	r := watch.Row{
		Entry: e, Shown: watch.ShownURL(e.URL), Protocol: "rtmp", State: watch.OK, Since: ago(3 * time.Hour),
		Local: "10.0.0.5:51234", Remote: "10.0.0.9:1935", Asked: ago(3 * time.Hour), First: ago(3*time.Hour - 400*time.Millisecond), Figure: true,
	}
	r.Params[stream.Video] = stream.Params{Kind: stream.Video, Codec: "h264", Width: 1280, Height: 720, FPS: 25}
	r.Params[stream.Audio] = stream.Params{Kind: stream.Audio, Codec: "aac", SampleRate: 48000, Channels: 2}
	s := &r.Second
	s.Length = 1
	s.Video = figures.Track{Present: true, Frames: 25, Keys: 1, Bytes: 312500, FPS: v(25), FPSDTS: v(25), Bitrate: v(2.5e6)}
	s.Audio = figures.Track{Present: true, Frames: 47, Bytes: 16000, FPS: v(47), Bitrate: v(128e3)}
	s.Gap, s.Drift, s.Pace, s.Skew, s.Limit = v(0.08), v(0.01), v(1), v(0.02), 1
	s.GOP = figures.GOP{Frames: 50, Seconds: 2, Varies: v(0)}
	s.Total.Frames, s.Total.Connected = [2]uint64{270000, 500000}, 1
	s.Five = figures.Five{Length: 5, Video: figures.Sum{Frames: 125, Keys: 3, Bytes: 1562500, FPS: v(25), Bitrate: v(2.5e6)}, Gap: 0.08, Drift: v(0.01)}
	for i := range 60 {
		r.FPS = append(r.FPS, 25+float32(i%3)-1)
		r.Drift = append(r.Drift, 0.01)
	}
	return r
}

// sick makes a row of a state.
func sick(raw string, state watch.State, since time.Duration) watch.Row {
	r := healthy(raw)
	r.State, r.Since = state, ago(since)
	n := len(r.FPS)
	switch state {
	case watch.Frozen:
		for i := range min(n, int(since.Seconds())) {
			r.FPS[n-1-i] = 0
		}
		r.Second.Video.FPS, r.Second.Video.Frames, r.Second.Video.Bitrate = v(0), 0, v(0)
		r.Second.Gap, r.Second.Drift, r.Second.Skew = v(since.Seconds()), figures.Value{}, figures.Value{}
		r.Recent = []watch.Happened{
			{T: ago(3 * time.Hour), Stream: r.Name, Event: figures.Event{ID: 1, Kind: recording.EventStreamFirstFrame, Value: 0.4}},
			{T: r.Since, Stream: r.Name, Event: figures.Event{ID: 2, Kind: recording.EventStreamFreeze, Phase: figures.Begun, Value: 1, Threshold: 1}},
		}
	case watch.Late:
		for i := range 30 {
			r.Drift[n-1-i] = 1.5 - float32(i)*0.05
		}
		r.Second.Drift = v(1.5)
	case watch.Down, watch.Refused, watch.NoAnswer:
		r.Why, r.Retry = "read "+r.Shown+": the server refused: NetStream.Play.StreamNotFound (is it published under this name, and may this reader have it?)", at.Add(12*time.Second)
		for i := range n {
			r.FPS[i], r.Drift[i] = -1, -1
		}
		r.Second = figures.Second{Limit: 1}
		if state != watch.Down {
			r.First, r.Params, r.Figure, r.Local, r.Remote = 0, [2]stream.Params{}, false, "", ""
		}
	case watch.Losing:
		r.Second.Transport.Count[stream.PacketsLost] = 17
		r.Second.Transport.Gauge[stream.Jitter] = v(0.034)
	case watch.Slow:
		r.Second.Pace, r.Second.Video.FPS = v(0.81), v(20)
	case watch.Skipping:
		r.Second.Missing = 12
	}
	return r
}

func snapshot(rows ...watch.Row) *watch.Snapshot {
	s := &watch.Snapshot{T: at, Rows: rows, Freeze: 3, Own: watch.Own{CPU: v(0.031), Memory: 24 << 20, Late: 2 * time.Millisecond, Worst: 41 * time.Millisecond}}
	for _, r := range rows {
		s.States[r.State]++
	}
	return s
}

func five() *watch.Snapshot {
	return snapshot(
		healthy("rtmp://origin/live/cam10"), healthy("rtmp://origin/live/cam2"),
		sick("rtmp://origin/live/cam7", watch.Frozen, 3200*time.Millisecond),
		sick("rtsp://10.0.0.7:8554/door", watch.Late, 25*time.Second),
		sick("rtmp://origin/live/gone", watch.Refused, 2*time.Minute),
	)
}

// twoHundred are what a night looks like, hostile names among them.
func twoHundred() *watch.Snapshot {
	var rows []watch.Row
	for i := range 188 {
		rows = append(rows, healthy(fmt.Sprintf("rtmp://origin/live/cam%d", i+1)))
	}
	for i := range 3 {
		rows = append(rows, sick(fmt.Sprintf("rtmp://edge%d/hall/stage-with-quite-a-long-name-indeed-%d", i, i), watch.Frozen, time.Duration(i+1)*2700*time.Millisecond))
	}
	rows = append(rows,
		sick("rtmp://origin/live/encoder-gone", watch.Down, 95*time.Second),
		sick("rtmp://origin/live/typo", watch.Refused, 3*time.Hour),
		sick("rtmp://nowhere/live/x", watch.NoAnswer, 26*time.Hour),
		sick("rtsp://10.0.0.7/door", watch.Late, 25*time.Second),
		sick("rtmp://origin/live/poor", watch.Slow, 4*time.Minute),
		sick("rtmp://origin/live/jumpy", watch.Skipping, 5*time.Second),
		sick("rtp://10.0.0.9:5004", watch.Losing, 4*time.Second),
		healthy("rtmp://origin/live/%1b%5b2J%1b%5b31mevil"),
		healthy("rtmp://origin/live/東京の舞台"+strings.Repeat("very-", 40)+"long"),
	)
	return snapshot(rows...)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name + ".txt"
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s is no longer\n%s\nbut\n%s", path, want, got)
	}
}

func TestTable(t *testing.T) {
	last := "03:12:43  live/cam7  FROZEN since 03:12:41: no frame for 1.0 s"
	for name, c := range map[string]struct {
		s             *watch.Snapshot
		width, height int
	}{
		"five-80x24":   {five(), 80, 24},
		"five-120x40":  {five(), 120, 40},
		"200-80x24":    {twoHundred(), 80, 24},
		"200-120x40":   {twoHundred(), 120, 40},
		"nothing-80x8": {snapshot(), 80, 8},
	} {
		table := Table{Width: c.width, Height: c.height, Last: last}
		text := table.Draw(c.s)
		golden(t, name, text)
		fits(t, name, text, c.width, c.height)
		colour := Table{Width: c.width, Height: c.height, Last: last, Color: true}
		if ansi.Strip(colour.Draw(c.s)) != text {
			t.Errorf("%s: colour changes the words", name)
		}
	}
}

func TestDetails(t *testing.T) {
	s := twoHundred()
	table := Table{Width: 80, Height: 24}
	rows := Sorted(s, "")
	golden(t, "frozen-80x24", table.Details(s, rows[0]))
	golden(t, "refused-80x24", table.Details(s, rows[4]))
	for _, r := range rows {
		fits(t, r.Name, table.Details(s, r), 80, 24)
	}
}

// fits holds that a screen is no larger than it may be, and moves no cursor.
func fits(t *testing.T, name, text string, width, height int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) != height {
		t.Errorf("%s: %d lines", name, len(lines))
	}
	for _, l := range lines {
		if ansi.StringWidth(l) > width || strings.ContainsAny(l, "\x1b\r\t\a") {
			t.Errorf("%s: %q", name, l)
		}
	}
}

func TestAnySizeIsDrawn(t *testing.T) {
	s := twoHundred()
	for width := 1; width < 260; width += 7 {
		for _, height := range []int{1, 3, 6, 24, 100} {
			table := Table{Width: width, Height: height, Color: true, Cursor: Key(&s.Rows[150])}
			for _, l := range strings.Split(table.Draw(s), "\n") {
				if ansi.StringWidth(l) > width {
					t.Fatalf("%d×%d: %q", width, height, l)
				}
			}
			table.Details(s, &s.Rows[150])
		}
	}
}

func TestTheSickAreFirstAndTheCursorStays(t *testing.T) {
	s := five()
	m := model{snap: *s, look: func() watch.Snapshot { return *s }, screen: NewScreen(), table: Table{Width: 80, Height: 24}}
	press := func(keys ...string) {
		for _, k := range keys {
			msg := tea.KeyPressMsg{Code: []rune(k)[0], Text: k}
			switch k {
			case "enter":
				msg = tea.KeyPressMsg{Code: tea.KeyEnter}
			case "esc":
				msg = tea.KeyPressMsg{Code: tea.KeyEscape}
			case "down":
				msg = tea.KeyPressMsg{Code: tea.KeyDown}
			}
			next, _ := m.Update(msg)
			m = next.(model)
		}
	}
	var names []string
	for _, r := range Sorted(s, "") {
		names = append(names, r.Name)
	}
	if got := strings.Join(names, " "); got != "live/cam7 live/gone door live/cam2 live/cam10" {
		t.Errorf("in the order of %s", got)
	}
	press("down", "down", "down")
	s.Rows[1].State = watch.Frozen // cam2, which is chosen, moves up
	next, _ := m.Update(timeToLook{})
	m = next.(model)
	if !strings.Contains(m.draw(), "> FROZEN") || !strings.Contains(m.draw(), "live/cam2 ") || m.table.Cursor != " live/cam2" {
		t.Errorf("the cursor is at %q\n%s", m.table.Cursor, m.draw())
	}
	press("enter")
	if !strings.Contains(m.draw(), "LAST EVENTS") {
		t.Error("enter shows no details")
	}
	press("esc", "/", "d", "o", "o", "r", "enter")
	if text := m.draw(); !strings.Contains(text, "filter: door") || strings.Contains(text, "cam10") {
		t.Errorf("filtered\n%s", text)
	}
	press("esc")
	if !strings.Contains(m.draw(), "cam10") {
		t.Error("esc does not end the filter")
	}
	if _, cmd := m.pressed("q"); cmd == nil {
		t.Error("q does not quit")
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float32
		want   string
	}{
		{nil, "          "},
		{[]float32{25, 25, 0, -1, 12, 25}, "    ██_ ▅█"},
		{[]float32{25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 25, 0, 25, 25}, "████████_█"},
		{[]float32{float32(math.NaN())}, "          "},
	} {
		if got := spark(c.values, 10, highest(c.values), least); got != c.want {
			t.Errorf("%v is %q", c.values, got)
		}
	}
}

// Who stopped a stream stands beside its name while it stands still, and not beside
// what it suffers next.
func TestTableNamesTheCulprit(t *testing.T) {
	r := watch.Row{State: watch.Frozen, Since: ago(9 * time.Second)}
	r.Name = "live/cam7"
	r.Judged = &watch.Judged{Onset: ago(9 * time.Second), Culprit: "encoder-stall"}
	for _, c := range []struct {
		state watch.State
		onset recording.Time
		want  string
	}{
		{watch.Frozen, ago(9 * time.Second), "live/cam7 ← encoder-stall"},
		{watch.Frozen, ago(time.Hour), "live/cam7"},
		{watch.OK, ago(9 * time.Second), "live/cam7"},
	} {
		r.State, r.Judged.Onset = c.state, c.onset
		if got := blamed(&r); got != c.want {
			t.Errorf("%s since %v: %q", c.state, c.onset, got)
		}
	}
}

// The figures that a stream had before it ended are none of it now.
func TestJSONOfWhatIsNotRead(t *testing.T) {
	for state := range watch.States {
		r := watch.Row{State: state, Figure: true, Protocol: "rtmp"}
		r.Second.Five = figures.Five{Length: 5, Video: figures.Sum{Frames: 125, FPS: v(25)}, Gap: 0.04, Drift: v(0.01)}
		r.Second.Total.Connected = 1
		var b bytes.Buffer
		NewJSON(&b).Figures(&watch.Snapshot{T: at, Rows: []watch.Row{r}})
		var line struct {
			Seconds float64
			Video   *struct{ FPS float64 }
			Gap     *float64 `json:"gap_seconds"`
			Drift   *float64 `json:"drift_seconds"`
		}
		if err := json.Unmarshal(b.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		read := r.Measured()
		if (line.Video != nil) != read || (line.Gap != nil) != read || (line.Drift != nil) != read || (line.Seconds == 5) != read {
			t.Errorf("%s: %s", state, b.String())
		}
		if want := state != watch.Down && state != watch.Refused && state != watch.NoAnswer && state != watch.Connecting && state != watch.Over; read != want {
			t.Errorf("%s: measured %v", state, read)
		}
	}
}

// A stream that was let in a moment ago: what was not measured yet is null, in the
// line and in the table, and the line keeps its schema.
func TestWhatIsNotMeasuredYetIsNoZero(t *testing.T) {
	r := healthy("rtmp://origin/live/cam1")
	r.Second = figures.Second{Length: 1, Total: figures.Total{Connected: 1}, Video: figures.Track{Present: true, Frames: 78, Keys: 2, Bytes: 350000}}
	var b bytes.Buffer
	NewJSON(&b).Figures(&watch.Snapshot{T: at, Rows: []watch.Row{r}})
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"video", "audio", "gap_seconds", "missing_frames", "drift_seconds", "dts_per_wall", "skew_seconds", "gop_seconds", "gop_frames", "gop_varies_frames", "fps_dts"} {
		if v, there := line[field]; v != nil || !there {
			t.Errorf("%s is %v", field, v)
		}
	}
	r.Second.Five = figures.Five{Length: 5, Video: figures.Sum{Frames: 78}}
	b.Reset()
	NewJSON(&b).Figures(&watch.Snapshot{T: at, Rows: []watch.Row{r}})
	if !strings.Contains(b.String(), `"frames":78,"keyframes":0,"bytes":0,"fps":null,"bits_per_second":null`) {
		t.Error(b.String())
	}
	schema, err := jsonschema.NewCompiler().Compile("watch.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	s := snapshot(r)
	s.Own = watch.Own{}
	b.Reset()
	NewJSON(&b).Summary(s)
	if text := own(s.Own); !strings.Contains(b.String(), `"own_cpu_ratio":null,"own_memory_bytes":null`) || !strings.HasPrefix(text, "snag: – % of a CPU, –,") {
		t.Errorf("%s%s", b.String(), text)
	}
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
	if fps, bits := cellFPS(s, &r, 3), cellBitrate(s, &r, 5); fps != "–" || bits != "–" {
		t.Errorf("the table has %s fps, %s kb/s", fps, bits)
	}
}

// What a recording shows of a stream is said with what the accusation rests on, not with a number of 0.97 to 0.99.
func TestVerdictsSayTheirProof(t *testing.T) {
	j := watch.Judged{Culprit: "encoder-stall", Confidence: 0.97, Proof: "1 proof, 2 strong signs", Text: "it stalls", Recording: "/tmp/x/3"}
	if got, want := SayVerdict(j), "CULPRIT encoder-stall (1 proof, 2 strong signs): it stalls; snag judge /tmp/x/3"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := SayVerdict(watch.Judged{Text: "nobody", Recording: "/r"}), "nobody; snag judge /r"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJSONKeepsItsSchema(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("watch.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	j := NewJSON(&b)
	s := twoHundred()
	j.Figures(s)
	j.Summary(s)
	j.Note("cams.txt:6: not-a-url has no protocol")
	j.Verdict(watch.Judged{Stream: "live/cam7", Onset: ago(9 * time.Second), Culprit: "encoder-stall", Subject: "ffmpeg[40]", Confidence: 0.97, Text: "it stalls", Recording: "/tmp/x/3"})
	j.Verdict(watch.Judged{Stream: "live/cam7", Layer: "edge", Text: "nobody", Recording: "/tmp/x/3"})
	for _, h := range happened() {
		j.Event(h)
	}
	types := map[string]int{}
	for line := range strings.SplitSeq(strings.TrimSpace(b.String()), "\n") {
		var doc map[string]any
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		if value, unit := doc["value"], doc["unit"]; doc["type"] == "event" && (value == nil) != (unit == nil) {
			t.Errorf("a value of no unit, or none of one: %s", line)
		}
		types[doc["type"].(string)]++
		doc["surprise"] = 1
		if schema.Validate(doc) == nil {
			t.Fatal("the schema takes anything")
		}
	}
	if types["figures"] != 200 || types["summary"] != 1 || types["note"] != 1 || types["verdict"] != 2 || types["event"] != len(happened())-1 {
		t.Errorf("%v", types)
	}
}

// happened is one of each kind of event, and one that is no news.
func happened() []watch.Happened {
	h := func(kind string, phase figures.Phase, value float64, more figures.Event) watch.Happened {
		more.Kind, more.Phase, more.Value = kind, phase, value
		w := watch.Happened{Event: more, Stream: "live/cam7", T: ago(4 * time.Second)}
		if phase == figures.Ended {
			w.End = at
		}
		return w
	}
	return []watch.Happened{
		h(recording.EventStreamPublished, figures.Instant, 0, figures.Event{}),
		h(recording.EventStreamFirstFrame, figures.Instant, 0.4, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamFreeze, figures.Begun, 1, figures.Event{Unit: "seconds", Threshold: 1}),
		h(recording.EventStreamFreeze, figures.Begun, 10, figures.Event{Unit: "seconds", Threshold: 10, Before: true}),
		h(recording.EventStreamFreeze, figures.Updated, 2, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamFreeze, figures.Ended, 4, figures.Event{Unit: "seconds", Step: v(0.04), Burst: 99, Pattern: figures.Held}),
		h(recording.EventStreamFreeze, figures.Ended, 4, figures.Event{Unit: "seconds", Doubt: true, ObserverLate: 3.5}),
		h(recording.EventStreamFreeze, figures.Begun, 2.6, figures.Event{Unit: "seconds", Doubt: true, Missed: 2.6}),
		h(recording.EventStreamFreeze, figures.Ended, 2.6, figures.Event{Unit: "seconds", Doubt: true, Missed: 2.6}),
		h(recording.EventStreamSkipped, figures.Instant, 3, figures.Event{Unit: "seconds", Doubt: true, Missed: 0.1}),
		h(recording.EventStreamLate, figures.Begun, 0.6, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamLate, figures.Ended, 2.5, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamSlow, figures.Begun, 0.81, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamSlow, figures.Ended, 0.81, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamSkipped, figures.Instant, 12, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamJump, figures.Instant, -3600, figures.Event{Unit: "seconds"}),
		h(recording.EventStreamChanged, figures.Instant, 0, figures.Event{What: "resolution", From: "1280x720", To: "640x360"}),
		h(recording.EventStreamChanged, figures.Instant, 0, figures.Event{What: "audio", From: "aac", To: "none"}),
		h(recording.EventStreamRestarted, figures.Instant, 0, figures.Event{From: "86.04", To: "0.08"}),
		h(recording.EventStreamGarbled, figures.Begun, 2, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamGarbled, figures.Ended, 3, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamSilentAudio, figures.Begun, 4, figures.Event{Of: stream.Audio, Unit: "seconds"}),
		h(recording.EventStreamSilentAudio, figures.Ended, 5, figures.Event{Of: stream.Audio, Unit: "seconds"}),
		h(recording.EventStreamBlack, figures.Begun, 2, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamBlack, figures.Ended, 6, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamPlain, figures.Begun, 2, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamStill, figures.Begun, 4, figures.Event{Unit: "pictures"}),
		h(recording.EventStreamRateFell, figures.Begun, 12.5, figures.Event{Base: 25, Unit: "frames per second"}),
		h(recording.EventStreamRateFell, figures.Ended, 12.5, figures.Event{Base: 25, Unit: "frames per second"}),
		h(recording.EventStreamBitsFell, figures.Begun, 40_000, figures.Event{Base: 900_000, Unit: "bits per second"}),
		h(recording.EventStreamBitsFell, figures.Ended, 40_000, figures.Event{Base: 900_000, Unit: "bits per second", Why: "the stream ended"}),
		h(recording.EventStreamEnded, figures.Instant, 0, figures.Event{Why: "NetStream.Play.UnpublishNotify\x1b[2J"}),
		h(recording.EventStreamRefused, figures.Instant, 0, figures.Event{Why: "404 Not Found"}),
	}
}

// A freeze whose transport knows why says so, and moves no cursor with it.
func TestAFreezeSaysWhy(t *testing.T) {
	for before, want := range map[bool]string{
		false: `FROZEN since 03:12:41: no frame for 6.0 s: the segments answer 404 Not\x1b Found (3 of the last 3)`,
		true:  `FROZEN: let in at 03:12:41 and no frame since: the segments answer 404 Not\x1b Found (3 of the last 3)`,
	} {
		h := watch.Happened{Stream: "live/cam7", T: ago(4 * time.Second), Event: figures.Event{
			Kind: recording.EventStreamFreeze, Phase: figures.Begun, Value: 6, Before: before, Why: "the segments answer 404 Not\x1b Found (3 of the last 3)",
		}}
		if got := Say(h); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

func TestLines(t *testing.T) {
	var b bytes.Buffer
	l := NewLines(&b)
	for _, h := range happened() {
		l.Event(h)
	}
	l.Summary(five())
	golden(t, "lines", strings.TrimSuffix(b.String(), "\n"))
	if strings.Contains(b.String(), "\x1b") {
		t.Error("a server's words move the cursor")
	}
}
