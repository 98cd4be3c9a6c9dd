package episode

import (
	"strings"
	"testing"
)

// every makes a series of n seconds with episodes of so many seconds, the first at a
// second.
func every(n, first, lasts, period int) Series {
	s := make(Series, n)
	for i := first; i < n; i++ {
		if (i-first)%period < lasts {
			s[i] = 10
		}
	}
	return s
}

func TestWhatIsSaid(t *testing.T) {
	quiet := func(n int) Series { return make(Series, n) }
	for name, c := range map[string]struct {
		before, after Series
		around        Around
		want          Outcome
		need          float64 // at most; 0: none is said
		why           string
	}{
		"5 s of 40, measured outside of it": {every(120, 10, 5, 40), quiet(30), Around{Gap: 10}, TooEarly, 120, "it came every 40 s, for 5 s: none in 30 s may be chance; measure for "},
		"5 s of 40, three periods":          {every(120, 10, 5, 40), quiet(120), Around{}, Gone, 0, ""},
		"seen once":                         {every(30, 10, 5, 40), quiet(120), Around{}, TooEarly, 360, "it came once in the 30 s before, and how often it comes is not known"},
		"seen once, and known for 30 s":     {every(30, 10, 5, 40), quiet(120), Around{Since: 30}, Gone, 0, ""},
		"seen once, and known for 5 min":    {every(30, 10, 5, 40), quiet(120), Around{Since: 300}, TooEarly, 930, "it began again after at most 5 min 10 s"},
		"ended before the recording did":    {every(30, 0, 5, 99), quiet(120), Around{}, TooEarly, 360, "it had ended 25 s before the recording did"},
		"steady, half a minute each":        {every(30, 0, 1, 1), quiet(30), Around{}, Gone, 0, ""},
		"steady, a few seconds":             {every(30, 0, 1, 1), quiet(10), Around{}, TooEarly, 30, "which may be one long episode"},
		"steady but for the edges":          {append(append(quiet(2), every(27, 0, 1, 1)...), 0), quiet(33), Around{}, Gone, 0, ""},
		"it began in the recording":         {append(quiet(10), every(20, 0, 1, 1)...), quiet(40), Around{}, Gone, 0, ""},
		"it began there 8 s before its end": {append(quiet(22), every(8, 0, 1, 1)...), quiet(40), Around{}, TooEarly, 360, "it came once"},
		"8 s, all of them bad":              {every(8, 0, 1, 1), quiet(60), Around{}, TooEarly, 360, "it was there for 8 s before, which may be one episode"},
		"8 s, known for an hour":            {every(8, 0, 1, 1), quiet(15), Around{Since: 3600}, Gone, 0, ""},
		"the sum only":                      {every(30, 0, 1, 1), quiet(30), Around{Untimed: true}, TooEarly, 120, "when it came within the 30 s before is not known"},
		"a stray in the first second":       {every(30, 0, 1, 1), append(Series{5}, quiet(40)...), Around{}, Gone, 0, ""},
		"none before":                       {quiet(30), quiet(30), Around{}, CantTell, 0, "there was none of it before"},
		"as before":                         {every(120, 10, 5, 40), every(120, 3, 5, 40), Around{}, Unchanged, 0, ""},
		"half of it":                        {every(60, 0, 1, 1), every(60, 0, 1, 2), Around{}, Reduced, 0, ""},
		"twice as much":                     {every(60, 0, 1, 2), every(60, 0, 1, 1), Around{}, Worse, 0, ""},
		"one episode of 40 s in 60":         {every(120, 0, 1, 1), every(60, 20, 40, 99), Around{}, TooEarly, 360, "differ less than each of them varies"},
		"it was sinking":                    {Series{40, 38, 36, 35, 32, 30, 28, 26, 24, 22, 20, 18, 16, 15, 13, 12, 10, 9, 8, 8, 7, 6, 5, 5, 4, 4, 4, 3, 3, 3}, quiet(60), Around{Gap: 30}, CantTell, 0, "it was becoming less already before the change"},
	} {
		d := Decide(c.before, c.after, c.around)
		if d.Outcome != c.want || !strings.Contains(d.Why, c.why) || d.Need > c.need || c.need > 0 && d.Need == 0 {
			t.Errorf("%s: %s (%s), need %v; want %s (%s), %v", name, d.Outcome, d.Why, d.Need, c.want, c.why, c.need)
		}
		t.Logf("%s: %s: %s %+v %+v", name, d.Outcome, d.Why, d.Before, d.After)
	}
}

func TestEpisodesOfASeries(t *testing.T) {
	for name, c := range map[string]struct {
		s    Series
		want Episodes
	}{
		"none":              {make(Series, 5), Episodes{Length: 5, First: -1, Tail: 5}},
		"all":               {every(5, 0, 1, 1), Episodes{Length: 5, First: -1, On: 5, Runs: 1}},
		"one, in the midst": {every(9, 3, 2, 99), Episodes{Length: 9, First: 3, Onsets: 1, Head: 3, Tail: 4, On: 2, Runs: 1}},
		"on at its start":   {every(9, 0, 2, 5), Episodes{Length: 9, First: 5, Onsets: 1, Gaps: []int{3}, Tail: 2, On: 4, Runs: 2}},
		"a stray is none":   {Series{0, 100, 1, 1, 100, 0}, Episodes{Length: 6, First: 1, Onsets: 2, Gaps: []int{2}, Head: 1, Tail: 1, On: 2, Runs: 2}},
	} {
		got := In(c.s)
		if len(got.Gaps) != len(c.want.Gaps) || len(got.Gaps) > 0 && got.Gaps[0] != c.want.Gaps[0] {
			t.Errorf("%s: %+v", name, got)
		}
		got.Gaps, c.want.Gaps = nil, nil
		if got.Length != c.want.Length || got.First != c.want.First || got.Onsets != c.want.Onsets || got.Head != c.want.Head || got.Tail != c.want.Tail || got.On != c.want.On || got.Runs != c.want.Runs {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The longer the pauses, the longer the quiet time that tells; irregular ones need more
// of them than regular ones.
func TestNeedGrowsWithThePauses(t *testing.T) {
	regular := Episodes{Length: 200, Onsets: 4, First: 20, Gaps: []int{40, 40, 40}, Head: 20, Tail: 20, On: 40, Runs: 4}
	clustered := regular
	clustered.Gaps = []int{5, 110, 5}
	if a, b := regular.Need(0), clustered.Need(0); a >= b || a < 90 || a > 150 {
		t.Errorf("regular %v, clustered %v", a, b)
	}
	last := 0.0
	for _, gap := range []int{1, 5, 20, 80, 300} {
		e := Episodes{Length: 2000, Onsets: 4, First: 5, Gaps: []int{gap, gap, gap}, Head: 5, Tail: 5, On: 20, Runs: 4}
		if need := e.Need(0); need < last {
			t.Errorf("pauses of %d s need %v, shorter ones %v", gap, need, last)
		} else {
			last = need
		}
	}
}

// The interval of a mean holds in 95 % of a series whose seconds know each other, and is
// open where they are too few.
func TestTheIntervalIsOpenForFewEpisodes(t *testing.T) {
	one := every(60, 20, 10, 99)
	if _, open := one.figure(one.block(In(one), 0)); !open {
		t.Error("one episode has an interval")
	}
	many := every(200, 3, 5, 20)
	f, open := many.figure(many.block(In(many), 0))
	if open || f.Low >= f.Value || f.High <= f.Value {
		t.Errorf("%+v %v", f, open)
	}
	none := make(Series, 30)
	if f, _ := none.figure(1); f != (Figure{}) {
		t.Errorf("%+v", f)
	}
}
