package figures

import (
	"math/rand"
	"testing"

	"snag/probes/streams/stream"
	"snag/recording"
)

// between changes the frames of a time, or drops those of them that keep says no to.
func (t *trace) between(from, to int64, change func(i int, f *stream.Frame) (keep bool)) *trace {
	i := 0
	return t.each(func(f *stream.Frame) bool {
		if f.Kind != stream.Video || f.DTS < from || f.DTS >= to {
			return true
		}
		i++
		return change(i, f)
	})
}

func everySecond(i int, _ *stream.Frame) bool { return i%2 == 0 }

func black(_ int, f *stream.Frame) bool {
	f.Size = 150
	if f.Key {
		f.Size = 2000
	}
	return true
}

// The frame rate falls by half and comes back; the picture turns black and comes back.
func TestFalls(t *testing.T) {
	for name, c := range map[string]struct {
		trace *trace
		o     Options
		kind  string
		base  float64
		now   float64
		gop   float64 // seconds: no sooner is it known that the bytes are fewer
	}{
		"half the frames": {steady(50, 50*80, 100, 46).between(30*second, 50*second, everySecond), Options{}, recording.EventStreamRateFell, 50, 25, 2},
		"in bursts": {steady(30, 30*80, 60, 46).between(30*second, 50*second, everySecond).each(func(f *stream.Frame) bool {
			f.Arrival = start + (f.DTS*2/second+1)*second/2
			return true
		}), Options{}, recording.EventStreamRateFell, 30, 15, 2},
		"black": {steady(25, 25*80, 50, 46).between(30*second, 50*second, black), Options{}, recording.EventStreamBitsFell, 5003 * 25 * 8, (24*150 + 2000) * 8, 2},
		"black, of a camera that sees little move": {steady(25, 25*110, 250, 46).between(0, 110*second, func(i int, f *stream.Frame) bool {
			if f.Size = 40; f.Key {
				f.Size = 300_000
			}
			return true
		}).between(30*second, 50*second, black), Options{}, recording.EventStreamBitsFell, (300_000 + 249*40) / 10 * 8, 200 * 8, 10},
		"black, of segments": {segments(40, 2, func(i int) int64 { return int64(i) * 2 * second }).between(30*second, 50*second, black),
			Options{Bursty: true}, recording.EventStreamBitsFell, 4000 * 25 * 8, (24*150 + 2000) * 8, 2},
	} {
		e := c.trace.run(c.o).of(c.kind)
		if len(e) != 1 || e[0].Phase != Ended || e[0].Of != stream.Video {
			t.Errorf("%s: told %+v", name, e)
			continue
		}
		near(t, name+": begins", float64(e[0].Start-start)/1e9, 30.5, c.gop)
		near(t, name+": ends", float64(e[0].End-start)/1e9, 50.5, 2.6)
		near(t, name+": while it stood", e[0].Value, c.now, c.base/25)
		near(t, name+": before", e[0].Base, c.base, c.base/20)
	}
}

// While it stands the figures are of it, and it is told no later than seven seconds after it began.
func TestFallStands(t *testing.T) {
	r := steady(50, 50*60, 100, 46).between(30*second, 60*second, everySecond).run(Options{})
	for _, e := range r.events {
		if e.Kind == recording.EventStreamRateFell {
			near(t, "rate", e.Value, 25, 3.1)
			if e.Phase != Begun && e.Phase != Updated {
				t.Errorf("told %+v", e)
			}
		}
	}
	e := r.of(recording.EventStreamRateFell)
	if len(e) != 1 || e[0].Phase != Updated {
		t.Fatalf("told %+v", e)
	}
	near(t, "rate at the end", e[0].Value, 25, 0.2)
}

// None of these is a fall.
func TestNoFall(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	screen, d := &trace{}, int64(0)
	for i := range 3000 {
		step := int64(33)
		if random.Intn(5) == 0 || i > 1500 && i < 1800 { // for a while hardly anything changes
			step *= 2 + random.Int63n(12)
		}
		d += step
		screen.add(stream.Frame{Key: i%100 == 0, Arrival: start + d*ms, DTS: d * ms, PTS: d * ms, Size: 500})
	}
	screen.until = start + d*ms
	for name, c := range map[string]struct {
		trace *trace
		o     Options
	}{
		"a shared screen": {trace: screen},
		"a quieter picture": {trace: steady(25, 25*80, 50, 46).between(30*second, 60*second, func(_ int, f *stream.Frame) bool {
			f.Size /= 5
			return true
		})},
		"a camera that sees little move": {trace: steady(25, 25*120, 250, 46).between(0, 120*second, func(_ int, f *stream.Frame) bool {
			if f.Size = 40; f.Key {
				f.Size = 300_000
			}
			return true
		})},
		"a dip of three seconds": {trace: steady(50, 50*80, 100, 46).between(30*second, 33*second, everySecond)},
		"a slow source": {trace: steady(25, 25*80, 50, 46).each(func(f *stream.Frame) bool {
			if over := f.Arrival - start - 30*second; over > 0 {
				f.Arrival += 2 * over
			}
			return true
		})},
		"a rich beginning": {trace: steady(25, 25*80, 50, 46).between(0, 2*second, func(_ int, f *stream.Frame) bool {
			f.Size *= 100
			return true
		})},
		"a freeze": {trace: steady(50, 50*80, 100, 46).each(func(f *stream.Frame) bool {
			return f.DTS < 30*second || f.DTS >= 37*second
		})},
		"segments in which one is missing": {trace: segments(40, 6, func(i int) int64 { return int64(i) * 6 * second }).each(func(f *stream.Frame) bool {
			return f.DTS < 120*second || f.DTS >= 126*second
		}), o: Options{Bursty: true}},
		"what the observer missed": {trace: func() *trace {
			tr := steady(50, 50*80, 100, 46).between(30*second, 50*second, everySecond)
			for s := int64(30); s <= 52; s++ {
				tr.missed = append(tr.missed, span{start + 29*second, start + s*second})
			}
			return tr
		}()},
	} {
		r := c.trace.run(c.o)
		for _, kind := range []string{recording.EventStreamRateFell, recording.EventStreamBitsFell} {
			if e := r.of(kind); len(e) > 0 {
				t.Errorf("%s: told %+v", name, e)
			}
		}
	}
}

// A stream that is often less is told so twice, and then only if it stays so.
func TestFallsAgain(t *testing.T) {
	tr := steady(25, 25*1500, 50, 0)
	for at := int64(30); at < 600; at += 40 {
		tr.between(at*second, (at+20)*second, black)
	}
	tr.between(600*second, 1500*second, black)
	e := tr.run(Options{}).of(recording.EventStreamBitsFell)
	if len(e) != 3 || e[1].Phase != Ended || e[2].Phase == Ended {
		t.Fatalf("told %+v", e)
	}
	near(t, "the last begins", float64(e[2].Start-start)/1e9, 600, 12)
}

// A stream of another resolution has a rate of its own.
func TestFallOfAnotherPicture(t *testing.T) {
	for _, changes := range []bool{false, true} {
		m := New(Options{Asked: start})
		m.Params(stream.Params{Kind: stream.Video, Codec: "h264", Width: 1920, Height: 1080})
		m.Published(start, "", "")
		var events []Event
		for _, f := range steady(25, 25*60, 50, 0).between(30*second, 60*second, black).frames {
			if changes && f.DTS == 30*second {
				m.Params(stream.Params{Kind: stream.Video, Width: 320, Height: 180})
			}
			m.Frame(f)
			m.Tick(f.Arrival)
			events = m.Events(events)
		}
		told := len(result{events: events}.of(recording.EventStreamBitsFell))
		if want := map[bool]int{false: 1, true: 0}[changes]; told != want {
			t.Errorf("changed %v: told %d, want %d", changes, told, want)
		}
	}
}
