package figures

import (
	"encoding/binary"
	"math/rand"
	"testing"
	"time"
	"unsafe"

	"snag/probes/streams/stream"
	"snag/recording"
)

// interval checks what every listener relies on.
type intervals struct {
	open map[uint64]Event
	told map[uint64]bool
	most int64 // ns; nothing is late by more than that, the time since the stream was first asked for
}

func (v *intervals) take(t *testing.T, events []Event) {
	t.Helper()
	if v.open == nil {
		v.open, v.told = map[uint64]Event{}, map[uint64]bool{}
	}
	for _, e := range events {
		if e.Kind == recording.EventStreamLate && v.most > 0 && e.Value > seconds(v.most) {
			t.Fatalf("late by more than the stream is old, %v s: %+v", seconds(v.most), e)
		}
		switch e.Phase {
		case Begun:
			if v.told[e.ID] {
				t.Fatalf("begun twice: %+v", e)
			}
			v.open[e.ID] = e
		case Updated, Ended:
			if b, ok := v.open[e.ID]; !ok || b.Kind != e.Kind {
				t.Fatalf("%v without a beginning: %+v", e.Phase, e)
			}
			if e.Phase == Ended {
				delete(v.open, e.ID)
				if e.End <= e.Start {
					t.Fatalf("ends when or before it begins: %+v", e)
				}
			}
		case Instant:
			if e.End < e.Start || v.told[e.ID] {
				t.Fatalf("instant %+v", e)
			}
		}
		v.told[e.ID] = true
	}
	kinds := map[string]bool{}
	for _, e := range v.open {
		if kinds[e.Kind] {
			t.Fatalf("two %s at once", e.Kind)
		}
		kinds[e.Kind] = true
	}
}

// Whatever happens to a stream: counts add up, intervals have one beginning and
// one end, and after the end of the connection none is open.
func TestProperties(t *testing.T) {
	for seed := range int64(40) {
		r := rand.New(rand.NewSource(seed))
		tr := steady(25, 25*120, 10+r.Intn(90), 46).jitter(r, 1+r.Int63n(400*ms))
		for range r.Intn(6) {
			tr.hold(r.Int63n(100)*second, r.Int63n(8000)*ms)
		}
		if r.Intn(2) == 0 {
			tr.each(func(f *stream.Frame) bool { return r.Intn(30) != 0 })
		}
		if r.Intn(3) == 0 {
			at, by := r.Int63n(100)*second, r.Int63n(100*second)-50*second
			tr.each(func(f *stream.Frame) bool {
				if f.DTS > at {
					f.DTS += by
				}
				return true
			})
		}
		m := New(Options{Asked: start})
		m.Published(start, "", "")
		var v intervals
		var frames, bytes, keys, fives int
		var media float64
		take := func(now int64) {
			if s, whole := m.Tick(now); whole {
				frames += s.Video.Frames + s.Audio.Frames
				bytes += int(s.Video.Bytes + s.Audio.Bytes)
				keys += s.Video.Keys
				if s.Total.Media < media {
					t.Fatal("media went back")
				}
				media = s.Total.Media
				if s.Five.New {
					fives += s.Five.Video.Frames + s.Five.Audio.Frames
				}
			}
			if r.Intn(4) != 0 { // who listens is not always quick
				v.take(t, m.Events(nil))
			}
		}
		now, all, wantKeys := start, 0, 0
		v.most = tr.until + 20*second - start
		for _, f := range tr.frames {
			for ; now < f.Arrival; now += second / 5 {
				take(now)
			}
			m.Frame(f)
			all += f.Size
			if f.Key {
				wantKeys++
			}
		}
		for end := now + 6*second; now < end; now += second / 5 {
			take(now)
		}
		if frames != len(tr.frames) || bytes != all || keys != wantKeys {
			t.Fatalf("seed %d: %d frames of %d, %d bytes of %d, %d keys of %d", seed, frames, len(tr.frames), bytes, all, keys, wantKeys)
		}
		if fives > frames || fives < frames-60*30 {
			t.Errorf("seed %d: five-second sums have %d of %d frames", seed, fives, frames)
		}
		m.End(now, &stream.Ended{Why: "over"})
		v.take(t, m.Events(nil))
		if len(v.open) != 0 {
			t.Fatalf("seed %d: still open: %+v", seed, v.open)
		}
	}
}

func TestSize(t *testing.T) {
	whole := unsafe.Sizeof(Meter{}) + mostEvents*unsafe.Sizeof(Event{})
	if whole > 8<<10 {
		t.Errorf("a Meter takes %d bytes with its events", whole)
	}
	t.Logf("%d bytes, of it events %d", whole, mostEvents*unsafe.Sizeof(Event{}))
}

func TestFramesAllocateNothing(t *testing.T) {
	tr := steady(30, 30*60, 60, 46)
	m := New(Options{Asked: start})
	i := 0
	n := testing.AllocsPerRun(len(tr.frames)-2, func() {
		m.Frame(tr.frames[i])
		m.Tick(tr.frames[i].Arrival)
		i++
	})
	if n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func FuzzMeter(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add(make([]byte, 240), true)
	seed := []byte{}
	for i := range 40 {
		seed = append(seed, byte(i%7), 40, 0, 0, 40, 0, 0, 1, byte(i), 3)
	}
	f.Add(seed, false)
	f.Add(append([]byte{3, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff}, seed...), true)
	f.Fuzz(func(t *testing.T, data []byte, bursty bool) {
		m := New(Options{Asked: 1, Bursty: bursty, Threshold: time.Duration(len(data)%3) * time.Second})
		var v intervals
		var now, dts int64
		for ; len(data) >= 10; data = data[10:] {
			op := data[0]
			a := int64(int32(binary.LittleEndian.Uint32(data[1:]))) << (data[5] % 40)
			b := int64(int32(binary.LittleEndian.Uint32(data[5:]))) << (data[1] % 40)
			switch op % 16 {
			case 0, 1, 2, 3, 4, 5, 6: // a stream that makes some sense
				now += int64(data[1]) * ms * 2
				dts += int64(data[2]) * ms
				m.Frame(stream.Frame{Kind: stream.Kind(op >> 4 & 1), Key: data[9]&1 == 0, Arrival: now, DTS: dts, PTS: dts, Size: int(data[8])})
			case 7: // and any
				m.Frame(stream.Frame{Kind: stream.Kind(data[9]), Key: data[8]&1 == 0, Arrival: a, DTS: b, PTS: a ^ b, Size: int(b)})
			case 8:
				m.Tick(a)
			case 9:
				m.Late(now, a)
			case 10:
				m.Published(now, "", "")
			case 11:
				m.End(now, &stream.Ended{})
			case 12:
				m.Asked(b)
			case 13:
				m.Params(stream.Params{Kind: stream.Kind(data[9]), Codec: string(data[8:10]), Width: int(a), Height: int(b), FPS: float64(a)})
			case 14:
				m.Count(stream.Count(data[8]), uint64(data[9]))
				m.Gauge(stream.Gauge(data[8]), float64(a))
			default:
				v.take(t, m.Events(nil))
			}
			now += int64(data[7]) * ms
			m.Tick(now)
			m.Info()
			if len(m.queue.list)+m.queue.open > mostEvents || cap(m.queue.list) > mostEvents {
				t.Fatalf("%d events wait, %d are open", len(m.queue.list), m.queue.open)
			}
		}
		m.End(now, &stream.Ended{})
		v.take(t, m.Events(nil))
		if len(v.open) != 0 {
			t.Fatalf("still open: %+v", v.open)
		}
	})
}

func BenchmarkFrame(b *testing.B) {
	tr := steady(30, 30*600, 60, 46.875)
	m := New(Options{Asked: start})
	m.Published(start, "", "")
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f := tr.frames[i%len(tr.frames)]
		loop := int64(i/len(tr.frames)) * 600 * second
		f.Arrival += loop
		f.DTS += loop
		m.Frame(f)
	}
}

func BenchmarkTick(b *testing.B) {
	m := New(Options{Asked: start})
	m.Published(start, "", "")
	for _, f := range steady(30, 300, 60, 46).frames {
		m.Frame(f)
	}
	b.ReportAllocs()
	now := start + 10*second
	for range b.N {
		now += second / 5
		m.Tick(now)
		m.Frame(stream.Frame{Arrival: now, DTS: now - start})
	}
}

func BenchmarkAppendFrame(b *testing.B) {
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for i := range b.N {
		buf = AppendFrame(buf[:0], "live/cam1", recording.Anchor{Wall: 1.7e18}, stream.Frame{Key: i%60 == 0, Arrival: int64(i) * 33e6, DTS: int64(i) * 33e6, PTS: int64(i)*33e6 + 80e6, Size: 5000})
	}
}
