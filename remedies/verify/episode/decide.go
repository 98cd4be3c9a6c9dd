package episode

import (
	"fmt"
	"math"
	"time"

	"snag/internal/units"
)

// Outcome is what became of the trouble.
type Outcome string

// The outcomes.
const (
	Gone      Outcome = "gone"
	Reduced   Outcome = "reduced"
	Unchanged Outcome = "unchanged"
	Worse     Outcome = "worse"
	// TooEarly: a longer measurement tells. Decision.Need says how long.
	TooEarly Outcome = "too early"
	// CantTell: no longer measurement would.
	CantTell Outcome = "can't tell"
)

// Helped reports whether the change was a success.
func (o Outcome) Helped() bool { return o == Gone || o == Reduced }

// Open reports whether nothing is said of the change.
func (o Outcome) Open() bool { return o == TooEarly || o == CantTell }

// Around is what is known besides the two series, in seconds; 0: not known.
type Around struct {
	Since float64 // for how long the user had known the trouble when the recording before began
	Gap   float64 // from the end of the recording before to the start of the one after
	// Untimed: of the series before only the sum is known, which is spread over its seconds.
	Untimed bool
}

// Decision is what two recordings tell.
type Decision struct {
	Outcome       Outcome
	Why           string
	Before, After Figure
	// Need is how many seconds after the change tell more; 0: nothing to be told by time.
	Need float64
	// Every is the time from onset to onset before, in seconds; 0: not known.
	Every float64
}

const (
	// GoneShare of what was before may be left of what is called gone: the first second
	// of a server that begins anew.
	GoneShare = 0.05
	// A change is one from this share on: less is usual from one minute to the next.
	less, more = 0.8, 1.25
	// Between these the amount is as before.
	asLow, asHigh = 0.7, 1.4
)

// Decide reports what became of trouble.
func Decide(before, after Series, k Around) Decision {
	eb, ea := In(before), In(after)
	eb.Untimed = k.Untimed
	every := eb.Every()
	d := Decision{Outcome: CantTell, Every: every}
	var openBefore, openAfter bool
	blockBefore, blockAfter := before.block(eb, ea.Every()), after.block(ea, every)
	d.Before, openBefore = before.figure(blockBefore)
	d.After, openAfter = after.figure(blockAfter)
	openBefore = openBefore || k.Untimed
	b, a := d.Before, d.After
	floor := before.floor()
	if b.Value > 0 && a.Value <= GoneShare*b.Value {
		d.quiet(eb, k, before, after.longestQuiet(floor), len(after))
		return d
	}
	apart := !openBefore && !openAfter
	switch {
	case b.Value == 0:
		d.Why = "there was none of it before"
	case apart && a.High < b.Low && a.Value <= less*b.Value:
		d.less(before, after, trendOf(before, after, k.Gap, blockBefore, blockAfter), k.Gap)
	case apart && a.Low > b.High && a.Value >= more*b.Value:
		d.Outcome = Worse
	case a.Value >= asLow*b.Value && a.Value <= asHigh*b.Value:
		d.Outcome = Unchanged
	default:
		d.differs(eb, before, after, openBefore)
	}
	return d
}

// quiet decides of trouble of which there is none after the change, or next to none.
func (d *Decision) quiet(eb Episodes, k Around, before Series, longest, length int) {
	need := eb.Need(k.Since)
	// Where none was seen there is still a bound: half of what was before once the quiet
	// time tells, and more before.
	d.After.High = max(d.After.High, min(d.Before.High, d.Before.Value*need/2/max(float64(longest), 1)))
	switch {
	case before.sinking(k.Gap, length, d.Before.Value*GoneShare):
		d.Why = "it was becoming less already before the change, and would be gone without it"
	case float64(longest) < need:
		d.Outcome, d.Need = TooEarly, need
		d.Why = fmt.Sprintf("%s: none in %s may be chance; %s", eb.Came(k.Since), seconds(float64(longest)), measureFor(need+float64(length-longest)))
	default:
		d.Outcome = Gone
	}
}

// Came says how the trouble came before.
// since is for how long the user had known it when the recording began.
func (e Episodes) Came(since float64) string {
	switch {
	case e.Untimed:
		return fmt.Sprintf("when it came within the %s before is not known", seconds(float64(e.Length)))
	case e.Steady(since):
		return fmt.Sprintf("it was there without a pause for %s, which may be one long episode", seconds(e.known(since)))
	case e.On > 0 && e.Onsets == 0 && e.Tail <= tailEdge:
		return fmt.Sprintf("it was there for %s before, which may be one episode", seconds(float64(e.On)))
	case e.Length < leastLength && e.irregular() && len(e.Gaps) > 0:
		return fmt.Sprintf("of the %s before it was there for %s, too irregularly to know how often it comes", seconds(float64(e.Length)), seconds(float64(e.On)))
	case e.Every() > 0:
		return fmt.Sprintf("it came every %s, for %s", seconds(e.Every()), seconds(e.Lasts()))
	case e.Onsets == 1 && since > 0:
		return fmt.Sprintf("it began again after at most %s", seconds(since+float64(e.First)))
	case e.Onsets >= 1:
		return fmt.Sprintf("it came once in the %s before, and how often it comes is not known", seconds(float64(e.Length)))
	}
	return fmt.Sprintf("it had ended %s before the recording did, and how often it comes is not known", seconds(float64(e.Tail)))
}

// differs says what would tell of two amounts that differ.
func (d *Decision) differs(eb Episodes, before, after Series, openBefore bool) {
	d.Why = "before and after differ less than each of them varies"
	if openBefore {
		d.Why = fmt.Sprintf("%s: too little to compare with; a longer recording before would show it (snag find --for)", eb.Came(0))
		return
	}
	need := math.Ceil(max(2*float64(len(after)), leastBlocks*max(d.Every, before.memory()), leastAfter))
	d.Outcome, d.Need = TooEarly, need
	d.Why += "; " + measureFor(need)
}

// less decides of an amount that is less after the change: whether the change did it, or a
// trend may have.
func (d *Decision) less(before, after Series, t trend, gap float64) {
	switch {
	case before.sinking(gap, len(after), d.After.High):
		d.Why = "it was becoming less already before the change"
	case t.helped():
		d.Outcome = Reduced
	default:
		d.Why = "it may be a trend that began before the change"
		if need := t.need(); need > 0 {
			d.Outcome, d.Need = TooEarly, need
			d.Why += "; " + measureFor(need)
		}
	}
}

// measureFor names a time that is easily typed.
func measureFor(need float64) string {
	return "measure for " + seconds(Round(need)) + " (--for)"
}

// Round makes a time to measure a number of 5 seconds, or from 2 minutes on of half
// minutes.
func Round(need float64) float64 {
	step := 5.0
	if need > 120 {
		step = 30
	}
	return math.Ceil(need/step) * step
}

func seconds(s float64) string { return units.Seconds(time.Duration(s * float64(time.Second))) }
