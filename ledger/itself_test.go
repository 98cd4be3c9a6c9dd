package ledger

import "testing"

// A gateway inside a service calls the service's own port: what waits for that waits for what the
// service itself does.
func TestWhatAServiceAsksOfItself(t *testing.T) {
	_, _, l := build(t, "", service{pid: 60, port: 80, n: 10, mean: 0.2, threads: []string{onDisk, awaiting}, calls: 80, called: 0.1})
	for _, p := range l.Parties {
		if p.Role != Serves {
			continue
		}
		if p.Of(Call) > 0 || p.Of(Disk) < 0.9*p.Demand {
			t.Errorf("entries %+v", p.Entries)
		}
		sum := 0.0
		for _, e := range p.Entries {
			sum += e.Seconds
		}
		if sum < 0.99*p.Demand || sum > 1.01*p.Demand {
			t.Errorf("%g s of %g are booked", sum, p.Demand)
		}
		return
	}
	t.Error("nobody serves")
}
