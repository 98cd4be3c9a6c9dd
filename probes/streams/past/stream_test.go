package past

import (
	"math"
	"runtime"
	"testing"

	"snag/probes/streams/figures"
	"snag/recording"
)

const start = recording.Time(1_795_000_000e9)

func one(v float64) Values {
	out := NotMeasured()
	out[FPS] = v
	return out
}

func TestHalvesKeepThreeDigits(t *testing.T) {
	for _, v := range []float64{0, 1, 25, 29.97, 0.041, -0.0123, 2.628, 0.064, 1e-4, 3600, 65000, -12.5} {
		got := toHalf(v).value()
		if math.Abs(got-v) > math.Abs(v)/1024+1e-7 {
			t.Errorf("%v became %v", v, got)
		}
	}
	for _, c := range []struct{ v, want float64 }{{1e9, 65504}, {-1e9, -65504}, {math.Inf(1), 65504}, {65504, 65504}, {2047.9999, 2048}, {0x1p-14 - 1e-12, 0x1p-14}} {
		if got := toHalf(c.v).value(); got != c.want {
			t.Errorf("%v became %v, not %v", c.v, got, c.want)
		}
	}
	if v := toHalf(math.NaN()).value(); v == v {
		t.Errorf("what was not measured became %v", v)
	}
}

// Seconds that are a little longer leave no hole, and what nobody measured stays one.
func TestSecondsFollowOneAnother(t *testing.T) {
	s := &Stream{}
	at := start
	for range 100 {
		next := at + 1_150e6
		s.Add(at, next, one(25))
		at = next
	}
	s.Add(at+5e9, at+6e9, one(30))
	n, holes := 0, 0
	s.Seconds(FPS, func(_ recording.Time, v float64) {
		if n++; math.IsNaN(v) {
			holes++
		}
	})
	if n != 121 || holes != 5 {
		t.Errorf("%d seconds with %d holes", n, holes)
	}
}

// A second without a frame is there after a day, as the least of its minute.
func TestADay(t *testing.T) {
	s := &Stream{}
	const length = 30 * 3600
	for i := range length {
		v := 25.0
		if i == 10*3600 || i == length-30 {
			v = 0
		}
		at := start + recording.Time(i)*1e9
		s.Add(at, at+1e9, one(v))
	}
	points := s.Points()
	if n := len(points); n < Seconds+Minutes-Seconds/60-1 || n > Seconds+Minutes {
		t.Errorf("%d points", n)
	}
	zeros, last := 0, recording.Time(0)
	for _, p := range points {
		if p.T <= last {
			t.Fatalf("%v after %v", p.T, last)
		}
		last = p.T
		if p.Low[FPS] == 0 {
			zeros++
		}
		if p.High[FPS] != 25 && p.Low[FPS] != 0 || !math.IsNaN(p.Low[Video]) {
			t.Fatalf("%+v", p)
		}
	}
	if zeros != 2 || last != start+length*1e9 {
		t.Errorf("%d points without a frame, the last at %v", zeros, last)
	}
}

// Who was not watched for long has a hole, and a clock that was set back makes no harm.
func TestLongHolesAndStepsBack(t *testing.T) {
	s := &Stream{}
	s.Add(start, start+1e9, one(25))
	s.Add(start+100_000e9, start+100_001e9, one(24))
	s.Add(start+99_000e9, start+99_001e9, one(23)) // forgotten among the seconds, and a minute
	s.Add(start+100_001e9, start+100_002e9, one(22))
	got := s.Points()
	if last := got[len(got)-1]; last.Low[FPS] != 22 || last.T != start+100_002e9 {
		t.Errorf("%+v", last)
	}
	s.Add(5, 3, one(1))
}

func TestEventsAreBounded(t *testing.T) {
	s := &Stream{}
	for i := range 500 {
		id := uint64(i)
		s.Event(figures.Event{ID: id, Phase: figures.Begun, Kind: recording.EventStreamFreeze, Start: int64(i)})
		s.Event(figures.Event{ID: id, Phase: figures.Updated, Kind: recording.EventStreamFreeze, Start: int64(i)})
		s.Event(figures.Event{ID: id, Phase: figures.Ended, Kind: recording.EventStreamFreeze, Start: int64(i), End: int64(i) + 1})
	}
	all := s.Events()
	if len(all) != Events || all[0].Start != 500-Events || all[Events-1].End != 500 {
		t.Errorf("%d events from %d to %d", len(all), all[0].Start, all[len(all)-1].End)
	}
}

// TestMemory: what is remembered of a stream after days takes at most 0.1 MiB.
func TestMemory(t *testing.T) {
	const n = 50
	inUse := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	all := make([]*Stream, n)
	for i := range all {
		all[i] = &Stream{}
		for m := range 3 * Minutes {
			at := start + recording.Time(m)*60e9
			all[i].Add(at, at+1e9, one(25))
			all[i].Event(figures.Event{ID: uint64(m), Start: int64(m)})
		}
		at := start + 3*Minutes*60e9
		for range Seconds {
			all[i].Add(at, at+1e9, one(25))
			at += 1e9
		}
	}
	each := (inUse() - before) / n
	t.Logf("%d bytes a stream", each)
	if each > 1<<20/10 {
		t.Errorf("%d bytes a stream", each)
	}
	runtime.KeepAlive(all)
}
