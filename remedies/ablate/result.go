package ablate

import (
	"math"
	"slices"
)

// Verdict is what is said of a setting.
type Verdict string

// The verdicts.
const (
	DidIt    Verdict = "did it"       // without it the figure is worse
	EitherOf Verdict = "either of"    // it does it, and another does too
	DoesNone Verdict = "does nothing" // any effect is smaller than the smallest of interest
	DoesHurt Verdict = "hurts"        // without it the figure is better
	CantTell Verdict = "can't tell"
)

// Setting is what was found of one setting.
type Setting struct {
	Index   int     `json:"index"`
	Verdict Verdict `json:"verdict"`
	// Interval is of the effect of turning it on: above 0 it helps. Open says that it
	// is too wide to be given.
	Interval Interval `json:"interval,omitzero"`
	Open     bool     `json:"open,omitempty"`
	// With and Without are the figure's means with it and without it, all else on;
	// Alone: all else off. Seen is false where no run gave a figure.
	With    float64 `json:"with"`
	Without float64 `json:"without"`
	Alone   bool    `json:"alone,omitempty"`
	Seen    bool    `json:"seen"`
	// Fails: the figure is the load's failing, not its own.
	Fails bool `json:"fails,omitempty"`
	// Group are the settings that were turned off together with it, itself included,
	// where it was not tested by itself.
	Group []int `json:"group,omitempty"`
	// Either are the settings of which any one is enough, itself included.
	Either []int `json:"either,omitempty"`
	Rounds int   `json:"rounds"`
	// More is how many rounds in all would tell; 0: none would, or it told.
	More int    `json:"more,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Level is the mean of a base's runs.
type Level struct {
	Mean   float64 `json:"mean"`
	Runs   int     `json:"runs"`   // with a figure
	Failed int     `json:"failed"` // without
}

// Result is what a study found.
type Result struct {
	Settings []Setting `json:"settings"`
	On       Level     `json:"allOn"`
	Off      Level     `json:"allOff"`
	Whole    Interval  `json:"whole,omitzero"` // of all settings together
	// WholeOutcome is what Whole tells.
	WholeOutcome Outcome `json:"wholeOutcome"`
	// Drift is the figure with all on, the mean of the first third of its runs and of
	// the last: what changed by itself.
	Drift [2]float64 `json:"drift"`
	// Drifted: the two differ by more than the noise.
	Drifted bool `json:"drifted,omitempty"`
	Rounds  int  `json:"rounds"`
	Runs    int  `json:"runs"`
	Cut     bool `json:"cut,omitempty"` // it ended before all was told
	// Idle: the figure was 0 in every run: the load never shows what is to be tested.
	Idle bool `json:"idle,omitempty"`
	// Together: the single effects are more than all have together: some need each
	// other, and each of them is shown with the whole effect.
	Together bool `json:"together,omitempty"`
}

func (s *study) result() *Result {
	for _, c := range s.open { // at its end the study may spend what is left
		if c.rounds() >= fewest {
			s.judge(c, 1)
		}
		if c.found == Open {
			c.found = Unclear
		}
		s.done = append(s.done, c)
	}
	s.open = nil
	r := &Result{Rounds: s.rounds, Runs: s.runs, Cut: s.cut, Idle: s.idle(), On: level(s.bases[allOn]), Off: level(s.bases[allOff])}
	r.Drift, r.Drifted = drift(s.bases[allOn])
	if w := s.whole(); w != nil {
		r.WholeOutcome = w.found
		if w.judged && !math.IsInf(w.interval.High, 0) {
			r.Whole = s.shown(w)
		}
	}
	classes := s.classes()
	single := 0.0
	for i := range s.o.Settings {
		found := s.setting(i, classes)
		if found.Verdict == DidIt {
			single += s.leaf(i, allOn).interval.Effect
		}
		r.Settings = append(r.Settings, found)
	}
	r.Together = r.WholeOutcome == Helps && single > s.whole().interval.High+s.smallest()
	return r
}

func level(ys []float64) Level {
	var m sum
	m.add(ys)
	return Level{m.mean(), m.n, len(ys) - m.n}
}

// drift is the mean of the first third and of the last, and whether they differ by
// three standard errors.
func drift(ys []float64) (ends [2]float64, real bool) {
	ys = slices.DeleteFunc(slices.Clone(ys), math.IsNaN)
	third := len(ys) / 3
	if third < 2 {
		return ends, false
	}
	first, last := ys[:third], ys[len(ys)-third:]
	ends = [2]float64{meanOf(first), meanOf(last)}
	squares := 0.0
	for i, part := range [][]float64{first, last} {
		for _, y := range part {
			squares += (y - ends[i]) * (y - ends[i])
		}
	}
	se := math.Sqrt(squares / float64(third-1) / float64(third))
	return ends, math.Abs(ends[1]-ends[0]) > 3*se
}

// idle reports whether no run of any kind had a figure other than 0.
func (s *study) idle() bool {
	for _, c := range slices.Concat(s.done, s.open) {
		if c.with.total != 0 || c.without.total != 0 || c.anyFailed {
			return false
		}
	}
	return s.rounds > 0
}

// classes are the settings that stand in for each other: of every two of a pair that
// is missed, one is enough. Pairs that share a setting are one class.
func (s *study) classes() (out [][]int) {
	alone := s.sufficient()
	for _, c := range s.done {
		if c.base != allOn || c.whole || c.found != Helps || len(c.group) < 2 || !within(c.group, alone) {
			continue
		}
		if len(c.group) > 2 && len(out) > 0 {
			continue // the pairs tell it finer
		}
		class := slices.Clone(c.group)
		out = slices.DeleteFunc(out, func(o []int) bool {
			if !slices.ContainsFunc(o, func(i int) bool { return slices.Contains(class, i) }) {
				return false
			}
			class = append(class, o...)
			return true
		})
		slices.Sort(class)
		out = append(out, slices.Compact(class))
	}
	return out
}

func within(group, of []int) bool {
	return !slices.ContainsFunc(group, func(i int) bool { return !slices.Contains(of, i) })
}

func (s *study) setting(i int, classes [][]int) Setting {
	c := s.smallestWith(i, allOn)
	if c == nil {
		return Setting{Index: i, Verdict: CantTell, Open: true, Why: "it was not measured"}
	}
	out := s.fill(i, c)
	switch {
	case len(c.group) == 1 && c.found == Helps:
		out.Verdict = DidIt
		return out
	case len(c.group) == 1 && c.found == Hurts:
		out.Verdict = DoesHurt
		return out
	}
	if a := s.leaf(i, allOff); a != nil && a.found == Helps {
		out = s.fill(i, a)
		out.Verdict, out.Alone = EitherOf, true
		for _, class := range classes {
			if slices.Contains(class, i) {
				out.Either = class
			}
		}
		if out.Either == nil {
			out.Why = "alone it does it; others together do it too"
		}
		return out
	}
	if c.found == Nothing {
		out.Verdict = DoesNone
		return out
	}
	out.Verdict, out.More = CantTell, more(c.interval, max(c.rounds(), 1), s.smallest())
	switch {
	case s.idle():
		out.Why, out.More = "the figure was 0 in every run", 0
	case c.found == Helps || c.found == Hurts || c.found == Acts:
		out.Why, out.More = "its group does something; it was not tested separately", 0
	case c.rounds() < fewest:
		out.Why, out.More = "too few rounds", fewest
	case s.patchy() > 0 && !s.o.Ratio && s.o.Grain < s.patchy():
		out.Why = missedWhy
	case out.More == 0:
		out.Why = "its effect is about the smallest of interest"
	case c.interval.Low > 0:
		out.Why = "it helps, by how much is open"
	case c.interval.High < 0:
		out.Why = "it hurts, by how much is open"
	default:
		out.Why = "too much noise"
	}
	return out
}

// missedWhy is of a figure that is 0 in many runs.
const missedWhy = "it comes in episodes, which many runs missed: longer runs"

// shown is an interval as a ratio to the figure without: of a time that is halved 0.5,
// of a rate that is doubled 1.
func (s *study) shown(c *contrast) Interval {
	i := c.interval
	if !s.o.Ratio || c.byFailing {
		return i
	}
	ratio := math.Expm1
	if !s.o.Higher {
		ratio = func(x float64) float64 { return -math.Expm1(-x) }
	}
	return Interval{ratio(i.Effect), ratio(i.Low), ratio(i.High)}
}

// fill takes what a comparison measured.
func (s *study) fill(i int, c *contrast) Setting {
	out := Setting{Index: i, Interval: s.shown(c), Rounds: c.rounds(), With: c.with.mean(), Without: c.without.mean(), Seen: c.with.n > 0 && c.without.n > 0, Fails: c.byFailing}
	if math.IsInf(c.interval.High, 0) || !c.judged {
		out.Interval, out.Open = Interval{}, true
	}
	if len(c.group) > 1 {
		out.Group = slices.Sorted(slices.Values(c.group))
	}
	return out
}
