package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"snag/internal/sorting"
	"snag/ledger"
)

// Party is a service, or a program and the address that it calls, in both recordings.
type Party struct {
	A, B *ledger.Party
	// Time of an answer on average, s, and the share of failed ones.
	Time, Failed Change
	// Rate of answers, 1/s: a load that differs explains other times.
	RateA, RateB float64
	// Points are by how much each account of an answer grew, in parts of A's whole time of an
	// answer, the greatest first: 0.38 is 38 points.
	Points []Point
}

// Point is an account's part of a change.
type Point struct {
	Account ledger.Account
	Points  float64
}

const (
	fewAnswers = 30     // that a party needs in each recording
	leastTime  = 0.0001 // s of an answer that matter
	leastShare = 0.005  // of the answers
)

func (c *Comparison) parties(a, b *ledger.Ledger) (tests int) {
	for _, p := range a.Parties {
		q := b.Same(p)
		if p.Answered < fewAnswers || c.silent(p, q) {
			continue
		}
		if q == nil {
			c.OnlyA = append(c.OnlyA, Name(p))
			c.gone(p, b)
		}
	}
	for _, q := range b.Parties {
		p := a.Same(q)
		switch {
		case q.Answered < fewAnswers && (p == nil || p.Answered < fewAnswers):
			continue
		case p == nil:
			c.OnlyB = append(c.OnlyB, Name(q))
			continue
		}
		one := Party{A: p, B: q, RateA: p.Rate, RateB: q.Rate}
		was, now := blocksOf(a, p), blocksOf(b, q)
		one.Time = newChange(was.time, now.time, leastTime, amounts)
		one.Failed = newChange(was.failed, now.failed, leastShare, events)
		if longPoll(p) && longPoll(q) {
			continue
		}
		if min(p.Answered, q.Answered) < fewAnswers || !one.Time.enough() {
			if name := Name(q); !c.named(name) {
				c.TooFew = append(c.TooFew, name)
			}
			continue
		}
		one.Points = pointsOf(p, q)
		c.Parties = append(c.Parties, one)
		tests += 2
	}
	return tests
}

// named reports whether a party is among those without answers in B.
func (c *Comparison) named(name string) bool {
	return slices.ContainsFunc(slices.Concat(c.Stopped, c.Quiet), func(s Silent) bool { return s.Name == name })
}

// longPoll is a party whose answers come when something happens: what they take is nobody's doing.
func longPoll(p *ledger.Party) bool { return p.Share(ledger.Parked) > 0.5 && p.Mean >= 1 }

// Blocks are so long at least, and there are no more than so many: requests that hang over several
// seconds must fit into one.
const (
	blockLeast = 2 // s
	mostBlocks = 30
)

// parts of a party by blocks.
type parts struct{ failed, time []block }

func blocksOf(l *ledger.Ledger, p *ledger.Party) (out parts) {
	seconds := l.Seconds(p)
	length := max(blockLeast, (len(seconds)+mostBlocks-1)/mostBlocks)
	for i := 0; i+length <= len(seconds); i += length {
		var f, t block
		for _, s := range seconds[i : i+length] {
			f.part += s.Failed
			f.of += s.Answers
			t.part += s.Open
			t.of += s.Answers
		}
		if t.of > 0 || t.part > 0 {
			out.failed, out.time = append(out.failed, f), append(out.time, t)
		}
	}
	return out
}

func pointsOf(a, b *ledger.Party) (out []Point) {
	each := func(p *ledger.Party) map[ledger.Account]float64 {
		by := map[ledger.Account]float64{}
		for _, e := range p.Entries {
			by[e.Account] += e.Seconds / float64(p.Answered)
		}
		return by
	}
	ea, eb := each(a), each(b)
	for account, now := range eb {
		ea[account] -= now
	}
	for account, less := range ea {
		if points := -less / a.Mean; math.Abs(points) >= 0.005 {
			out = append(out, Point{account, points})
		}
	}
	sorting.By(out, func(x, y Point) int {
		if d := cmp.Compare(y.Points, x.Points); d != 0 {
			return d
		}
		return cmp.Compare(x.Account, y.Account)
	})
	return out
}

func (p *Party) judge(m int) {
	p.Time.judge(m)
	p.Failed.judge(m)
}

// Worse reports whether answers take longer or fail more often.
func (p *Party) Worse() bool { return p.Time.Worse() || p.Failed.Worse() }

// weight orders parties: by the request-seconds per second that they take more now.
func (p *Party) weight() float64 {
	w := 0.0
	if p.Failed.Worse() {
		w += 1e6 * (p.Failed.B - p.Failed.A) * p.RateB
	}
	if p.Time.Differs() {
		w += math.Abs(p.Time.B-p.Time.A) * p.RateB
	}
	return w
}

// Root follows a party whose answers wait longer for others to those others, as far as they were
// compared and take longer too.
func (c *Comparison) Root(p Party) Party {
	for range c.Parties { // a circle ends too
		next := c.waitsFor(p)
		if next == nil {
			break
		}
		p = *next
	}
	return p
}

// waitsFor is the party that another waits for most of what its answers take longer; nil: none.
func (c *Comparison) waitsFor(p Party) *Party {
	if len(p.Points) == 0 || p.Points[0].Account != ledger.Call || !p.Time.Worse() {
		return nil
	}
	for i := range c.Parties {
		q := &c.Parties[i]
		switch {
		case !q.Time.Worse():
		case p.B.Role == ledger.Calls && q.B.Role == ledger.Serves && q.B.Subject.Local == p.B.Address:
			return q
		case p.B.Role == ledger.Serves && q.B.Role == ledger.Calls && slices.ContainsFunc(q.B.PIDs, func(pid int) bool { return slices.Contains(p.B.PIDs, pid) }):
			return q
		}
	}
	return nil
}

// Name is a party without what differs from run to run: the process id.
func Name(p *ledger.Party) string {
	if p.Role == ledger.Calls && strings.Contains(p.Address, "://") { // snag asked it
		return p.Address
	}
	if p.Role == ledger.Calls {
		return fmt.Sprintf("calls of %s to %s", cmp.Or(p.Subject.Comm, "a program"), p.Address)
	}
	return strings.TrimSpace(cmp.Or(p.Subject.Comm, "a service") + " " + p.Subject.Local)
}
