package ledger

import "testing"

// A cache with eight threads that sleep between rounds of housekeeping, and one that computes.
func TestThreadsThatSleepServeWhatOthersDoNot(t *testing.T) {
	d := &doing{looks: 20, busy: map[place]float64{{account: Sleep}: 8, {account: Work}: 1}}
	for _, c := range []struct{ requests, asleep float64 }{
		{20, 8}, // more than all of them can have: each may be at one
		{9, 8},
		{5, 4},
		{1, 0}, // the one that computes has it
		{-2, 0},
	} {
		got := d.withoutTimers(c.requests)
		if n := got.at(Sleep); n != c.asleep || got.at(Work) != 1 {
			t.Errorf("of %g requests that wait for no call %g are at threads that sleep, and %g at one that computes: want %g and 1", c.requests, n, got.at(Work), c.asleep)
		}
		if _, is := got.busy[place{account: Sleep}]; is != (c.asleep > 0) {
			t.Errorf("%g requests: nobody sleeps, and there is a place for it", c.requests)
		}
	}
	if d.at(Sleep) != 8 {
		t.Error("what was found is changed")
	}
}
