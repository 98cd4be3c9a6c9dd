package watch

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snag/probes/probe"
	"snag/probes/streams/figures"
	"snag/recording"
)

// inMemory is a recording without a disk.
type inMemory struct {
	mu      sync.Mutex
	r       recording.Recording
	samples map[string]int
	latest  recording.Time
}

func (m *inMemory) Sample(t recording.Time, name string, _ recording.Labels, _ float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.samples == nil {
		m.samples = map[string]int{}
	}
	m.samples[name]++
	m.latest = max(m.latest, t)
}

func (m *inMemory) Append(row recording.Row) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.r.Add(row)
}

// A recording of the host that begins in the midst of a freeze, and ends in it, has
// the stream, its figures and its freeze on its own clock; what is judged of it goes
// to the table and to the alarms of the stream that is still frozen.
func TestRecordToAndJudge(t *testing.T) {
	t.Parallel()
	var f fake
	var l told
	var stops atomic.Int64
	hook, command := &noted{}, &noted{}
	w := New(Options{
		Open: f.of, Anchor: probe.NewAnchor(), Tell: l.event, Note: l.note, Stopped: func() { stops.Add(1) },
		Alarms: []*Alarms{NewAlarms("--webhook", hook, DefaultLimits, true, l.note), NewAlarms("--on-freeze", command, DefaultLimits, false, l.note)},
	})
	w.Set("args", entries(t, "rtmp://a/freezes", "rtmp://a/well"))
	stop := running(w)
	defer stop()
	await(t, "both are well", func() bool { return row(w, "freezes").State == OK && row(w, "well").State == OK })
	f.freeze.Store(true)
	await(t, "a freeze is told", func() bool { return stops.Load() == 1 && row(w, "freezes").State == Frozen })

	var m inMemory
	anchor := probe.NewAnchor()
	const ahead = int64(time.Hour) // another wall clock
	anchor.Wall += ahead
	rec := w.RecordTo(&m, anchor)
	await(t, "two seconds are recorded", func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.samples["snag_stream_gap_seconds"] >= 4
	})
	rec.Stop()
	if rec.Late() <= 0 {
		t.Errorf("the watch was late by %s: ticks are never in time to the nanosecond", rec.Late())
	}
	after := len(m.r.Streams)
	rows := map[string]recording.Stream{}
	for _, s := range m.r.Streams {
		rows[s.Name] = s
	}
	if len(rows) != 2 || rows["freezes"].First == 0 || rows["freezes"].Remote != "127.0.0.1:1935" {
		t.Errorf("rows %+v", m.r.Streams)
	}
	if d := m.latest - recording.Time(time.Now().UnixNano()+ahead); d > recording.Time(time.Second) || d < -recording.Time(30*time.Second) {
		t.Errorf("samples are %s off the recording's clock", time.Duration(d))
	}
	freezes := 0
	for _, e := range m.r.Events {
		if e.Kind == recording.EventStreamFreeze && e.Subject.Name == "freezes" && e.End == 0 && e.Value > 1 {
			freezes++
		}
	}
	if freezes != 1 {
		t.Errorf("events %+v, want one freeze that stands", m.r.Events)
	}

	judged := w.Judge(func(stream, _ string) (Judged, bool) {
		return Judged{Culprit: "encoder-stall", Confidence: 0.9, Text: "ffmpeg stalls", Recording: "/x"}, stream == "freezes"
	})
	if len(judged) != 1 || judged[0].Stream != "freezes" || judged[0].Onset == 0 {
		t.Errorf("judged %+v", judged)
	}
	calls := func(n *noted) string {
		n.mu.Lock()
		defer n.mu.Unlock()
		return strings.Join(n.called, ",")
	}
	await(t, "the webhook has both, the command one", func() bool {
		return calls(hook) == "freeze freezes,verdict freezes" && calls(command) == "freeze freezes"
	})
	if r := row(w, "freezes"); r.Judged == nil || r.Judged.Culprit != "encoder-stall" {
		t.Errorf("the table knows %+v", r.Judged)
	}
	f.freeze.Store(false)
	await(t, "its end is told", func() bool { return l.has("freezes", recording.EventStreamFreeze, figures.Ended) != nil })
	if len(m.r.Streams) != after || stops.Load() != 1 {
		t.Errorf("%d rows after the end, %d before; %d stops", len(m.r.Streams), after, stops.Load())
	}
}

// A ring has each stream that is watched from its first row on, also those that give nothing, and what
// stands, with its beginning; a recorder that begins anew has it again.
func TestRecordToRing(t *testing.T) {
	t.Parallel()
	var f fake
	w := New(Options{Open: f.of, Anchor: probe.NewAnchor()})
	w.Set("args", entries(t, "rtmp://a/freezes", "rtmp://a/well", "rtmp://a/refuses"))
	stop := running(w)
	defer stop()
	await(t, "two are well", func() bool { return row(w, "freezes").State == OK && row(w, "well").State == OK })
	f.freeze.Store(true)
	await(t, "one is frozen, one refused", func() bool { return row(w, "freezes").State == Frozen && row(w, "refuses").State == Refused })
	for range 2 { // the second is after the clock was set
		var m inMemory
		rec := w.RecordToRing(&m, probe.NewAnchor())
		m.mu.Lock()
		names := map[string]bool{}
		for _, s := range m.r.Streams {
			names[s.Name] = s.First != 0
		}
		stands := map[string]int{}
		for _, e := range m.r.Events {
			if e.End == 0 {
				stands[e.Kind+" "+e.Subject.Name]++
			}
		}
		m.mu.Unlock()
		if came, asked := names["refuses"]; len(names) != 3 || came || !asked || !names["well"] {
			t.Errorf("rows of %v", names)
		}
		if len(stands) != 2 || stands[recording.EventStreamFreeze+" freezes"] == 0 || stands[recording.EventStreamRefused+" refuses"] == 0 {
			t.Errorf("what stands: %v", stands)
		}
		rec.Stop()
		for _, e := range m.r.Events[len(m.r.Events)-2:] {
			if e.End == 0 {
				t.Errorf("it goes on after the recording: %+v", e)
			}
		}
	}
}
