package kin

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"snag/probes/streams/stream"
)

// film is a stream's frames, seconds of them at 25 per second.
func film(seed uint64, seconds int) []stream.Frame {
	r := rand.New(rand.NewPCG(seed, 1))
	var out []stream.Frame
	for i := range seconds * 25 {
		f := stream.Frame{Kind: stream.Video, Key: i%50 == 0, Arrival: int64(i) * 40e6, DTS: int64(i) * 40e6, Size: 2000 + r.IntN(3000)}
		if f.Key {
			f.Size *= 10
		}
		out = append(out, f)
	}
	return out
}

// one is a member and what it is shown: a film from some frame on, later, on
// another clock.
type one struct {
	*Member
	film   []stream.Frame
	delay  int64
	rebase int64
	leave  int64 // ns; 0: never
}

// play shows everybody theirs, in the order of arrival, and returns the time at the end.
func play(all ...*one) (now int64) {
	at := make([]int, len(all))
	for {
		next, first := -1, int64(0)
		for i, o := range all {
			if at[i] < len(o.film) {
				if t := o.film[at[i]].Arrival + o.delay; next < 0 || t < first {
					next, first = i, t
				}
			}
		}
		if next < 0 {
			return now
		}
		o := all[next]
		f := o.film[at[next]]
		at[next]++
		now = first
		if o.leave != 0 && now > o.leave {
			continue
		}
		f.Arrival, f.DTS, f.PTS = f.Arrival+o.delay, f.DTS+o.rebase, f.PTS+o.rebase
		o.Frame(f)
		if at[next]%25 == 0 {
			o.Kin(now)
		}
	}
}

func TestReadersOfAPublisher(t *testing.T) {
	c := New()
	a, b := film(1, 20), film(2, 20)
	pa := &one{Member: c.Join(Publisher, "10.0.0.3:5000 → :1935", "10.0.0.3:5000"), film: a}
	pb := &one{Member: c.Join(Publisher, "10.0.0.4:5000 → :1935", "10.0.0.4:5000"), film: b}
	all := []*one{pa, pb}
	for i := range 30 {
		o := &one{Member: c.Join(Reader, fmt.Sprint(":1935 → reader ", i), ""), delay: 3e6 + int64(i), rebase: int64(i) * 1e9}
		if o.film = a[i:]; i%3 == 0 {
			o.film = b[i:]
		}
		all = append(all, o)
	}
	now := play(all...)
	for i, o := range all[2:] {
		want := "10.0.0.3:5000"
		if i%3 == 0 {
			want = "10.0.0.4:5000"
		}
		k := o.Kin(now)
		if k.Publisher != want || k.Of != want+" → :1935" || k.Name != "" || k.By != "frames" {
			t.Errorf("reader %d: %+v", i, k)
		}
		if k.Matched < 20 || k.Matched != k.Runs || k.Delay < 3e6 || k.Delay > 4e6 {
			t.Errorf("reader %d: %+v", i, k)
		}
	}
	if k := pa.Kin(now); k.By != "" || k.Publisher != "10.0.0.3:5000" {
		t.Errorf("the publisher: %+v", k)
	}
}

// A stream that is read by its URL gives its name to the connections that have its
// frames, and so do a reader and a publisher that connect while somebody looks.
func TestNames(t *testing.T) {
	for _, first := range []Standing{Reader, Publisher, Named} {
		c := New()
		a := film(1, 20)
		p := &one{Member: c.Join(Publisher, "p", "10.0.0.3:5000"), film: a}
		r := &one{Member: c.Join(Reader, "r", ""), film: a, delay: 2e6}
		q := &one{Member: c.Join(Reader, "q", ""), film: film(2, 20)}
		known := &one{Member: c.Join(Named, "live/cam1", ""), film: a[250:], delay: 5e6, rebase: -7e9}
		switch first {
		case Reader: // its player is behind all others
			known.delay = 3e9
		case Publisher: // the publisher connected again: the reader goes on with what it sends
			p.film, p.leave = a[:250], 10e9
			known.Member = c.Join(Named, "live/cam1", "10.0.0.3:5002")
			known.delay, r.rebase = 0, 4e9
		}
		now := play(p, r, q, known)
		if k := r.Kin(now); k.Name != "live/cam1" || k.By != "frames" {
			t.Errorf("%d: the reader: %+v", first, k)
		}
		if k := p.Kin(now); first != Publisher && (k.Name != "live/cam1" || k.Publisher != "10.0.0.3:5000") {
			t.Errorf("%d: the publisher: %+v", first, k)
		}
		if k := q.Kin(now); k != (Kin{}) {
			t.Errorf("%d: another stream: %+v", first, k)
		}
		if k := known.Kin(now); k.Name != "live/cam1" || k.By != "itself" {
			t.Errorf("%d: the one with the name: %+v", first, k)
		}
	}
}

// Where several streams have the same frames nobody can say which one it is; one
// that shows them at another time is none of them.
func TestSameFilmTwice(t *testing.T) {
	c := New()
	a := film(1, 30)
	together := []*one{
		{Member: c.Join(Named, "live/a", "x:1"), film: a},
		{Member: c.Join(Named, "live/b", "x:2"), film: a, delay: 30e6},
	}
	r := &one{Member: c.Join(Reader, "r", ""), film: a, delay: 40e6}
	now := play(append(together, r)...)
	if k := r.Kin(now); k.Name != "" || k.By != "" || k.Rivals != 2 {
		t.Errorf("two at once: %+v", k)
	}
	c = New()
	apart := []*one{
		{Member: c.Join(Named, "live/a", "x:1"), film: a},
		{Member: c.Join(Named, "live/b", "x:2"), film: a, delay: 9e9},
	}
	r = &one{Member: c.Join(Reader, "r", ""), film: a, delay: 9.04e9}
	now = play(append(apart, r)...)
	if k := r.Kin(now); k.Name != "live/b" || k.Delay != 40e6 {
		t.Errorf("nine seconds apart: %+v", k)
	}
}

// Pictures that all look alike tell nothing.
func TestStillPictures(t *testing.T) {
	c := New()
	still := film(1, 20)
	for i := range still {
		still[i].Size = 60 + i%2
	}
	p := &one{Member: c.Join(Publisher, "p", "x:1"), film: still}
	r := &one{Member: c.Join(Reader, "r", ""), film: still, delay: 1e6}
	now := play(p, r)
	if k := r.Kin(now); k != (Kin{}) {
		t.Errorf("got %+v", k)
	}
}

// An encoder that fills its pictures up to one size: their first bytes tell them apart, also from
// those of another that fills up to the same size. Without these bytes nothing is said.
func TestPicturesOfOneSize(t *testing.T) {
	c := New()
	filled := func(seed uint64) []stream.Frame {
		out := film(seed, 20)
		for i := range out {
			out[i].Size, out[i].Mark = 25860, uint32(out[i].Size)+1
		}
		return out
	}
	a, b := filled(1), filled(2)
	pa := &one{Member: c.Join(Publisher, "pa", "10.0.0.3:5000"), film: a}
	pb := &one{Member: c.Join(Publisher, "pb", "10.0.0.4:5000"), film: b}
	r := &one{Member: c.Join(Named, "live/a", ""), film: a, delay: 9e6, rebase: 4e9}
	blind := filled(1)
	for i := range blind {
		blind[i].Mark = uint32(i % 2) // of every second picture they did not come
	}
	n := &one{Member: c.Join(Reader, "n", ""), film: blind, delay: 5e6}
	now := play(pa, pb, r, n)
	if k := pa.Kin(now); k.Name != "live/a" {
		t.Errorf("its publisher: %+v", k)
	}
	if k := pb.Kin(now); k != (Kin{Publisher: "10.0.0.4:5000"}) {
		t.Errorf("another publisher: %+v", k)
	}
	if k := n.Kin(now); k != (Kin{}) {
		t.Errorf("without first bytes: %+v", k)
	}
}

// A reader that is sent another stream on the same connection is no longer the first one's.
func TestAnotherStream(t *testing.T) {
	c := New()
	a, b := film(1, 60), film(2, 60)
	p := &one{Member: c.Join(Named, "live/a", "x:1"), film: a}
	q := &one{Member: c.Join(Named, "live/b", "x:2"), film: b}
	r := &one{Member: c.Join(Reader, "r", ""), film: append(append([]stream.Frame{}, a[:500]...), b[500:]...), delay: 1e6}
	now := play(p, q, r)
	if k := r.Kin(now); k.Name != "live/b" {
		t.Errorf("got %+v", k)
	}
}

// Nothing is left of those that went.
func TestLeave(t *testing.T) {
	c := New()
	var all []*one
	for i := range 40 {
		all = append(all, &one{Member: c.Join(Standing(i%3), fmt.Sprint(i), ""), film: film(uint64(i%7), 10), delay: int64(i) * 1e6})
	}
	play(all...)
	for h, list := range c.runs {
		if len(list) > perRun {
			t.Fatalf("run %x is remembered %d times", h, len(list))
		}
	}
	for _, o := range all {
		o.Leave()
	}
	if len(c.runs) != 0 {
		t.Errorf("%d runs are remembered of nobody", len(c.runs))
	}
}

// BenchmarkFrame is what a frame costs where a stream has a publisher and nine readers.
func BenchmarkFrame(b *testing.B) {
	c := New()
	all := []*Member{c.Join(Publisher, "p", "x:1")}
	for i := range 9 {
		all = append(all, c.Join(Reader, fmt.Sprint(i), ""))
	}
	frames := film(1, 60)
	at := int64(0)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := frames[i/10%len(frames)]
		f.Arrival, f.DTS = at, at
		at += 4e6
		all[i%10].Frame(f)
	}
}
