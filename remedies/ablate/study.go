package ablate

import (
	"math"
	"slices"
)

// study is all that rounds gave so far.
type study struct {
	o      Options
	open   []*contrast
	done   []*contrast
	stage  int
	bases  [2][]float64 // all base runs in order of time; NaN: it failed
	rounds int
	runs   int
	cut    bool
}

func newStudy(o Options) *study { return &study{o: o} }

// all are the settings, in an order that tells nothing of them.
func (s *study) shuffled(of []int) []int {
	all := slices.Clone(of)
	s.o.Rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// groups parts settings into groups of about the square root of their number; few
// settings are each one of their own.
func (s *study) groups(of []int, b base) (out []*contrast) {
	size := 1
	if len(of) > 4 {
		size = min(int(math.Round(math.Sqrt(float64(len(of))))), 8)
	}
	for part := range slices.Chunk(s.shuffled(of), size) {
		out = append(out, &contrast{base: b, group: part})
	}
	return out
}

// next reports whether a comparison is open; where a stage has none left, the next begins.
func (s *study) next() bool {
	if s.rounds >= 2*fewest && s.idle() {
		return false // nothing shows under this load, with no setting on or off
	}
	for len(s.open) == 0 && s.stage < 3 {
		s.stage++
		switch s.stage {
		case 1:
			s.open = append(s.groups(s.indices(), allOn), &contrast{whole: true, group: s.indices()})
		case 2:
			s.open = s.alone()
		case 3:
			s.open = s.pairs()
		}
	}
	return len(s.open) > 0
}

func (s *study) indices() []int {
	all := make([]int, s.o.Settings)
	for i := range all {
		all[i] = i
	}
	return all
}

// alone are the comparisons of the second stage: settings that are not missed, turned
// on with all else off, if the single effects leave something unexplained.
func (s *study) alone() []*contrast {
	if s.o.Settings < 2 || !s.unexplained() {
		return nil
	}
	var rest []int
	for i := range s.o.Settings {
		if c := s.leaf(i, allOn); c == nil || c.found != Helps && c.found != Hurts {
			rest = append(rest, i)
		}
	}
	if len(rest) < 2 { // nothing could stand in for another
		return nil
	}
	return s.groups(rest, allOff)
}

// unexplained reports whether all settings together do more than the single ones that
// were found.
func (s *study) unexplained() bool {
	whole := s.whole()
	if whole == nil || whole.found != Helps && whole.found != Hurts {
		return s.hollow()
	}
	single := 0.0
	for _, c := range s.done {
		if len(c.group) == 1 && !c.whole && c.base == allOn && (c.found == Helps || c.found == Hurts) {
			single += c.interval.Effect
		}
	}
	left := whole.interval.Effect - single
	if whole.found == Hurts {
		left = -left
	}
	return left > max(s.smallest(), (whole.interval.High-whole.interval.Low)/4) || s.hollow()
}

// hollow reports whether a group did something of which no part did.
func (s *study) hollow() bool {
	acts := func(c *contrast) bool {
		return c.found == Helps || c.found == Hurts || c.found == Acts && math.Abs(c.interval.Effect) > s.smallest()
	}
	for _, c := range s.done {
		if c.whole || len(c.group) == 1 || c.base != allOn || !acts(c) {
			continue
		}
		if !slices.ContainsFunc(s.done, func(d *contrast) bool {
			return d.base == c.base && !d.whole && len(d.group) < len(c.group) && acts(d) && slices.Contains(c.group, d.group[0])
		}) {
			return true
		}
	}
	return false
}

// mostPairs bounds the third stage: of eight settings that do it alone, every two.
const mostPairs = 28

// pairs are the comparisons of the third stage: two that each do it alone, both left
// out. Where there are too many pairs, all of them at once.
func (s *study) pairs() (out []*contrast) {
	alone := s.sufficient()
	if len(alone) < 2 {
		return nil
	}
	if n := len(alone); n*(n-1)/2 <= mostPairs {
		for i, a := range alone {
			for _, b := range alone[i+1:] {
				out = append(out, &contrast{base: allOn, group: []int{a, b}})
			}
		}
	}
	if len(alone) > 2 {
		out = append(out, &contrast{base: allOn, group: alone})
	}
	return out
}

// sufficient are the settings that do it with all else off.
func (s *study) sufficient() (out []int) {
	for i := range s.o.Settings {
		if c := s.leaf(i, allOff); c != nil && c.found == Helps {
			out = append(out, i)
		}
	}
	return out
}

// leaf is a setting's own comparison, if it was made.
func (s *study) leaf(i int, b base) *contrast {
	for _, c := range s.done {
		if c.base == b && !c.whole && len(c.group) == 1 && c.group[0] == i {
			return c
		}
	}
	return nil
}

// smallestWith is the smallest group with a setting, on a base, of the first stages.
func (s *study) smallestWith(i int, b base) (best *contrast) {
	for _, c := range s.done {
		if c.base == b && !c.whole && slices.Contains(c.group, i) && (best == nil || len(c.group) < len(best.group)) {
			best = c
		}
	}
	return best
}

func (s *study) whole() *contrast {
	for _, c := range slices.Concat(s.done, s.open) {
		if c.whole {
			return c
		}
	}
	return nil
}

// baseRuns is how many runs of each base a round has: many comparisons share them,
// and their noise is in each, so that about the square root of their number is best
// (Dunnett 1955).
func (s *study) baseRuns() (n [2]int) {
	var users [2]int
	for _, c := range s.open {
		if c.whole {
			n[allOn], n[allOff] = 1, 1
			continue
		}
		users[c.base]++
	}
	for b, k := range users {
		if k > 0 {
			n[b] = max(n[b], min(int(math.Round(math.Sqrt(float64(k)))), 3))
		}
	}
	return n
}

// config is which settings are on in a run.
func (s *study) config(c *contrast, b base) []bool {
	on := make([]bool, s.o.Settings)
	for i := range on {
		on[i] = b == allOn
	}
	if c != nil {
		for _, i := range c.group {
			on[i] = !on[i]
		}
	}
	return on
}

// level is what differences are a share of: the larger of the figures with all on and
// with all off. 0: the load never showed anything. Ratios need none.
func (s *study) level() float64 {
	var level float64
	if s.o.Ratio {
		return 1
	}
	for _, ys := range s.bases {
		if m := meanOf(ys); !math.IsNaN(m) {
			level = max(level, math.Abs(m))
		}
	}
	return level
}

// patchyShare of the runs in which nothing was seen, beside others in which it was, and
// the figure comes in episodes that runs hit or miss.
const patchyShare = 0.2

// patchy is the figure of a run that an episode hit, on average, where a share of the
// runs missed them; 0: it is there in nearly all runs, or in none. Of the two bases the
// one counts that has more of it: in the other it may be cured.
func (s *study) patchy() float64 {
	var worst, sum float64
	for _, ys := range s.bases {
		runs, hit, total := 0, 0, 0.0
		for _, y := range ys {
			if math.IsNaN(y) {
				continue
			}
			if runs++; y != 0 {
				hit++
				total += math.Abs(y)
			}
		}
		if hit > 0 && total/float64(runs) > worst {
			worst, sum = total/float64(runs), 0
			if float64(runs-hit) >= patchyShare*float64(runs) {
				sum = total / float64(hit)
			}
		}
	}
	return sum
}

// grain is the smallest step of what a run may measure: where episodes are hit or missed,
// that is a whole one. Runs that all missed them are no proof that there are none.
func (s *study) grain() float64 {
	if s.o.Ratio {
		return s.o.Grain
	}
	return max(s.o.Grain, s.patchy())
}

// smallest is the smallest effect of interest, in the scale of the intervals.
func (s *study) smallest() float64 {
	if s.o.Ratio {
		return math.Log1p(s.o.Smallest)
	}
	return s.o.Smallest
}

// look decides what has been measured often enough.
func (s *study) look() {
	var open, split []*contrast
	for _, c := range s.open {
		n := c.rounds()
		if due(n, s.o.Rounds) {
			s.judge(c, spend(n, s.o.Rounds))
		}
		if c.found == Open && s.parts(c) && (c.interval.Low > 0 || c.interval.High < 0) {
			c.found = Acts // its parts are tested at an error of their own
		}
		if c.found == Open && n >= s.o.Rounds {
			c.found = Unclear
		}
		if c.found == Open {
			open = append(open, c)
			continue
		}
		s.done = append(s.done, c)
		split = append(split, s.split(c)...)
	}
	s.open = append(open, split...)
}

// judge spends the error up to a share and takes what the interval tells.
func (s *study) judge(c *contrast, share float64) {
	alpha := (1 - s.o.Confidence) / float64(s.o.Settings+1) * (share - c.spent)
	c.spent, c.judged = share, true
	if c.anyFailed {
		i := estimate(c.failures, 1, alpha)
		if o := i.outcome(s.o.Smallest); o == Helps || o == Hurts {
			c.interval, c.found, c.byFailing = i, o, true
			return
		}
	}
	level := s.level()
	if level == 0 || len(c.diffs) < fewest {
		c.interval = Interval{0, math.Inf(-1), math.Inf(1)}
		return
	}
	c.interval = estimate(c.diffs, s.grain(), alpha).over(level)
	c.found = c.interval.outcome(s.smallest())
}

// parts reports whether a comparison is of a group that can be split.
func (s *study) parts(c *contrast) bool { return s.stage < 3 && !c.whole && len(c.group) > 1 }

// split parts a group that does something: small ones into single settings.
func (s *study) split(c *contrast) (out []*contrast) {
	if !s.parts(c) || c.found != Helps && c.found != Hurts && c.found != Acts {
		return nil
	}
	size := 1
	if len(c.group) > 3 {
		size = (len(c.group) + 1) / 2
	}
	for part := range slices.Chunk(s.shuffled(c.group), size) {
		out = append(out, &contrast{base: c.base, group: part})
	}
	return out
}

func (s *study) progress() Progress {
	p := Progress{Round: s.rounds, Runs: s.runs, Open: len(s.open)}
	for i := range s.o.Settings {
		c := s.smallestWith(i, allOn)
		if c != nil && !slices.ContainsFunc(s.open, func(o *contrast) bool { return !o.whole && slices.Contains(o.group, i) }) {
			p.Settled++
		}
	}
	return p
}
