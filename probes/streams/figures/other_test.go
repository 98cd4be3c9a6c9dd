package figures

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"snag/probes/streams/stream"
	"snag/recording"
)

func TestFingerprints(t *testing.T) {
	for _, c := range []struct {
		name string
		f    Fingerprint
		want Pattern
		says string
	}{
		// CAUSES.md: gap 5–6.5 s, DTS step 40 ms, burst of 139–175 frames.
		{"paused sender", Fingerprint{5.3, 0.04, 0.04, 139, 1}, Held, "can't tell which"},
		{"longer", Fingerprint{6.5, 0.04, 0.04, 175, 1}, Held, "can't tell which"},
		// capture clock: DTS step 5120 ms, no burst.
		{"capture clock", Fingerprint{5.12, 5.12, 0.04, 1, 1}, Skipped, "capture clock"},
		{"clock stopped", Fingerprint{5, 0.04, 0.04, 1, 0}, None, "clock stopped"},
		{"server dropped a part", Fingerprint{5, 2, 0.04, 75, 1}, None, "a part"},
		{"restarted", Fingerprint{5, -300, 0.04, 1, 0}, None, "began again"},
		{"slow encoder", Fingerprint{0, 0.04, 0.04, 1, 0.8}, None, "slow encoder"},
		{"spacing not known", Fingerprint{5, 5, 0, 1, 1}, None, "not known"},
	} {
		p, words := c.f.Judge()
		if p != c.want || !strings.Contains(words, c.says) {
			t.Errorf("%s: %s, %q", c.name, p, words)
		}
	}
}

// segments is a stream as HLS brings it: each of length seconds, when it is whole.
func segments(count int, length int64, when func(i int) int64) *trace {
	tr := &trace{}
	for i := range count {
		for j := range length * 25 {
			d := (int64(i)*length*25 + j) * 40 * ms
			tr.add(stream.Frame{Key: j == 0, Arrival: start + when(i) + j*ms/4, DTS: d, PTS: d, Size: 4000})
		}
	}
	tr.until = start + when(count-1) + length*second
	return tr
}

func TestSegments(t *testing.T) {
	for _, length := range []int64{2, 6} {
		r := segments(30, length, func(i int) int64 { return (int64(max(i-2, 0))*length)*second + int64(i%3)*100*ms }).run(Options{Bursty: true})
		r.quiet(t)
		s := r.seconds[len(r.seconds)-2]
		near(t, "threshold", s.Limit, 3*float64(length), 0.3)
		near(t, "buffer", s.Buffer.V, 2.5*float64(length), float64(length)*0.55)
		near(t, "fps by DTS", s.GOP.FPS.V, 25, 0.01)
	}
}

// The packager stops: the player's buffer is empty three segments later.
func TestSegmentsStop(t *testing.T) {
	r := segments(40, 2, func(i int) int64 {
		at := int64(i) * 2 * second
		if i >= 20 {
			at += 10 * second
		}
		return at
	}).run(Options{Bursty: true})
	e := r.of(recording.EventStreamFreeze)
	if len(e) != 1 || e[0].End == 0 {
		t.Fatalf("told %+v", r.events)
	}
	// The last segment came at 38 s with DTS up to 40; the next is due at 40.
	near(t, "begins", float64(e[0].Start-start)/1e9, 44, 0.3)
	near(t, "length", e[0].Value, 6, 0.3)
	if s := r.of(recording.EventStreamSkipped); len(s) != 0 {
		t.Errorf("skips %+v", s)
	}
}

func TestTargetIsSaid(t *testing.T) {
	r := segments(10, 4, func(i int) int64 { return int64(i) * 4 * second }).run(Options{Bursty: true, Target: 4 * time.Second})
	r.quiet(t)
	near(t, "threshold", r.seconds[0].Limit, 12, 0)
}

func TestVaryingGOP(t *testing.T) {
	n := 0
	r := steady(25, 25*60, 50, 0).each(func(f *stream.Frame) bool {
		f.Key = n%50 == 0 || n%130 == 0 // scene cuts
		n++
		return true
	}).run(Options{})
	if v := r.seconds[50].GOP.Varies; !v.OK || v.V < 10 {
		t.Errorf("varies by %+v", v)
	}
}

func TestTransport(t *testing.T) {
	m := New(Options{Asked: start})
	m.Tick(start)
	m.Count(stream.PacketsLost, 3)
	m.Count(stream.Counts, 3)
	m.Gauge(stream.Jitter, 0.25)
	m.Gauge(stream.Gauges, 1)
	s, whole := m.Tick(start + second)
	if !whole || s.Transport.Count[stream.PacketsLost] != 3 || s.Transport.Gauge[stream.Jitter] != known(0.25) || s.Transport.Gauge[stream.PlaylistAge].OK {
		t.Errorf("%+v", s.Transport)
	}
	if s, _ = m.Tick(start + 2*second); s.Transport.Count[stream.PacketsLost] != 0 || s.Total.Count[stream.PacketsLost] != 3 {
		t.Errorf("%+v", s)
	}
}

func TestFive(t *testing.T) {
	r := steady(25, 25*22, 50, 46).hold(7*second, 3*second).run(Options{})
	var got []Five
	for _, s := range r.seconds {
		if s.Five.New {
			got = append(got, s.Five)
		}
	}
	if len(got) != 4 {
		t.Fatalf("%d of them", len(got))
	}
	near(t, "gap", got[1].Gap+got[2].Gap, 3, 3)
	near(t, "fps", got[3].Video.FPS.V, 25, 0.5)
	near(t, "keys", float64(got[3].Video.Keys), 2, 1)
}

func TestFrameLog(t *testing.T) {
	var b bytes.Buffer
	l := NewFrameLog(&b, recording.Anchor{Wall: 1000})
	m := New(Options{Name: "live/\"cäm\"\n\xff", Frames: l})
	m.Frame(stream.Frame{Key: true, Arrival: 5, DTS: 1_040_000_000, PTS: 1_120_999_999, Size: 5321})
	m.Frame(stream.Frame{Kind: stream.Audio, Arrival: 6, DTS: -1_500_000, PTS: -1_500_000, Size: 7})
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	const want = `{"stream":"live/\"cäm\"\u000a` + "\ufffd" + `","arrival":1005,"dts":1.040000,"pts":1.120999,"size":5321,"key":true,"media_type":"video","pkt_dts_time":"1.040000","pkt_pts_time":"1.120999","pkt_size":"5321","flags":"K__"}`
	if len(lines) != 2 || lines[0] != want {
		t.Errorf("wrote %s\nwant  %s", lines[0], want)
	}
	var second struct {
		DTS   float64 `json:"dts"`
		Media string  `json:"media_type"`
		Flags string  `json:"flags"`
	}
	if err := json.Unmarshal([]byte(lines[1]), &second); err != nil || second.DTS != -0.0015 || second.Media != "audio" || second.Flags != "___" {
		t.Errorf("%v: %+v", err, second)
	}
	buf := make([]byte, 0, 512)
	if n := testing.AllocsPerRun(100, func() {
		buf = AppendFrame(buf[:0], "live/cam1", recording.Anchor{}, stream.Frame{Size: 1})
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestFrameLogKeepsItsError(t *testing.T) {
	l := NewFrameLog(full{}, recording.Anchor{})
	for range 1000 {
		l.Frame("a", stream.Frame{})
	}
	if err := l.Flush(); err == nil || err.Error() != "no space left on device" {
		t.Error(err)
	}
}

// What the reader's own socket dropped is not what the stream skipped.
func TestOwnLossIsInDoubt(t *testing.T) {
	for _, c := range []stream.Count{stream.ReceiverDropped, stream.CaptureLost, stream.PacketsLost} {
		m := New(Options{Asked: start})
		m.Published(start, "", "")
		var events []Event
		doubted := false
		for i, f := range steady(25, 25*30, 50, 0).frames {
			if s, whole := m.Tick(f.Arrival); whole {
				doubted = doubted || s.Doubt
			}
			if i == 500 {
				m.Count(c, 12)
			}
			if i < 500 || i > 505 {
				m.Frame(f)
			}
			events = m.Events(events)
		}
		var skips []Event
		for _, e := range events {
			if e.Kind == recording.EventStreamSkipped {
				skips = append(skips, e)
			}
		}
		own := c != stream.PacketsLost
		if len(skips) != 1 || skips[0].Doubt != own || doubted != own {
			t.Errorf("count %d: told %+v, in doubt %v", c, skips, doubted)
		}
	}
}

// What a transport said last, and the last GOP, end with the connection.
func TestNothingStaysBehindAnEnd(t *testing.T) {
	m := New(Options{Asked: start})
	m.Published(start, "", "")
	m.Gauge(stream.PlaylistAge, 3)
	m.Gauge(stream.Jitter, 0.01)
	for i := range int64(100) {
		m.Frame(stream.Frame{Key: i%25 == 0, Arrival: start + i*40*ms, DTS: i * 40 * ms, Size: 1000})
	}
	before, _ := m.Tick(start + 4*second)
	m.End(start+4*second, &stream.Ended{Why: "gone"})
	after, whole := m.Tick(start + 5*second)
	if before.GOP.Frames != 25 || !before.Transport.Gauge[stream.PlaylistAge].OK {
		t.Errorf("before: %+v, %+v", before.GOP, before.Transport)
	}
	if !whole || after.GOP.Frames != 0 || after.Transport.Gauge != [stream.Gauges]Value{} || after.Drift.OK || after.Gap.OK || after.Skew.OK || after.Pace.OK {
		t.Errorf("after: %+v, %+v, drift %+v, gap %+v, pace %+v", after.GOP, after.Transport, after.Drift, after.Gap, after.Pace)
	}
}
