package sides

import (
	"cmp"
	"context"
	"math"
	"net/netip"
	"slices"

	"snag/internal/sorting"
	"snag/recording"
)

const (
	// mostPairs are followed at a time.
	mostPairs = 1 << 14
	// overAfter: so long after a connection was closed nothing more of it comes.
	overAfter = int64(5e9)
	// undecided exchanges wait until it is known which file is the client's.
	undecided = 256
)

// Result is what two captures told together.
type Result struct {
	Connections int            // that are on both
	How         map[string]int // how these were found
	Requests    uint64         // that both captures have whole
	Alone       uint64         // that only one of them has, or has whole
	Torn        uint64         // of which a capture lacks bytes
	Beyond      uint64         // connections that were too many at a time
	Overlapping uint64         // exchanges in which requests overlap
	Sides       [2]int         // connections whose client's side is the first file, the second
	Unknown     int            // connections of which that could not be told
	Traced      uint64         // of the slowest, whose calls at the server are known
	First, Last recording.Time
	Clock       Offset
}

// Offset is how two captures' clocks compare, seconds: what the second's is ahead of
// the first's in the middle of the captures, and how far off that may be.
type Offset struct {
	Ahead, Bound float64
	Drift        float64 // seconds per second
	DriftBound   float64
	Known        bool
	Pieces       int // lines that were needed: more than 1 where a clock was set
	// Worst is what Ahead may be off by anywhere in the captures: by the drift, and by
	// what a clock was set.
	Worst float64
	// Asked: the offset was told, and not found out. Early is by how much packets would then have
	// arrived before they were sent; more than 0 is impossible.
	Asked bool
	Early float64
}

// joiner follows the connections that are on both captures.
type joiner struct {
	conns [2]map[int]*connection // by file and number
	pairs map[*connection]*following
	rough int64
	shift Shift
	exact bool               // the shift makes one clock of both
	clock *clocks            // nil: nothing was compared yet
	near  map[netip.Addr]int // by the server's address in the first file
	keep  slowest
	names names
	sums  *seconds
	res   Result
	swept int64
	now   [2]int64
}

type following struct {
	*pair
	conn *connection
	last int64
	held []exchange
}

func newJoiner(conns []*connection, shift Shift, out recording.Sink) *joiner {
	j := &joiner{
		conns: [2]map[int]*connection{{}, {}}, pairs: map[*connection]*following{},
		near: map[netip.Addr]int{}, names: names{}, shift: shift, sums: newSeconds(shift, out),
		res: Result{Connections: len(conns), How: map[string]int{}},
	}
	for _, c := range conns {
		for file := range 2 {
			j.conns[file][c.ids[file]] = c
		}
		j.res.How[c.how]++
	}
	j.compare(conns)
	return j
}

// compare finds the clocks' difference, roughly, and which file is on whose side:
// what goes to the far file comes there later than what comes from it.
func (j *joiner) compare(conns []*connection) {
	var all []int64
	votes := map[netip.Addr]int{}
	for _, c := range conns {
		there, back, ok := c.difference()
		if there == 0 && back == 0 {
			continue
		}
		all = append(all, there/2+back/2)
		if !ok {
			continue
		}
		server := c.server(0).Addr()
		if there > back {
			c.near = 0
			votes[server]++
		} else if there < back {
			c.near = 1
			votes[server]--
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		j.rough = all[len(all)/2]
	}
	for addr, n := range votes {
		if n != 0 {
			j.near[addr] = side(n > 0)
		}
	}
}

// add takes the next segment of a file.
func (j *joiner) add(file, id, dir int, s *Segment) {
	j.now[file] = s.T
	c := j.conns[file][id]
	if c == nil {
		return
	}
	p := j.pairs[c]
	if p == nil {
		if len(j.pairs) >= mostPairs {
			j.sweep(0)
		}
		if len(j.pairs) >= mostPairs {
			j.res.Beyond++
			delete(j.conns[0], c.ids[0])
			delete(j.conns[1], c.ids[1])
			return
		}
		p = &following{conn: c}
		p.pair = newPair(c.base, c.mid, func(_ *pair, t [2]*turn) { j.joined(p, t) })
		j.pairs[c] = p
	}
	p.last = max(p.last, j.shared(file, s.T))
	p.views[file].add(s, c.dir(file, dir))
	if now := j.shared(file, s.T); now-j.swept > 10e9 {
		j.swept = now
		j.sweep(overAfter)
	}
}

// shared is a file's time on the first file's clock, roughly.
func (j *joiner) shared(file int, at int64) int64 {
	if file == 1 {
		return at - j.rough
	}
	return at
}

// sweep ends connections that are over on both sides.
func (j *joiner) sweep(after int64) {
	for c, p := range j.pairs {
		if p.views[0].ended != open && p.views[1].ended != open && p.last+after < j.swept {
			j.over(c, p)
		}
	}
}

func (j *joiner) over(c *connection, p *following) {
	p.end([2]int64{j.now[0], j.now[1]})
	j.res.Alone += p.alone
	if c.near >= 0 {
		j.res.Sides[c.near]++
	} else {
		j.res.Unknown++
	}
	delete(j.pairs, c)
	delete(j.conns[0], c.ids[0])
	delete(j.conns[1], c.ids[1])
}

// joined takes a turn that both captures have.
func (j *joiner) joined(p *following, t [2]*turn) {
	c := p.conn
	if c.near < 0 {
		j.decide(c, t)
	}
	if c.near < 0 {
		if len(p.held) < undecided {
			p.held = append(p.held, exchange{c, t[0], t[1]})
		}
		return
	}
	for _, x := range p.held {
		j.take(exchange{c, [2]*turn{x.client, x.server}[c.near], [2]*turn{x.client, x.server}[1-c.near]})
	}
	p.held = nil
	j.take(exchange{c, t[c.near], t[1-c.near]})
}

// decide finds the client's side of a connection that was there before the captures:
// it waits longer for an answer than the server takes, by more than clocks may drift.
func (j *joiner) decide(c *connection, t [2]*turn) {
	if near, ok := j.near[c.server(0).Addr()]; ok {
		c.near = near
		return
	}
	a, b := t[0].between, t[1].between
	if apartBy(a, b) {
		c.near = side(a > b)
		j.near[c.server(0).Addr()] = c.near
	}
}

func (j *joiner) take(x exchange) {
	if x.torn() {
		j.res.Torn++
		return
	}
	near := x.conn.near
	if j.clock == nil {
		j.clock = newClocks([2]int64{x.server.last[request], x.client.last[request]}[near], j.rough)
		if j.exact {
			j.clock.set(j.shift[0] - j.shift[1])
		}
	}
	x.compare(j.clock)
	if !x.client.connect {
		j.res.Requests += uint64(max(1, x.client.n))
	}
	if x.client.parts > 1 || x.server.parts > 1 {
		j.res.Overlapping++
	}
	first, last := recording.Time(x.client.first[request]+j.shift[near]), recording.Time(x.ended()+j.shift[near])
	if j.res.First == 0 || first < j.res.First {
		j.res.First = first
	}
	j.res.Last = max(j.res.Last, last)
	j.sums.take(x, near)
	j.names.take(x)
	j.keep.take(x)
}

// end writes what was found.
func (j *joiner) end(ctx context.Context, calls Calls, out recording.Sink) Result {
	for c, p := range j.pairs {
		j.over(c, p)
	}
	j.sums.flush(math.MaxInt64)
	if j.clock != nil {
		j.res.Clock = j.clock.told()
	}
	sorting.By(j.keep, func(a, b exchange) int { return cmp.Compare(a.client.first[request], b.client.first[request]) })
	inside := insideOf(ctx, j.keep, calls)
	for i := range j.keep {
		row := j.keep[i].row(j.clock)
		row.T += recording.Time(j.shift[j.keep[i].conn.near])
		row.Usual, row.Alike = j.names.usual(row)
		if inside != nil {
			inside[i].into(&row, &j.keep[i])
			if row.Unread != nil {
				j.res.Traced++
			}
		}
		out.Append(row)
	}
	return j.res
}
