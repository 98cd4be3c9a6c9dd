package probe

import (
	"maps"
	"math"
	"sync"
)

// Budget is what the costly probes may take of the machine together, and what
// they have taken. They charge it about once a second, with what their programs
// ran in the kernel (run_time_ns of the kernel's BPF statistics, 5.8 and later,
// or events times a cost measured at start) and what their own threads used, and
// end when it is over. Safe for concurrent use.
type Budget struct {
	mu    sync.Mutex
	share float64
	cpus  int
	spent map[string]float64
}

// NewBudget allows share (0.02: 2 %) of the time of cpus CPUs; 0 is no limit.
func NewBudget(share float64, cpus int) *Budget {
	return &Budget{share: share, cpus: cpus, spent: map[string]float64{}}
}

// Charge adds CPU time, seconds, to what a probe has taken.
func (b *Budget) Charge(probe string, seconds float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent[probe] += max(seconds, 0)
}

// Over tells whether the probes have taken more than their share of the seconds
// that the recording has lasted. The first second is free: to attach costs more
// than to go on.
func (b *Budget) Over(seconds float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.share <= 0 || seconds < 1 {
		return false
	}
	return b.sum() > b.share*float64(b.cpus)*seconds
}

// Lasts is for how many seconds more the budget lasts where a probe takes rate CPU
// seconds a second and the others nothing; +Inf: it does not end.
func (b *Budget) Lasts(seconds, rate float64) float64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	gain := b.share * float64(b.cpus)
	if b.share <= 0 || rate <= gain {
		return math.Inf(1)
	}
	return max(0, 1-seconds, (gain*seconds-b.sum())/(rate-gain))
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
