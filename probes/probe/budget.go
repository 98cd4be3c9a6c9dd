package probe

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Budget is what the costly probes may take of the machine together, and their programs of
// any one CPU, and what they have taken. They charge it about once a second, with what their programs
// ran in the kernel (run_time_ns of the kernel's BPF statistics, 5.8 and later,
// or events times a cost measured at start) and what their own threads used, and
// end when it is over. Safe for concurrent use.
type Budget struct {
	mu    sync.Mutex
	share float64
	cpus  int
	spent map[string]float64
	took  map[string][]time.Duration // programs, by CPU
}

// NewBudget allows share (0.02: 2 %) of the time of cpus CPUs; 0 is no limit.
func NewBudget(share float64, cpus int) *Budget {
	return &Budget{share: share, cpus: cpus, spent: map[string]float64{}, took: map[string][]time.Duration{}}
}

// Charge adds CPU time, seconds, to what a probe has taken.
func (b *Budget) Charge(probe string, seconds float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent[probe] += max(seconds, 0)
}

// Took notes the CPU time that a probe's programs have taken so far on each CPU, from
// whoever ran there. Those that always measure note it too: of a CPU that they take much
// of, less is left for the others.
func (b *Budget) Took(probe string, cpus []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.took[probe] = cpus
}

// Over reports whether the probes have taken more than their share of the seconds that the
// recording has lasted: of the machine's time, or their programs of one CPU's, as a
// program that runs on one pays all of it. The first second is free: to attach costs
// more than to go on.
func (b *Budget) Over(seconds float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.share <= 0 || seconds < 1 {
		return false
	}
	return b.sum() > b.share*float64(b.cpus)*seconds || b.most() > b.share*seconds
}

// Lasts is for how many seconds more the budget lasts where a probe takes rate CPU
// seconds per second, and its programs busiest of them on one CPU, and the others nothing;
// +Inf: it does not end.
func (b *Budget) Lasts(seconds, rate, busiest float64) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := func(spent, rate, gain float64) float64 {
		if b.share <= 0 || rate <= gain {
			return math.Inf(1)
		}
		return max(0, 1-seconds, (gain*seconds-spent)/(rate-gain))
	}
	return min(left(b.sum(), rate, b.share*float64(b.cpus)), left(b.most(), busiest, b.share))
}

// Programs is what all programs took on all CPUs, seconds.
func (b *Budget) Programs() float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	sum := time.Duration(0)
	for _, each := range b.took {
		for _, d := range each {
			sum += d
		}
	}
	return sum.Seconds()
}

// most is what programs have taken of the CPU of which they took most, seconds.
func (b *Budget) most() float64 {
	var cpus []time.Duration
	for _, each := range b.took {
		for i, d := range each {
			if i == len(cpus) {
				cpus = append(cpus, 0)
			}
			cpus[i] += d
		}
	}
	if len(cpus) == 0 {
		return 0
	}
	return slices.Max(cpus).Seconds()
}

func (b *Budget) sum() float64 {
	sum := 0.0
	for _, s := range b.spent {
		sum += s
	}
	return sum
}

// Share is what may be taken, 0 to 1; 0 is no limit.
func (b *Budget) Share() float64 { return b.share }

// Spent is the CPU time that each probe has taken, seconds.
func (b *Budget) Spent() map[string]float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.spent)
}
