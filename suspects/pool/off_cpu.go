package pool

import (
	"fmt"

	"snag/internal/units"
	"snag/recording"
	"snag/suspects/measure"
	"snag/suspects/source"
	"snag/suspects/suspect"
)

// offTime is how long threads of a process were off the CPU for one reason.
type offTime struct {
	n        uint64
	sum, max float64 // s
	threads  map[int]bool
	stack    int // of the longest
	seconds  int // in which the process was looked at
}

// offCPUOf adds up the waits of a pool's processes that pass; nil where none does.
func offCPUOf(p *pool, r *recording.Recording, pass func(recording.OffCPU) bool) *offTime {
	b := &offTime{threads: map[int]bool{}}
	seconds := map[recording.Time]bool{}
	for _, row := range r.OffCPU {
		if p.worker(row.PID) == nil {
			continue
		}
		seconds[row.T] = true
		if !pass(row) {
			continue
		}
		b.n += row.N
		b.sum += row.Sum
		if row.TID != 0 {
			b.threads[row.TID] = true
		}
		if row.Max >= b.max {
			b.max, b.stack = row.Max, row.Stack
		}
	}
	b.seconds = len(seconds)
	if b.n == 0 {
		return nil
	}
	return b
}

// mean time of a wait, s.
func (b *offTime) mean() float64 { return b.sum / float64(b.n) }

// offCPU is how long threads stood in reads from the peer, by the scheduler. Threads of
// an idle pool of connections stand there too, with nothing asked: so it is strong only
// where a wait takes as long as a call, measured at the connection.
func (d *dependency) offCPU(r *recording.Recording) (suspect.Evidence, bool) {
	b := offCPUOf(d.process, r, func(row recording.OffCPU) bool {
		if row.Reason != recording.WaitSocket || row.FD == nil {
			return false
		}
		k := measure.SocketOn(d.process.worker(row.PID), *row.FD)
		return k != nil && k.First().Remote == d.remote && measure.ReadCalls[row.Call]
	})
	if b == nil {
		return suspect.Evidence{}, false
	}
	e := suspect.Evidence{Side: suspect.For, Grade: suspect.Weak, Value: b.mean(), Unit: "s", Source: source.OffCPUOf, Origin: "off-CPU",
		Text: fmt.Sprintf("%s of it were off the CPU in a read from there %s times, %s each on average, %s at the longest", units.Plural(len(b.threads), "thread"), units.Count(float64(b.n)), units.Lasting(b.mean()), units.Lasting(b.max))}
	if in := measure.OwnFunctions(r, b.stack); in != "" {
		e.Text += ", in " + in
	}
	if mean := d.mean(); b.mean() >= (1-agreeing)*mean && b.mean() <= (1+agreeing)*mean {
		e.Grade = suspect.Strong
	}
	return e, true
}
