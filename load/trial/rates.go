package trial

import (
	"context"
	"math"
	"time"

	"snag/load"
	"snag/load/elimination"
)

const (
	ratesBy   = 4 // each rate is so many times the one before
	rateFor   = time.Second
	mostConns = 256
)

// rates goes up until the service is slower by far, or to the highest rate that is allowed.
func (t *trial) rates(ctx context.Context) error {
	for rate := float64(lowRate); ; rate = min(ratesBy*rate, t.HighRate) {
		s, err := t.step(ctx, rate)
		if err != nil {
			return err
		}
		if len(t.m.Rates) > 0 && s.Saturates(t.m.Rates[0]) { // once more: the machine may have been busy
			again, err := t.step(ctx, rate)
			if err != nil {
				return err
			}
			if !again.Saturates(t.m.Rates[0]) {
				s = again
			}
		}
		t.m.Rates = append(t.m.Rates, s)
		if rate >= t.HighRate || s.Why != "" || len(t.m.Rates) > 1 && s.Saturates(t.m.Rates[0]) {
			return nil
		}
	}
}

// step asks at a rate, on so many connections that each is used as often as at the low rate, and that half
// of them are free while answers take as long as there. Nagle's algorithm is no part of it.
func (t *trial) step(ctx context.Context, rate float64) (s elimination.Step, err error) {
	conns := min(mostConns, max(int(rate*lowConns/lowRate), int(math.Ceil(2*rate*t.takes()))))
	p := t.plan(rate, conns, rateFor)
	p.Options, p.Warm = noDelays(p.Options), 0 // what is due meanwhile would be answered first, and not counted
	r, err := load.Run(ctx, p)
	if err != nil {
		return s, err
	}
	s = elimination.Step{Rate: rate, Conns: conns, Answers: r.Rate(), Due: timesIn(r.FromDue).P50, Sent: timesIn(r.FromSent).P50, Behind: r.Behind, Lost: r.LostAll()}
	if !r.Overloaded() {
		s.Why = notTheServices(r)
	}
	return s, nil
}
