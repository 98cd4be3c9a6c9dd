package verdict

import (
	"fmt"
	"math"
	"sort"
	"time"

	"snag/internal/units"
	"snag/recording"
	"snag/recording/intervals"
)

// Coincidence is how well the onsets of an effect fall on the intervals of a
// cause, and how well they would by chance.
type Coincidence struct {
	Onsets int     // how many onsets there were
	Hits   int     // of them, in or within the lag after a cause interval
	Chance float64 // hits to expect if cause and effect had nothing to do with each other
	// P is the share of circular shifts of the causes against the effects with as
	// many hits or more: how often chance would do as well. It knows of rhythms:
	// two things that come every 10 s meet each time or never, and it says how
	// often each time. 1 where there is nothing to compare.
	P float64
	// Covered is the share of the window that cause intervals and lag fill: near
	// 1, a coincidence proves nothing.
	Covered float64
	// Exact: P was taken over all shifts, not over a sample of them.
	Exact bool

	hit []bool // by onset
	// hosts is on how many other hosts the onsets were, where cause and effect are
	// not on one; 0 where they are.
	hosts int
	lag   time.Duration
	// clocks is how far off the hosts' clocks may be from each other; known, that
	// something told it.
	clocks time.Duration
	known  bool
}

// Fewer onsets than this are "once, as it happens": weak, whatever the share.
const fewOnsets = 3

// A cause that fills more of the window than this hits nearly everything.
const coversAll = 0.8

// sampled is the least lag: both are known to the second in which they were seen.
const sampled = time.Second

// byChance is the P below which a coincidence is not put down to chance.
const byChance = 0.05

const (
	// mostExact is the most pairs of an onset and an interval for which all shifts
	// are tried: some milliseconds of work.
	mostExact = 20_000
	// shifts is how many are sampled beyond it: enough to tell 1 in 100 from 1 in
	// 1000.
	shifts = 1000
)

// Coincide measures onsets of an effect against intervals of a cause.
func Coincide(causes []recording.Interval, onsets []recording.Time, window recording.Interval, lag time.Duration) Coincidence {
	c := Coincidence{Onsets: len(onsets), P: 1}
	length := window.End.Sub(window.Start)
	if length <= 0 || len(onsets) == 0 || len(causes) == 0 {
		return c
	}
	spans := merge(causes, window, max(lag, sampled))
	for _, s := range spans {
		c.Covered += float64(s.End.Sub(s.Start)) / float64(length)
	}
	c.Chance = c.Covered * float64(len(onsets))
	c.hit = make([]bool, len(onsets))
	for i, o := range onsets {
		if c.hit[i] = hits(spans, o, window, 0); c.hit[i] {
			c.Hits++
		}
	}
	if c.Exact = len(spans)*len(onsets) <= mostExact; c.Exact {
		c.P = everyShift(spans, onsets, window, c.Hits)
	} else {
		c.P = someShifts(spans, onsets, window, c.Hits)
	}
	return c
}

// everyShift is the share of all circular shifts with that many hits or more.
// Shifted by d an onset at o is hit by a span while o − d lies in it: each pair
// adds one hit over one stretch of d, and what is sought is how long the stretches
// lie that deep over each other.
func everyShift(spans []recording.Interval, onsets []recording.Time, window recording.Interval, least int) float64 {
	length := int64(window.End.Sub(window.Start))
	type step struct {
		at   int64
		more int
	}
	var steps []step
	depth := 0 // at shift 0, just inside the window
	for _, o := range onsets {
		for _, s := range spans {
			from, to := wrap(int64(o-s.End), length), wrap(int64(o-s.Start), length)
			steps = append(steps, step{from, 1}, step{to, -1})
			if from > to || s.End.Sub(s.Start) >= time.Duration(length) {
				depth++
			}
		}
	}
	if least == 0 {
		return 1
	}
	sort.Slice(steps, func(i, j int) bool { return steps[i].at < steps[j].at })
	var deep, last int64
	for _, st := range steps {
		if depth >= least {
			deep += st.at - last
		}
		depth += st.more
		last = st.at
	}
	if depth >= least {
		deep += length - last
	}
	// The shift 0 itself is one of them, however few nanoseconds it fills.
	return max(float64(deep)/float64(length), 1/float64(length))
}

func wrap(n, length int64) int64 {
	if n %= length; n < 0 {
		n += length
	}
	return n
}

// someShifts is the same for a sample, spread by the golden ratio so that it has
// no rhythm of its own that the causes could share.
func someShifts(spans []recording.Interval, onsets []recording.Time, window recording.Interval, least int) float64 {
	length := float64(window.End.Sub(window.Start))
	asMany := 1 // the shift 0
	for i := 1; i < shifts; i++ {
		_, at := math.Modf(float64(i) * math.Phi)
		n := 0
		for _, o := range onsets {
			if hits(spans, o, window, time.Duration(at*length)) {
				n++
			}
		}
		if n >= least {
			asMany++
		}
	}
	return float64(asMany) / shifts
}

// Proves reports whether the coincidence speaks for the cause: enough onsets, most
// of them hit, and rarely so by chance.
func (c Coincidence) Proves() bool {
	return c.Telling() && float64(c.Hits) >= 0.7*float64(c.Onsets) && c.P <= byChance
}

// Refutes reports whether it speaks against: enough onsets, few of them hit, and
// no more than chance hits. A cause of a part of the onsets is not refuted.
func (c Coincidence) Refutes() bool {
	return c.Telling() && float64(c.Hits) < 0.3*float64(c.Onsets) && c.P > byChance
}

// part reports whether some onsets, three at least, fall on the cause more often than
// by chance, whatever the others do.
func (c Coincidence) part() bool {
	return c.Telling() && c.Hits >= fewOnsets && c.P <= byChance
}

// Telling reports whether it could have come out either way.
func (c Coincidence) Telling() bool {
	return c.Onsets >= fewOnsets && c.Covered > 0 && c.Covered < coversAll
}

func (c Coincidence) String() string {
	switch {
	case c.Onsets == 0 || c.hit == nil:
		return ""
	case c.Covered >= coversAll:
		return fmt.Sprintf("the cause fills %.0f %% of the window: time shows nothing", 100*c.Covered)
	case c.Onsets < fewOnsets:
		return fmt.Sprintf("%d of %d, as it happens", c.Hits, c.Onsets)
	}
	where := ""
	switch {
	case c.hosts == 1:
		where = fmt.Sprintf(", on another host, begin within %s of it %s", short(c.lag), c.byClocks())
	case c.hosts > 1:
		where = fmt.Sprintf(", on %d other hosts, begin within %s of it %s", c.hosts, short(c.lag), c.byClocks())
	}
	return fmt.Sprintf("%d of %d%s; by chance %.1f, as many in %s", c.Hits, c.Onsets, where, c.Chance, c.oneIn())
}

// byClocks says what is known of the hosts' clocks.
func (c Coincidence) byClocks() string {
	if !c.known {
		return "if their clocks agree"
	}
	return "(their clocks are known within " + units.Seconds(c.clocks) + ")"
}

// short writes a lag as 2 s.
func short(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

// oneIn says P as people count: "1 of 40 shifts".
func (c Coincidence) oneIn() string {
	switch {
	case c.P >= 0.5:
		return "most shifts in time"
	case c.P < 0.001:
		return "under 1 of 1,000 shifts in time"
	}
	return fmt.Sprintf("1 of %.0f shifts in time", 1/c.P)
}

// merge clips the intervals to the window, lengthens each by the lag, and joins
// those that touch.
func merge(causes []recording.Interval, window recording.Interval, lag time.Duration) []recording.Interval {
	var all []recording.Interval
	for _, c := range causes {
		if c.End == 0 || c.End > window.End {
			c.End = window.End
		}
		c.Start = max(c.Start, window.Start)
		c.End = min(c.End.Add(lag), window.End)
		if c.Start < c.End {
			all = append(all, c)
		}
	}
	return intervals.Merge(all, 0)
}

// hits reports whether an onset falls in spans when the spans are moved by shift,
// around the end of the window. An onset moved back is a span moved forward.
func hits(spans []recording.Interval, o recording.Time, window recording.Interval, shift time.Duration) bool {
	at := o.Add(-shift)
	if at < window.Start {
		at = at.Add(window.End.Sub(window.Start))
	}
	i := sort.Search(len(spans), func(i int) bool { return spans[i].End >= at })
	return i < len(spans) && spans[i].Start <= at
}
