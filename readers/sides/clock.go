package sides

import "math"

const (
	// mostDrift is the most by which two clocks run apart: crystals are some 50 ppm off,
	// and the kernel slews by at most 500 (MAXFREQ, include/linux/timex.h).
	mostDrift = 5e-4
	// grain is what timestamps of a capture may be off by themselves, s: most files
	// have microseconds.
	grain = 1e-6
	// leastPiece is the shortest time over which two clocks are compared anew, s.
	leastPiece = 0.5
)

// clocks compares the clocks of two captures by packets that are on both: none
// arrives before it was sent. The offset is what the second file's clock is ahead of
// the first's, at a time by the second. Moon, Skelly and Towsley (INFOCOM 1999) fit a
// line below the delays of one direction; both directions together bound the offset
// from both sides.
type clocks struct {
	base      int64 // of the second file's time: x = 0, ns
	rough     int64 // taken off every offset, ns: so that the rest is small
	out, back hull  // upper bounds of the offset; lower bounds, negated
	pieces    []piece
	fitted    bool
	known     bool    // by how much the second clock is ahead
	ahead     float64 // ns
}

// set tells by how much the second clock is ahead, ns: nothing is to be found out then.
func (c *clocks) set(ahead int64) { c.known, c.ahead = true, float64(ahead) }

// piece is a time over which one straight line fits.
type piece struct {
	from, to  float64
	out, back []point // hulls
	drift     float64 // the line in the middle of what is possible
	low, high float64 // the drifts that are possible
	known     bool
}

func newClocks(base, rough int64) *clocks { return &clocks{base: base, rough: rough} }

// pass notes bytes that went from one file's place to the other's: at a by the first
// file's clock, at b by the second's.
func (c *clocks) pass(from int, a, b int64) {
	if from == 0 {
		c.sent(a, b)
	} else {
		c.answered(b, a)
	}
}

// transit is how long these bytes were on their way, ns, and what that may be off by.
func (c *clocks) transit(from int, a, b int64) (took, bound float64, ok bool) {
	ahead, off, ok := c.offset(b)
	took = float64(b-c.rough-a) - (ahead - float64(c.rough))
	if from == 1 {
		took = -took
	}
	return took, off, ok
}

// rate is by how much the clock of the server's file runs faster than that of the
// client's, and what that may be off by; a and b are times of the client's and of the
// server's capture.
func (c *clocks) rate(a, b int64, near int) (rate, bound float64) {
	if p := c.piece([2]int64{b, a}[near]); p != nil && !c.known {
		rate, bound = (p.low+p.high)/2, (p.high-p.low)/2
	}
	if near == 1 {
		rate = -rate
	}
	return rate, bound
}

// sent notes what left the first file's place at a and came to the second's at b.
func (c *clocks) sent(a, b int64) {
	c.out.add(point{float64(b-c.base) / 1e9, float64(b-a-c.rough)/1e9 + grain})
}

// answered notes what left the second file's place at b and came to the first's at a.
func (c *clocks) answered(b, a int64) {
	c.back.add(point{float64(b-c.base) / 1e9, float64(a-b+c.rough)/1e9 + grain})
}

// fit finds the lines once all is noted.
func (c *clocks) fit() {
	out, back := c.out.points(), c.back.points()
	c.fitted, c.pieces = true, nil
	if len(out) > 0 && len(back) > 0 {
		c.divide(out, back)
	}
}

// divide fits one line, or, where a clock was set or slewed, several.
func (c *clocks) divide(out, back []point) {
	if len(out) == 0 || len(back) == 0 {
		return
	}
	from := math.Min(out[0].x, back[0].x)
	to := math.Max(out[len(out)-1].x, back[len(back)-1].x)
	p := piece{from: from, to: to, out: lower(append([]point(nil), out...)), back: lower(append([]point(nil), back...))}
	if p.fit() || to-from < 2*leastPiece {
		c.pieces = append(c.pieces, p)
		return
	}
	mid := (from + to) / 2
	c.divide(before(out, mid), before(back, mid))
	c.divide(after(out, mid), after(back, mid))
}

func before(all []point, x float64) []point {
	n := 0
	for n < len(all) && all[n].x < x {
		n++
	}
	return all[:n]
}

func after(all []point, x float64) []point { return all[len(before(all, x)):] }

// room is how far apart the two bounds are for a drift; below 0 it is impossible.
func (p *piece) room(drift float64) float64 {
	return least(p.out, drift) + least(p.back, -drift)
}

// least is the smallest y of points once a drift is taken off.
func least(all []point, drift float64) float64 {
	m := math.Inf(1)
	for _, q := range all {
		m = math.Min(m, q.y-drift*q.x)
	}
	return m
}

func (p *piece) fit() bool {
	p.drift = peak(-mostDrift, mostDrift, p.room)
	if p.room(p.drift) < 0 {
		return false
	}
	p.low = border(-mostDrift, p.drift, p.room)
	p.high = border(mostDrift, p.drift, p.room)
	p.known = true
	return true
}

// at is the offset at a time x, and how far off it may be.
func (p *piece) at(x float64) (offset, bound float64) {
	top := func(d float64) float64 { return least(p.out, d) + d*x }
	bottom := func(d float64) float64 { return least(p.back, -d) - d*x }
	high := top(peak(p.low, p.high, top))
	low := -bottom(peak(p.low, p.high, bottom))
	return (high + low) / 2, math.Max(high-low, 0)/2 + grain
}

// peak is where a concave function is greatest between a and b; of several places
// the one nearest the middle, or nearly.
func peak(a, b float64, f func(float64) float64) float64 {
	const ratio = 0.6180339887498949
	x, y := b-ratio*(b-a), a+ratio*(b-a)
	fx, fy := f(x), f(y)
	for range 80 {
		if b-a < 1e-13 {
			break
		}
		if fx >= fy {
			b, y, fy = y, x, fx
			x = b - ratio*(b-a)
			fx = f(x)
		} else {
			a, x, fx = x, y, fy
			y = a + ratio*(b-a)
			fy = f(y)
		}
	}
	return (a + b) / 2
}

// border is where between an outside and an inside a concave function passes 0.
func border(outside, inside float64, f func(float64) float64) float64 {
	if f(outside) >= 0 {
		return outside
	}
	for range 60 {
		mid := (outside + inside) / 2
		if f(mid) >= 0 {
			inside = mid
		} else {
			outside = mid
		}
	}
	return inside
}

// offset is what the second clock is ahead by when it shows b, ns, and how far off
// that may be; false where the clocks could not be compared.
func (c *clocks) offset(b int64) (offset, bound float64, ok bool) {
	if c.known {
		return c.ahead, grain * 1e9, true
	}
	p := c.piece(b)
	if p == nil {
		return 0, 0, false
	}
	y, bound := p.at(float64(b-c.base) / 1e9)
	return y*1e9 + float64(c.rough), bound * 1e9, true
}

// piece is the line that holds at a time of the second clock; nil: none does.
func (c *clocks) piece(b int64) *piece {
	if !c.fitted {
		c.fit()
	}
	x := float64(b-c.base) / 1e9
	var best *piece
	far := leastPiece
	for i := range c.pieces {
		p := &c.pieces[i]
		if d := math.Max(0, math.Max(p.from-x, x-p.to)); d <= far && p.known {
			best, far = p, d
		}
	}
	return best
}

// told sums up the comparison: of the longest piece.
func (c *clocks) told() Offset {
	if !c.fitted {
		c.fit()
	}
	o := Offset{Pieces: len(c.pieces)}
	best := 0.0
	for i := range c.pieces {
		p := &c.pieces[i]
		if !p.known || o.Known && p.to-p.from <= best {
			continue
		}
		best = p.to - p.from
		y, bound := p.at((p.from + p.to) / 2)
		o.Ahead, o.Bound, o.Known = y+float64(c.rough)/1e9, bound, true
		o.Drift, o.DriftBound = (p.low+p.high)/2, (p.high-p.low)/2
	}
	for i := range c.pieces {
		p := &c.pieces[i]
		if !p.known {
			continue
		}
		for _, x := range []float64{p.from, p.to} {
			y, bound := p.at(x)
			o.Worst = math.Max(o.Worst, math.Abs(y+float64(c.rough)/1e9-o.Ahead)+bound)
		}
	}
	if c.known {
		return c.asked(o)
	}
	return o
}

// asked is the comparison where the offset was told: found is what the packets say.
func (c *clocks) asked(found Offset) Offset {
	o := Offset{Ahead: c.ahead / 1e9, Bound: grain, Worst: grain, Known: true, Pieces: 1, Asked: true}
	if found.Known {
		o.Early = math.Max(0, math.Abs(o.Ahead-found.Ahead)-found.Bound)
	}
	return o
}
