package probes

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"snag/probes/probe"
	"snag/recording"
)

// costs notes what each probe says that it cost, on the way to the recording.
type costs struct {
	recording.Sink
	began float64 // CPU time of this process when the probes began, s

	mu   sync.Mutex
	rows map[string]recording.Coverage
}

func newCosts(sink recording.Sink) *costs {
	return &costs{Sink: sink, began: ProcessCPU(), rows: map[string]recording.Coverage{}}
}

// Append implements recording.Sink.
func (c *costs) Append(row recording.Row) {
	if r, ok := row.(recording.Coverage); ok {
		c.mu.Lock()
		c.rows[r.Probe] = r
		c.mu.Unlock()
	}
	c.Sink.Append(row)
}

// unmeasured is the measure whose readers share their threads with the rest of this
// process, as goroutines do: what they cost can't be read off a thread.
const unmeasured = "streams.figures"

// settle gives that measure what no other probe has accounted for. It is the most that
// it cost: the writer's time and the runtime's are in it.
func (c *costs) settle() {
	c.mu.Lock()
	row, ok := c.rows[unmeasured]
	rest := ProcessCPU() - c.began - sumOf(c.rows)
	c.mu.Unlock()
	if !ok || row.State == recording.CoverageOff || rest <= 0 {
		return
	}
	row.Cost = rest
	row.Why = strings.TrimPrefix(row.Why+"; its cost is at the most that: what of snag's CPU time no other probe accounts for", "; ")
	c.Sink.Append(row)
}

// tellCost writes what snag took of the CPU until now: this process, all of it, its start and
// the loading of the programs too; and the programs, which run on others' time.
func tellCost(env *probe.Env) {
	now := env.Now()
	env.Sink.Append(recording.Fact{T: now, Name: recording.FactProcessCPU, Value: fmt.Sprintf("%.4f", ProcessCPU()), Source: "getrusage(2) of snag, seconds"})
	env.Sink.Append(recording.Fact{T: now, Name: recording.FactProgramsCPU, Value: fmt.Sprintf("%.4f", env.Budget.Programs()), Source: "runs of its BPF programs at what each is known to cost, seconds"})
}

// sumOf is what all other measures cost; a probe's own row sums its measures.
func sumOf(rows map[string]recording.Coverage) float64 {
	sum := 0.0
	for name, r := range rows {
		probe, _, part := strings.Cut(name, ".")
		if _, whole := rows[probe]; part && whole || name == unmeasured {
			continue
		}
		sum += r.Cost
	}
	return sum
}

// ProcessCPU is the CPU time that this process has used, seconds.
func ProcessCPU() float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // it can't fail for oneself
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
