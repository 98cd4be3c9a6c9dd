package recorder

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/recording"
)

func streamEvent(kind, name string, from, to int, attrs ...string) recording.Event {
	e := recording.Event{T: second(from), Kind: kind, Subject: recording.Subject{Kind: recording.KindStream, Name: name}, Attrs: map[string]string{}}
	if to > 0 {
		e.End = second(to)
	}
	for i := 0; i+1 < len(attrs); i += 2 {
		e.Attrs[attrs[i]] = attrs[i+1]
	}
	return e
}

// What is wrong with a watched stream is said from its beginning until it is over, and no longer than
// that is news.
func TestStreamsAreNoticed(t *testing.T) {
	t.Parallel()
	const freeze, ended, refused, first, changed = recording.EventStreamFreeze, recording.EventStreamEnded, recording.EventStreamRefused, recording.EventStreamFirstFrame, recording.EventStreamChanged
	type step struct {
		at int
		e  recording.Event
	}
	frames := step{0, streamEvent(first, "a", 0, 0)}
	for _, tt := range []struct {
		name     string
		steps    []step
		says     string
		from, to int // when it is noticed, s
	}{
		{"healthy", []step{frames}, "", 0, 0},
		{"a freeze", []step{frames, {5, streamEvent(freeze, "a", 4, 0)}, {9, streamEvent(freeze, "a", 4, 8)}}, "stream a: frozen", 5, 9},
		{"it is written again in the next piece", []step{frames, {5, streamEvent(freeze, "a", 4, 0)}, {7, streamEvent(freeze, "a", 4, 0)}, {9, streamEvent(freeze, "a", 4, 8)}}, "stream a: frozen", 5, 9},
		{"over before it was seen", []step{frames, {9, streamEvent(freeze, "a", 4, 8)}}, "stream a: frozen", 9, 10},
		{"the observer's own", []step{frames, {5, streamEvent(freeze, "a", 4, 0)}, {6, streamEvent(freeze, "a", 4, 4)}}, "stream a: frozen", 5, 6},
		{"it ends and comes back", []step{frames, {5, streamEvent(ended, "a", 5, 0, "why", "Stream EOF")}, {20, streamEvent(ended, "a", 5, 20)}, {20, streamEvent(first, "a", 20, 20)}}, "stream a: ended: Stream EOF", 5, 20},
		{"frozen for an hour", []step{frames, {5, streamEvent(freeze, "a", 4, 0)}}, "stream a: frozen", 5, 605},
		{"a URL that never worked", []step{{5, streamEvent(refused, "a", 4, 0, "why", "refused")}}, "stream a: cannot be read: refused", 5, 65},
		{"no audio", []step{frames, {5, streamEvent(changed, "a", 4, 4, "what", "audio", "to", "none")}, {9, streamEvent(changed, "a", 8, 8, "what", "audio", "to", "aac")}}, "stream a: no audio", 5, 9},
		{"another resolution", []step{frames, {5, streamEvent(changed, "a", 4, 4, "what", "resolution", "to", "none")}}, "", 0, 0},
		{"something else's event", []step{frames, {5, recording.Event{T: second(4), Kind: freeze, Subject: recording.Subject{Name: "a"}}}}, "", 0, 0},
	} {
		w := newWatched()
		from, to := 0, 0
		for i := range 1000 {
			for _, s := range tt.steps {
				if s.at == i {
					w.take(s.e)
				}
			}
			why := w.tick(second(i))
			if why == "" {
				continue
			}
			if why != tt.says {
				t.Errorf("%s: %q", tt.name, why)
			}
			if from == 0 {
				from = i
			}
			to = i + 1
		}
		if from != tt.from || to != tt.to {
			t.Errorf("%s: noticed from %d to %d s, want %d to %d", tt.name, from, to, tt.from, tt.to)
		}
	}
}

// A server that takes the connection and answers nothing sends no event.
func TestAStreamWithoutAnAnswerIsNoticed(t *testing.T) {
	t.Parallel()
	w := newTrigger()
	row := recording.Stream{T: second(0), Name: "a", Side: recording.StreamSidePlayer}
	w.Take(row)
	from, to := 0, 0
	for i := range 200 {
		if i == 60 {
			row.T = second(60)
			w.Take(row) // in the next piece
		}
		if why := w.streams.tick(second(i)); why != "" {
			if why != "stream a: no frame since it was asked for" {
				t.Fatal(why)
			}
			if from == 0 {
				from = i
			}
			to = i + 1
		}
	}
	if from != 10 || to != 61 || !w.streams.known["a"] {
		t.Errorf("noticed from %d to %d s, known: %v", from, to, w.streams.known)
	}
	w.Take(streamEvent(recording.EventStreamFirstFrame, "a", 200, 200))
	row.T = second(201)
	w.Take(row)
	if why := w.streams.tick(second(300)); why != "" || len(w.streams.known) > 0 {
		t.Errorf("after its first frame: %q, %v", why, w.streams.known)
	}
}

// A stream that stays wrong is news again once it was well.
func TestAStreamThatWasWellIsNewsAgain(t *testing.T) {
	t.Parallel()
	w := newWatched()
	w.take(streamEvent(recording.EventStreamRefused, "a", 0, 0))
	for i := range 100 {
		w.tick(second(i))
	}
	if !w.known["a"] {
		t.Fatal("a URL that never worked is still news after 100 s")
	}
	w.take(streamEvent(recording.EventStreamRefused, "a", 0, 100))
	w.take(streamEvent(recording.EventStreamFirstFrame, "a", 100, 100))
	w.take(streamEvent(recording.EventStreamFreeze, "a", 110, 0))
	if why := w.tick(second(111)); why != "stream a: frozen" || len(w.known) > 0 {
		t.Errorf("%q, %v", why, w.known)
	}
}

// Triggers that led to no incident do not delay the judgement of a stream.
func TestAStreamIsJudgedAtOnce(t *testing.T) {
	t.Parallel()
	var v schedule
	began, asked := false, 0
	for i := range 4000 {
		n := notice{why: "noise"}
		if i >= 3000 {
			n = notice{why: "stream a: frozen", stream: true}
		}
		o, ask := v.second(second(i), n)
		if !ask {
			continue
		}
		stream := strings.HasPrefix(o.Why, "stream")
		if begins, _ := v.told(o, stream); begins {
			began, asked = true, i
			break
		}
	}
	if !began || asked > 3000+40 {
		t.Errorf("judged %d s after its freeze (%v)", asked-3000, began)
	}
}

// Of a stream that never worked there is one incident, whatever else happens meanwhile; a freeze of
// another stream is the next.
func TestAURLThatNeverWorksIsReportedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var reports []string
	var judgements int
	g := newMonitor(Plan{
		Dir: dir, Limits: Limits{Size: 1 << 30}, Note: mustNot(t),
		Report: func(i Incident, what string) {
			reports = append(reports, what+" "+i.Noticed+" "+strings.Join(i.Known, ","))
		},
		Judge: func(_ context.Context, _ string, from, to recording.Time, known []string, out string) (Finding, error) {
			judgements++
			f := Finding{Standing: "nothing-wrong"}
			if !slices.Contains(known, "gone") || overlaps(order{From: from, To: to}, 2000, 2020) {
				f = Finding{Standing: "unproved", Hurt: true, Symptoms: []Named{{Name: "stream-refused"}}}
			}
			return f, os.WriteFile(out, []byte("recording"), 0o600)
		},
	})
	w := newWatched()
	for i := range 3600 {
		switch i {
		case 2:
			w.take(streamEvent(recording.EventStreamRefused, "gone", 2, 0, "why", "no"))
			w.take(streamEvent(recording.EventStreamFirstFrame, "b", 2, 0))
		case 2000:
			w.take(streamEvent(recording.EventStreamFreeze, "b", 2000, 0))
		case 2020:
			w.take(streamEvent(recording.EventStreamFreeze, "b", 2000, 2020))
		}
		why := w.tick(second(i))
		var known []string
		for name := range w.known {
			known = append(known, name)
		}
		g.second(t.Context(), second(i), notice{why: why, stream: why != "", known: known})
		g.judging.Wait()
	}
	want := []string{"begins stream gone: cannot be read: no ", "ends stream gone: cannot be read: no gone", "begins stream b: frozen ", "ends stream b: frozen gone"}
	if !slices.Equal(reports, want) || judgements > 20 {
		t.Errorf("%d judgements, reported\n%q, want\n%q", judgements, reports, want)
	}
}

// A stream that is frozen, and one that cannot be read, are so in each piece of the ring.
func TestStreamsOverPieces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var c clock
	c.to(noon)
	tp, err := newWriter(dir, manifestOf(), c.now, &probe.Rotation{}, mustNot(t))
	if err != nil {
		t.Fatal(err)
	}
	writer := func(name string) *figures.Writer {
		return figures.NewWriter(tp, recording.Anchor{Wall: int64(noon)}, figures.Place{Name: name, Side: recording.StreamSidePlayer, Protocol: "rtmp"}).Ring()
	}
	well, frozen, gone := writer("well"), writer("frozen"), writer("gone")
	all := []*figures.Writer{well, frozen, gone}
	at := func(i int) int64 { return int64(i) * int64(time.Second) }
	info := func(name string) figures.Info {
		if name == "gone" {
			return figures.Info{Asked: at(1)}
		}
		return figures.Info{Asked: at(1), First: at(2), Last: at(2)}
	}
	restate := func(i int) {
		for k, name := range []string{"well", "frozen", "gone"} {
			all[k].Restate(at(i), info(name), nil)
		}
	}
	restate(1)
	gone.Events([]figures.Event{{ID: 1, Kind: recording.EventStreamRefused, Start: at(3), End: at(3), Why: "no"}})
	frozen.Events([]figures.Event{{ID: 1, Phase: figures.Begun, Kind: recording.EventStreamFreeze, Start: at(30), Value: 1, Unit: "seconds"}})
	for piece := 1; piece <= 5; piece++ {
		c.to(second(60 * piece))
		if err := tp.turn(); err != nil {
			t.Fatal(err)
		}
		restate(60*piece + 1)
	}
	events := func(r *recording.Recording) map[string][]recording.Event {
		out := map[string][]recording.Event{}
		for _, e := range r.Events {
			out[e.Subject.Name] = append(out[e.Subject.Name], e)
		}
		return out
	}
	c.to(second(330))
	tp.packing.Wait()
	r, err := Ring{dir}.Read(second(270), second(290)) // within the freeze, in one piece
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, s := range r.Streams {
		rows[s.Name] = s.First != 0
	}
	if got := events(r); len(got["frozen"]) != 1 || got["frozen"][0].End != 0 || got["frozen"][0].T != second(30) || len(got["gone"]) != 1 || got["gone"][0].Attrs["why"] != "no" || len(got["well"]) > 0 {
		t.Errorf("within the freeze: %+v", r.Events)
	}
	if came, asked := rows["well"]; !came || !asked || !rows["frozen"] || len(rows) != 3 || rows["gone"] {
		t.Errorf("within the freeze: rows %+v", r.Streams)
	}
	frozen.Events([]figures.Event{{ID: 1, Phase: figures.Ended, Kind: recording.EventStreamFreeze, Start: at(30), End: at(340), Value: 310, Unit: "seconds"}})
	gone.Events([]figures.Event{{ID: 2, Kind: recording.EventStreamFirstFrame, Start: at(350), End: at(350)}})
	c.to(second(360))
	if err := tp.turn(); err != nil {
		t.Fatal(err)
	}
	restate(361)
	c.to(second(420))
	if err := tp.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = (Ring{dir}).Read(second(330), second(400)); err != nil {
		t.Fatal(err)
	}
	if got := events(r); len(got["frozen"]) != 1 || got["frozen"][0].End != second(340) || len(got["gone"]) != 2 || got["gone"][0].End != second(350) {
		t.Errorf("its end: %+v", r.Events)
	}
	if r, err = (Ring{dir}).Read(second(365), second(400)); err != nil || len(r.Events) > 0 || len(r.Streams) < 3 {
		t.Errorf("after it: %+v, %v, %v", r.Events, r.Streams, err)
	}
}

// A recorder that was killed says nothing of how a freeze ended. The next one's piece does not go on with it.
func TestAKilledRecordersFreezeEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(from int, rows ...recording.Row) {
		t.Helper()
		var c clock
		c.to(second(from))
		m := manifestOf()
		m.Start = second(from)
		tp, err := newWriter(dir, m, c.now, &probe.Rotation{}, mustNot(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			tp.Append(row)
		}
		tp.Append(recording.Fact{T: second(from + 59), Name: "kernel.release", Value: "6"})
		c.to(second(from + 60))
		if err := tp.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(0, streamEvent(recording.EventStreamFreeze, "a", 50, 0))
	write(60, streamEvent(recording.EventStreamFreeze, "b", 70, 0))
	r, err := Ring{dir}.Read(second(0), second(120))
	if err != nil || len(r.Events) != 2 || r.Events[0].End != second(60) || r.Events[1].End != 0 {
		t.Errorf("%+v, %v", r.Events, err)
	}
}

func TestStreamsAreKeptWhenDownsampled(t *testing.T) {
	t.Parallel()
	r := &recording.Recording{Manifest: recording.Manifest{Start: noon, End: second(60)}}
	gap := recording.Series{Name: "snag_stream_gap_seconds", Labels: recording.Labels{"stream": "a"}}
	for i := range 60 {
		v := 0.04
		if i == 33 {
			v = 0.9
		}
		gap.Points = append(gap.Points, recording.Point{T: second(i), V: v})
	}
	r.Series = []recording.Series{gap}
	r.Add(recording.Stream{T: second(1), Name: "a", Side: recording.StreamSidePlayer, Video: "h264"})
	r.Add(streamEvent(recording.EventStreamFreeze, "a", 10, 14))
	r.Add(streamEvent(recording.EventStreamFreeze, "a", 11, 13))
	out := downsample(r, time.Minute)
	most := 0.0
	for _, p := range out.Select(gap.Name)[0].Points {
		most = max(most, p.V)
	}
	if most != 0.9 || len(out.Events) != 2 || len(out.Streams) != 1 {
		t.Errorf("the longest gap is %v; %+v, %+v", most, out.Events, out.Streams)
	}
}

func TestWithoutStreams(t *testing.T) {
	t.Parallel()
	r := &recording.Recording{}
	for _, name := range []string{"a", "b"} {
		r.Add(recording.Stream{Name: name})
		r.Add(streamEvent(recording.EventStreamFreeze, name, 1, 2))
		r.Series = append(r.Series, recording.Series{Name: "snag_stream_gap_seconds", Labels: recording.Labels{"stream": name}})
	}
	Without(r, []string{"a"})
	if len(r.Streams) != 1 || r.Streams[0].Name != "b" || len(r.Events) != 1 || r.Events[0].Subject.Name != "b" || len(r.Series) != 1 || r.Series[0].Labels["stream"] != "b" {
		t.Errorf("%+v %+v %+v", r.Streams, r.Events, r.Series)
	}
}
