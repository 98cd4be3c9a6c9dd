package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"snag/cmd/snag/live"
	"snag/internal/shown"
	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/probes/streams/watch"
	"snag/recording"
)

// evilSnapshot is a watch of streams whose servers put it into every text that they send.
func evilSnapshot(t *testing.T) (watch.Snapshot, []watch.Happened, watch.Judged) {
	t.Helper()
	now := recording.Time(time.Date(2026, 11, 21, 3, 12, 45, 0, time.UTC).UnixNano())
	judged := watch.Judged{Stream: "cam1", Layer: "edge", Onset: now, Culprit: "gc-pause", Subject: "java", Confidence: 0.9, Text: "it stopped", Recording: "/tmp/r"}
	snap := watch.Snapshot{T: now}
	var all []watch.Happened
	for i, state := range []watch.State{watch.Down, watch.Refused, watch.NoAnswer, watch.Frozen, watch.Late, watch.Losing, watch.OK} {
		e, err := watch.NewEntry("rtmp://10.0.0.9/live/cam1", "cams.txt:12")
		if err != nil {
			t.Fatal(err)
		}
		r := watch.Row{Entry: e, Shown: watch.ShownURL(e.URL), Protocol: "rtmp", State: state, Since: now, Why: "read it: the server refused: no", Local: "10.0.0.5:51234", Remote: "10.0.0.9:1935",
			Asked: now, First: now, Figure: state == watch.OK, Unnamed: i%2 == 0}
		r.Labels = watch.Labels{"site": "north" + evil}
		r.Params[stream.Video] = stream.Params{Kind: stream.Video, Codec: "h264", Width: 1280, Height: 720}
		r.Params[stream.Audio] = stream.Params{Kind: stream.Audio, Codec: "aac"}
		if i%2 == 1 {
			r.Judged = &judged
		}
		for id, kind := range []string{recording.EventStreamPublished, recording.EventStreamFirstFrame, recording.EventStreamFreeze, recording.EventStreamLate, recording.EventStreamChanged, recording.EventStreamEnded, recording.EventStreamRefused, "else"} {
			r.Recent = append(r.Recent, watch.Happened{T: now, At: now, Stream: "cam1", Layer: "edge", Event: figures.Event{ID: uint64(id + 1), Kind: kind, Why: "read it: the server refused: no", From: "h264", To: "h265"}})
		}
		all = append(all, r.Recent...)
		snap.Rows = append(snap.Rows, r)
		snap.States[state]++
	}
	j := &injector{into: func(string) bool { return true }, seen: map[string]bool{}}
	j.walk(reflect.ValueOf(&snap).Elem(), "")
	j.walk(reflect.ValueOf(all), "")
	j.walk(reflect.ValueOf(&judged).Elem(), "")
	if j.n < 100 {
		t.Fatalf("%d texts", j.n)
	}
	return snap, all, judged
}

// Nor does what a stream's server says, in any form in which a watch shows it.
func TestNothingOfAServersSteersTheTerminal(t *testing.T) {
	snap, all, judged := evilSnapshot(t)
	forms := map[string]func(b *bytes.Buffer){
		"lines": func(b *bytes.Buffer) {
			l := live.NewLines(b)
			l.Group = "site"
			for _, h := range all {
				l.Event(h)
			}
			l.Note("a note" + evil)
			l.Verdict(judged)
			l.Summary(&snap)
		},
		"JSON": func(b *bytes.Buffer) {
			l := live.NewJSON(b)
			l.Group = "site"
			for _, h := range all {
				l.Event(h)
			}
			l.Note("a note" + evil)
			l.Verdict(judged)
			l.Figures(&snap)
			l.Summary(&snap)
		},
		"table": func(b *bytes.Buffer) {
			for _, width := range []int{60, 100, 200} {
				b.WriteString((&live.Table{Width: width, Height: 20, Filter: "", Last: shown.Text("last" + evil)}).Draw(&snap) + "\n")
				b.WriteString((&live.Table{Width: width, Height: 20, Filter: "cam" + evil, Typing: true}).Draw(&snap) + "\n")
				b.WriteString((&live.Table{Width: width, Height: 20, Group: "site", Last: "last"}).Draw(&snap) + "\n")
			}
		},
		"details": func(b *bytes.Buffer) {
			for i := range snap.Rows {
				b.WriteString((&live.Table{Width: 200, Height: 60}).Details(&snap, &snap.Rows[i]) + "\n")
			}
		},
	}
	for name, form := range forms {
		var b bytes.Buffer
		form(&b)
		text := b.String()
		if line := raw(text); line != "" {
			t.Errorf("%s: raw in %.300q", name, line)
		}
		if name != "JSON" && !strings.Contains(text, "cam1") && !strings.Contains(text, "last") {
			t.Errorf("%s shows nothing: %.300q", name, text)
		}
	}
}
