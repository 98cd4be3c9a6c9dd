package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// fullHouse is a pool whose workers never waited for work, told by a trace of its calls:
// when a request came the trace can't tell, but that nobody was free it can.
type fullHouse struct {
	threads int
	rate    float64 // answers per second
	inside  float64 // s, of each
	free    float64 // share of the workers' time in which they waited for work
}

const (
	// fullLoad: as many workers are busy by Little's law as there are, to within what a
	// second's edges cut off; over mostLoad one worker has several requests under way, and
	// holds none of its threads for them.
	fullLoad, mostLoad = 0.8, 1.15
	// neverFree is the share of their time that workers still wait for work where there is
	// always some.
	neverFree = 0.1
)

// fullHouseOf is nil where somebody was free, or nobody traced.
func fullHouseOf(turns recording.Turns, waits *poolWaits, window recording.Interval, r *recording.Recording) *fullHouse {
	seconds := window.Length(window.End).Seconds()
	if !suspect.Traced(r) || waits == nil || turns.N < fewTraced || seconds <= 0 {
		return nil
	}
	f := &fullHouse{threads: waits.threads, rate: float64(turns.N) / seconds, inside: (turns.Sum - turns.Wait) / float64(turns.N), free: 1 - waits.share()}
	load := f.rate * f.inside / float64(f.threads)
	if load < fullLoad || load > mostLoad || f.free > neverFree {
		return nil
	}
	return f
}

// fewTraced answers are too few for a law of means.
const fewTraced = 20

// wait is how long a request that finds all workers busy waits at least on average, s:
// until the first of them is done.
func (f *fullHouse) wait() float64 { return f.inside / float64(f.threads) }

func (f *fullHouse) evidence(noun string) suspect.Evidence {
	return suspect.Evidence{Side: suspect.For, Grade: suspect.Strong, Value: f.wait(), Unit: "s", Source: source.Of("strace -f -T -p PID"), Origin: "turns",
		Text: fmt.Sprintf("%.3g answers per second, %s inside each, keep %.1f of its %s busy: all that there are; they waited for work for %.0f %% of their time, so that a request that comes waits for %s and more until one is free",
			f.rate, units.Lasting(f.inside), f.rate*f.inside, units.Plural(f.threads, noun), 100*f.free, units.Lasting(f.wait()))}
}
