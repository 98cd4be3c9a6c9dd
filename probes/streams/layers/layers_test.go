package layers

import (
	"math/rand"
	"slices"
	"testing"

	"snag/probes/streams/figures"
	"snag/probes/streams/stream"
	"snag/recording"
)

const (
	ms     = int64(1e6)
	second = int64(1e9)
	start  = 1000 * second
)

// encoded is what an encoder makes: n pictures at 30 per second, a key picture every
// gop.
func encoded(seed int64, n, gop int) []stream.Frame {
	r := rand.New(rand.NewSource(seed))
	var out []stream.Frame
	for i := range n {
		d := int64(i) * 1000 / 30 * ms
		f := stream.Frame{Key: i%gop == 0, Arrival: start + d, DTS: d, PTS: d, Size: 2000 + r.Intn(6000)}
		if f.Key {
			f.Size += 40000
		}
		out = append(out, f)
	}
	return out
}

// hopOf is the stream one place further: delayed, rebased, jittered.
func hopOf(in []stream.Frame, seed, delay, rebase int64) []stream.Frame {
	r, out, last := rand.New(rand.NewSource(seed)), slices.Clone(in), int64(0)
	for i := range out {
		out[i].DTS += rebase
		out[i].PTS += rebase
		out[i].Arrival = max(out[i].Arrival+delay+r.Int63n(20*ms), last)
		last = out[i].Arrival
	}
	return out
}

// holds everything between from and from+d till then.
func hold(in []stream.Frame, from, d int64) []stream.Frame {
	out := slices.Clone(in)
	for i := range out {
		if a := out[i].Arrival - start; a > from && a < from+d {
			out[i].Arrival = start + from + d
		}
	}
	return out
}

func drop(in []stream.Frame, gone func(i int, f stream.Frame) bool) []stream.Frame {
	var out []stream.Frame
	for i, f := range in {
		if !gone(i, f) {
			out = append(out, f)
		}
	}
	return out
}

// joined is what a reader gets that joins at a time, with the GOP so far at once.
func joined(in []stream.Frame, at int64) []stream.Frame {
	from := 0
	for i, f := range in {
		if f.Arrival-start <= at && f.Key {
			from = i
		}
	}
	out := slices.Clone(in[from:])
	for i := range out {
		out[i].Arrival = max(out[i].Arrival, start+at)
	}
	return out
}

type outcome struct {
	hops   []Hop // of every second
	hurts  []Hurt
	meters []*figures.Meter
}

// of sums up one hop.
func (o outcome) of(from string) (sum Hop) {
	for _, h := range o.hops {
		if h.From == from {
			sum.Matched, sum.Missing, sum.Added = sum.Matched+h.Matched, sum.Missing+h.Missing, sum.Added+h.Added
			sum.How, sum.Repeats, sum.Rebased = h.How, h.Repeats, h.Rebased
			if h.Delays > 0 {
				sum.Delay = h.Delay
			}
			sum.Longest = max(sum.Longest, h.Longest)
		}
	}
	return sum
}

// play feeds every place's frames in the order of arrival.
func play(names []string, places ...[]stream.Frame) outcome {
	var o outcome
	m := New(names)
	type one struct {
		at int
		f  stream.Frame
	}
	var all []one
	for at, frames := range places {
		o.meters = append(o.meters, figures.New(figures.Options{Asked: frames[0].Arrival}))
		o.meters[at].Published(frames[0].Arrival, "", "")
		for _, f := range frames {
			all = append(all, one{at, f})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return int(max(min(a.f.Arrival-b.f.Arrival, 1), -1)) })
	var sinks []stream.Sink
	for at := range places {
		sinks = append(sinks, m.Sink(at, o.meters[at]))
	}
	tick, n := start, 0
	advance := func(now int64) {
		for ; tick <= now; tick += second / 5 {
			for at, meter := range o.meters {
				meter.Tick(tick)
				for _, e := range meter.Events(nil) {
					if h, ok := HurtBy(at, e); ok {
						o.hurts = append(o.hurts, h)
					}
				}
			}
			if n++; n%5 == 0 {
				o.hops = m.Tick(tick, o.hops)
			}
		}
	}
	end := places[0][len(places[0])-1].Arrival
	for _, v := range all {
		advance(min(v.f.Arrival-1, end))
		sinks[v.at].Frame(v.f)
	}
	o.hops = m.Tick(tick, o.hops)
	return o
}

var three = []string{"ingest", "origin", "edge"}

func TestThreeLayersWell(t *testing.T) {
	in := encoded(1, 1800, 60)
	o := play(three, in, hopOf(in, 2, 120*ms, -77*second), hopOf(in, 3, 900*ms, 3_600_000*ms))
	for i, want := range []struct{ delay, rebase int64 }{{130 * ms, -77 * second}, {780 * ms, 3677 * second}} {
		s := o.of(three[i])
		if s.How != Same || s.Matched < 1795 || s.Missing != 0 || s.Added != 0 || s.Repeats {
			t.Errorf("%s: %+v", three[i], s)
		}
		if d := s.Delay - want.delay; max(d, -d) > 15*ms {
			t.Errorf("%s: delay %d ms", three[i], s.Delay/ms)
		}
		if d := s.Rebased - want.rebase; max(d, -d) > ms {
			t.Errorf("%s: rebased %d ms", three[i], s.Rebased/ms)
		}
	}
	if f := Judge(three, o.hurts, o.hops, nil); len(f) != 0 {
		t.Errorf("accused %+v", f)
	}
}

// Every fault at every place: the first layer that shows it is named.
func TestFirstLayerThatHurts(t *testing.T) {
	faults := map[string]struct {
		kind string
		do   func([]stream.Frame) []stream.Frame
	}{
		"pause": {recording.EventStreamFreeze, func(f []stream.Frame) []stream.Frame { return hold(f, 30*second, 4*second) }},
		"frames lost": {recording.EventStreamSkipped, func(f []stream.Frame) []stream.Frame {
			return drop(f, func(_ int, f stream.Frame) bool { a := f.Arrival - start; return a > 30*second && a < 30*second+300*ms })
		}},
		"stopped": {recording.EventStreamFreeze, func(f []stream.Frame) []stream.Frame {
			return drop(f, func(_ int, f stream.Frame) bool { a := f.Arrival - start; return a > 30*second && a < 34*second })
		}},
		"late": {recording.EventStreamLate, func(f []stream.Frame) []stream.Frame {
			out := slices.Clone(f)
			for i := range out {
				if over := out[i].Arrival - start - 30*second; over > 0 {
					out[i].Arrival += min(over/5, 900*ms)
				}
			}
			return out
		}},
	}
	for name, fault := range faults {
		for at := range three {
			places := make([][]stream.Frame, 3)
			f := encoded(7, 2400, 60)
			for p := range places {
				if p > 0 {
					f = hopOf(f, int64(p), 200*ms, int64(p)*1000*second)
				}
				if p == at {
					f = fault.do(f)
				}
				places[p] = f
			}
			o := play(three, places...)
			got := Judge(three, o.hurts, o.hops, nil)
			if len(got) != 1 {
				t.Errorf("%s at %s: %+v\nhurts %+v", name, three[at], got, o.hurts)
				continue
			}
			if got[0].At != at || got[0].Kind != fault.kind || !got[0].Sure || len(got[0].Places) != 3-at {
				t.Errorf("%s at %s: %+v", name, three[at], got[0])
			}
			if wantMissing := at > 0 && (name == "frames lost" || name == "stopped"); wantMissing != (got[0].Missing > 0) {
				t.Errorf("%s at %s: %d frames missing", name, three[at], got[0].Missing)
			}
		}
	}
}

func TestJoinedAtDifferentGOPs(t *testing.T) {
	in := encoded(5, 1500, 100)
	o := play(three, joined(in, 5*second), joined(hopOf(in, 2, 300*ms, 50*second), 11*second), joined(hopOf(in, 3, 600*ms, -3*second), second))
	for i, n := range []int{1150, 1150} {
		s := o.of(three[i])
		if s.How != Same || s.Matched < n || s.Missing != 0 || s.Added != 0 {
			t.Errorf("%s: %+v", three[i], s)
		}
		if s.Delay > 330*ms || s.Delay < 290*ms || s.Longest > 400*ms {
			t.Errorf("%s: delay %d ms, longest %d", three[i], s.Delay/ms, s.Longest/ms)
		}
	}
}

// Pictures that do not change: nearly all frames have one of three sizes.
func TestEqualSizes(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	in := encoded(5, 1500, 60)
	for i := range in {
		if !in[i].Key {
			in[i].Size = 53 + r.Intn(3)*r.Intn(2)*r.Intn(2)
		} else {
			in[i].Size = 30000 + r.Intn(500)
		}
	}
	o := play(three[:2], in, drop(hopOf(in, 2, 300*ms, 50*second), func(i int, _ stream.Frame) bool { return i == 777 || i == 900 }))
	s := o.of("ingest")
	if s.How != Same || s.Missing != 2 || s.Added != 0 || s.Matched < 1400 || s.Delay < 290*ms || s.Delay > 330*ms {
		t.Errorf("%+v", s)
	}
	// All of one size, keys too: nothing tells one from the next.
	for i := range in {
		in[i].Size = 53
	}
	if s := play(three[:2], in, hopOf(in, 2, 300*ms, 50*second)).of("ingest"); s.How != Unmatched || s.Matched != 0 || s.Missing != 0 {
		t.Errorf("%+v", s)
	}
}

// A file in a loop of 10 s: the nearest in time, and it is said.
func TestLoop(t *testing.T) {
	in := encoded(5, 1800, 60)
	for i := range in {
		in[i].Size = in[i%300].Size
	}
	s := play(three[:2], in, hopOf(in, 2, 700*ms, 50*second)).of("ingest")
	if s.How != Same || !s.Repeats || s.Delay < 690*ms || s.Delay > 730*ms || s.Missing != 0 {
		t.Errorf("%+v", s)
	}
}

// Another container: a delimiter of 6 bytes a picture, parameter sets with the key ones.
func TestRemuxed(t *testing.T) {
	in := encoded(5, 1500, 60)
	out := hopOf(in, 2, 2*second, 50*second)
	for i := range out {
		out[i].Size += 6 + i%3*4
		if out[i].Key {
			out[i].Size += 60
		}
		out[i].DTS += int64(i%2) * 11 * ms / 90 // 90 kHz ticks
	}
	s := play(three[:2], in, drop(out, func(i int, _ stream.Frame) bool { return i == 700 })).of("ingest")
	if s.How != Remuxed || s.Missing != 1 || s.Added != 0 || s.Matched < 1400 || s.Delay < 1990*ms || s.Delay > 2030*ms {
		t.Errorf("%+v", s)
	}
}

func TestCodedAgain(t *testing.T) {
	in := encoded(5, 1500, 60)
	again := hopOf(encoded(99, 1500, 60), 2, 800*ms, 50*second)
	s := play(three[:2], in, again).of("ingest")
	if s.How != Unmatched || s.Matched != 0 || s.Missing != 0 || s.Added != 0 {
		t.Errorf("even: %+v", s)
	}
	// Uneven steps survive.
	r, d := rand.New(rand.NewSource(4)), int64(0)
	for i := range in {
		d += (20 + r.Int63n(40)) * ms
		in[i].DTS, in[i].Arrival = d, start+d
		again[i].DTS, again[i].Arrival = d+50*second, start+d+800*ms
	}
	s = play(three[:2], in, drop(again, func(i int, _ stream.Frame) bool { return i == 800 || i == 801 })).of("ingest")
	if s.How != Pattern || s.Missing != 2 || s.Matched < 1300 || s.Delay != 800*ms {
		t.Errorf("uneven: %+v", s)
	}
}

// The encoder starts anew, and later the edge's reader connects again.
func TestEpochs(t *testing.T) {
	first, then := encoded(5, 900, 60), encoded(6, 900, 60)
	in := slices.Clone(first)
	for _, f := range then {
		f.Arrival += 31 * second
		in = append(in, f)
	}
	out := hopOf(in, 2, 400*ms, 50*second)
	var again []stream.Frame
	for _, f := range out {
		if a := f.Arrival - start; a < 45*second || a > 50*second {
			again = append(again, f)
		}
	}
	for i := range again { // the new connection counts from zero
		if again[i].Arrival-start > 50*second {
			again[i].DTS -= 60 * second
		}
	}
	s := play(three[:2], in, again).of("ingest")
	if s.How != Same || s.Missing > 5 || s.Added > 5 || s.Matched < 1500 {
		t.Errorf("%+v", s)
	}
}

func TestNotWatchedCantTell(t *testing.T) {
	f := Judge(three, []Hurt{{At: 2, Kind: recording.EventStreamFreeze, Start: start, End: start + 5*second}}, nil, func(int, int64, int64) bool { return false })
	if len(f) != 1 || f[0].Sure || f[0].Where != "between origin and edge" {
		t.Errorf("%+v", f)
	}
}

func TestTwoFreezesAreTwo(t *testing.T) {
	f := Judge(three, []Hurt{
		{At: 0, Kind: recording.EventStreamFreeze, Start: start, End: start + 5*second},
		{At: 1, Kind: recording.EventStreamFreeze, Start: start + second/10, End: start + 5*second},
		{At: 1, Kind: recording.EventStreamFreeze, Start: start + 60*second, End: start + 65*second},
		{At: 2, Kind: recording.EventStreamFreeze, Start: start + 61*second, End: start + 65*second},
		{At: 0, Kind: recording.EventStreamJump, Start: start + 60*second, End: start + 60*second},
	}, nil, nil)
	if len(f) != 3 || f[0].At != 0 || f[1].At+f[2].At != 1 || len(f[0].Places) != 2 {
		t.Errorf("%+v", f)
	}
}

// A stream that is late at the first place all the time does not explain a freeze
// at the last one much later.
func TestLongLatenessDoesNotExplainAFreeze(t *testing.T) {
	f := Judge(three, []Hurt{
		{At: 0, Kind: recording.EventStreamLate, Start: start},
		{At: 2, Kind: recording.EventStreamLate, Start: start + second},
		{At: 2, Kind: recording.EventStreamFreeze, Start: start + 40*second, End: start + 45*second},
	}, nil, nil)
	if len(f) != 2 || f[0].At != 0 || len(f[0].Places) != 2 || f[1].At != 2 || f[1].Kind != recording.EventStreamFreeze {
		t.Errorf("%+v", f)
	}
}

func BenchmarkMatch(b *testing.B) {
	in := encoded(1, 1800, 60)
	m, out := New(three[:2]), hopOf(in, 2, 120*ms, 0)
	var buf [1]Hop
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		f, g, loop := in[i%1800], out[i%1800], int64(i/1800)*60*second
		f.Arrival, f.DTS, g.Arrival, g.DTS = f.Arrival+loop, f.DTS+loop, g.Arrival+loop, g.DTS+loop
		m.Frame(0, f)
		m.Frame(1, g)
		if i%30 == 29 {
			m.Tick(f.Arrival, buf[:0])
		}
	}
}

func FuzzMatcher(f *testing.F) {
	f.Add([]byte{}, uint8(3))
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		names := slices.Clone(three[:n%4%3+1])
		m := New(names)
		var now, dts int64
		var frames, matched int
		for i := 0; i+3 < len(data); i += 4 {
			dts += int64(int8(data[i])) << (data[i+1] % 50)
			now += int64(data[i+1])
			f := stream.Frame{Kind: stream.Kind(data[i+2] % 3), Key: data[i]%8 == 0, Arrival: now, DTS: dts, Size: int(data[i+3] % 4)}
			m.Frame(int(data[i+2])%4-1, f)
			frames++
			if data[i+3]%8 == 0 {
				for _, h := range m.Tick(now, nil) {
					matched += h.Matched
				}
			}
		}
		if matched > frames*2 {
			t.Fatalf("%d matched of %d", matched, frames)
		}
	})
}
