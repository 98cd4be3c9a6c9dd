package ffprobe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"snag/readers/reader"
	"snag/recording"
)

type sink struct{ recording.Recording }

func (s *sink) Sample(recording.Time, string, recording.Labels, float64) {}
func (s *sink) Append(row recording.Row)                                 { s.Add(row) }

var ended = time.Date(2026, 3, 1, 12, 10, 0, 0, time.UTC)

func readText(t testing.TB, text string) (reader.Told, *recording.Recording) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "cam1.txt")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := reader.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if !Format.Sniff(in.Head()) {
		t.Fatalf("not known: %.200q", text)
	}
	out := &sink{}
	told, err := Format.Read(context.Background(), in, reader.Options{Zone: time.UTC, Modified: ended}, out)
	if err != nil {
		t.Fatal(err)
	}
	return told, &out.Recording
}

// frame of a written stream.
type frame struct{ arrival, dts float64 } // s; arrival since 2026-03-01 12:00:00

// frozen is 25 frames per second that stand still for 3 s from second 20 on, after which
// what was held comes at once.
func frozen() (all []frame) {
	for i := range 1000 {
		f := frame{float64(i) * 0.04, float64(i) * 0.04}
		if f.dts >= 20 && f.dts < 23 {
			f.arrival = 23 + float64(i)*1e-5
		}
		all = append(all, f)
	}
	return all
}

// skipping leaves out frames at second 20 and jumps by a minute at second 30.
func skipping() (all []frame) {
	for i := range 1000 {
		f := frame{float64(i) * 0.04, float64(i) * 0.04}
		switch {
		case i >= 500 && i < 510:
			continue
		case i >= 750:
			f.dts += 60
		}
		all = append(all, f)
	}
	return all
}

// write writes frames as ffprobe does, with a mark before each line or without.
func write(w writer, frames []frame, mark func(at float64) string) string {
	var b strings.Builder
	put := func(at float64, format string, args ...any) {
		if mark != nil {
			b.WriteString(mark(at))
		}
		fmt.Fprintf(&b, format+"\n", args...)
	}
	if w == json {
		put(0, "{")
		put(0, `    "packets": [`)
	}
	for i, f := range frames {
		at, dts, flags := f.arrival, f.dts, "__"
		if i%50 == 0 {
			flags = "K_"
		}
		switch w {
		case compact:
			put(at, "packet|codec_type=video|stream_index=0|pts=1|pts_time=%.6f|dts=1|dts_time=%.6f|duration=1|duration_time=0.040000|size=%d|pos=9|flags=%s", dts+0.04, dts, 1000+i, flags)
		case csv:
			put(at, "packet,video,0,1,%.6f,1,%.6f,1,0.040000,%d,9,%s", dts+0.04, dts, 1000+i, flags)
		case plain:
			put(at, "[PACKET]")
			put(at, "codec_type=video\nstream_index=0\npts_time=%.6f\ndts_time=%.6f\nsize=%d\nflags=%s", dts+0.04, dts, 1000+i, flags)
			put(at, "[/PACKET]")
		case json:
			put(at, `        {`)
			put(at, `            "codec_type": "video",`)
			put(at, `            "stream_index": 0,`)
			put(at, `            "pts_time": "%.6f",`, dts+0.04)
			put(at, `            "dts_time": "%.6f",`, dts)
			put(at, `            "size": "%d",`, 1000+i)
			put(at, `            "side_data_list": [ { "side_data_type": "x", "dts_time": "9" } ],`)
			put(at, `            "flags": "%s"`, flags)
			put(at, `        },`)
		}
	}
	if w == json {
		put(0, "    ]")
		put(0, "}")
	}
	return b.String()
}

var day = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func after(at float64) time.Time { return day.Add(time.Duration(at * 1e9)) }

var marked = map[string]func(float64) string{
	"epoch": func(at float64) string { return fmt.Sprintf("%.6f ", float64(after(at).UnixMicro())/1e6) },
	"iso":   func(at float64) string { return after(at).Format("[2006-01-02 15:04:05.000000] ") },
	"ts":    func(at float64) string { return after(at).Format("Jan 02 15:04:05 ") },
}

// TestAFreezeInEveryForm: each way of writing and of marking tells the same freeze.
func TestAFreezeInEveryForm(t *testing.T) {
	for _, w := range []writer{compact, csv, plain, json} {
		for name, mark := range marked {
			if name == "ts" && w == plain { // its lines in between have no mark: ts gives each one
				continue
			}
			told, r := readText(t, write(w, frozen(), mark))
			var freezes []recording.Event
			for _, e := range r.Events {
				if e.Kind == recording.EventStreamFreeze {
					freezes = append(freezes, e)
				}
			}
			if len(freezes) != 1 {
				t.Errorf("%d, %s: %d freezes: %+v", w, name, len(freezes), r.Events)
				continue
			}
			e := freezes[0]
			slack := 0.1
			if name == "ts" {
				slack = 1.1
			}
			if off := e.T.Wall().Sub(after(20)).Seconds(); off < -slack || off > slack || e.Value < 3-slack || e.Value > 3.1+slack || e.Subject.Name != "cam1" {
				t.Errorf("%d, %s: %+v", w, name, e)
			}
			if n := len(r.Streams); n == 0 || r.Streams[n-1].Protocol != "ffprobe" {
				t.Errorf("%d, %s: rows %+v", w, name, r.Streams)
			}
			if told.First.Wall().Unix() != day.Unix() || len(told.Coverage) != 1 {
				t.Errorf("%d, %s: %+v", w, name, told)
			}
		}
	}
}

func TestWithoutTimesOfArrivalOnlyTheStreamsOwnClockIsJudged(t *testing.T) {
	for _, w := range []writer{compact, csv, plain, json} {
		told, r := readText(t, write(w, skipping(), nil))
		kinds := map[string]float64{}
		for _, e := range r.Events {
			kinds[e.Kind] += e.Value
		}
		if kinds[recording.EventStreamSkipped] < 9 || kinds[recording.EventStreamSkipped] > 11 || kinds[recording.EventStreamJump] < 55 || kinds[recording.EventStreamFreeze] != 0 || kinds[recording.EventStreamLate] != 0 {
			t.Errorf("%d: %v", w, kinds)
		}
		if told.Last.Wall() != ended || !strings.Contains(told.Coverage[0].Why, "no time of arrival") {
			t.Errorf("%d: %+v", w, told)
		}
	}
}

func TestAHealthyStreamTellsNothing(t *testing.T) {
	var all []frame
	for i := range 2000 {
		all = append(all, frame{float64(i)*0.04 + float64(i*7919%97)/1000, float64(i) * 0.04})
	}
	_, r := readText(t, write(compact, all, marked["epoch"]))
	for _, e := range r.Events {
		switch e.Kind {
		case recording.EventStreamPublished, recording.EventStreamFirstFrame:
		default:
			t.Errorf("%+v", e)
		}
	}
}

// TestBursts: segments of 4 s at once, as HLS comes, are no freezes.
func TestBursts(t *testing.T) {
	var all []frame
	for i := range 2000 {
		dts := float64(i) * 0.04
		all = append(all, frame{float64(int(dts/4))*4 + float64(i%100)/1000, dts})
	}
	told, r := readText(t, write(compact, all, marked["epoch"]))
	for _, e := range r.Events {
		if e.Kind == recording.EventStreamFreeze || e.Kind == recording.EventStreamLate {
			t.Errorf("%+v", e)
		}
	}
	if !strings.Contains(told.Coverage[0].Why, "bursts") {
		t.Errorf("%+v", told.Coverage)
	}
}

func TestFramesAndWallclock(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		at := float64(i) * 0.04
		if i >= 250 {
			at += 4
		}
		fmt.Fprintf(&b, "frame|media_type=video|stream_index=0|key_frame=0|pts_time=%[1]s|pkt_dts_time=%[1]s|best_effort_timestamp_time=%[1]s|pkt_size=100|width=640|height=360\n", strings.TrimSpace(marked["epoch"](at)))
	}
	told, r := readText(t, b.String())
	n := 0
	for _, e := range r.Events {
		if e.Kind == recording.EventStreamFreeze {
			n++
		}
	}
	if n != 1 || r.Streams[len(r.Streams)-1].Width != 640 || !strings.Contains(told.Coverage[0].Why, "use_wallclock_as_timestamps") {
		t.Errorf("%d freezes; %+v; %+v", n, told.Coverage, r.Events)
	}
}

func TestOtherTextIsNone(t *testing.T) {
	for _, text := range []string{"", "packet|x=y\n", "packet,video\n", `{"packets": 5}`, "[PACKETS]\n", "2026-03-01 12:00:00 packet loss\n"} {
		if Format.Sniff([]byte(text)) {
			t.Errorf("%q is taken for ffprobe's", text)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, w := range []writer{compact, csv, plain, json} {
		f.Add(write(w, frozen()[:3], nil))
		f.Add(write(w, frozen()[:2], marked["epoch"]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		in, err := reader.Open(file)
		if err != nil {
			return // it begins as a packed file
		}
		defer in.Close()
		Format.Sniff(in.Head())
		out := &sink{}
		if told, err := Format.Read(context.Background(), in, reader.Options{Zone: time.UTC, Modified: ended}, out); err == nil && len(told.Coverage) != 1 {
			t.Error("nothing is said of what was measured")
		}
	})
}
