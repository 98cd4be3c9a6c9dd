package sides

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"snag/internal/packet"
	"snag/internal/sorting"
	"snag/recording"
)

// Capture is one capture file of which the connections are known.
type Capture struct {
	Path        string
	First, Last recording.Time // of its TCP segments; 0: it has none
	open        opener
	index       *index
}

// Survey reads a capture once and finds its connections. of is how many captures are
// surveyed: together they remember no more than two. only reports which packets are looked at; nil: all.
func Survey(ctx context.Context, path string, of int, only func(*packet.Packet) bool) (*Capture, error) {
	return surveyed(ctx, openerOf(path), path, of, only)
}

func surveyed(ctx context.Context, open opener, path string, of int, only func(*packet.Packet) bool) (*Capture, error) {
	x, err := survey(ctx, open, 2*mostFlows/max(2, of), only)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &Capture{Path: path, First: recording.Time(x.first), Last: recording.Time(x.last), open: open, index: x}, nil
}

// Both are two captures and the connections that are on both.
type Both struct {
	captures [2]*Capture
	conns    []*connection
	// Exact: the shift that Join is given makes one clock of both, to the microsecond.
	Exact bool
}

// Match finds the connections that two captures share.
func Match(a, b *Capture) *Both {
	both := &Both{captures: [2]*Capture{a, b}, conns: match(a.index.flows, b.index.flows)}
	both.sides()
	return both
}

// Connections is how many are on both.
func (b *Both) Connections() int { return len(b.conns) }

// sides tells of each connection that both saw open which file is on the client's side:
// from there the SYN's answer takes longer to come. Where the difference is no more than
// clocks run apart in that time nothing is told.
func (b *Both) sides() {
	for _, c := range b.conns {
		f, g := c.handshake(0), c.handshake(1)
		if f >= 0 && g >= 0 && apartBy(f, g) {
			c.near = side(f > g)
		} else if f < 0 || g < 0 {
			c.near = c.nearByMarks()
		}
	}
}

// nearByMarks tells the client's side of a connection that was open before: what goes
// from there comes to the other file later than what comes from it, in every segment that
// both remember. −1: that can't be told.
func (c *connection) nearByMarks() int {
	var least, most [2]int64
	var n [2]int
	first, last := int64(math.MaxInt64), int64(0)
	for dir := range 2 {
		c.common(dir, func(x, y mark) {
			d := y.at - x.at
			if n[dir]++; n[dir] == 1 {
				least[dir], most[dir] = d, d
			}
			least[dir], most[dir] = min(least[dir], d), max(most[dir], d)
			first, last = min(first, x.at), max(last, x.at)
		})
	}
	if n[request] == 0 || n[answer] == 0 {
		return -1
	}
	drift := 2e3 + mostDrift*float64(last-first)
	switch {
	case float64(least[request]-most[answer]) > drift:
		return 0
	case float64(least[answer]-most[request]) > drift:
		return 1
	}
	return -1
}

// apartBy reports whether two durations of the same, by two clocks, differ by more than
// these may run apart, and by more than timestamps' grain.
func apartBy(a, b int64) bool {
	return math.Abs(float64(a-b)) > 2e3+mostDrift*float64(max(a, b))
}

// handshake is how long after a connection's SYN its answer came by in a file, ns; −1:
// the file does not have both.
func (c *connection) handshake(file int) int64 {
	return c.flows[file].handshake(c.dir(file, request))
}

// handshake is how long after the SYN of a direction its answer came by, ns; −1: not seen.
func (f *flow) handshake(req int) int64 {
	if ans := 1 - req; f.syn[req] && f.syn[ans] && f.synAt[ans] >= f.synAt[req] {
		return f.synAt[ans] - f.synAt[req]
	}
	return -1
}

// FirstNear counts the connections whose client's side is the first file's less those
// where it is the second's.
func (b *Both) FirstNear() (n int) {
	for _, c := range b.conns {
		switch c.near {
		case 0:
			n++
		case 1:
			n--
		}
	}
	return n
}

// passing is one segment that both captures have.
type passing struct {
	from int   // the file that it came by first
	at   int64 // by the first file's clock, ns
	then int64 // by the second's
}

// passings are the segments of a connection that both captures remember, of a
// connection of which the client's side is known: its handshake and its sketch.
func (c *connection) passings() (out []passing) {
	if c.near < 0 {
		return nil
	}
	f, g := c.flows[0], c.flows[1]
	for dir := range 2 {
		from := c.near
		if dir == answer {
			from = 1 - c.near
		}
		fd, gd := c.dir(0, dir), c.dir(1, dir)
		if f.syn[fd] && g.syn[gd] {
			out = append(out, passing{from, f.synAt[fd], g.synAt[gd]})
		}
		c.common(dir, func(x, y mark) { out = append(out, passing{from, x.at, y.at}) })
	}
	return out
}

// Clock compares the clocks of both captures by what they remember of the connections
// that both have: the handshakes, and twelve segments each way. Joining them compares
// them by every segment; this is for whoever must know before.
func (b *Both) Clock() Offset {
	var all []passing
	near := b.FirstNear()
	for _, c := range b.conns {
		if c.near < 0 && near != 0 { // open before; as most others
			c := *c
			c.near = side(near > 0)
			all = append(all, c.passings()...)
			continue
		}
		all = append(all, c.passings()...)
	}
	if len(all) == 0 {
		return Offset{}
	}
	sorting.By(all, func(x, y passing) int { return cmp.Compare(x.then, y.then) })
	var apart []int64
	for _, p := range all {
		apart = append(apart, p.then-p.at)
	}
	slices.Sort(apart)
	k := newClocks(all[0].then, apart[len(apart)/2])
	for _, p := range all {
		k.pass(p.from, p.at, p.then)
	}
	return k.told()
}

// Shift is what to add to the times of each file so that both are of one clock, ns.
type Shift [2]int64

// Join reads both captures in step and hands the requests of their connections to out,
// their times moved by shift. calls are what is known of the server's system calls;
// nil: nothing.
func (b *Both) Join(ctx context.Context, calls Calls, shift Shift, out recording.Sink) (Result, error) {
	if len(b.conns) == 0 {
		return Result{}, nil
	}
	j := newJoiner(b.conns, shift, out)
	j.exact = b.Exact
	var sources [2]*source
	for i, c := range b.captures {
		s, err := begin(c.open, c.index.again())
		if err != nil {
			return Result{}, fmt.Errorf("read %s again: %w", c.Path, err)
		}
		defer func() { _ = s.in.Close() }()
		sources[i] = s
		s.next()
	}
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return j.end(ctx, nil, out), ctx.Err()
		}
		file := earlier(sources, j)
		if file < 0 {
			return j.end(ctx, calls, out), nil
		}
		s := sources[file]
		if id, dir := s.index.find(&s.segment, &s.count); id >= 0 {
			j.add(file, id, dir, &s.segment)
		}
		s.next()
	}
}

// Path of one of the two captures' files.
func (b *Both) Path(file int) string { return b.captures[file].Path }

// Told says what a joining told: its coverage and facts.
func (b *Both) Told(r Result, err error) (recording.Coverage, []recording.Fact) {
	paths := [2]string{b.Path(0), b.Path(1)}
	t := told(paths, r)
	if err != nil {
		t = unread(paths, err)
	}
	return t.Coverage[0], t.Facts
}
