package probes

import (
	"testing"

	"snag/recording"
)

func TestWhatNobodyAccountsForIsTheStreams(t *testing.T) {
	r := &recording.Recording{}
	c := newCosts(kept{r})
	c.began = ProcessCPU() - 10 // this process has used ten seconds since
	c.Append(recording.Coverage{Probe: "host", State: recording.CoverageOK, Cost: 2})
	c.Append(recording.Coverage{Probe: "host.cpu", State: recording.CoverageOK, Cost: 1.5}) // of those two
	c.Append(recording.Coverage{Probe: "sockets.diag", State: recording.CoverageOK, Cost: 1})
	c.Append(recording.Coverage{Probe: "sockets.diag", State: recording.CoverageOK, Cost: 3}) // as it goes on
	c.settle()
	if _, ok := r.Measured(unmeasured); ok {
		t.Error("a measure that nobody took has a cost")
	}
	c.Append(recording.Coverage{Probe: unmeasured, State: recording.CoverageOK})
	c.settle()
	row, _ := r.Measured(unmeasured)
	if row.Cost < 5 || row.Cost > 6 || row.Why == "" {
		t.Errorf("cost %.2f s (%s), want 10 less 2 and 3, and why", row.Cost, row.Why)
	}
}

// kept is a sink into memory.
type kept struct{ r *recording.Recording }

func (k kept) Sample(recording.Time, string, recording.Labels, float64) {}
func (k kept) Append(row recording.Row)                                 { k.r.Add(row) }
