package sockets

import (
	"time"

	"snag/probes/probe"
	"snag/recording"
)

// measures of this probe, as in recording.Measures.
var measures = []string{
	"sockets.diag", "sockets.owner", "sockets.options", "sockets.connections",
	"sockets.resets", "sockets.retransmits", "sockets.holds", "sockets.signals",
	"sockets.turns", "sockets.errors", "sockets.queries", "sockets.unix", "sockets.dns",
}

// ledger keeps the probe's own account: what each measure cost, how late it
// ran, what failed.
type ledger struct {
	since recording.Time
	cost  map[string]float64 // CPU seconds
	errs  map[string]error   // the first of each measure
	lost  map[string]uint64  // events that no row has
	full  [9]uint64          // events that found their kernel table full, as enum table
	worst time.Duration
	mark  float64
}

func newLedger(env *probe.Env) *ledger {
	return &ledger{since: env.Now(), cost: map[string]float64{}, errs: map[string]error{}, lost: map[string]uint64{}}
}

// begin starts to count the calling thread's CPU time.
func (l *ledger) begin() { l.mark = probe.ThreadCPU() }

// charge puts the CPU time since the last charge on a measure.
func (l *ledger) charge(measure string) {
	now := probe.ThreadCPU()
	l.cost[measure] += now - l.mark
	l.mark = now
}

// spent moves CPU time that another thread used for a measure here.
func (l *ledger) spent(measure string, seconds *float64) {
	l.cost[measure] += *seconds
	*seconds = 0
}

func (l *ledger) total() float64 {
	sum := 0.0
	for _, c := range l.cost {
		sum += c
	}
	return sum
}

func (l *ledger) late(d time.Duration) { l.worst = max(l.worst, d) }

func (l *ledger) fail(measure string, err error) {
	if l.errs[measure] == nil {
		l.errs[measure] = err
	}
}

func (l *ledger) lose(measure string, n uint64) { l.lost[measure] += n }
