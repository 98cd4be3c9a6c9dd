package profile

import (
	"cmp"
	"math"
	"path"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/recording"
)

// Change is how much more of the whole one function takes in B than in A.
type Change struct {
	Function string
	Object   string  // "kernel"; "" not known
	A, B     float64 // shares of all that was sampled there, 0 to 1
	// Low and High bound B − A: all intervals of a comparison hold at once in 95 % of
	// all comparisons.
	Low, High float64
	InA, InB  bool // it was seen there
}

// Noise tells a change that chance makes as well.
func (c Change) Noise() bool { return c.Low <= 0 && c.High >= 0 }

// sure is how great a change is at least.
func (c Change) sure() float64 {
	if c.Noise() {
		return 0
	}
	return min(math.Abs(c.Low), math.Abs(c.High))
}

// Diff compares two profiles by the share that each function has of all samples.
type Diff struct {
	A, B *Profile
	// Self are shares of the functions themselves, Total with what they called, the
	// greatest certain change first.
	Self, Total []Change
	// LooksA and LooksB are how many independent looks the samples are worth, by the
	// spread of weights and, of the typical function, from second to second.
	LooksA, LooksB float64
	// OnlyA is the share of A's samples in functions that B never has; OnlyB the other
	// way round.
	OnlyA, OnlyB float64
	Doubts       []string
}

// leastSeen samples of both together: a function with fewer can't be told apart from
// chance whatever it does, and each one compared widens the intervals of all.
const leastSeen = 5

// Compare compares the profiles of two recordings, of processes of one name alone
// where comm is not "".
func Compare(a, b *recording.Recording, event, comm string) (*Diff, error) {
	pa, err := From(a, Options{Kind: OnCPU, Event: event, Comm: comm})
	if err != nil {
		return nil, err
	}
	pb, err := From(b, Options{Kind: OnCPU, Event: event, Comm: comm})
	if err != nil {
		return nil, err
	}
	objects := hasObjects(pa) && hasObjects(pb)
	ta, tb := countOf(a, pa, comm, objects), countOf(b, pb, comm, objects)
	d := &Diff{A: pa, B: pb}
	d.Self = changes(ta, tb, ta.self, tb.self)
	d.Total = changes(ta, tb, ta.total, tb.total)
	d.LooksA, d.LooksB = ta.typical(), tb.typical()
	for _, c := range d.Self {
		switch {
		case !c.InB:
			d.OnlyA += c.A
		case !c.InA:
			d.OnlyB += c.B
		}
	}
	d.doubt(ta, tb, objects)
	return d, nil
}

func (d *Diff) doubt(a, b *counted, objects bool) {
	if d.A.Event != d.B.Event {
		d.Doubts = append(d.Doubts, "A is of "+eventName(d.A.Event)+" and B of "+eventName(d.B.Event)+": a CPU's speed, and what it waits for, move shares between the two")
	}
	if !objects {
		d.Doubts = append(d.Doubts, "one of them does not say which files functions lie in: they are compared by name alone")
	}
	if a.seconds < fewSeconds || b.seconds < fewSeconds {
		d.Doubts = append(d.Doubts, "one of them has few seconds, or no times: how much shares change from second to second is not known, and the intervals are too narrow where work comes in bursts")
	}
}

func eventName(event string) string {
	if event == "" {
		return "time"
	}
	return event
}

func hasObjects(p *Profile) bool {
	for i := range p.Samples {
		for _, f := range p.Samples[i].Frames {
			if f.Object != "" && f.Object != "[jit]" {
				return true
			}
		}
	}
	return false
}

// function is one as both sides know it: hosts have it at other paths, and in other
// versions of a library.
type function struct{ name, object string }

func functionOf(f Frame, objects bool) function {
	object := f.where()
	if !objects && object != "kernel" {
		object = ""
	}
	if object != "" && object != "kernel" {
		object = path.Base(object)
		if i := strings.Index(object, ".so"); i > 0 {
			object = object[:i+3]
		}
	}
	return function{strings.TrimSuffix(f.Function, " (inlined)"), object}
}

// tallied is what one function had.
type tallied struct {
	sum, n float64 // what its samples stand for, and how many they are
	xx, xn float64 // sums over seconds, see worth
	now    float64 // of the second that is counted
}

// counted is a profile by function, and its spread from second to second.
type counted struct {
	self, total map[function]*tallied
	all, n      float64
	nn          float64
	seconds     int
	kish        float64 // (Σw)²/Σw²: what samples of different weights are worth (Kish)
}

// countOf goes through the rows second by second.
func countOf(r *recording.Recording, p *Profile, comm string, objects bool) *counted {
	c := &counted{self: map[function]*tallied{}, total: map[function]*tallied{}}
	stacks := map[int]*stackFunctions{}
	for i := range r.Stacks {
		s := &r.Stacks[i]
		frames, _, _ := framesOf(s)
		f := &stackFunctions{}
		seen := map[function]bool{}
		for j, frame := range frames {
			fn := functionOf(frame, objects)
			if j == 0 {
				f.self = fn
			}
			if !seen[fn] {
				seen[fn] = true
				f.all = append(f.all, fn)
			}
		}
		if len(f.all) > 0 {
			stacks[s.ID] = f
		}
	}
	names := processNames(r)
	second := newSecond(c)
	squares := 0.0
	rows := r.OnCPU
	byTime := func(a, b recording.OnCPU) int { return cmp.Compare(a.T, b.T) }
	if !slices.IsSortedFunc(rows, byTime) {
		rows = slices.Clone(rows)
		sorting.StableBy(rows, byTime)
	}
	for _, row := range rows {
		if row.Event != p.Event || comm != "" && !isOf(names, row, comm) {
			continue
		}
		if row.T != second.t {
			second.close()
			second.t = row.T
		}
		value := p.valueOf(row)
		n := float64(row.N)
		if p.Unit == Seconds {
			value = n // by time, each sample is worth the same
		}
		squares += value * value / max(n, 1)
		f := stacks[row.Stack]
		if f == nil {
			f = &withoutStack
		}
		second.add(f, value, n)
	}
	second.close()
	if squares > 0 {
		c.kish = min(c.all*c.all/squares, c.n)
	}
	return c
}

// Looks are how many independent looks the samples of a recording are worth for a
// typical function.
func Looks(r *recording.Recording, event string) float64 {
	p, err := From(r, Options{Kind: OnCPU, Event: event})
	if err != nil {
		return 0
	}
	return countOf(r, p, "", true).typical()
}

// stackFunctions are the functions of one stack, each once.
type stackFunctions struct {
	self function
	all  []function
}

var withoutStack = stackFunctions{self: function{name: noStack.Function}, all: []function{{name: noStack.Function}}}

// second is what is counted of one second.
type second struct {
	c      *counted
	t      recording.Time
	n      float64
	self   map[function]*tallied
	totals map[function]*tallied
}

func newSecond(c *counted) *second {
	return &second{c: c, t: -1, self: map[function]*tallied{}, totals: map[function]*tallied{}}
}

func (s *second) add(f *stackFunctions, value, n float64) {
	s.n += value
	s.c.n += n
	count := func(in, now map[function]*tallied, fn function) {
		t := in[fn]
		if t == nil {
			t = &tallied{}
			in[fn] = t
		}
		t.sum += value
		t.n += n
		t.now += value
		now[fn] = t
	}
	count(s.c.self, s.self, f.self)
	for _, fn := range f.all {
		count(s.c.total, s.totals, fn)
	}
}

func (s *second) close() {
	if s.n == 0 {
		return
	}
	for _, now := range []map[function]*tallied{s.self, s.totals} {
		for _, t := range now {
			t.xx += t.now * t.now
			t.xn += t.now * s.n
			t.now = 0
		}
		clear(now)
	}
	s.c.all += s.n
	s.c.nn += s.n * s.n
	s.c.seconds++
	s.n = 0
}

// share is the function's, with what its samples are worth; by kish alone where it was
// not seen.
func (c *counted) share(t *tallied) share {
	if t == nil || c.all <= 0 {
		return share{0, c.kish}
	}
	p := min(t.sum/c.all, 1)
	return share{p, worth(p, t.xx, t.xn, c.nn, c.all, c.seconds, c.kish)}
}

// typical is what the samples are worth for the median of the functions that were
// seen often.
func (c *counted) typical() float64 {
	var all []float64
	for _, t := range c.self {
		if t.n >= 30 {
			all = append(all, c.share(t).n)
		}
	}
	if len(all) == 0 {
		return c.kish
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// freedom are the degrees of it that the spread from second to second has; 0: it was
// not taken from seconds.
func (c *counted) freedom() int {
	if c.seconds < fewSeconds {
		return 0
	}
	return c.seconds - 1
}

func changes(a, b *counted, in, of map[function]*tallied) []Change {
	var names []function
	m := 0
	seen := func(f function) float64 {
		n := 0.0
		for _, t := range []*tallied{in[f], of[f]} {
			if t != nil {
				n += t.n
			}
		}
		return n
	}
	for f := range in {
		names = append(names, f)
	}
	for f := range of {
		if in[f] == nil {
			names = append(names, f)
		}
	}
	for _, f := range names {
		if seen(f) >= leastSeen {
			m++
		}
	}
	z := zOf(m)
	za, zb := student(z, a.freedom()), student(z, b.freedom())
	out := make([]Change, 0, len(names))
	for _, f := range names {
		sa, sb := a.share(in[f]), b.share(of[f])
		c := Change{Function: f.name, Object: f.object, A: sa.p, B: sb.p, InA: in[f] != nil, InB: of[f] != nil}
		if c.Low, c.High = difference(sa, sb, za, zb); seen(f) < leastSeen {
			c.Low, c.High = min(c.Low, 0), max(c.High, 0)
		}
		out = append(out, c)
	}
	sorting.By(out, func(x, y Change) int {
		return cmp.Or(cmp.Compare(y.sure(), x.sure()), cmp.Compare(math.Abs(y.B-y.A), math.Abs(x.B-x.A)), cmp.Compare(x.Function, y.Function), cmp.Compare(x.Object, y.Object))
	})
	return out
}

func isOf(names map[int]string, row recording.OnCPU, comm string) bool {
	if row.PID == 0 {
		return row.Comm == comm
	}
	return names[row.PID] == comm || row.Comm == comm
}
